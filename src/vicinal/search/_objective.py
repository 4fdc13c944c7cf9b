"""The mean loss of queries under a map, with a ridge to the map they started from, and its slope.

With queries x_i, documents z_j and scores s_ij = 20 (U x_i + b)·z_j,

    f(U, b) = (1/m) Σ_i loss_i(s_i) + λ (‖U − I‖² + ‖b‖²),                               (1)

and with G_ij = ∂loss_i/∂s_ij the gradient by U is (20/m) (G Z)ᵀ X + 2 λ (U − I), by b
(20/m) Σ_i (G Z)_i + 2 λ b. Queries are taken a block at a time, each against the documents of its
block: the same for all, or those a batch names, or those that were mined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.search._losses import SCALE, Loss
from vicinal.search._relevance import Relevance

# Scores that are held at a time.
ENTRIES = 1 << 21


@dataclass(frozen=True)
class RankedBlock:
    """Some queries (b,), by number, and the documents (c,), ascending, they are ranked among."""

    queries: IntArray
    documents: IntArray


@dataclass(frozen=True)
class Stand:
    """Where single documents stand for single queries: document ``columns`` at ``vectors`` (p, d).

    A document that was moved towards its queries stands, for each of these, where it would without
    that query. ``rows`` and ``columns`` (p,) are numbers of queries and documents; rows ascend.
    """

    rows: IntArray
    columns: IntArray
    vectors: FloatArray


@dataclass(frozen=True)
class AdapterObjective:
    """Equation (1), over W = [U − I, b] laid flat."""

    queries: FloatArray
    documents: FloatArray
    relevance: Relevance
    blocks: Sequence[RankedBlock]
    loss: Loss
    ridge: float
    offset: bool = False
    stand: Stand | None = None
    # Of a map that was learned before, and how much it counts beside the identity.
    anchor: FloatArray | None = None
    hold: float = 0.0

    @property
    def size(self) -> int:
        """How many numbers a map has."""
        d = self.queries.shape[1]
        return d * (d + self.offset)

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient, float64 of shape (size,)."""
        U, b = unpack(flat, self.queries, self.offset)
        m = sum(len(block.queries) for block in self.blocks)
        value, slope, drift = 0.0, np.zeros_like(U), np.zeros(len(U), U.dtype)
        for block in self.blocks:
            loss, by_map, by_offset = self._block(block, U, b)
            value += loss / m
            slope += by_map
            drift += by_offset
        parts = [slope.ravel(), drift] if self.offset else [slope.ravel()]
        gradient = np.concatenate(parts).astype(np.float64) * (SCALE / m)
        gradient += 2 * self.ridge * flat
        value += self.ridge * float(flat @ flat)
        if self.anchor is not None:
            gap = flat - self.anchor
            gradient += 2 * self.hold * gap
            value += self.hold * float(gap @ gap)
        return value, gradient

    def _block(
        self, block: RankedBlock, U: FloatArray, b: FloatArray | None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return a block's summed loss, and its slopes by 20 U and 20 b."""
        X, Z = self.queries[block.queries], self.documents[block.documents]
        # The shorter way round: map the documents back, or the queries forth.
        back = len(Z) < len(X) and self.stand is None
        mapped = X if back else X @ U.T
        side = Z @ U if back else Z
        scores = mapped @ side.T
        if b is not None:
            scores += Z @ b
        standing = self._standing(block)
        if standing is not None:
            rows, columns, vectors = standing
            shifted = mapped[rows] if b is None else mapped[rows] + b
            scores[rows, columns] = np.einsum("ij,ij->i", shifted, vectors)
        loss, slopes = self.loss(*self._prepared(block, scores))
        moved = np.zeros((0, Z.shape[1]), Z.dtype)
        if standing is not None:
            moved = slopes[rows, columns][:, None] * vectors
            slopes[rows, columns] = 0
        if back:
            return loss, Z.T @ (slopes.T @ X), Z.T @ slopes.sum(axis=0)
        pulled = slopes @ Z
        if standing is not None:
            np.add.at(pulled, rows, moved)
        return loss, pulled.T @ X, pulled.sum(axis=0)

    def _prepared(self, block: RankedBlock, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scores in the losses' units, and weights that sum to 1."""
        scores *= scores.dtype.type(SCALE)
        weights = self.relevance.block(block.queries, block.documents).astype(scores.dtype)
        hidden = self.relevance.hidden(block.queries, block.documents)
        if hidden is not None:
            scores[hidden], weights[hidden] = -np.inf, 0
        total = weights.sum(axis=1, keepdims=True)
        weights /= np.where(total > 0, total, 1)
        return scores, weights

    def _standing(self, block: RankedBlock) -> tuple[IntArray, IntArray, FloatArray] | None:
        """Return the places in a block of documents that stand elsewhere, and where."""
        if self.stand is None:
            return None
        order = np.argsort(block.queries, kind="stable")
        queries = block.queries[order]
        some = np.flatnonzero(np.isin(self.stand.rows, queries))
        rows = order[np.searchsorted(queries, self.stand.rows[some])]
        columns = np.searchsorted(block.documents, self.stand.columns[some])
        return rows, columns, self.stand.vectors[some]


def unpack(
    flat: FloatArray, queries: FloatArray, offset: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Return U (d, d) and b (d,), or None for it, in the precision of queries."""
    d = queries.shape[1]
    U = np.asarray(flat[: d * d].reshape(d, d), queries.dtype) + np.eye(d, dtype=queries.dtype)
    return U, np.asarray(flat[d * d :], queries.dtype) if offset else None


def map_queries(queries: FloatArray, flat: FloatArray | None, offset: bool) -> FloatArray:
    """Return U x + b for queries (m, d); None is the identity."""
    if flat is None:
        return queries
    U, b = unpack(flat, queries, offset)
    mapped: FloatArray = queries @ U.T
    return mapped if b is None else mapped + b


def shared_blocks(queries: IntArray, documents: IntArray) -> list[RankedBlock]:
    """Return blocks of queries that are all ranked among the same documents."""
    step = max(1, ENTRIES // max(1, len(documents)))
    return [RankedBlock(queries[i : i + step], documents) for i in range(0, len(queries), step)]


def batch_blocks(
    queries: IntArray, relevance: Relevance, size: int, rng: np.random.Generator
) -> list[RankedBlock]:
    """Return batches of queries, each ranked among the documents that the batch names."""
    shuffled = rng.permutation(queries)
    parts = [np.sort(shuffled[i : i + size]) for i in range(0, len(shuffled), size)]
    return [
        RankedBlock(part, relevance.named(part))
        for part in parts
        if len(part) > 1 or len(parts) == 1
    ]


def mined_blocks(
    queries: IntArray, relevance: Relevance, mined: IntArray, size: int
) -> list[RankedBlock]:
    """Return blocks of queries, each ranked among what was mined for any of the block.

    ``mined`` (m, h) are documents by query number.
    """
    parts = [queries[i : i + size] for i in range(0, len(queries), size)]
    return [
        RankedBlock(part, np.union1d(relevance.named(part), mined[part].ravel())) for part in parts
    ]
