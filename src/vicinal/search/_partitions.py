"""Queries and documents in partitions: what a fit needs of them is gathered, the rest stays.

relevance ─▶ documents that queries name ─┐
others, drawn at random ──────────────────┴─▶ documents to learn and to judge by
queries, drawn at random where they are many ─▶ queries to learn from
"""

from __future__ import annotations

import numpy as np

from vicinal._types import IntArray
from vicinal.search._relevance import Judgements

# Documents that held-out queries are ranked among at most: more would not change what is chosen.
MOST_DOCUMENTS = 20_000
# Queries that are gathered at most: of 384 numbers these are 150 MB, and hundreds for each number
# of the map.
MOST_QUERIES = 100_000


def pool_of(relevance: Judgements, seed: int) -> IntArray:
    """Return the documents that held-out queries are ranked among, ascending.

    All of them, or where they are very many those that are named and others drawn at random.
    """
    m, n = relevance.shape
    if n <= MOST_DOCUMENTS:
        return np.arange(n)
    others = np.random.default_rng([seed, 2]).choice(n, MOST_DOCUMENTS, False)
    pool: IntArray = np.union1d(relevance.named(np.arange(m)), others)
    return pool


def draw_queries(n_queries: int, seed: int) -> IntArray:
    """Return the queries to learn from, ascending: all, or MOST_QUERIES drawn at random."""
    if n_queries <= MOST_QUERIES:
        return np.arange(n_queries)
    return np.sort(np.random.default_rng([seed, 5]).choice(n_queries, MOST_QUERIES, False))


def documents_needed(relevance: Judgements, seed: int, unjudged: str) -> IntArray:
    """Return the documents that a fit has to see, ascending."""
    if unjudged == "wrong":
        raise ValueError(
            "unjudged='wrong' looks at every document, and documents are a dask array; with "
            "'ignore' those that queries name are enough."
        )
    return pool_of(relevance, seed)
