"""Every layer turns with its input, to rounding, in both precisions."""

from __future__ import annotations

import itertools

import pytest
import torch

from vicinal.sphere import (
    ClebschGordanLayer,
    CovariantBatchNorm,
    CovariantLinear,
    FragmentType,
    Invariants,
    SampleNorm,
    equivariance_error,
)

IN, OUT = FragmentType([5, 4, 3, 2, 1]), FragmentType([4, 3, 2, 2, 3])

PRODUCTS = list(itertools.product(("ordered", "unordered", "channelwise"), ("numba", "torch")))


@pytest.mark.parametrize(("dtype", "most"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
@pytest.mark.parametrize(("pairs", "backend"), PRODUCTS)
def test_products_turn_with_their_input(pairs, backend, dtype, most):
    torch.manual_seed(0)
    layer = ClebschGordanLayer(IN, OUT, pairs=pairs, backend=backend, residual=True)
    assert equivariance_error(layer.to(dtype), IN) < most


@pytest.mark.parametrize(("dtype", "most"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_linear_maps_and_norms_turn_with_their_input(dtype, most):
    torch.manual_seed(0)
    layers = [CovariantLinear(IN, OUT, bias=True), CovariantBatchNorm(IN), SampleNorm(IN)]
    assert max(equivariance_error(layer.to(dtype), IN) for layer in layers) < most


@pytest.mark.parametrize("kind", ["scalars", "power"])
def test_invariants_do_not_turn(kind):
    invariants = Invariants([IN], kind=kind)
    assert equivariance_error(lambda fragments: invariants([fragments]), IN) < 1e-6


def test_a_layer_that_mixes_orders_is_found_out():
    from vicinal.sphere import Fragments

    def shift(fragments: Fragments) -> Fragments:
        return Fragments(IN, fragments.packed.roll(1, dims=0))

    assert equivariance_error(shift, IN) > 0.1


@pytest.mark.parametrize("l_max", [12, 20])
def test_high_degrees_turn_too(l_max):
    torch.manual_seed(0)
    layer = ClebschGordanLayer(
        FragmentType.uniform(1, l_max), FragmentType([2, 1, 1]), pairs="unordered"
    ).double()
    assert equivariance_error(layer, layer.type_in, n_rotations=3) < 1e-12


@pytest.mark.parametrize("n_layers", [5, 12])
def test_rounding_does_not_build_up_in_double_precision(n_layers):
    torch.manual_seed(0)
    kind = FragmentType([4, 3, 3, 2])
    stack = torch.nn.Sequential(
        *(
            torch.nn.Sequential(ClebschGordanLayer(kind, kind), SampleNorm(kind))
            for _ in range(n_layers)
        )
    ).double()
    assert equivariance_error(stack, kind) < 1e-12
