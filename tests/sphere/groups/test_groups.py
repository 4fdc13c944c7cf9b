"""Claims about groups: their algebra, their Clebsch–Gordan tensors, and layers on any of them."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from vicinal.sphere import (
    O2,
    O3,
    SO2,
    SO3,
    SU2,
    ClebschGordanLayer,
    ClebschGordanNet,
    CovariantBatchNorm,
    CovariantLinear,
    DirectProduct,
    Fragments,
    FragmentType,
    Group,
    Invariants,
    SampleNorm,
    clebsch_gordan,
    equivariance_error,
    load_network,
    quaternion_to_matrix,
    wigner_d,
)
from vicinal.sphere.groups import spin_matrix
from vicinal.sphere.nn import save_network
from vicinal.testing import assert_equivariant


class Tetrahedral(Group):
    """The twelve turns of a tetrahedron, whose 3 ⊗ 3 = 1 + 1' + 1'' + 2 · 3."""

    irreps = ("1", "1'", "1''", "3")

    def dim(self, irrep):
        return 3 if irrep == "3" else 1

    def product(self, first, second):
        if first == second == "3":
            return ["1", "1'", "1''", "3"]
        if "3" in (first, second):
            return ["3"]
        return [self.irreps[(first.count("'") + second.count("'")) % 3]]

    def sample(self, n, generator=None):
        turns = torch.tensor([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)
        signs = torch.tensor([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]).double()
        which = torch.randint(4, (n,), generator=generator)
        powers = torch.randint(3, (n,), generator=generator)
        cycles = torch.stack([torch.eye(3, dtype=torch.float64), turns, turns @ turns])
        return torch.diag_embed(signs[which]) @ cycles[powers]

    def matrix(self, irrep, elements):
        if irrep == "3":
            return elements + 0j
        # The cycle that a turn makes of the axes.
        step = elements[:, 0].abs().argmax(-1)
        return torch.exp(2j * torch.pi * irrep.count("'") * step.double() / 3)[:, None, None]


GROUPS: dict[str, tuple[Group, list[Any]]] = {
    "SO2": (SO2(), [0, 1, -1, 2, -3]),
    "O2": (O2(), ["0e", "0o", "1", "2", "3"]),
    "SO3": (SO3(), [0, 1, 2, 3]),
    "O3": (O3(), ["0e", "0o", "1e", "1o", "2e"]),
    "SU2": (SU2(), [0, 0.5, 1, 1.5, 2]),
    "O2×SU2": (DirectProduct(O2(), SU2()), [("0e", 0), ("1", 0.5), ("2", 0), ("0o", 1)]),
    "tetrahedral": (Tetrahedral(), list(Tetrahedral.irreps)),
}
ALL = pytest.mark.parametrize("name", GROUPS)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@ALL
def test_matrices_are_unitary_and_multiply_as_the_elements_do(name):
    group, irreps = GROUPS[name]
    one, other = group.sample(20, seeded(1)), group.sample(20, seeded(2))
    for irrep in irreps:
        first, second = group.matrix(irrep, one), group.matrix(irrep, other)
        d = group.dim(irrep)
        assert first.shape == (20, d, d)
        eye = torch.eye(d, dtype=torch.complex128).expand(20, -1, -1)
        torch.testing.assert_close(first @ first.mH, eye, rtol=0, atol=1e-13)
        both = group.matrix(irrep, group.compose(one, other))
        torch.testing.assert_close(first @ second, both, rtol=0, atol=1e-13)


@ALL
def test_characters_of_different_irreps_are_orthogonal(name):
    group, irreps = GROUPS[name]
    elements = group.sample(20_000, seeded())
    traces = torch.stack([group.matrix(i, elements).diagonal(0, -2, -1).sum(-1) for i in irreps])
    moments = traces.conj() @ traces.T / 20_000
    assert float((moments - torch.eye(len(irreps))).abs().max()) < 0.1


@ALL
def test_tensors_take_products_apart_into_irreps(name):
    group, irreps = GROUPS[name]
    elements = group.sample(10, seeded(3))
    for first, second in itertools.product(irreps, repeat=2):
        paths = group.paths(first, second)
        assert sum(group.dim(p.irrep) for p in paths) == group.dim(first) * group.dim(second)
        matrices = []
        for path in paths:
            C = group.cg(first, second, path.irrep)[path.copy].to(torch.complex128)
            C = C.flatten(0, 1)
            matrices.append(C)
            one, other = group.matrix(first, elements), group.matrix(second, elements)
            both = torch.einsum("nij,nkl->nikjl", one, other).flatten(1, 2).flatten(2, 3)
            expected = group.matrix(path.irrep, elements)
            torch.testing.assert_close(C.mH @ both @ C, expected, rtol=0, atol=1e-12)
        whole = torch.cat(matrices, 1)
        eye = torch.eye(len(whole), dtype=torch.complex128)
        torch.testing.assert_close(whole.mH @ whole, eye, rtol=0, atol=1e-12)


@ALL
def test_swapping_factors_changes_a_sign_at_most(name):
    group, irreps = GROUPS[name]
    for first, second in itertools.product(irreps, repeat=2):
        for path in group.paths(first, second):
            one = group.cg(first, second, path.irrep)[path.copy]
            other = group.cg(second, first, path.irrep)[path.copy]
            torch.testing.assert_close(other, path.sign * one.transpose(0, 1), rtol=0, atol=1e-13)


def test_spin_tensors_are_those_of_sympy():
    from sympy import Rational
    from sympy.physics.quantum.cg import CG

    for a, b, c in [(1, 1, 2), (1, 2, 3), (3, 2, 1), (3, 3, 4), (4, 3, 5)]:
        table = SU2().cg(a / 2, b / 2, c / 2)[0]
        for i, j in itertools.product(range(a + 1), range(b + 1)):
            k = i + j - (a + b - c) // 2
            if 0 <= k <= c:
                spins = [Rational(2 * n - top, 2) for n, top in ((i, a), (j, b), (k, c))]
                halves = [Rational(n, 2) for n in (a, b, c)]
                pairs = itertools.chain(*zip(halves, spins, strict=True))
                assert float(table[i, j, k]) == pytest.approx(float(CG(*pairs).doit()), abs=1e-15)


def test_whole_spins_are_rotations():
    q = torch.randn(5, 4, generator=seeded(), dtype=torch.float64)
    q = q / q.norm(dim=1, keepdim=True)
    for l in range(4):
        torch.testing.assert_close(
            SU2().matrix(l, spin_matrix(q)), wigner_d(l, quaternion_to_matrix(q)),
            rtol=0, atol=1e-13,
        )  # fmt: skip
    torch.testing.assert_close(SU2().cg(1, 2, 3)[0], clebsch_gordan(1, 2, 3))


def test_a_null_space_finds_the_tensors_of_rotations():
    for l1, l2, l in [(1, 1, 0), (1, 1, 1), (2, 1, 2), (2, 2, 3)]:
        tensors = Group.cg(SO3(), l1, l2, l)
        assert len(tensors) == 1
        overlap = (tensors[0].conj() * clebsch_gordan(l1, l2, l)).sum().abs() / (2 * l + 1)
        assert float(overlap) == pytest.approx(1, abs=1e-12)
        assert Group.signs(SO3(), l1, l2, l) in ((1,), (-1,))


@ALL
@pytest.mark.parametrize("pairs", ["ordered", "unordered", "channelwise"])
def test_layers_commute_with_every_group(name, pairs):
    group, irreps = GROUPS[name]
    torch.manual_seed(0)
    kind = FragmentType(dict(zip(irreps, (3, 2, 2, 1, 2), strict=False)), group)
    layer = ClebschGordanLayer(kind, kind, pairs=pairs, residual=True).double()
    stack = torch.nn.Sequential(
        CovariantLinear(kind, kind, bias=True).double(),
        CovariantBatchNorm(kind).double(),
        layer,
        SampleNorm(kind).double(),
    )
    assert equivariance_error(stack, kind) < 1e-13
    assert_equivariant(stack.float(), kind)


@ALL
def test_networks_of_every_group_are_invariant(name):
    group, irreps = GROUPS[name]
    kind = FragmentType(dict.fromkeys(irreps, 2), group)
    net = ClebschGordanNet(kind, kind, 2, 3, invariants="cross", width=8).double()
    assert equivariance_error(net, kind) < 1e-12


def test_a_pseudoscalar_is_no_invariant_but_its_square_is():
    kind = FragmentType("2x0e+3x0o+1x1o")
    assert Invariants([kind]).n_features == 4
    assert Invariants([kind], kind="power").n_features == 4 + 3 + 1
    assert equivariance_error(lambda f: Invariants([kind], kind="cross")([f]), kind) < 1e-6


@pytest.mark.parametrize("pairs", ["ordered", "unordered", "channelwise"])
def test_the_kernel_multiplies_with_parity_as_plain_torch_does(pairs):
    torch.manual_seed(0)
    kind = FragmentType("3x0e+2x0o+2x1e+3x1o+2x2e+1x3o")
    fast = ClebschGordanLayer(kind, kind, pairs=pairs, backend="numba").double()
    slow = ClebschGordanLayer(kind, kind, pairs=pairs, backend="torch").double()
    slow.load_state_dict(fast.state_dict())
    f = Fragments.randn(kind, 9, dtype=torch.float64)
    torch.testing.assert_close(fast(f).packed, slow(f).packed, rtol=1e-12, atol=1e-12)
    assert equivariance_error(fast, kind) < 1e-13


def test_parity_leaves_out_what_it_forbids():
    vectors, axial = FragmentType("2x1o"), FragmentType("1x1e")
    ClebschGordanLayer(vectors, axial)
    with pytest.raises(ValueError, match="has degree 1o"):
        ClebschGordanLayer(vectors, vectors)


def test_fragments_of_rotations_are_those_of_mirrors_without_them():
    """Restricted to rotations, a layer of O(3) is one of SO(3) with some weights zero."""
    torch.manual_seed(0)
    kind = FragmentType("2x0e+2x1o")
    layer = ClebschGordanLayer(kind, kind, pairs="unordered").double()
    f = Fragments.randn(kind, 4, dtype=torch.float64)
    R = SO3().sample(4, seeded())
    torch.testing.assert_close(layer(f.rotate(R)).packed, layer(f).rotate(R).packed)
    plain = Fragments(FragmentType([2, 2]), f.packed)
    torch.testing.assert_close(plain.rotate(R).packed, f.rotate(R).packed)


def test_types_of_any_group_are_values_and_networks_of_named_ones_files(tmp_path):
    kind = FragmentType({0.5: 2, 1: 3}, SU2)
    assert kind == FragmentType("SU2: 2x1/2+3x1")
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert kind.dims == (2, 3)
    assert kind != FragmentType([0, 3])
    torch.manual_seed(0)
    net = ClebschGordanNet(FragmentType("2x0e+2x1o"), FragmentType("2x0e+2x1o"), 1, 2).eval()
    save_network(net, tmp_path / "network.pt")
    f = Fragments.randn(net.type_in, 3)
    assert torch.equal(load_network(tmp_path)(f), net(f))


class Broken(Tetrahedral):
    def __init__(self, matrix, product=None):
        self._matrix, self._product = matrix, product

    def matrix(self, irrep, elements):
        return self._matrix(super().matrix(irrep, elements))

    def product(self, first, second):
        return self._product or super().product(first, second)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (Broken(lambda m: 2 * m), "not unitary"),
        (Broken(lambda m: m.mT.conj()), "no representation"),
        (Broken(lambda m: m[..., :1, :]), "must be"),
        (Broken(lambda m: m, ["1"]), "names parts of 1 dimensions"),
    ],
)
def test_matrices_that_represent_nothing_are_refused(group, said):
    with pytest.raises(ValueError, match=said):
        ClebschGordanLayer(FragmentType({"3": 2}, group), FragmentType({"1": 1}, group))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FragmentType({"1z": 1}, O3()), "no irrep of O3"),
        (lambda: FragmentType({0.3: 1}, SU2()), "no irrep of SU2"),
        (lambda: FragmentType({-1: 1}), "no irrep of SO3"),
        (lambda: FragmentType({"0": 1}, O2()), "no irrep of O2"),
        (lambda: FragmentType({1.5: 1}, SO2()), "no irrep of SO2"),
        (lambda: FragmentType({"x": 1}, Tetrahedral()), "there are 1, 1', 1'', 3"),
        (lambda: FragmentType("SU5: 1x1"), "no group 'SU5'"),
        (lambda: SO3().cg(1, 1, 3), "no 3 in the product of 1 and 1"),
        (lambda: SU2().cg(0.5, 0.5, 0.5), "no 1/2 in the product"),
        (lambda: O3().cg("1o", "1o", "1o"), "no '1o' in the product"),
        (lambda: CovariantLinear(FragmentType([1]), FragmentType("1x0e")), "SO3 and .* of O3"),
        (
            lambda: CovariantLinear(FragmentType([1], SU2()), FragmentType([1], SU2()), real=True),
            "real=True is for functions on the sphere",
        ),
        (
            lambda: ClebschGordanLayer(
                FragmentType([1], SU2()), FragmentType([1], SU2()), backend="numba"
            ),
            "numba backend is for SO3 and O3",
        ),
    ],
)
def test_what_no_group_has_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


