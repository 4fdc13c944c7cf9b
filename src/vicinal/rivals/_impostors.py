"""Impostors: rows of other classes within a margin of a row's target neighbours, found exactly.

Finding them compares all rows with all rows; an optimiser asks for them again at maps that hardly
differ. So a search looks a little farther than it must and keeps the pairs it met. For a later map
L' and the map L of the search, with A = L' L⁺ and B = L' − A L,

    ‖L'(x_i − x_l)‖ ≥ σ_min(A) ‖L(x_i − x_l)‖ − ‖B x_i‖ − max_l ‖B x_l‖,            (1)

so while the right side exceeds the margin of row i for all pairs beyond the reach of the search,
the pairs it kept still hold all impostors of row i. Only the rows of which this cannot be said are
searched again. The result is that of a full search each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vicinal._types import BoolArray, FloatArray, IntArray
from vicinal.pairs import ClassOrder, search_pairs

# How much farther than the margin a search looks, in squared distance.
_REACH = 1.25
# Search all rows again when more than this share cannot do with the pairs kept.
_STALE = 0.2
# Bounding the change of a map costs some p³, a search n² p: with fewer than so many rows for each
# dimension it is quicker to search.
_FEW = 5


@dataclass(frozen=True)
class Kept:
    """The pairs within reach under the map of a search.

    ``components`` is L (p, d) and ``inverse`` its pseudo-inverse; ``pairs`` are int32 arrays
    (q, 2), ``reach`` (n,) the distances they are complete to.
    """

    components: FloatArray
    inverse: FloatArray
    reach: FloatArray
    pairs: tuple[IntArray, ...]


class ImpostorSearch:
    """Finds all pairs that may be impostors at one map after the other.

    Parameters
    ----------
    X : float64 ndarray of shape (n, d)
        Rows in order of class, about their mean.
    classes : ClassOrder
    most_pairs : int
        How many pairs are kept at most; where there are more, each call searches anew.
    n_threads : int
    """

    def __init__(
        self, X: FloatArray, classes: ClassOrder, *, most_pairs: int, n_threads: int = 1
    ) -> None:
        self.X, self.classes = X, classes
        self.most_pairs, self.n_threads = most_pairs, n_threads
        self.kept: Kept | None = None
        self.n_searched = 0

    def near_pairs(
        self, components: FloatArray, mapped: FloatArray, margins: FloatArray
    ) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield pairs (q, 2) with the rows (n,) to pass over; all impostors are among the rest.

        Parameters
        ----------
        components : ndarray of shape (p, d)
        mapped : ndarray of shape (n, p)
            X under that map.
        margins : ndarray of shape (n,)
            An impostor l of row i has ‖z_i − z_l‖² < margins[i]; −inf: row i has none.
        """
        if self.kept is not None:
            stale = self._stale(self.kept, components, margins)
            if np.mean(stale) <= _STALE:
                yield from ((pairs, stale) for pairs in self.kept.pairs)
                yield from self._search_some(np.flatnonzero(stale), mapped, margins)
                return
        yield from self._search_all(components, mapped, margins)

    def _search_some(
        self, rows: IntArray, mapped: FloatArray, margins: FloatArray
    ) -> Iterator[tuple[IntArray, BoolArray]]:
        self.n_searched += len(rows)
        nobody = np.zeros(len(mapped), bool)
        chosen = rows.astype(np.int32)
        for found in search_pairs(mapped, self.classes, chosen, margins, self.n_threads):
            yield found, nobody

    def _search_all(
        self, components: FloatArray, mapped: FloatArray, margins: FloatArray
    ) -> Iterator[tuple[IntArray, BoolArray]]:
        n, p = mapped.shape
        self.kept = None
        if n < _FEW * p:
            yield from self._search_some(np.flatnonzero(margins > 0), mapped, margins)
            return
        squared_reach = _REACH * np.maximum(margins, 0.0)
        pairs: list[IntArray] = []
        total = 0
        for found in self._search_some(np.flatnonzero(margins > 0), mapped, squared_reach):
            total += len(found[0])
            pairs.append(found[0])
            if total > self.most_pairs:
                pairs.clear()
            yield found
        if total <= self.most_pairs:
            inverse = np.linalg.pinv(components)
            self.kept = Kept(components.copy(), inverse, np.sqrt(squared_reach), tuple(pairs))

    def _stale(self, kept: Kept, components: FloatArray, margins: FloatArray) -> BoolArray:
        """Return the rows of which (1) does not say that the kept pairs are complete."""
        change = components @ kept.inverse
        shrinking = np.linalg.svd(change, compute_uv=False)[-1]
        rest = self.X @ (components - change @ kept.components).T
        moved = np.sqrt(np.einsum("ij,ij->i", rest, rest))
        floor = shrinking * kept.reach - moved - moved.max()
        # The bound itself is rounded in its last digits.
        needed = np.sqrt(np.maximum(margins, 0.0)) * (1 + 1e-9)
        stale: BoolArray = (needed > floor) & (margins > 0)
        return stale
