"""What an activation is made of: how many fragments of each degree."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

_TERM = re.compile(r"(?:(\d+)\s*x\s*)?(\d+)\s*[eo]?")


class FragmentType:
    """How many fragments an activation has of each degree: τ = (τ_0, …, τ_L).

    A fragment of degree l is a vector of 2l + 1 complex numbers that a rotation R turns by the
    Wigner matrix D^l(R). Types are immutable, compare by value and can be keys of a dict.

    Parameters
    ----------
    tau : sequence of int, length L + 1
        The number of fragments (channels) of degree l = 0, …, L; zeros are allowed.

    Examples
    --------
    >>> from vicinal.sphere import FragmentType
    >>> kind = FragmentType([12, 7, 6])
    >>> kind
    FragmentType([12, 7, 6])
    >>> kind.l_max, kind.n_channels, kind.dimension
    (2, 25, 63)
    >>> kind.to_irreps()
    '12x0e+7x1e+6x2e'
    """

    __slots__ = ("_tau",)
    _tau: tuple[int, ...]

    def __init__(self, tau: Iterable[int]) -> None:
        object.__setattr__(self, "_tau", tuple(_channels(t) for t in tau))
        if not any(self._tau):
            raise ValueError(f"a type needs at least one fragment, got tau = {list(self._tau)}.")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a FragmentType is immutable: {name} cannot be set; make a new one.")

    def __reduce__(self) -> tuple[type[FragmentType], tuple[tuple[int, ...]]]:
        return FragmentType, (self._tau,)

    @classmethod
    def from_irreps(cls, irreps: object) -> FragmentType:
        """Return the type of an e3nn-style string, or of anything that prints as one.

        Only rotations act here, so the parity letters ``e`` and ``o`` are read and not kept;
        repeated degrees add up.

        Examples
        --------
        >>> FragmentType.from_irreps("12x0e+7x1o")
        FragmentType([12, 7])
        """
        counts: dict[int, int] = {}
        for term in str(irreps).split("+"):
            found = _TERM.fullmatch(term.strip())
            if found is None:
                raise ValueError(
                    f"cannot read {term.strip()!r} in the irreps {str(irreps)!r}: "
                    "terms look like 12x0e or 1o, joined by +."
                )
            degree = int(found[2])
            counts[degree] = counts.get(degree, 0) + int(found[1] or 1)
        return cls(counts.get(l, 0) for l in range(max(counts) + 1))

    @classmethod
    def uniform(cls, channels: int, l_max: int) -> FragmentType:
        """Return the type of ``channels`` fragments of every degree up to ``l_max``."""
        return cls([channels] * (l_max + 1))

    def to_irreps(self) -> str:
        """Return the type as an e3nn-style string; degrees without fragments are left out."""
        return "+".join(f"{t}x{l}e" for l, t in enumerate(self._tau) if t)

    @property
    def tau(self) -> tuple[int, ...]:
        """The number of fragments of each degree."""
        return self._tau

    @property
    def l_max(self) -> int:
        """The highest degree."""
        return len(self._tau) - 1

    @property
    def n_channels(self) -> int:
        """The number of fragments, Σ_l τ_l."""
        return sum(self._tau)

    @property
    def dimension(self) -> int:
        """The number of complex numbers a sample has, Σ_l τ_l (2l + 1)."""
        return sum(t * (2 * l + 1) for l, t in enumerate(self._tau))

    @property
    def n_rows(self) -> int:
        """The number of real numbers a sample has: twice the dimension."""
        return 2 * self.dimension

    def row_starts(self) -> tuple[int, ...]:
        """Return the first packed row of each degree, and the number of rows at the end."""
        sizes = (2 * t * (2 * l + 1) for l, t in enumerate(self._tau))
        return tuple(accumulate(sizes, initial=0))

    def channel_starts(self) -> tuple[int, ...]:
        """Return the first channel of each degree, and the number of channels at the end."""
        return tuple(accumulate(self._tau, initial=0))

    def __len__(self) -> int:
        return len(self._tau)

    def __iter__(self) -> Iterator[int]:
        return iter(self._tau)

    def __getitem__(self, l: int) -> int:
        return self._tau[l]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FragmentType) and self._tau == other._tau

    def __hash__(self) -> int:
        return hash((FragmentType, self._tau))

    def __repr__(self) -> str:
        return f"FragmentType({list(self._tau)})"


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
