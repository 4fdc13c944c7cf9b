"""Claims about torch.compile and torch.export."""

from __future__ import annotations

import pytest
import torch

from vicinal.sphere import (
    ClebschGordanLayer,
    ClebschGordanNet,
    Fragments,
    FragmentType,
    SphericalTransform,
)

# Torch's own: one of its imports is deprecated, it hides another warning by a filter of its own,
# which does not help where warnings are errors, and a third is about the first Python 3.13.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]
KIND = FragmentType([3, 2, 1])


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_a_compiled_layer_computes_what_the_layer_does(backend):
    torch.manual_seed(0)
    layer = ClebschGordanLayer(KIND, KIND, backend=backend, residual=True)
    signals = Fragments.randn(KIND, 5)
    compiled = torch.compile(layer, backend="aot_eager")
    torch.testing.assert_close(compiled(signals).packed, layer(signals).packed)
    gradients = []
    for module in (layer, compiled):
        layer.zero_grad()
        module(signals).packed.square().sum().backward()
        assert layer.weight.grad is not None
        gradients.append(layer.weight.grad.clone())
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("training", [True, False])
def test_a_compiled_network_computes_what_the_network_does(training):
    torch.manual_seed(0)
    network = ClebschGordanNet(KIND, FragmentType([4, 2, 1]), 2, n_outputs=3).train(training)
    signals = Fragments.randn(KIND, 8)
    compiled = torch.compile(network, backend="aot_eager")
    expected = network(signals)
    torch.testing.assert_close(compiled(signals), expected)


@pytest.mark.parametrize("method", ["dense", "separable"])
def test_an_exported_transform_computes_what_the_transform_does(method):
    transform = SphericalTransform(6, 4, method=method)
    exported = torch.export.export(transform, (torch.zeros(2, 1, 12, 12),)).module()
    signals = torch.randn(2, 1, 12, 12)
    found = exported(signals)
    assert isinstance(found, Fragments)
    assert found.type == transform.fragment_type()
    torch.testing.assert_close(found.packed, transform(signals).packed)


def test_outside_a_graph_nan_is_still_refused():
    with pytest.raises(ValueError, match="NaN or infinity"):
        SphericalTransform(6, 4)(torch.full((1, 1, 12, 12), torch.nan))
