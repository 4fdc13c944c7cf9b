"""Shares of a whole, and how few of them make up most of it, in words."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray
from ._numbers import NBSP, count_of, format_share, join_words, shorten


def as_shares(values: FloatArray) -> FloatArray:
    """Non-negative values divided by their sum (all zero where the sum is)."""
    values = np.clip(np.nan_to_num(np.asarray(values, dtype=float).ravel(), posinf=0.0), 0, None)
    # Scaled first, so that values near the largest float do not overflow in the sum.
    values = values / (values.max(initial=0.0) or 1.0)
    return values / (values.sum() or 1.0)


def count_for(shares: FloatArray, part: float) -> int:
    """How many of the largest shares it takes to reach ``part`` of the whole."""
    cumulated = np.cumsum(np.sort(shares)[::-1])
    return int(np.searchsorted(cumulated, part - 1e-12) + 1) if shares.size else 0


def phrase_concentration(shares: FloatArray, noun: str) -> str:
    """ "80 % of the relevance lies in 5 of 64 features."."""
    n = count_for(shares, 0.8)
    return f"80{NBSP}% of the relevance lies in {n:,} of {count_of(shares.size, noun)}."


def phrase_directions(shares: FloatArray, carries: str) -> str:
    """How many directions it takes, and how many there effectively are."""
    effective = 1 / float((shares**2).sum())
    return (
        f"It takes {count_for(shares, 0.9):,} of {count_of(shares.size, 'direction')} to carry "
        f"90{NBSP}% of {carries}; effectively it uses {effective:.1f}."
    )


def phrase_top(shares: FloatArray, names: tuple[str, ...], n: int = 3) -> str:
    """The largest shares by name: "alcohol (31 %), hue (12 %) and ash (4.0 %)"."""
    order = np.argsort(-shares, kind="stable")[:n]
    top = [(names[i] if i < len(names) else f"feature {i}", shares[i]) for i in order]
    return join_words([f"{shorten(name, 40)} ({format_share(float(s))})" for name, s in top])
