"""Groups that turn and mirror the plane and space, the spins' group, and products of groups."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi
from typing import Any

import torch
from torch import Tensor

from vicinal.sphere.groups._clebsch_gordan import coefficients_of
from vicinal.sphere.groups._group import Group
from vicinal.sphere.groups._rotations import random_rotations
from vicinal.sphere.groups._wigner import wigner_d_all

_PARITY = re.compile(r"(\d+)([eo])")


@dataclass(frozen=True)
class SO2(Group):
    """Turns of the plane; irreps are the waves k = 0, 1, −1, 2, …: exp(−ikα).

    Elements are rotation matrices (..., 2, 2).
    """

    def irrep(self, index: int) -> int:
        """Return 0, 1, −1, 2, −2, …."""
        return (index + 1) // 2 * (1 if index % 2 else -1)

    def label(self, irrep: object) -> int:
        """Return the wave number of a whole number or of its text."""
        return _whole(irrep, self.name, "whole numbers")

    def dim(self, irrep: Any) -> int:
        """Return 1."""
        return 1

    def product(self, first: int, second: int) -> list[int]:
        """Return the sum of the wave numbers."""
        return [first + second]

    def matrix(self, irrep: int, elements: Tensor) -> Tensor:
        """Return exp(−ikα)."""
        e = elements.to(torch.float64)
        wave = torch.complex(e[..., 0, 0], -e[..., 1, 0] if irrep > 0 else e[..., 1, 0])
        return (wave ** abs(irrep))[..., None, None]

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw angles uniformly."""
        angle = 2 * pi * torch.rand(n, generator=generator, dtype=torch.float64)
        rows = [[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]]
        return torch.stack([torch.stack(row, -1) for row in rows], -2)

    def cg(self, first: int, second: int, third: int) -> Tensor:
        """Return 1: waves multiply to a wave."""
        if first + second != third:
            raise ValueError(f"no {third} in the product of {first} and {second}: SO2.")
        return torch.ones(1, 1, 1, 1, dtype=torch.complex128)

    def signs(self, first: int, second: int, third: int) -> tuple[int, ...]:
        """Return 1: waves commute."""
        return (1,)


