from __future__ import annotations

import pytest
import torch

from vicinal.sphere import (
    ClebschGordanLayer,
    ClebschGordanNet,
    CovariantBatchNorm,
    Fragments,
    FragmentType,
    SampleNorm,
    random_rotations,
)
from vicinal.sphere.nn import fix_statistics

KIND = FragmentType([3, 2, 0, 2])


def draw(batch: int = 50, seed: int = 0, scale: float = 3.0) -> Fragments:
    generator = torch.Generator().manual_seed(seed)
    return scale * Fragments.randn(KIND, batch, dtype=torch.float64, generator=generator)


def variances(fragments: Fragments) -> torch.Tensor:
    """Return the mean square entry of each channel, from the complex tensors."""
    return torch.cat([part.abs().square().mean(dim=(0, 1)) for part in fragments])


def test_in_training_each_channel_is_brought_to_variance_one():
    norm = CovariantBatchNorm(KIND, eps=0).double()
    ones = torch.ones(KIND.n_channels, dtype=torch.float64)
    torch.testing.assert_close(variances(norm(draw())), ones)


def test_in_evaluation_running_variances_are_used():
    norm = CovariantBatchNorm(KIND, momentum=0.4, eps=1e-3).double()
    seen = []
    for seed in range(4):
        norm(draw(seed=seed))
        seen.append(variances(draw(seed=seed)))
    expected = 0.5 * (seen[0] + seen[1])  # the plain mean at first
    for of in seen[2:]:
        expected = 0.6 * expected + 0.4 * of
    torch.testing.assert_close(norm.running_variance, expected)
    norm.eval()
    fragments = draw(batch=1, seed=9)
    channels = torch.sqrt(expected + 1e-3).split(list(KIND.tau))
    for part, plain, scale in zip(norm(fragments), fragments, channels, strict=True):
        torch.testing.assert_close(part, plain / scale)
    torch.testing.assert_close(norm.running_variance, expected)


def test_a_moving_norm_divides_by_the_mean_of_what_it_saw_in_training_too():
    norm = CovariantBatchNorm(KIND, momentum=0.1, eps=0, moving=True).double()
    seen = [variances(draw(seed=seed, scale=1 + seed)) for seed in range(3)]
    for n in range(3):  # the mean of one, two, three batches
        fragments = draw(seed=n, scale=1 + n)
        expected = torch.stack(seen[: n + 1]).mean(0)
        found = norm(fragments)
        torch.testing.assert_close(variances(found), seen[n] / expected)
        torch.testing.assert_close(norm.running_variance, expected)
    torch.testing.assert_close(norm.eval()(fragments).packed, found.packed)


def test_statistics_do_not_depend_on_orientation():
    one, other = CovariantBatchNorm(KIND).double(), CovariantBatchNorm(KIND).double()
    rotations = random_rotations(50, generator=torch.Generator().manual_seed(0))
    plain, turned = one(draw()), other(draw().rotate(rotations))
    torch.testing.assert_close(one.running_variance, other.running_variance, rtol=1e-12, atol=0)
    torch.testing.assert_close(turned.packed, plain.rotate(rotations).packed)


def test_statistics_are_in_the_state_and_nothing_else_is():
    norm = CovariantBatchNorm(KIND)
    norm(draw().to(torch.float32))
    assert set(norm.state_dict()) == {"running_variance", "n_batches"}
    fresh = CovariantBatchNorm(KIND)
    fresh.load_state_dict(norm.state_dict())
    assert torch.equal(fresh.running_variance, norm.running_variance)
    assert not list(norm.parameters())
    assert not SampleNorm(KIND).state_dict()


def test_each_sample_and_degree_is_brought_to_mean_square_one():
    fragments = draw()
    found = SampleNorm(KIND, eps=0.01).double()(fragments)
    for l, part in enumerate(fragments):
        if KIND[l]:
            power = part.abs().square().mean(dim=(1, 2), keepdim=True)
            torch.testing.assert_close(found[l], part / torch.sqrt(power + 0.01))


def test_changing_precision_rounds_no_statistic():
    fragments = draw()
    norm = SampleNorm(FragmentType(KIND), eps=0).double()
    squares = norm(fragments)[3].abs().square().mean(dim=(1, 2))
    torch.testing.assert_close(squares, torch.ones_like(squares), rtol=1e-14, atol=0)


@pytest.mark.parametrize("module", [CovariantBatchNorm, SampleNorm])
def test_gradients_are_those_of_finite_differences(module):
    norm = module(KIND).double()
    packed = draw(3).packed.requires_grad_()
    assert torch.autograd.gradcheck(lambda packed: norm(Fragments(KIND, packed)).packed, [packed])


def test_without_it_the_norms_of_samples_spread_with_depth():
    kind = FragmentType([4, 3, 2])
    torch.manual_seed(0)
    layers = [ClebschGordanLayer(kind, kind) for _ in range(5)]
    batch = [CovariantBatchNorm(kind) for _ in layers]
    spreads = {}
    for sample in (False, True):
        fragments = Fragments.randn(kind, 500, generator=torch.Generator().manual_seed(0))
        for layer, norm in zip(layers, batch, strict=True):
            fragments = norm(layer(fragments))
            fragments = SampleNorm(kind)(fragments) if sample else fragments
        norms = torch.linalg.vector_norm(fragments.packed, dim=0)
        spreads[sample] = (norms.max() / norms.median()).item()
    assert spreads[False] > 100
    assert spreads[True] < 2


@pytest.mark.parametrize("module", [CovariantBatchNorm, SampleNorm])
def test_what_does_not_fit_is_named(module):
    with pytest.raises(ValueError, match=r"takes FragmentType\(\[3, 2, 0, 2\]\), got"):
        module(KIND)(Fragments.zeros(FragmentType([1]), 3))
    with pytest.raises(ValueError, match=r"in torch.float32, its input in torch.float64"):
        module(KIND)(draw())


def test_a_network_with_moving_norms_learns():
    torch.manual_seed(0)
    network = ClebschGordanNet(KIND, FragmentType([4, 3]), 2, n_outputs=2, normalisation="moving")
    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    inputs = draw(40).to(torch.float32)
    targets = (inputs.norms()[:, 1] > inputs.norms()[:, 1].median()).long()
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.cross_entropy(network(inputs), targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.3 * losses[0]


def test_nothing_is_learned_from_no_samples():
    with pytest.raises(ValueError, match="batch of none"):
        CovariantBatchNorm(KIND)(Fragments.zeros(KIND, 0))


def test_fixed_statistics_are_those_of_the_inputs_and_no_batch_changes_them():
    network = ClebschGordanNet(KIND, KIND, 1, n_outputs=2, normalisation="batch").double()
    inputs = draw(200)
    fix_statistics(network, inputs)
    assert network.training
    assert isinstance(network.input_norm, torch.nn.Sequential)
    torch.testing.assert_close(network.input_norm[0].running_variance, variances(inputs))
    features = network.invariants(tuple(network.activations(inputs)))
    torch.testing.assert_close(network.head[0].running_mean, features.mean(0))
    kept = {name: value.clone() for name, value in network.named_buffers()}
    in_training = network(draw(seed=5))
    assert all(torch.equal(kept[name], value) for name, value in network.named_buffers())
    torch.testing.assert_close(in_training, network.eval()(draw(seed=5)))
