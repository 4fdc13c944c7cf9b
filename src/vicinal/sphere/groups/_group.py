"""What a layer has to know of a compact group, and Clebsch–Gordan tensors of any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

N_ELEMENTS = 24  # whose equations are solved together
UNITARY = 1e-8  # how far matrices may be from unitary, or from a representation
EMPTY = 1e-10  # squared singular values below it belong to the null space


@dataclass(frozen=True)
class Path:
    """One way from two irreps to a third: which copy of it, and the sign of swapping the two."""

    irrep: Hashable
    copy: int
    sign: int


class Group(ABC):
    """A compact group: its irreducible unitary representations and how their products fall apart.

    Subclass it for a group of your own: four methods say what it is, and its Clebsch–Gordan tensors
    are found from them. Elements are matrices (..., n, n), or whatever `compose` multiplies; irreps
    are hashable labels. Groups of one class that keep nothing are equal; one that keeps something
    equals itself alone, unless it is a dataclass or says otherwise by ``__eq__``.

    Examples
    --------
    The turns of an equilateral triangle:

    >>> import torch
    >>> from vicinal.sphere import Group
    >>> class C3(Group):
    ...     irreps = (0, 1, 2)
    ...     def dim(self, irrep):
    ...         return 1
    ...     def product(self, a, b):
    ...         return [(a + b) % 3]
    ...     def matrix(self, irrep, elements):
    ...         return elements**irrep
    ...     def sample(self, n, generator=None):
    ...         turns = torch.randint(3, (n, 1, 1), generator=generator)
    ...         return torch.exp(2j * torch.pi * turns.double() / 3)
    >>> C3().cg(1, 2, 0).shape  # copies, and the dimensions of the three
    torch.Size([1, 1, 1, 1])
    """

    irreps: Sequence[Hashable] | None = None  # all of them, where they are finitely many

    @property
    def name(self) -> str:
        """What the group is called."""
        return type(self).__name__

    @property
    def trivial(self) -> Hashable:
        """The irrep that nothing changes: the first."""
        return self.irrep(0)

    def irrep(self, index: int) -> Hashable:
        """Return the label of an irrep by its place in the group's own order."""
        if self.irreps is None or not 0 <= index < len(self.irreps):
            raise ValueError(f"{self.name} has no irrep number {index}; name irreps by labels.")
        return self.irreps[index]

    def label(self, irrep: object) -> Hashable:
        """Return an irrep's label as this group writes it, or refuse what is none of its own."""
        if self.irreps is not None and irrep not in self.irreps:
            names = ", ".join(map(str, self.irreps))
            raise ValueError(f"{irrep!r} is no irrep of {self.name}; there are {names}.")
        assert isinstance(irrep, Hashable)
        return irrep

    @abstractmethod
    def dim(self, irrep: Any) -> int:
        """Return the dimension of an irrep."""

    @abstractmethod
    def product(self, first: Any, second: Any) -> Sequence[Any]:
        """Return the irreps that the product of two contains, each once (the selection rule)."""

    @abstractmethod
    def matrix(self, irrep: Any, elements: Any) -> Tensor:
        """Return the unitary matrices of elements, real or complex (..., dim, dim)."""

    @abstractmethod
    def sample(self, n: int, generator: torch.Generator | None = None) -> Any:
        """Draw n elements uniformly, by the group's Haar measure."""

    def compose(self, first: Any, second: Any) -> Any:
        """Return the elements first · second."""
        return first @ second

    def degree(self, irrep: Any) -> int | None:
        """Return l where rotations act by the Wigner matrices D^l, else None."""
        return None

    def matrices(self, irreps: Sequence[Any], elements: Any) -> list[Tensor]:
        """Return the matrices of several irreps, complex in double precision."""
        return [self.matrix(irrep, elements).to(torch.complex128) for irrep in irreps]

    def cg(self, first: Any, second: Any, third: Any) -> Tensor:
        """Return the Clebsch–Gordan tensors, (copies, d1, d2, d3).

        C = cg[k] as a matrix (d1 d2, d3) has orthonormal columns, and

            ρ_3(g) = C† [ρ_1(g) ⊗ ρ_2(g)] C    for every g.

        Unless a group knows better they are the null space of (ρ_1 ⊗ ρ_2) C − C ρ_3 over a few
        elements: time O((d1 d2 d3)³), once.
        """
        return _intertwiners(self, *map(self.label, (first, second, third)))[0]

    def signs(self, first: Any, second: Any, third: Any) -> tuple[int, ...]:
        """Return, for each copy k, the sign s of cg(second, first, third)[k] = s · swapped."""
        return _intertwiners(self, *map(self.label, (first, second, third)))[1]

    def paths(self, first: Any, second: Any) -> tuple[Path, ...]:
        """Return all ways from the product of two irreps to a third."""
        paths = tuple(
            Path(self.label(third), copy, sign)
            for third in self.product(first, second)
            for copy, sign in enumerate(self.signs(first, second, third))
        )
        parts = sum(self.dim(path.irrep) for path in paths)
        if parts != self.dim(first) * self.dim(second):
            raise ValueError(
                f"{self.name}.product({first!r}, {second!r}) names parts of {parts} dimensions, "
                f"but the product has {self.dim(first) * self.dim(second)}."
            )
        return paths

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Return whether both are one group: of one class, and nothing else is kept in them."""
        return self is other or (
            type(self) is type(other) and not (self.__dict__ or other.__dict__)
        )

    def __hash__(self) -> int:
        return hash(type(self))


@cache
def check_representation(group: Group, irrep: Hashable) -> None:
    """Refuse matrices that are not unitary, or that do not multiply as the elements do."""
    generator = torch.Generator().manual_seed(1)
    one, other = group.sample(8, generator), group.sample(8, generator)
    first, second = (group.matrices([irrep], of)[0] for of in (one, other))
    d = group.dim(irrep)
    where = f"the matrices of irrep {irrep!r} of {group.name}"
    if first.shape != (8, d, d):
        raise ValueError(f"{where} must be (n, {d}, {d}), got {tuple(first.shape)} for n = 8.")
    eye = torch.eye(d, dtype=first.dtype)
    if not float((first @ first.mH - eye).abs().max()) <= UNITARY:
        raise ValueError(f"{where} are not unitary.")
    product = group.matrices([irrep], group.compose(one, other))[0]
    if not float((product - first @ second).abs().max()) <= UNITARY:
        raise ValueError(
            f"{where} are no representation: that of g · h is not that of g times that of h."
        )


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _intertwiners(
    group: Group, first: Hashable, second: Hashable, third: Hashable
) -> tuple[Tensor, tuple[int, ...]]:
    """Return the tensors and, for each, the sign of swapping its factors."""
    if third not in tuple(map(group.label, group.product(first, second))):
        raise ValueError(f"no {third!r} in the product of {first!r} and {second!r}: {group.name}.")
    if repr(first) < repr(second):
        tensors, signs = _intertwiners(group, second, first, third)
        return tensors.transpose(1, 2).contiguous(), signs
    for irrep in {first, second, third}:
        check_representation(group, irrep)
    basis = _null_space(group, first, second, third)
    if not len(basis):
        raise ValueError(
            f"{group.name}.product names {third!r} in the product of {first!r} and {second!r}, "
            "but the matrices have no such part."
        )
    if first != second:
        return _fix_phases(basis), (1,) * len(basis)
    # Swapping maps the space to itself; its eigenvectors are symmetric or antisymmetric.
    swap = torch.einsum("jabc,kbac->jk", basis.conj(), basis) / group.dim(third)
    values, vectors = torch.linalg.eigh(swap)
    parts = torch.einsum("kabc,kj->jabc", basis, vectors)
    return _fix_phases(parts), tuple(1 if value > 0 else -1 for value in values.tolist())


def _null_space(group: Group, first: Hashable, second: Hashable, third: Hashable) -> Tensor:
    """Solve (ρ_1(g) ⊗ ρ_2(g)) C = C ρ_3(g) for a few g; orthonormal, (copies, d1, d2, d3)."""
    elements = group.sample(N_ELEMENTS, torch.Generator().manual_seed(0))
    one, two, three = group.matrices([first, second, third], elements)
    d1, d2, d3 = (group.dim(of) for of in (first, second, third))
    total = torch.zeros((d1 * d2 * d3,) * 2, dtype=torch.complex128)
    for a, b, c in zip(one, two, three, strict=True):
        both = torch.kron(a, b)
        gap = torch.kron(both, torch.eye(d3)) - torch.kron(torch.eye(d1 * d2), c.mT.contiguous())
        total += gap.mH @ gap
    values, vectors = torch.linalg.eigh(total / N_ELEMENTS)
    n = int((values < EMPTY).sum())
    return vectors[:, :n].T.reshape(n, d1, d2, d3) * d3**0.5


def _fix_phases(tensors: Tensor) -> Tensor:
    """Make the first of the largest entries of each tensor positive, and rounding errors zero."""
    flat = tensors.flatten(1)
    sizes = flat.abs()
    place = (sizes > sizes.amax(1, keepdim=True) - 1e-6).int().argmax(1)
    lead = flat.gather(1, place[:, None])
    flat = flat * (lead.abs() / lead)
    clean = torch.where(flat.real.abs() < 1e-14, 0.0, flat.real) + 1j * torch.where(
        flat.imag.abs() < 1e-14, 0.0, flat.imag
    )
    return clean.view_as(tensors)
