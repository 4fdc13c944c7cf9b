"""Claims about the frame a signal carries with it, and about the network that looks from there."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal.sphere import (
    Fragments,
    FragmentType,
    FrameNet,
    SphericalTransform,
    equivariance_error,
    random_rotations,
    spherical_harmonics,
)
from vicinal.sphere.nn import _head
from vicinal.sphere.nn._own_frame import orders_of, own_angle, turn_about_pole, turn_to_pole
from vicinal.testing import assert_equivariant

SMALL: dict[str, Any] = {
    "l_max": 6,
    "n_outputs": 3,
    "n_rings": 8,
    "n_sectors": 16,
    "widths": (4, 6, 8),
}


def draw_fragments(batch: int, seed: int = 0, channels: int = 1, l_max: int = 6) -> Fragments:
    generator = torch.Generator().manual_seed(seed)
    kind = FragmentType.uniform(channels, l_max)
    return Fragments.randn(kind, batch, dtype=torch.float64, generator=generator)


def draw_real_fragments(batch: int, seed: int = 0, l_max: int = 6) -> Fragments:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(batch, 1, 16, 16, dtype=torch.float64, generator=generator)
    return SphericalTransform(8, l_max).double()(values)


def in_own_frame(fragments: Fragments) -> torch.Tensor:
    coefficients = turn_to_pole(fragments)
    return turn_about_pole(coefficients, -own_angle(coefficients))


def test_the_centroid_comes_to_lie_above_the_north_pole():
    turned = turn_to_pole(draw_fragments(20))
    assert turned[:, 2].abs().max() < 1e-14  # f̂_1^1
    assert turned[:, 1].real.min() > 0  # f̂_1^0


def test_turning_to_the_pole_is_the_rotation_by_wigner_matrices():
    fragments = draw_real_fragments(1)
    first = fragments[1][0, :, 0]
    x, y, z = -math.sqrt(2) * first[2].real, math.sqrt(2) * first[2].imag, first[1].real
    pole = torch.stack([x, y, z]) / torch.stack([x, y, z]).norm()
    side = torch.linalg.cross(torch.tensor([0.0, 0, 1]).double(), pole)
    across = side / side.norm()
    to_pole = torch.stack([torch.linalg.cross(across, pole), across, pole])
    expected = fragments.rotate(to_pole)
    found = turn_to_pole(fragments)
    for l in range(7):
        start = l * (l + 1) // 2
        assert (found[0, start : start + l + 1, 0] - expected[l][0, l:, 0]).abs().max() < 1e-13


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), channels=st.integers(1, 3), l_max=st.integers(2, 12))
def test_a_signal_looks_the_same_from_its_own_frame_however_it_is_turned(seed, channels, l_max):
    fragments = draw_fragments(3, seed, channels, l_max)
    rotations = random_rotations(3, torch.Generator().manual_seed(seed)).double()
    plain, turned = in_own_frame(fragments), in_own_frame(fragments.rotate(rotations))
    lengths = turn_to_pole(fragments).sum(2)
    moment = lengths[:, [l * (l + 1) // 2 + 1 for l in range(2, min(l_max, 7) + 1)]].sum(1).abs()
    sharpness = min(float(lengths[:, 1].abs().min()), float(moment.min()))  # of the two directions
    assert (plain - turned).abs().max() < 1e-12 / min(sharpness, 1.0)


def test_orders_count_up_within_each_degree():
    assert orders_of(torch.zeros(1, 10, 1)).tolist() == [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]


def test_a_view_shows_the_signals_values_on_its_rings():
    fragments = draw_real_fragments(2)
    net = FrameNet(**SMALL).double()
    coefficients = turn_to_pole(fragments)
    angle = own_angle(coefficients)
    ring, sector = 5, 3
    theta = math.acos(1 - ((ring + 0.5) / 8) ** 2)
    phi = 2 * math.pi * sector / 16 + angle  # a signal turned by −γ shows at φ what was at φ + γ
    full = turn_about_pole(coefficients, torch.zeros(2))
    harmonics = spherical_harmonics(6, torch.tensor(theta).double(), phi)
    value = torch.zeros(2, dtype=torch.float64)
    for l in range(7):
        start = l * (l + 1) // 2
        for m in range(l + 1):
            term = full[:, start + m, 0] * harmonics[:, l * l + l + m]
            value += (1 if m == 0 else 2) * term.real
    torch.testing.assert_close(net.view(fragments)[:, 0, ring, sector], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("around", [(), (5, 7)])
@pytest.mark.parametrize("hidden", [(), (FragmentType([3, 2, 2]), FragmentType([2, 2]))])
def test_scores_do_not_change_when_the_sphere_is_turned(hidden, around):
    torch.manual_seed(0)
    net = FrameNet(**SMALL, hidden=hidden, around=around)
    for _ in range(5):
        net(draw_fragments(30, _).to(torch.float32))  # statistics of its batch norms
    assert equivariance_error(net, net.type_in) < 1e-5
    assert equivariance_error(net.double(), net.type_in) < 1e-12
    assert_equivariant(net, net.type_in)


@pytest.mark.parametrize("around", [(), (5, 7)])
def test_turning_a_view_by_what_pooling_joins_changes_nothing(around):
    torch.manual_seed(0)
    net = FrameNet(**SMALL, around=around, dropout=0.0).eval()
    fragments = draw_real_fragments(4).to(torch.float32)
    joined = 4 * 2 * math.pi / 16
    views = [net.features(net.view(fragments, angle)) for angle in (0.1, 0.1 + joined)]
    torch.testing.assert_close(*views, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("around", "n_seen"), [((), 32), ((5,), 48), ((5, 7), 48)])
def test_opposite_sides_meet_in_the_layers_around(around, n_seen):
    torch.manual_seed(0)
    net = FrameNet(l_max=6, n_outputs=3, n_rings=8, n_sectors=48, around=around).eval()
    views = torch.rand(200, 1, 8, 48, requires_grad=True)
    before_pooling = net.features[:-2](views)
    assert before_pooling.shape[2:] == (1, 12)
    before_pooling[:, :, 0, 6].sum().backward()
    assert views.grad is not None
    assert int((views.grad.abs().sum((0, 1, 2)) > 0).sum()) == n_seen


def test_norms_of_several_processes_are_those_of_one_on_views_too(monkeypatch):
    views = torch.randn(6, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    expected, found = torch.nn.BatchNorm2d(3), _head.InvariantBatchNorm(3)
    monkeypatch.setattr(_head, "count_processes", lambda: 2)
    monkeypatch.setattr(_head, "sum_over_processes", lambda values: values)  # the other has no rows
    torch.testing.assert_close(found(views), expected(views))
    assert found.running_mean is not None
    assert found.running_var is not None
    torch.testing.assert_close(found.running_mean, expected.running_mean)
    torch.testing.assert_close(found.running_var, expected.running_var)


@pytest.mark.parametrize("around", [(), (5, 7)])
@pytest.mark.parametrize("hidden", [(), (FragmentType([3, 2, 2]), FragmentType([2, 2]))])
def test_every_weight_learns(hidden, around):
    torch.manual_seed(0)
    net = FrameNet(**SMALL, hidden=hidden, around=around)
    net(draw_real_fragments(16).to(torch.float32)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())


def test_a_constant_signal_has_scores_though_no_frame():
    net = FrameNet(**SMALL).eval()
    kind = net.type_in
    packed = torch.zeros(kind.n_rows, 2)
    packed[0] = 1.0
    assert torch.isfinite(net(Fragments(kind, packed))).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"l_max": 1}, "l_max=1"),
        ({"n_rings": 10}, "n_rings=10 must be a multiple of four"),
        ({"n_sectors": 0}, "n_sectors=0"),
        ({"n_views": 0}, "n_views=0"),
        ({"around": (8, 0)}, "a layer of 0 channels"),
    ],
)
def test_sizes_that_cannot_be_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        FrameNet(**{**SMALL, **change})


def test_other_fragments_are_refused_by_both_names():
    net = FrameNet(**SMALL)
    with pytest.raises(ValueError, match="got fragments of"):
        net(draw_fragments(2, l_max=5).to(torch.float32))
    with pytest.raises(ValueError, match=r"torch.float32.*torch.float64"):
        net(draw_fragments(2))
