"""Random samples with every class in proportion."""

from __future__ import annotations

import numpy as np

from vicinal._types import IntArray


def sample_rows(
    strata: IntArray, size: int, random: np.random.Generator | np.random.RandomState
) -> IntArray:
    """Return ``size`` sorted rows, every stratum in proportion.

    Each stratum keeps at least two members where it has them, since a single one has no
    neighbour of its kind; with many rare strata there are a few rows more than asked for.

    Parameters
    ----------
    strata : int ndarray of shape (n,)
        Numbers 0, 1, ... of the strata.
    size : int
        At most n.
    random : Generator or RandomState
    """
    order = random.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    counts = np.bincount(strata)
    members = np.split(order, np.cumsum(counts)[:-1])
    shares = np.maximum(share_out(counts, size), np.minimum(2, counts))
    return np.sort(np.concatenate([m[:n] for m, n in zip(members, shares, strict=True)]))


def share_out(counts: IntArray, size: int) -> IntArray:
    """Return whole numbers in proportion to counts that add up to ``size`` (largest remainders)."""
    exact = size * counts / counts.sum()
    shares = np.floor(exact).astype(np.int64)
    short = size - shares.sum()
    shares[np.argsort(shares - exact, kind="stable")[:short]] += 1
    return shares
