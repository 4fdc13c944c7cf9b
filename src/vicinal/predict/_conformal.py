"""Sets and intervals that hold the truth as often as is asked, by held-out predictions.

If a new row and the m held-out ones come in no particular order, the rank of its score among
theirs is uniform on 1 … m + 1. So what ranks among the worst share alpha is left out, and the truth
is left out with probability alpha: of all rows together, not of each kind of row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._types import BoolArray, FloatArray
from vicinal._validation import check_positive

# Digits of scores that count: equal votes must tie.
_DIGITS = 9


def check_alpha(alpha: Any) -> float:
    """Return the share of rows that may be missed, between 0 and 1."""
    checked = check_positive("alpha", alpha)
    if checked >= 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}.")
    return checked


def conformal_sets(
    shares: FloatArray, held_out: FloatArray, alpha: float, random_state: Any
) -> BoolArray:
    """Return which classes are in the set of each row, (q, R).

    Parameters
    ----------
    shares : ndarray of shape (q, R)
    held_out : ndarray of shape (m,)
        The own class's share at held-out rows.
    alpha : float
    random_state : int or RandomState
        A class whose share equals those of held-out rows is in by chance, as often as it takes.
    """
    scores = np.sort(np.round(1 - held_out, _DIGITS))
    own = np.round(1 - shares, _DIGITS)
    above = len(scores) - np.searchsorted(scores, own, side="right")
    tied = len(scores) - np.searchsorted(scores, own, side="left") - above
    chance = check_random_state(random_state).uniform(size=(len(shares), 1))
    ranks: FloatArray = (above + chance * (tied + 1)) / (len(scores) + 1)
    within: BoolArray = ranks > alpha
    return within


def conformal_radius(scores: FloatArray, alpha: float) -> float:
    """Return what 1 − alpha of scores (m,) and a new one do not exceed; inf where m is too few."""
    rank = int(np.ceil((len(scores) + 1) * (1 - alpha)))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else np.inf
