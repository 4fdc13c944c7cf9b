"""Candidate lists from an inverted file of faiss."""

from __future__ import annotations

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.index import FaissIndex, without_itself
from vicinal.pairs import ClassOrder, centred_float32, squared_distances_to

# Inverted lists a query looks at.
_PROBES = 16


def faiss_candidates(
    mapped: FloatArray,
    classes: ClassOrder,
    n_own: int,
    n_other: int,
    *,
    queries: FloatArray | None = None,
    previous: IntArray | None = None,
    seed: tuple[int, ...] = (),
    n_threads: int = 1,
) -> IntArray:
    """Return nearly the lists of :func:`~vicinal.metric.candidates.refresh_candidates`.

    Rows are sorted into 2√n inverted lists, of which each row looks at sixteen, once among its own
    class and once among the others: time O(n^1.5 p). Candidates of an earlier map that are
    nearer than what was found stay. Parameters as there, but rows near a row's own place are taken
    for near its query.
    """
    points = centred_float32(mapped)
    n = len(points)
    # faiss asks for 39 rows a list to learn from.
    n_lists = max(1, min(int(2 * np.sqrt(n)), n // 39))
    # One thread while it learns its lists: sums must not depend on how many there are.
    index = FaissIndex(points, f"IVF{n_lists},Flat", n_jobs=1)
    index.index.nprobe = _PROBES
    index.n_jobs = n_threads
    out = np.full((n, n_own + n_other), -1, np.int32)
    for start in np.unique(classes.start):
        rows = range(start, classes.stop[start])
        own = index.query_part(points[rows], n_own + 1, rows)
        out[rows, :n_own] = without_itself(*own, np.asarray(rows))[1]
        out[rows, n_own:] = index.query_part(points[rows], n_other, rows, outside=True)[1]
    if previous is not None:
        out = np.hstack(
            [
                _nearer(points, classes, out[:, side], previous[:, side])
                for side in (slice(0, n_own), slice(n_own, None))
            ]
        )
    return out


def _nearer(
    points: FloatArray, classes: ClassOrder, found: IntArray, previous: IntArray
) -> IntArray:
    """Return the nearest of two lists of candidates, as many as either has."""
    width = found.shape[1]
    both = np.sort(np.hstack([found, previous]), axis=1).astype(np.int32)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = -1
    rows = np.arange(len(points), dtype=np.int64)
    squared_distances, _ = squared_distances_to(points, points, rows, both, classes.codes)
    order = np.argsort(squared_distances, axis=1, kind="stable")[:, :width]
    return np.sort(np.take_along_axis(both, order, axis=1), axis=1)
