"""Neighbours found by the mean metric, ranked again by the metric at the places they lie.

    D(u, v) = ½‖u − v‖² + ¼c (u − v)ᵀ[J(u)J(u)ᵀ + J(v)J(v)ᵀ](u − v)

in the coordinates u of the learned map, with J the Jacobian of f there and c such that on average
over the evaluation points both halves weigh the same. One J alone is noisy; half of the distance
is what all of them agree on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray

from ._evaluation import FittedSmoother, gradients_at

# Numbers the Jacobians at the candidates of a block of queries may take.
_BLOCK_ENTRIES = 2**23


@dataclass(frozen=True)
class LocalRanking:
    """What ranks candidates: the smoother, in features, and the way back to them from the map.

    ``components`` (p, d) are rows of any length, orthogonal to each other; ``scale`` is c.
    """

    fitted: FittedSmoother
    components: FloatArray
    scale: float

    def rank(
        self, queries: FloatArray, vectors: FloatArray, near: IntArray, k: int
    ) -> tuple[FloatArray, IntArray]:
        """Return distances D (m, k), ascending, and rows of the k best of candidates (m, c).

        ``queries`` (m, p) and ``vectors`` (n, p) are mapped; of equals the lower row is first.
        Time that of the gradients at the queries and at every row that is a candidate.
        """
        ranked, rows = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
        for part in self._blocks(near):
            candidates = np.sort(near[part], axis=1)
            gaps = vectors[candidates] - queries[part, None, :].astype(np.float64)
            different, places = np.unique(candidates, return_inverse=True)
            there = self._jacobians(vectors[different])[places.reshape(candidates.shape)]
            here = self._jacobians(queries[part])[:, None]
            changes = sum(
                np.einsum("mkcp,mkp->mkc", jacobians, gaps, optimize=True) ** 2
                for jacobians in (np.broadcast_to(here, there.shape), there)
            )
            distances = (gaps**2).sum(axis=2) / 2 + self.scale / 4 * changes.sum(axis=2)
            best = np.argsort(distances, axis=1, kind="stable")[:, :k]
            ranked[part] = np.take_along_axis(distances, best, axis=1)
            rows[part] = np.take_along_axis(candidates, best, axis=1)
        return ranked, rows

    def _blocks(self, near: IntArray) -> Iterator[slice]:
        width = near.shape[1] * self.fitted.sample.n_columns * len(self.components)
        size = max(1, _BLOCK_ENTRIES // width)
        for start in range(0, len(near), size):
            yield slice(start, start + size)

    def _jacobians(self, mapped: FloatArray) -> FloatArray:
        """Return Jᵀ (m, C, p) at mapped rows; what the map leaves out is as in the middle."""
        squared = np.einsum("pd,pd->p", self.components, self.components)
        inverse = np.divide(1, squared, out=np.zeros_like(squared), where=squared > 0)
        back = self.components * inverse[:, None]
        centre = self.fitted.coordinates.centre
        rows = centre + (mapped - self.components @ centre) @ back
        (gradients,) = gradients_at(rows, self.fitted)
        jacobians: FloatArray = gradients @ back.T
        return jacobians