@dataclass(frozen=True)
class O2(Group):
    """Turns and mirrors of the plane; irreps "0e", "0o" (the determinant), "1", "2", ….

    Irrep "k" acts on the waves (exp(ikφ), exp(−ikφ)): a turn by α as (exp(−ikα), exp(ikα)), the
    mirror φ ↦ −φ by swapping them. Elements are orthogonal matrices (..., 2, 2).
    """

    def irrep(self, index: int) -> str:
        """Return "0e", "0o", "1", "2", …."""
        return ("0e", "0o")[index] if index < 2 else str(index - 1)

    def label(self, irrep: object) -> str:
        """Return the label; whole numbers above zero stand for waves."""
        text = str(irrep)
        if text in ("0e", "0o") or (text.isdecimal() and int(text) > 0):
            return text
        raise ValueError(f"{irrep!r} is no irrep of O2; there are 0e, 0o, 1, 2, ….")

    def dim(self, irrep: str) -> int:
        """Return 1 of "0e" and "0o", 2 of waves."""
        return 1 if self._wave(irrep) == 0 else 2

    def _wave(self, irrep: object) -> int:
        return int(self.label(irrep).rstrip("eo"))

    def product(self, first: str, second: str) -> list[str]:
        """Return sum and difference of the waves; equal ones give both irreps of dimension 1."""
        (a, b), texts = map(self._wave, (first, second)), (self.label(first), self.label(second))
        if not (a and b):
            odd = sum(text.endswith("o") for text in texts) % 2
            return [str(a + b)] if a + b else ["0o" if odd else "0e"]
        return [*(["0e", "0o"] if a == b else [str(abs(a - b))]), str(a + b)]

    def matrix(self, irrep: str, elements: Tensor) -> Tensor:
        """Return the matrices."""
        e = elements.to(torch.float64)
        flips = torch.linalg.det(e) < 0
        k = self._wave(irrep)
        if not k:
            signs = torch.where(flips, -1.0, 1.0) if self.label(irrep) == "0o" else flips * 0.0 + 1
            return signs.to(torch.complex128)[..., None, None]
        wave = torch.complex(e[..., 0, 0], -e[..., 1, 0]) ** k
        turns = torch.diag_embed(torch.stack([wave, wave.conj()], -1))
        return torch.where(flips[..., None, None], turns.flip(-1), turns)

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw a turn, and toss for a mirror."""
        turns = SO2().sample(n, generator)
        mirrored = torch.randint(2, (n, 1), generator=generator).to(turns) * 2 - 1
        return torch.stack([turns[..., 0], turns[..., 1] * mirrored], -1)


@dataclass(frozen=True)
class SO3(Group):
    """Rotations of space; irreps are the degrees l = 0, 1, …, by Wigner's D^l.

    Elements are rotation matrices (..., 3, 3).
    """

    def irrep(self, index: int) -> int:
        """Return l."""
        return index

    def label(self, irrep: object) -> int:
        """Return the degree of a whole number or of its text."""
        return _whole(irrep, self.name, "degrees 0, 1, 2, …", least=0)

    def dim(self, irrep: Any) -> int:
        """Return 2l + 1."""
        return 2 * self.label(irrep) + 1

    def degree(self, irrep: Any) -> int:
        """Return l."""
        return self.label(irrep)

    def product(self, first: int, second: int) -> Sequence[int]:
        """Return |l1 − l2|, …, l1 + l2."""
        return range(abs(first - second), first + second + 1)

    def matrix(self, irrep: int, elements: Tensor) -> Tensor:
        """Return D^l(R)."""
        return self.matrices([irrep], elements)[0]

    def matrices(self, irreps: Sequence[int], elements: Tensor) -> list[Tensor]:
        """Return the D^l(R) of several degrees in one pass."""
        wigner = wigner_d_all(max(irreps), elements.to(torch.float64))
        return [wigner[l] for l in irreps]

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw rotations from the Haar distribution."""
        return random_rotations(n, generator)

    def cg(self, first: int, second: int, third: int) -> Tensor:
        """Return ⟨l1 m1 l2 m2 | l m⟩, (1, 2l1 + 1, 2l2 + 1, 2l + 1)."""
        spins = tuple(2 * self.label(of) for of in (first, second, third))
        return _spin_tensor(self, spins)

    def signs(self, first: int, second: int, third: int) -> tuple[int, ...]:
        """Return (−1)^(l1 + l2 − l)."""
        return ((-1) ** (first + second - third),)


