"""Paired tests: is one method's error really smaller than another's on the same rows?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr, stdtr

from vicinal._types import BoolArray, FloatArray


def corrected_t_test(differences: Sequence[float] | FloatArray, test_share: float) -> float | None:
    r"""Return the two-sided p-value of the resampled paired t-test with corrected variance.

    .. math:: t = \bar d \Big/ \sqrt{(1/J + n_{\text{test}}/n_{\text{train}})\, s_d^2},

    with J − 1 degrees of freedom. The folds' training parts overlap, so their differences are
    not independent; the plain 1/J finds differences where there are none
    [nadeau2003].

    Parameters
    ----------
    differences : sequence of float, length J
        One difference of errors a fold.
    test_share : float
        n_test / n_train.

    Returns
    -------
    float or None
        None with fewer than two folds, or where every fold shows the same non-zero
        difference, so that there is no variance to judge it by.
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2:
        return None
    if not d.any():
        return 1.0
    variance = d.var(ddof=1)
    if variance <= (1e-12 * np.abs(d).max()) ** 2:
        return None
    statistic = abs(d.mean()) / np.sqrt((1 / len(d) + test_share) * variance)
    return float(2 * stdtr(len(d) - 1, -statistic))


def mcnemar_test(wrong: BoolArray, wrong_rival: BoolArray) -> float:
    """Return the exact two-sided p-value that two classifiers err equally often.

    Of the b + c rows that only one of them gets wrong, b are binomial with one half if they do
    [mcnemar1947].

    Parameters
    ----------
    wrong, wrong_rival : bool ndarrays of shape (n_test,)
        Which rows each gets wrong.
    """
    only_first = int(np.sum(wrong & ~wrong_rival))
    only_rival = int(np.sum(wrong_rival & ~wrong))
    fewer = min(only_first, only_rival)
    return min(1.0, 2 * float(bdtr(fewer, only_first + only_rival, 0.5)))
