"""What an activation is made of: how many fragments of each irrep of a group."""

from __future__ import annotations

import operator
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from vicinal.sphere.groups import O2, O3, SO2, SO3, SU2, Group

_TERM = re.compile(r"(?:(\d+)\s*x\s*)?(-?\d[\d./]*[eo]?)")
_NAMED: dict[str, Group] = {group.name: group for group in (SO2(), O2(), SO3(), O3(), SU2())}


class FragmentType:
    """How many fragments an activation has of each irrep: τ = (τ_0, …, τ_L).

    A fragment of an irrep ρ is a vector of complex numbers that an element g of the group takes to
    ρ(g) times it. The group is SO(3) unless told; its irreps are the degrees l, of dimension
    2l + 1. Types are immutable, compare by value and can be keys of a dict.

    Parameters
    ----------
    tau : sequence of int, mapping from irreps to int, or str
        The number of fragments (channels) of each irrep in the group's own order, l = 0, …, L for
        rotations; or by their labels; or a text as `to_irreps` writes. Zeros are allowed.
    group : Group, default=SO3()
    real : bool
        Of real functions on the sphere (SO(3) or O(3)), whose m ≥ 0 say everything: 2l + 1 real
        numbers a fragment, half of what a complex one has.

    Examples
    --------
    >>> from vicinal.sphere import O3, FragmentType
    >>> kind = FragmentType([12, 7, 6])
    >>> kind
    FragmentType([12, 7, 6])
    >>> kind.l_max, kind.n_channels, kind.dimension
    (2, 25, 63)
    >>> kind.to_irreps()
    '12x0+7x1+6x2'
    >>> FragmentType({"0e": 4, "1o": 2}, O3())
    FragmentType('4x0e+2x1o')
    """

    __slots__ = ("_dims", "_group", "_irreps", "_real", "_rows", "_tau")
    _group: Group
    _irreps: tuple[Hashable, ...]
    _tau: tuple[int, ...]
    _dims: tuple[int, ...]
    _real: bool
    _rows: tuple[int, ...]

    def __init__(
        self,
        tau: Iterable[int] | Mapping[Any, int] | str,
        group: Group | type[Group] | None = None,
        *,
        real: bool = False,
    ) -> None:
        if isinstance(tau, str):
            tau = FragmentType.from_irreps(tau, group)
        if isinstance(tau, FragmentType):
            own, counts, irreps = tau._group, tau._tau, tau._irreps
            real = real or tau._real
            if group is not None and _instance(group) != own:
                raise ValueError(f"{tau} has fragments of {own}, not of {_instance(group)}.")
        else:
            own = _instance(group)
            if isinstance(tau, Mapping):
                irreps = tuple(own.label(irrep) for irrep in tau)
                counts = tuple(_channels(t) for t in tau.values())
            else:
                counts = tuple(_channels(t) for t in tau)
                irreps = tuple(own.irrep(index) for index in range(len(counts)))
        if not any(counts):
            raise ValueError(f"a type needs at least one fragment, got tau = {list(counts)}.")
        dims = tuple(own.dim(irrep) for irrep in irreps)
        if real and any(own.degree(irrep) is None for irrep in irreps):
            raise ValueError(f"real fragments are of functions on the sphere, not of {own}.")
        n_planes = 1 if real else 2
        rows = accumulate((n_planes * t * d for t, d in zip(counts, dims, strict=True)), initial=0)
        values = (dims, own, irreps, real, tuple(rows), counts)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a FragmentType is immutable: {name} cannot be set; make a new one.")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        counts = dict(zip(self._irreps, self._tau, strict=True))
        return _rebuild, (counts, self._group, self._real)

    @classmethod
    def from_irreps(cls, irreps: object, group: Group | type[Group] | None = None) -> FragmentType:
        """Return the type of an e3nn-style string, or of anything that prints as one.

        Parities ``e`` and ``o`` make it a type of O(3), where all terms have one; degrees alone
        one of SO(3); a name in front, as in ``"SU2: 3x1/2"``, one of that group. Repeated irreps
        add up.

        Examples
        --------
        >>> FragmentType.from_irreps("12x0e+7x1o")
        FragmentType('12x0e+7x1o')
        >>> FragmentType.from_irreps("12x0+7x1")
        FragmentType([12, 7])
        """
        name, colon, body = str(irreps).rpartition(":")
        if colon and name.strip() not in _NAMED:
            raise ValueError(f"no group {name.strip()!r}; there are {', '.join(_NAMED)}.")
        terms = [(_read_term(term, irreps)) for term in body.split("+")]
        if group is None:
            parities = {label[-1:] in ("e", "o") for label, _ in terms}
            if not colon and len(parities) > 1:
                raise ValueError(
                    f"{str(irreps)!r} has terms with and without parity: give all of them one "
                    "(O3), or none (SO3)."
                )
            group = _NAMED[name.strip()] if colon else (O3() if parities == {True} else SO3())
        of = _instance(group)
        counts: dict[Hashable, int] = {}
        for label, count in terms:
            irrep = of.label(label)
            counts[irrep] = counts.get(irrep, 0) + count
        return cls(_in_order(of, counts), of)

    @classmethod
    def uniform(cls, channels: int, l_max: int) -> FragmentType:
        """Return the type of ``channels`` fragments of every degree up to ``l_max``."""
        return cls([channels] * (l_max + 1))

    def to_irreps(self) -> str:
        """Return the type as an e3nn-style string; irreps without fragments are left out.

        Degrees alone are of SO(3), with a parity of O(3); other groups are named in front.
        """
        pairs = zip(self._irreps, self._tau, strict=True)
        terms = "+".join(f"{t}x{irrep}" for irrep, t in pairs if t)
        return terms if isinstance(self._group, SO3 | O3) else f"{self._group.name}: {terms}"

    @property
    def group(self) -> Group:
        """What acts on the fragments."""
        return self._group

    @property
    def irreps(self) -> tuple[Hashable, ...]:
        """The labels of the irreps, in the order of ``tau``."""
        return self._irreps

    @property
    def tau(self) -> tuple[int, ...]:
        """The number of fragments of each irrep."""
        return self._tau

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimension of each irrep: 2l + 1 of degree l."""
        return self._dims

    @property
    def l_max(self) -> int:
        """The highest degree."""
        degrees = [self._group.degree(irrep) for irrep in self._irreps]
        if any(degree is None for degree in degrees):
            raise ValueError(f"irreps of {self._group} have no degrees.")
        return max(degree for degree in degrees if degree is not None)

    @property
    def real(self) -> bool:
        """Whether the fragments are of real functions."""
        return self._real

    @property
    def n_planes(self) -> int:
        """How many real numbers an entry has: two, or one of real functions."""
        return 1 if self._real else 2

    def as_real(self) -> FragmentType:
        """Return the same irreps of real functions."""
        return FragmentType(self, real=True)

    def as_complex(self) -> FragmentType:
        """Return the same irreps of complex functions."""
        return FragmentType(dict(zip(self._irreps, self._tau, strict=True)), self._group)

    @property
    def n_channels(self) -> int:
        """The number of fragments, Σ_l τ_l."""
        return sum(self._tau)

    @property
    def dimension(self) -> int:
        """The number of (complex) numbers a sample has, Σ_l τ_l (2l + 1)."""
        return self._rows[-1] // self.n_planes

    @property
    def n_rows(self) -> int:
        """The number of real numbers a sample has: twice the dimension, unless it is real."""
        return self._rows[-1]

    def row_starts(self) -> tuple[int, ...]:
        """Return the first packed row of each irrep, and the number of rows at the end."""
        return self._rows

    def channel_starts(self) -> tuple[int, ...]:
        """Return the first channel of each irrep, and the number of channels at the end."""
        return tuple(accumulate(self._tau, initial=0))

    def place(self, irrep: object) -> int | None:
        """Return where an irrep stands in ``tau``, None where it does not."""
        return self._irreps.index(irrep) if irrep in self._irreps else None

    def count(self, irrep: object) -> int:
        """Return how many fragments there are of an irrep."""
        place = self.place(irrep)
        return 0 if place is None else self._tau[place]

    def __len__(self) -> int:
        return len(self._tau)

    def __iter__(self) -> Iterator[int]:
        return iter(self._tau)

    def __getitem__(self, l: int) -> int:
        return self._tau[l]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FragmentType) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (self._group, self._irreps, self._tau, self._real)

    def __repr__(self) -> str:
        plain = isinstance(self._group, SO3) and self._irreps == tuple(range(len(self._tau)))
        shown = list(self._tau) if plain else repr(self.to_irreps())
        return f"FragmentType({shown}{', real=True' if self._real else ''})"


def _rebuild(counts: dict[Hashable, int], group: Group, real: bool) -> FragmentType:
    return FragmentType(counts, group, real=real)


def _instance(group: Group | type[Group] | None) -> Group:
    if group is None:
        return SO3()
    made = group() if isinstance(group, type) else group
    if not isinstance(made, Group):
        raise TypeError(f"a group is one of {', '.join(_NAMED)} or your own Group, not {group!r}.")
    return made


def _read_term(term: str, irreps: object) -> tuple[str, int]:
    match = _TERM.fullmatch(term.strip())
    if match is None:
        raise ValueError(
            f"cannot read {term.strip()!r} in the irreps {str(irreps)!r}: "
            "terms look like 12x0e or 1o, joined by +."
        )
    return match[2], int(match[1] or 1)


def _in_order(group: Group, counts: dict[Hashable, int]) -> dict[Hashable, int] | list[int]:
    """Return counts in the group's own order; of rotations all degrees up to the last."""
    if isinstance(group, SO3):
        degrees = [group.label(irrep) for irrep in counts]
        return [counts.get(l, 0) for l in range(max(degrees) + 1)]
    order: list[Hashable] = []
    index = 0
    while len(order) < len(counts):
        irrep = group.irrep(index)
        order += [irrep] if irrep in counts else []
        index += 1
    return {irrep: counts[irrep] for irrep in order}


def _channels(value: object) -> int:
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"tau must hold whole numbers, got {value!r}; irreps are read by from_irreps."
        ) from None
    if isinstance(value, bool) or count < 0:
        raise ValueError(f"tau must hold whole numbers from 0 on, got {value!r}.")
    return count
