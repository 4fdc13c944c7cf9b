"""Which documents serve as wrong answers to a query: all, those of its batch, or mined ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.search._nearest import largest_products
from vicinal.search._objective import RankedBlock, batch_blocks, mined_blocks, shared_blocks
from vicinal.search._relevance import Relevance

NEGATIVES = ("auto", "all", "batch", "mined")
# Pairs of queries and documents up to which all are looked at: a step takes tenths of a second.
MOST_PAIRS = 4_000_000
# Multiplications of one step that nobody should wait for.
_REFUSED = 1e12
BATCH, MINED_BATCH, MINED = 1024, 64, 10


@dataclass(frozen=True)
class Negatives:
    """``kind`` is "all", "batch" or "mined".

    With ``unjudged`` "ignore", documents that no query of a fit names are not in any list.
    ``mined`` (m, h) are the wrong documents nearest to each query.
    """

    kind: str
    relevance: Relevance
    n_documents: int
    unjudged: str = "ignore"
    mined: IntArray | None = None
    seed: int = 0

    def pool(self, asked: IntArray) -> IntArray:
        """Return the documents some queries may be ranked among, ascending."""
        if self.unjudged == "ignore":
            return self.relevance.named(asked)
        return np.arange(self.n_documents)

    def blocks(self, asked: IntArray) -> Sequence[RankedBlock]:
        """Return blocks of some queries, each with its documents."""
        if self.kind == "all":
            return shared_blocks(asked, self.pool(asked))
        if self.kind == "batch":
            rng = np.random.default_rng([self.seed, 3])
            return batch_blocks(asked, self.relevance, BATCH, rng)
        assert self.mined is not None
        blocks = mined_blocks(asked, self.relevance, self.mined, MINED_BATCH)
        if self.unjudged == "wrong":
            return blocks
        pool = self.pool(asked)
        return [
            replace(block, documents=block.documents[np.isin(block.documents, pool)])
            for block in blocks
        ]

    def mine(self, mapped: FloatArray, documents: FloatArray) -> Negatives:
        """Return these with the wrong documents nearest to mapped queries (m, d)."""
        if self.kind != "mined":
            return self
        everyone = np.arange(len(mapped))
        pool = self.pool(everyone)
        rows = documents if len(pool) == len(documents) else documents[pool]
        near = pool[largest_products(mapped, rows, min(2 * MINED, len(pool)))[1]]
        mined = near[:, :MINED].copy()
        for i in everyone:  # what is relevant is in the list anyway
            order = np.argsort(near[i])
            right = self.relevance.block(everyone[i : i + 1], near[i][order])[0] > 0
            wrong = near[i][~np.isin(near[i], near[i][order][right])]
            mined[i, : len(wrong)] = wrong[:MINED]
        return replace(self, mined=mined)


def choose_negatives(
    kind: str, relevance: Relevance, n_queries: int, n_documents: int, width: int, unjudged: str,
    seed: int,
) -> Negatives:  # fmt: skip
    """Return the negatives asked for, or those that can be afforded.

    Raises
    ------
    ValueError
        Where all were asked for and a step would take minutes.
    """
    negatives = Negatives(kind, relevance, n_documents, unjudged, seed=seed)
    n_pool = len(negatives.pool(np.arange(n_queries)))
    if kind == "auto":
        return replace(negatives, kind="all" if n_queries * n_pool <= MOST_PAIRS else "mined")
    cost = 4.0 * n_queries * n_pool * width
    if kind == "all" and cost > _REFUSED:
        raise ValueError(
            f"negatives='all' would rank {n_pool:,} documents for each of {n_queries:,} queries, "
            f"{cost / 1e12:.0f} TFLOP a step; negatives='mined' looks at the nearest wrong ones."
        )
    return negatives
