"""Claims about whole networks on fragments."""

from __future__ import annotations

import pytest
import torch

from vicinal.sphere import (
    ClebschGordanNet,
    CovariantLinear,
    Fragments,
    FragmentType,
    equivariance_error,
    random_rotations,
)
from vicinal.sphere.nn._head import InvariantBatchNorm

SMALL = FragmentType([3, 2, 2])


def make_net(**options) -> ClebschGordanNet:
    torch.manual_seed(0)
    return ClebschGordanNet(FragmentType.uniform(1, 2), SMALL, 2, 4, width=8, **options)


def test_the_published_network_has_342086_parameters():
    network = ClebschGordanNet.for_mnist()
    assert network.types[1].tau == (12, 7, 6, 5, 4, 4, 4, 4, 3)
    assert sum(parameter.numel() for parameter in network.parameters()) == 342_086


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": "unordered", "residual": True, "invariants": "power"},
        {"pairs": "channelwise"},
        {"real": True, "residual": True},
        {"normalisation": "batch"},
        {"normalisation": "sample"},
        {"normalisation": "none"},
    ],
    ids=str,
)
def test_every_network_is_invariant_to_rounding(options):
    network = make_net(**options)
    assert equivariance_error(network, network.type_in) < 1e-5
    assert equivariance_error(network.double(), network.type_in) < 1e-12


@pytest.mark.parametrize("n_layers", [5, 12])
def test_the_published_network_is_invariant_at_any_depth(n_layers):
    torch.manual_seed(0)
    network = ClebschGordanNet.for_mnist(n_layers=n_layers)
    assert equivariance_error(network, network.type_in) <= 1e-5
    assert equivariance_error(network.double(), network.type_in) <= 1e-12


def test_the_error_of_a_map_that_breaks_the_symmetry_is_large():
    def broken(fragments: Fragments) -> Fragments:
        packed = fragments.packed.clone()
        packed[-1] = 0  # one component of one fragment
        return Fragments(fragments.type, packed)

    assert equivariance_error(broken, SMALL) > 0.01


def test_the_error_counts_nan_as_infinite():
    def spoilt(fragments: Fragments) -> torch.Tensor:
        return fragments.power_spectrum() * float("nan")

    assert equivariance_error(spoilt, SMALL) == float("inf")


def test_measuring_the_error_gives_the_mode_and_the_statistics_back():
    network = make_net().train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    equivariance_error(network, network.type_in)
    assert network.training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_a_training_step_does_not_depend_on_how_samples_are_turned():
    signals = Fragments.randn(FragmentType.uniform(1, 2), 12, dtype=torch.float64)
    turned = signals.rotate(random_rotations(12))
    first, second = make_net().double().train(), make_net().double().train()
    torch.testing.assert_close(first(signals), second(turned), rtol=1e-9, atol=1e-9)
    for name, value in first.state_dict().items():
        torch.testing.assert_close(value, second.state_dict()[name], rtol=1e-9, atol=1e-9)


def test_scores_in_evaluation_are_rounded_once():
    network = make_net().eval()
    signals = Fragments.randn(network.type_in, 5)
    scores = network(signals)
    assert scores.dtype == torch.float32
    exact = network.double()(signals.to(torch.float64))
    torch.testing.assert_close(scores, exact.float(), rtol=0, atol=0)


def test_embeddings_in_evaluation_are_as_exact_as_scores():
    network = make_net().eval()
    signals = Fragments.randn(network.type_in, 5)
    embedded = network.embed(signals)
    assert embedded.dtype == torch.float32
    exact = network.double().embed(signals.to(torch.float64))
    torch.testing.assert_close(embedded, exact.float(), rtol=0, atol=0)


def test_an_error_is_measured_against_the_spread_of_outputs_not_their_size():
    def nearly_constant(fragments: Fragments) -> torch.Tensor:
        # 1,000 in every output; what differs between samples differs by half under rotations.
        return 1000.0 + 0.1 * fragments.packed[:3].T

    assert equivariance_error(nearly_constant, FragmentType([0, 1])) > 0.3


def test_an_output_that_is_always_the_same_has_no_relative_error():
    def constant(fragments: Fragments) -> torch.Tensor:
        return torch.ones(fragments.batch_size, 2)

    with pytest.raises(ValueError, match="the same for every input"):
        equivariance_error(constant, SMALL)


def test_one_rotation_is_enough():
    layer = CovariantLinear(SMALL, SMALL)
    assert equivariance_error(layer, SMALL, n_rotations=1) < 1e-6


def test_embedding_and_scores_fit_together():
    network = make_net().eval()
    signals = Fragments.randn(network.type_in, 5)
    embedded = network.embed(signals)
    assert embedded.shape == (5, network.invariants.n_features)
    torch.testing.assert_close(network.head(embedded), network(signals))


def test_layers_may_have_types_of_their_own():
    network = ClebschGordanNet(
        FragmentType.uniform(1, 4), [FragmentType([4, 3, 2, 1]), FragmentType([6, 1])], n_outputs=2
    )
    assert network(Fragments.randn(network.type_in, 3)).shape == (3, 2)
    assert len(network.layers) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hidden": SMALL}, "n_layers=None"),
        ({"hidden": SMALL, "n_layers": 0}, "n_layers=0"),
        ({"hidden": [SMALL], "n_layers": 2}, "n_layers=2, but hidden lists 1"),
        ({"hidden": SMALL, "n_layers": 1, "normalisation": "layer"}, "normalisation must be"),
        ({"hidden": SMALL, "n_layers": 1, "invariants": "phase"}, "kind must be"),
    ],
)
def test_settings_that_cannot_be_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ClebschGordanNet(FragmentType.uniform(1, 2), **arguments)


def test_fragments_of_another_type_are_refused_with_both_named():
    with pytest.raises(ValueError, match=r"takes FragmentType\(\[1, 1, 1\]\).*\[3, 2, 2\]"):
        make_net()(Fragments.randn(SMALL, 2))


def test_the_state_is_the_same_in_training_and_evaluation():
    network = make_net()
    assert network.train().state_dict().keys() == network.eval().state_dict().keys()
    assert any("running_variance" in name for name in network.state_dict())


def test_batch_norm_alone_is_torchs_own_with_the_plain_mean_of_the_first_batches():
    ours, theirs = InvariantBatchNorm(4), torch.nn.BatchNorm1d(4, momentum=None)
    for _ in range(3):
        values = torch.randn(7, 4)
        torch.testing.assert_close(ours(values), theirs(values))
    torch.testing.assert_close(ours.eval()(values), theirs.eval()(values))


def test_functions_without_parameters_are_judged_in_single_precision():
    seen = []

    def identity(fragments: Fragments) -> Fragments:
        seen.append(fragments.dtype)
        return fragments

    assert equivariance_error(identity, SMALL) < 1e-6
    assert seen[0] == torch.float32


def test_a_linear_layer_is_at_rounding_level():
    layer = CovariantLinear(SMALL, SMALL).double()
    assert equivariance_error(layer, SMALL) < 1e-13
