"""The distance below which a pair counts as alike, chosen on pairs of which it is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray

STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr")


def check_calibration(strategy: Any, min_rate: Any, beta: Any) -> None:
    """Refuse a strategy that is none, and the settings it needs where they make no sense."""
    if strategy not in STRATEGIES:
        raise ValueError(
            f"strategy={strategy!r} is unknown; use {', '.join(map(repr, STRATEGIES))}."
        )
    if strategy in ("max_tpr", "max_tnr") and not (_is_number(min_rate) and 0 <= min_rate <= 1):
        raise ValueError(f"{strategy} needs a min_rate between 0 and 1, got {min_rate!r}.")
    if strategy == "f_beta" and not _is_number(beta):
        raise ValueError(f"beta takes a number, got {beta!r}.")


def _is_number(value: Any) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def best_threshold(
    scores: FloatArray, y: AnyArray, strategy: str, min_rate: float | None, beta: float
) -> float:
    """Return the distance t for which "alike where −score ≤ t" does best.

    Candidates are all distances seen and one below them all; of equals the smallest is taken.
    """
    order = np.argsort(-scores, kind="stable")
    distances, alike = -scores[order], y[order] == 1
    last = np.flatnonzero(np.append(distances[1:] != distances[:-1], True))
    hits = np.concatenate([[0], np.cumsum(alike)[last]])
    wrong = np.concatenate([[0], np.cumsum(~alike)[last]])
    below = distances[0] - 1.0 if len(distances) else 0.0
    thresholds = np.concatenate([[below], distances[last]])
    values = _values(hits, wrong, int(alike.sum()), int((~alike).sum()), strategy, min_rate, beta)
    return float(thresholds[int(np.argmax(values))])


def _values(
    hits: AnyArray,
    wrong: AnyArray,
    n_alike: int,
    n_other: int,
    strategy: str,
    min_rate: float | None,
    beta: float,
) -> FloatArray:
    """Return what each threshold is worth."""
    if strategy == "accuracy":
        return (hits + n_other - wrong).astype(float)
    if strategy == "f_beta":
        total = (1 + beta**2) * hits + wrong + beta**2 * (n_alike - hits)
        return np.divide((1 + beta**2) * hits, total, out=np.zeros(len(hits)), where=total > 0)
    positive = hits / max(1, n_alike)
    left = 1 - wrong / max(1, n_other)
    rate, bound = (positive, left) if strategy == "max_tpr" else (left, positive)
    # Of thresholds with equal rates the one with the larger other rate.
    values: FloatArray = np.where(bound >= float(min_rate or 0.0), rate + 1e-9 * bound, -1.0)
    return values
