"""How good ranked lists are: the measures that retrieval tracks report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index._exact import ExactIndex

CUT = 32  # places the E-measure looks at
BLOCK = 256  # queries ranked at a time


@dataclass(frozen=True)
class RetrievalScores:
    """Means over queries, each from 0 to 1, the more the better.

    With C relevant rows, r_i = 1 where place i of a list is relevant:

    - ``nearest``: r_1;
    - ``first_tier``, ``second_tier``: Σ_{i≤C} r_i / C and Σ_{i≤2C} r_i / C;
    - ``e_measure``: 2 / (1/P + 1/R) of precision P and recall R at 32 places;
    - ``dcg``: (r_1 + Σ_{i≥2} r_i / log2 i) / (1 + Σ_{2≤i≤C} 1 / log2 i);
    - ``average_precision``: Σ_i r_i P_i / C, with P_i the precision at place i;
    - ``ndcg``: Σ_i r_i / log2(i + 1), divided by its largest possible value;
    - ``precision``, ``recall``, ``f1``: of the N places that were returned.

    ``n_queries`` counts the queries, ``n_left_out`` those with nothing relevant to find.
    """

    nearest: float
    first_tier: float
    second_tier: float
    e_measure: float
    dcg: float
    average_precision: float
    ndcg: float
    precision: float
    recall: float
    f1: float
    n_queries: int
    n_left_out: int

    def record(self) -> dict[str, float | int]:
        """Return names and values."""
        return asdict(self)


def score_lists(relevant: AnyArray, n_returned: AnyArray | None = None) -> RetrievalScores:
    """Score whole rankings of all rows.

    Parameters
    ----------
    relevant : bool array-like of shape (m, n)
        Whether the row at each place of each query's list, nearest first, is relevant.
    n_returned : int array-like of shape (m,), optional
        How many places each query returned; as many as there are relevant rows unless told, where
        precision and recall are one number.
    """
    hits = np.asarray(relevant)
    if hits.ndim != 2 or hits.dtype != bool or not hits.shape[1]:
        raise ValueError(
            f"relevant must be truth values of the shape (queries, places), got {hits.dtype} of "
            f"{hits.shape}."
        )
    totals = hits.sum(axis=1)
    returned = totals if n_returned is None else np.asarray(n_returned)
    if returned.dtype.kind not in "iu" or isinstance(n_returned, np.ma.MaskedArray):
        raise ValueError(f"n_returned must be whole numbers, got {returned.dtype}.")
    if returned.shape != totals.shape or (returned < 0).any() or (returned > hits.shape[1]).any():
        raise ValueError(
            f"n_returned must hold a number from 0 to {hits.shape[1]} for each of the "
            f"{len(hits)} queries."
        )
    fair = totals > 0
    if not fair.any():
        raise ValueError("no query has anything relevant to find.")
    columns = _measure(hits[fair], totals[fair], returned[fair])
    means = {name: float(np.mean(values)) for name, values in columns.items()}
    return RetrievalScores(**means, n_queries=len(hits), n_left_out=int(np.sum(~fair)))


def _measure(hits: AnyArray, totals: IntArray, returned: IntArray) -> dict[str, FloatArray]:
    n = hits.shape[1]
    sums = np.cumsum(hits, axis=1)
    places = np.arange(1, n + 1)
    slow = 1 / np.maximum(1, np.log2(places))  # of DCG: the first two places count fully
    fast = 1 / np.log2(places + 1)
    precision, recall, f1 = _harmonic(_at(sums, returned), returned, totals)
    cut = np.full(len(hits), min(CUT, n))
    return {
        "nearest": hits[:, 0].astype(np.float64),
        "first_tier": _at(sums, totals) / totals,
        "second_tier": _at(sums, 2 * totals) / totals,
        "e_measure": _harmonic(_at(sums, cut), np.full(len(hits), CUT), totals)[2],
        "dcg": (hits @ slow) / np.cumsum(slow)[totals - 1],
        "average_precision": (hits * sums / places).sum(axis=1) / totals,
        "ndcg": (hits @ fast) / np.cumsum(fast)[totals - 1],
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def _at(found: IntArray, places: IntArray) -> FloatArray:
    """Return how many relevant rows stand in so many first places."""
    last = np.minimum(places, found.shape[1])
    counts = np.take_along_axis(found, np.maximum(last - 1, 0)[:, None], axis=1)[:, 0]
    return np.where(last > 0, counts, 0).astype(np.float64)


def _harmonic(
    found: FloatArray, returned: IntArray, totals: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return precision, recall and their harmonic mean, 0 where nothing was found."""
    precision, recall = found / np.maximum(returned, 1), found / totals
    return precision, recall, 2 * found / np.maximum(returned + totals, 1)


def rank_by_distance(vectors: FloatArray, labels: IntArray) -> AnyArray:
    """Return whether each row's neighbours, nearest first and without itself, are of its class.

    A bool ndarray of shape (n, n - 1); queries are searched in blocks, and among equal distances
    the row of the lower number is nearer.
    """
    n = len(vectors)
    index = ExactIndex(vectors)
    relevant = np.empty((n, n - 1), bool)
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, n))
        _, nearest = index.query(vectors[rows], n)
        others = nearest[nearest != rows[:, None]].reshape(len(rows), n - 1)
        relevant[rows] = labels[others] == labels[rows, None]
    return relevant