@dataclass(frozen=True)
class O3(Group):
    """Rotations and mirrors of space; irreps "0e", "0o", "1e", "1o", …: degree and parity.

    The inversion x ↦ −x acts as 1 on "e" and as −1 on "o": vectors are "1o", axial ones "1e".
    Elements are orthogonal matrices (..., 3, 3).
    """

    def irrep(self, index: int) -> str:
        """Return "0e", "0o", "1e", …."""
        return f"{index // 2}{'eo'[index % 2]}"

    def label(self, irrep: object) -> str:
        """Return the label, or refuse what has no degree and parity."""
        if _PARITY.fullmatch(str(irrep)) is None:
            raise ValueError(f"{irrep!r} is no irrep of O3; there are 0e, 0o, 1e, 1o, ….")
        return str(irrep)

    def dim(self, irrep: str) -> int:
        """Return 2l + 1."""
        return 2 * self.degree(irrep) + 1

    def degree(self, irrep: str) -> int:
        """Return l."""
        return int(self.label(irrep)[:-1])

    def product(self, first: str, second: str) -> list[str]:
        """Return the degrees |l1 − l2|, …, l1 + l2, with the product of the parities."""
        parity = "e" if self.label(first)[-1] == self.label(second)[-1] else "o"
        degrees = SO3().product(self.degree(first), self.degree(second))
        return [f"{l}{parity}" for l in degrees]

    def matrix(self, irrep: str, elements: Tensor) -> Tensor:
        """Return D^l of the rotation, with the parity's sign where space is mirrored."""
        return self.matrices([irrep], elements)[0]

    def matrices(self, irreps: Sequence[str], elements: Tensor) -> list[Tensor]:
        """Return the matrices of several irreps in one pass."""
        elements = elements.to(torch.float64)
        mirrored = torch.linalg.det(elements).sign()[..., None, None]
        wigner = wigner_d_all(max(map(self.degree, irreps)), elements * mirrored)
        parts = ((wigner[self.degree(of)], of[-1] == "o") for of in irreps)
        return [part * mirrored if odd else part for part, odd in parts]

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw a rotation, and toss for the inversion."""
        signs = torch.randint(2, (n, 1, 1), generator=generator).double() * 2 - 1
        return random_rotations(n, generator) * signs

    def cg(self, first: str, second: str, third: str) -> Tensor:
        """Return ⟨l1 m1 l2 m2 | l m⟩ where the parities allow it."""
        if self.label(third) not in self.product(first, second):
            raise ValueError(f"no {third!r} in the product of {first!r} and {second!r}: O3.")
        return SO3().cg(*map(self.degree, (first, second, third)))

    def signs(self, first: str, second: str, third: str) -> tuple[int, ...]:
        """Return (−1)^(l1 + l2 − l)."""
        return SO3().signs(*map(self.degree, (first, second, third)))


@dataclass(frozen=True)
class SU2(Group):
    """Spins: irreps j = 0, 1/2, 1, …, on orders m = −j, …, j; j = l is a rotation's degree.

    Elements are unitary matrices (..., 2, 2) of determinant 1, rows and columns m = 1/2, −1/2.
    """

    def irrep(self, index: int) -> Fraction:
        """Return half the index."""
        return Fraction(index, 2)

    def label(self, irrep: object) -> Fraction:
        """Return the spin as a fraction; 0.5 and "1/2" are read."""
        try:
            spin = Fraction(str(irrep))
        except (ValueError, ZeroDivisionError):
            spin = Fraction(-1)
        if spin < 0 or (2 * spin).denominator != 1:
            raise ValueError(f"{irrep!r} is no irrep of SU2; there are 0, 1/2, 1, 3/2, ….")
        return spin

    def dim(self, irrep: Any) -> int:
        """Return 2j + 1."""
        return int(2 * self.label(irrep)) + 1

    def product(self, first: Any, second: Any) -> list[Fraction]:
        """Return |j1 − j2|, …, j1 + j2."""
        a, b = self.label(first), self.label(second)
        return [abs(a - b) + step for step in range(int(a + b - abs(a - b)) + 1)]

    def matrix(self, irrep: Any, elements: Tensor) -> Tensor:
        """Return the matrix of spin j, by D^j = Cᵀ [D^(j − 1/2) ⊗ D^(1/2)] C."""
        one = elements.to(torch.complex128).flip(-1, -2)
        matrix = torch.ones(*one.shape[:-2], 1, 1, dtype=one.dtype)
        for n in range(1, self.dim(irrep)):
            C = coefficients_of(n - 1, 1, n).to(one.dtype)
            matrix = torch.einsum("abi,...ac,...bd,cdj->...ij", C, matrix, one, C)
        return matrix

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw unit quaternions uniformly."""
        q = torch.randn(n, 4, generator=generator, dtype=torch.float64)
        return spin_matrix(q / torch.linalg.vector_norm(q, dim=1, keepdim=True))

    def cg(self, first: Any, second: Any, third: Any) -> Tensor:
        """Return ⟨j1 m1 j2 m2 | j m⟩, (1, 2j1 + 1, 2j2 + 1, 2j + 1)."""
        spins = tuple(int(2 * self.label(of)) for of in (first, second, third))
        return _spin_tensor(self, spins)

    def signs(self, first: Any, second: Any, third: Any) -> tuple[int, ...]:
        """Return (−1)^(j1 + j2 − j)."""
        return ((-1) ** int(self.label(first) + self.label(second) - self.label(third)),)


