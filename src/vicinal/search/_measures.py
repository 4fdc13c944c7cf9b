"""How high the relevant documents stand in each query's list."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.search._nearest import largest_products
from vicinal.search._relevance import Relevance

MEASURES = ("ndcg", "mrr", "hit", "recall", "map")
DEFAULT = "ndcg@10"
SHOWN = ("ndcg@10", "mrr@10", "hit@10")
# Queries that are ranked at a time.
_QUERIES = 1024


def read_measure(name: str) -> tuple[str, int]:
    """Return the measure and the number of places of a name such as "ndcg@10".

    Without a number all places count, as many as there are documents.
    """
    parts = re.fullmatch(rf"({'|'.join(MEASURES)})(?:@([1-9][0-9]{{0,6}}))?", str(name).lower())
    if parts is None:
        raise ValueError(
            f"scoring must be one of {', '.join(MEASURES)}, with the number of places behind an @ "
            f"(ndcg@10), got {name!r}."
        )
    return parts[1], int(parts[2] or 0)


def ranked_grades(
    mapped: FloatArray,
    documents: FloatArray,
    relevance: Relevance,
    queries: IntArray,
    pool: IntArray,
    n_places: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the grades (m, k) of each query's list, and those of the best possible list.

    ``mapped`` (m, p) are the queries ``queries``, ``documents`` (c, p) the documents ``pool``.
    """
    k = min(n_places or len(pool), len(pool))
    grades, ideal = np.empty((2, len(queries), k), np.float32)
    for start in range(0, len(queries), _QUERIES):
        part = slice(start, start + _QUERIES)
        itself = relevance.hidden(queries[part], pool)
        own = None if itself is None else itself[1]
        near = largest_products(mapped[part], documents, k, hidden=own)[1]
        for each in range(start, min(start + _QUERIES, len(queries)), 64):
            some = slice(each, min(each + 64, start + _QUERIES, len(queries)))
            block = relevance.block(queries[some], pool)
            hidden = relevance.hidden(queries[some], pool)
            if hidden is not None:
                block[hidden] = 0
            places = near[some.start - start : some.stop - start]
            grades[some] = np.take_along_axis(block, places, axis=1)
            best = -np.partition(-block, k - 1, axis=1)[:, :k] if k < len(pool) else block
            ideal[some] = -np.sort(-best, axis=1)
    return grades, ideal


def list_scores(name: str, grades: FloatArray, ideal: FloatArray) -> FloatArray:
    r"""Return one measure of each list, (m,), between 0 and 1.

    With r_i = 1 where the document in place i is relevant, g_i its grade and C the number of
    relevant documents, over the first k places:

    - ``hit``: max r_i; ``mrr``: max r_i / i; ``recall``: Σ r_i / min(C, k);
    - ``map``: Σ r_i P_i / min(C, k), P_i the precision at i;
    - ``ndcg``: Σ g_i / log2(i + 1), divided by its largest possible value.
    """
    measure, k = read_measure(name)
    grades, ideal = grades[:, : k or None], ideal[:, : k or None]
    hits, places = grades > 0, np.arange(1, grades.shape[1] + 1)
    total = np.maximum((ideal > 0).sum(axis=1), 1)
    if measure == "hit":
        return np.asarray(hits.any(axis=1), np.float64)
    if measure == "mrr":
        return np.asarray((hits / places).max(axis=1))
    if measure == "recall":
        return np.asarray(hits.sum(axis=1) / total)
    if measure == "map":
        return np.asarray((hits * np.cumsum(hits, axis=1) / places).sum(axis=1) / total)
    discount = 1 / np.log2(places + 1)
    best = ideal @ discount
    scores: FloatArray = np.divide(grades @ discount, best, out=np.zeros(len(best)), where=best > 0)
    return scores


def deepest(names: Iterable[str]) -> int:
    """Return how many places some measures look at; 0 for all."""
    places = [read_measure(name)[1] for name in names]
    return 0 if 0 in places else max(places)
