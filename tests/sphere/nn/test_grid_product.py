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
from vicinal.sphere.nn._grid_product import GridProduct
from vicinal.sphere.nn._zonal import profiles


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


def test_degrees_have_equal_shares_in_the_values_at_first():
    torch.manual_seed(0)
    kind = FragmentType.uniform(3, 9)
    layer = GridProduct(kind, kind, rank=200)
    powers = [(2 * l + 1) * float(of.detach().square().mean()) for l, of in enumerate(layer.mix_in)]
    assert max(powers) / min(powers) < 1.3


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
    assert profiles(20, 0.6).shape == (21, 21)
    # A hat at the pole alone: its factors fall slowly, as those of a narrow filter do.
    narrow, wide = profiles(20, 0.1)[:, 0], profiles(20, math.pi)[:, 0]
    assert float(narrow[20] / narrow[0]) > 0.8 > float(wide[20] / wide[0])
    # Bumps at the pole and on a ring, summed over l with P_l, are large there and nowhere else.
    ring = profiles(60, math.pi)[:, 20]
    theta = torch.linspace(0, math.pi, 400, dtype=torch.float64)
    legendre = torch.special.legendre_polynomial_p(theta.cos()[:, None], torch.arange(61.0))
    function = (legendre * (2 * torch.arange(61) + 1) * ring).sum(1)
    assert abs(float(theta[function.argmax()]) - 20 / 61 * math.pi) < 0.02
    elsewhere = function[(theta - 20 / 61 * math.pi).abs() > 0.3]
    assert float(elsewhere.abs().max() / function.max()) < 0.2


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
        ({"pairs": "unordered", "filters": "zonal"}, "for grid and channelwise products"),
        ({"pairs": "channelwise", "support": 1.0}, "of filters='zonal'"),
    ],
)
def test_what_no_grid_can_make_is_refused(options, said):
    kind = FragmentType([2, 2])
    with pytest.raises(ValueError, match=said):
        ClebschGordanLayer(kind, kind, **options)


@pytest.mark.parametrize("options", [{"pairs": "grid", "rank": 2}, {"pairs": "channelwise"}])
def test_other_groups_have_no_grid_and_no_zonal_filters(options):
    kind = FragmentType("2x0e+2x1o")
    with pytest.raises(ValueError, match="functions on the sphere"):
        ClebschGordanLayer(kind, kind, filters="zonal", **options)


@pytest.mark.parametrize("real", [False, True])
def test_channelwise_zonal_products_are_those_of_convolved_channels(real):
    torch.manual_seed(0)
    type_in, type_out = (FragmentType(tau, real=real) for tau in ([2, 3, 2], [2, 1, 2]))
    options = {"pairs": "channelwise", "filters": "zonal", "support": 2.0}
    layer = ClebschGordanLayer(type_in, type_out, **options).double()
    assert equivariance_error(layer, type_in) < 1e-12
    f = Fragments.randn(type_in, 4, dtype=torch.float64)
    parts = f.to_complex()
    # Written out: convolve with both profiles, multiply in either order, convolve once more.
    zonal = layer.zonal
    profile = zonal.profile.double()
    factors = torch.einsum("lk,kfi->lfi", profile, zonal.factors)
    mixing = torch.einsum("lk,kic...->lic...", profile, zonal.mixing)
    mixing = mixing.to(torch.complex128) if real else torch.view_as_complex(mixing.contiguous())
    for l, found in enumerate(layer(f).to_complex()):
        expected = torch.zeros_like(found)
        for l1 in range(3):
            for l2 in range(3):
                if not abs(l1 - l2) <= l <= l1 + l2:
                    continue
                C = clebsch_gordan(l1, l2, l).to(torch.complex128)
                C = C * (1j if real and (l1 + l2 + l) % 2 else 1)
                for i in range(min(type_in[l1], type_in[l2])):
                    weight = factors[l1, 0, i] * factors[l2, 1, i]
                    one, other = parts[l1][..., i], parts[l2][..., i]
                    product = torch.einsum("abm,sa,sb->sm", C, one, other)
                    expected += weight * product[..., None] * mixing[l, i, : found.shape[-1]]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