@dataclass(frozen=True)
class DirectProduct(Group):
    """Pairs of elements of two groups; irreps are pairs of labels, matrices Kronecker products."""

    first: Group
    second: Group

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first.name}×{self.second.name}"

    def irrep(self, index: int) -> Hashable:
        """Return the trivial pair; all others are named by their labels."""
        if index:
            raise ValueError(f"irreps of {self.name} are named by pairs of labels.")
        return (self.first.trivial, self.second.trivial)

    def label(self, irrep: object) -> tuple[Hashable, Hashable]:
        """Return a pair of labels."""
        if not isinstance(irrep, tuple) or len(irrep) != 2:
            raise ValueError(f"{irrep!r} is no irrep of {self.name}, which are pairs of labels.")
        return self.first.label(irrep[0]), self.second.label(irrep[1])

    def dim(self, irrep: Any) -> int:
        """Return the product of both dimensions."""
        return self.first.dim(irrep[0]) * self.second.dim(irrep[1])

    def product(self, first: Any, second: Any) -> list[tuple[Any, Any]]:
        """Return all pairs of what both products contain."""
        one, other = (
            group.product(a, b)
            for group, a, b in zip((self.first, self.second), first, second, strict=True)
        )
        return [(a, b) for a in one for b in other]

    def matrix(self, irrep: Any, elements: Any) -> Tensor:
        """Return the Kronecker products of both matrices."""
        (one,) = self.first.matrices([irrep[0]], elements[0])
        (other,) = self.second.matrices([irrep[1]], elements[1])
        pairs = torch.einsum("...ij,...kl->...ikjl", one, other)
        return pairs.flatten(-4, -3).flatten(-2, -1)

    def sample(self, n: int, generator: torch.Generator | None = None) -> tuple[Any, Any]:
        """Draw from both."""
        return self.first.sample(n, generator), self.second.sample(n, generator)

    def compose(self, first: Any, second: Any) -> tuple[Any, Any]:
        """Compose in both."""
        return self.first.compose(first[0], second[0]), self.second.compose(first[1], second[1])

    def cg(self, first: Any, second: Any, third: Any) -> Tensor:
        """Return the Kronecker products of both tensors, for each pair of copies."""
        one = self.first.cg(first[0], second[0], third[0]).to(torch.complex128)
        other = self.second.cg(first[1], second[1], third[1]).to(torch.complex128)
        pairs = torch.einsum("pabc,qdef->pqadbecf", one, other)
        return pairs.flatten(0, 1).flatten(1, 2).flatten(2, 3).flatten(3, 4)

    def signs(self, first: Any, second: Any, third: Any) -> tuple[int, ...]:
        """Return the products of both signs."""
        one = self.first.signs(first[0], second[0], third[0])
        other = self.second.signs(first[1], second[1], third[1])
        return tuple(a * b for a in one for b in other)


def spin_matrix(quaternions: Tensor) -> Tensor:
    """Return the matrices of SU(2) over the rotations of unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternions.to(torch.float64).unbind(-1)
    rows = [
        [torch.complex(w, -z), torch.complex(-y, -x)],
        [torch.complex(y, -x), torch.complex(w, z)],
    ]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def _spin_tensor(group: Group, spins: tuple[int, ...]) -> Tensor:
    n1, n2, n = spins
    if not abs(n1 - n2) <= n <= n1 + n2 or (n1 + n2 - n) % 2:
        labels = [group.irrep(of if isinstance(group, SU2) else of // 2) for of in spins]
        raise ValueError(
            f"no {labels[2]} in the product of {labels[0]} and {labels[1]}: {group.name}."
        )
    return coefficients_of(n1, n2, n)[None]


def _whole(irrep: object, group: str, known: str, least: int | None = None) -> int:
    try:
        value = int(irrep) if isinstance(irrep, str) else irrep
        whole = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        value, whole = None, 0
    if (
        value is None
        or isinstance(irrep, bool)
        or whole != value
        or (least is not None and whole < least)
    ):
        raise ValueError(f"{irrep!r} is no irrep of {group}; there are {known}.")
    return whole
