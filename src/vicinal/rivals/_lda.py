"""Linear discriminant analysis as a metric: whitening within the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._validation import check_components
from vicinal.metric import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.starts import (
    discriminant_map,
    discriminant_ratios,
    shrinkage_of,
    within_scatter,
)
from vicinal.rows import Rows

# "auto" is the formula that presumes no distribution of the rows.
_FORMULAS = {"auto": "ledoit_wolf", "ledoit_wolf": "ledoit_wolf", "oas": "oas"}


class LDA(MetricLearner):
    """Learn the directions that part the classes, scaled by the spread within them.

    With S_w the pooled covariance within the classes and S_b that of the class means, the rows
    of ``components_`` solve

        S_b a = λ S_w a,   aᵀ S_w a = 1,                                    (1)

    in descending order of λ, so that the learned distance is the Mahalanobis distance of S_w
    inside the space the class means span. S_w is shrunk towards a multiple of the identity, so
    that more features than rows, constant columns and classes of one member need no care.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; at most min(R − 1, d), which None means.
    shrinkage : "auto", "ledoit_wolf", "oas" or float in [0, 1]
        γ of (1 − γ) S_w + γ (tr S_w / d) I, or the formula that estimates it from the rows: of
        Ledoit and Wolf ("auto" too), or oracle approximating shrinkage, which presumes normal rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    eigenvalues_ : ndarray of shape (n_components,)
        λ of (1): variance between over variance within.
    shrinkage_ : float
        The γ used.
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        1: the solution is direct.

    Notes
    -----
    Time O(n d min(n, d) + min(n, d)³), memory O(n d): of rows wider than many, the d × d matrices
    are never formed.
    Departure from scikit-learn's ``LinearDiscriminantAnalysis``: the shrinkage is estimated once
    on all rows centred by class, not class by class, so that small classes do not spoil it.
    With γ = 0 the maps agree up to signs and one common factor.

    References
    ----------
    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
    Journal of Multivariate Analysis 88, 2004 [ledoit2004]. Chen, Wiesel, Eldar and Hero,
    "Shrinkage algorithms for MMSE covariance estimation", IEEE Transactions on Signal
    Processing 58, 2010 [chen2010].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA
    >>> X, y = load_wine(return_X_y=True)
    >>> LDA().fit(X, y).transform(X).shape
    (178, 2)
    """

    def __init__(self, n_components: int | None = None, *, shrinkage: str | float = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        X = rows.X
        formula = check_shrinkage(self.shrinkage)
        most = min(len(rows.classes.names) - 1, X.shape[1])
        limit = f"directions min(classes - 1, features) of {type(self).__name__}"
        n_components = check_components(self.n_components, most, limit) or most
        scatter = within_scatter(X.astype(np.float64, copy=False), rows.codes, X.shape[1])
        self.shrinkage_ = shrinkage_of(scatter, formula)
        components = discriminant_map(scatter, n_components, self.shrinkage_)
        self.eigenvalues_ = discriminant_ratios(scatter, components)
        self.n_iter_ = 1
        return LinearMaps(components.astype(X.dtype, copy=False))


def check_shrinkage(shrinkage: Any) -> str | float:
    """Return a share between 0 and 1 or the name of a formula; refuse all else."""
    if isinstance(shrinkage, str) and shrinkage in _FORMULAS:
        return _FORMULAS[shrinkage]
    real = isinstance(shrinkage, (int, float, np.integer, np.floating))
    if not real or isinstance(shrinkage, bool) or not 0.0 <= shrinkage <= 1.0:
        names = ", ".join(f'"{name}"' for name in _FORMULAS)
        raise ValueError(f"shrinkage must be {names} or between 0 and 1, got {shrinkage!r}.")
    return float(shrinkage)
