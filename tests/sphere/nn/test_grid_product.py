"""Products on a grid are exact, turn with their input, and have derivatives of any order."""

from __future__ import annotations

import math

import pytest
import torch

from vicinal.sphere import (
    ClebschGordanLayer,
    ClebschGordanNet,
    Fragments,
    FragmentType,
    clebsch_gordan,
    equivariance_error,
    load_network,
)
from vicinal.sphere.nn import save_network
from vicinal.sphere.nn._grid_product import GridProduct, profiles


def unit_product(l1: int, l2: int, l_max: int, *, odd: bool) -> GridProduct:
    """One product of the first channel of l1 with the first of l2, brackets apart from values."""
    kind = FragmentType.uniform(1, l_max)
    out = FragmentType.uniform(2 if odd else 1, l_max)
    layer = GridProduct(kind, out, rank=1, odd=odd).double()
    with torch.no_grad():
        for l, weight in enumerate(layer.mix_in):
            weight.zero_()
            weight[0, 0, 0], weight[0, 1, 0] = float(l == l1), float(l == l2)
        for weight in layer.mix_out:
            weight.zero_()
            for stream in range(weight.shape[0]):
                weight[stream, stream, 0] = 1
    return layer


@pytest.mark.parametrize(("l1", "l2"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 4), (4, 4)])
def test_values_and_brackets_are_their_closed_forms(l1, l2):
    l_max = 5
    f = Fragments.randn(
        FragmentType.uniform(1, l_max), 3, dtype=torch.float64,
        generator=torch.Generator().manual_seed(0),
    )  # fmt: skip
    with torch.no_grad():
        found = unit_product(l1, l2, l_max, odd=True)(f)
    for l in range(l_max + 1):
        if not abs(l1 - l2) <= l <= l1 + l2:
            assert float(found[l].abs().max()) < 1e-13
            continue
        C = clebsch_gordan(l1, l2, l).to(torch.complex128)
        product = torch.einsum("abm,sa,sb->sm", C, f[l1][..., 0], f[l2][..., 0])
        front = math.sqrt((2 * l1 + 1) * (2 * l2 + 1) / (4 * math.pi * (2 * l + 1)))
        even = front * float(C[l1, l2, l].real)
        torch.testing.assert_close(found[l][..., 0], even * product, rtol=0, atol=1e-13)
        odd = 0.0
        if l1 and l2 and (l1 + l2 + l) % 2:
            root = math.sqrt(l1 * (l1 + 1) * l2 * (l2 + 1))
            odd = front * root * float(C[l1 + 1, l2 - 1, l].real)
        expected = 1j * odd * product
        size = max(1.0, abs(odd))
        assert float((found[l][..., 1] - expected).abs().max()) / size < 1e-13


@pytest.mark.parametrize("l_max", [4, 12, 24])
@pytest.mark.parametrize("options", [{}, {"odd": True}, {"filters": "zonal", "support": 0.6}])
def test_grid_layers_turn_with_their_input(l_max, options):
    torch.manual_seed(0)
    kind = FragmentType.uniform(2, l_max)
    layer = ClebschGordanLayer(kind, kind, pairs="grid", rank=3, residual=True, **options)
    assert equivariance_error(layer.double(), kind, n_rotations=4) < 1e-12
    assert equivariance_error(layer.float(), kind, n_rotations=4) < 1e-5


@pytest.mark.parametrize("odd", [False, True])
def test_real_functions_stay_real_and_give_the_same(odd):
    torch.manual_seed(0)
    kind = FragmentType([3, 2, 2, 1], real=True)
    real = ClebschGordanLayer(kind, kind, pairs="grid", rank=4, odd=odd).double()
    assert equivariance_error(real, kind) < 1e-13
    full = ClebschGordanLayer(kind.as_complex(), kind.as_complex(), pairs="grid", rank=4, odd=odd)
    full.double()
    with torch.no_grad():
        for one, other in zip(full.parameters(), real.parameters(), strict=True):
            one.zero_()
            one[..., 0] = other
    f = Fragments.randn(kind, 5, dtype=torch.float64)
    torch.testing.assert_close(full(f.to_full()).to_real().packed, real(f).packed)


def test_derivatives_exist_twice():
    torch.manual_seed(0)
    kind = FragmentType([2, 1, 1], real=True)
    layer = ClebschGordanLayer(kind, kind, pairs="grid", rank=2, odd=True).double()
    packed = torch.randn(kind.n_rows, 2, dtype=torch.float64, requires_grad=True)

    def product(values):
        return layer(Fragments(kind, values)).packed

    assert torch.autograd.gradcheck(product, (packed,))
    assert torch.autograd.gradgradcheck(product, (packed,))


def test_zonal_filters_are_one_function_of_the_angle_for_all_degrees():
    table = profiles(20, 0.6)
    assert table.shape == (21, 8)
    # A hat at the pole alone: its factors fall slowly, as those of a narrow filter do.
    narrow, wide = profiles(20, 0.2)[:, 0], profiles(20, math.pi)[:, 1]
    assert float(narrow[20] / narrow[0]) > 0.8
    assert float((wide[20] / wide[0]).abs()) < 0.1


def test_networks_on_the_grid_are_saved_and_loaded(tmp_path):
    torch.manual_seed(0)
    kind = FragmentType.uniform(2, 3)
    grid = {"rank": 3, "filters": "zonal", "support": 1.0}
    net = ClebschGordanNet(kind, kind, 2, 3, pairs="grid", grid=grid, width=8).eval()
    save_network(net, tmp_path / "network.pt")
    f = Fragments.randn(kind, 4)
    assert torch.equal(load_network(tmp_path)(f), net(f))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": "grid"}, "needs a rank"),
        ({"pairs": "grid", "rank": 0}, "rank=0"),
        ({"pairs": "grid", "rank": 2, "filters": "local"}, "must be one of free, zonal"),
        ({"pairs": "grid", "rank": 2, "support": 1.0}, "of filters='zonal'"),
        ({"pairs": "grid", "rank": 2, "filters": "zonal", "support": 4.0}, "at most π"),
        ({"pairs": "grid", "rank": 2, "filters": "zonal", "support": 0.0}, "above 0"),
        ({"pairs": "unordered", "rank": 2}, "are for pairs='grid'"),
    ],
)
def test_what_no_grid_can_make_is_refused(options, said):
    kind = FragmentType([2, 2])
    with pytest.raises(ValueError, match=said):
        ClebschGordanLayer(kind, kind, **options)


def test_other_groups_have_no_grid():
    kind = FragmentType("2x0e+2x1o")
    with pytest.raises(ValueError, match="functions on the sphere"):
        ClebschGordanLayer(kind, kind, pairs="grid", rank=2)
