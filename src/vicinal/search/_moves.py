"""Documents moved towards the queries that name them.

Document z with n queries of sum s goes to the direction of

    κ z + s,                                                                             (1)

as if it had been seen κ times itself: the fewer its queries, the nearer it stays. One that no query
names stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.search._objective import Stand
from vicinal.search._relevance import Judgements, equal_rows


@dataclass(frozen=True)
class QuerySums:
    """The documents that queries name, ``rows`` (c,) ascending, and the queries' sums (c, d)."""

    rows: IntArray
    sums: FloatArray
    counts: IntArray


@dataclass(frozen=True)
class Moves:
    """Documents that queries named, as they were given (c, d), and sums and counts of these."""

    originals: FloatArray
    sums: FloatArray
    counts: IntArray

    def join(self, other: Moves) -> Moves:
        """Return the moves of both, a document's sums added."""
        originals = np.vstack([self.originals, other.originals])
        left, place = np.unique(equal_rows(originals), return_inverse=True)
        sums = np.zeros((len(left), originals.shape[1]), originals.dtype)
        np.add.at(sums, place, np.vstack([self.sums, other.sums]))
        counts = np.bincount(place, np.concatenate([self.counts, other.counts]))
        return Moves(originals[left], sums, counts.astype(np.int64))


def place(rows: FloatArray, documents: FloatArray, moves: Moves, weight: float) -> FloatArray:
    """Return documents (n, d), those among the moves moved; ``rows`` are they as given.

    A document is known again by its numbers as they were given, in float32.
    """
    n_moved = len(moves.originals)
    leaders = equal_rows(np.vstack([moves.originals, rows.astype(np.float32)]))[n_moved:]
    some = np.flatnonzero(leaders < n_moved)
    placed = documents.copy()
    sums = moves.sums[leaders[some]].astype(documents.dtype, copy=False)
    placed[some] = move(documents[some], sums, weight)
    return placed


def sum_queries(queries: FloatArray, judgements: Judgements, asked: IntArray) -> QuerySums:
    """Return the sums of some queries by the documents that they name."""
    named = judgements.grades[asked]
    rows = np.unique(named.indices)
    ones = named[:, rows]
    ones.data = np.ones_like(ones.data)
    sums = np.asarray(ones.T @ queries[asked], queries.dtype)
    return QuerySums(rows, sums, np.bincount(ones.indices, minlength=len(rows)))


def move(documents: FloatArray, sums: FloatArray, weight: float) -> FloatArray:
    """Return (1) for documents (c, d) whose queries have these sums, of the length they had."""
    moved = weight * documents + sums
    return moved * (_norms(documents) / np.maximum(_norms(moved), 1e-12))


def moved_documents(documents: FloatArray, asked: QuerySums, weight: float) -> FloatArray:
    """Return all documents, those that queries name moved."""
    moved = documents.copy()
    moved[asked.rows] = move(documents[asked.rows], asked.sums, weight)
    return moved


def without_own(
    queries: FloatArray,
    documents: FloatArray,
    judgements: Judgements,
    asked: IntArray,
    sums: QuerySums,
    weight: float,
) -> Stand:
    """Return where each query's documents would stand had it not asked."""
    named = judgements.grades[asked]
    rows = np.repeat(asked, np.diff(named.indptr))
    columns = named.indices.astype(np.int64)
    others = sums.sums[np.searchsorted(sums.rows, columns)] - queries[rows]
    return Stand(rows, columns, move(documents[columns], others, weight))


def _norms(rows: FloatArray) -> FloatArray:
    norms: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return norms