class Triangle(Group):
    """The turns and mirrors of a triangle, by real matrices."""

    irreps = ("1", "sign", "2")

    def dim(self, irrep):
        return 2 if irrep == "2" else 1

    def product(self, first, second):
        if first == second == "2":
            return ["1", "sign", "2"]
        if "2" in (first, second):
            return ["2"]
        return ["1" if first == second else "sign"]

    def sample(self, n, generator=None):
        angle = torch.randint(3, (n,), generator=generator).double() * 2 * torch.pi / 3
        turns = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1)
        mirror = torch.randint(2, (n, 1), generator=generator).double() * 2 - 1
        turns = turns.unflatten(-1, (2, 2))
        return torch.stack([turns[..., 0], turns[..., 1] * mirror], -1)

    def matrix(self, irrep, elements):
        if irrep == "2":
            return elements
        sign = torch.linalg.det(elements)[:, None, None]
        return sign if irrep == "sign" else torch.ones_like(sign)


def test_matrices_of_a_group_may_be_real():
    torch.manual_seed(0)
    for group, labels in [
        (Triangle(), Triangle.irreps),
        (DirectProduct(Triangle(), SU2()), [("1", 0), ("2", 0.5), ("sign", 1)]),
    ]:
        kind = FragmentType(dict.fromkeys(labels, 2), group)
        layer = ClebschGordanLayer(kind, kind, pairs="unordered").double()
        assert equivariance_error(layer, kind) < 1e-13


def test_groups_of_one_class_are_one_group_unless_they_keep_something():
    assert FragmentType({"2": 1}, Triangle()) == FragmentType({"2": 1}, Triangle())
    CovariantLinear(FragmentType({"2": 1}, Triangle()), FragmentType({"2": 2}, Triangle()))
    assert Triangle() != Tetrahedral()
    kept = Broken(lambda m: m)
    assert kept == kept
    assert kept != Broken(lambda m: m)


def test_haar_samples_of_mirrors_are_half_mirrors():
    shares = [float((torch.linalg.det(g.sample(4000, seeded())) < 0).double().mean())
              for g in (O2(), O3())]  # fmt: skip
    np.testing.assert_allclose(shares, 0.5, atol=0.03)
