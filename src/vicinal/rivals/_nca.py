"""Neighbourhood components analysis, by scikit-learn, on at most so many rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.utils import check_random_state

from vicinal._types import AnyArray, IntArray
from vicinal._validation import (
    check_at_least_two_classes,
    check_classification_input,
    check_components,
)
from vicinal.metric._base import MetricLearner
from vicinal.rivals._sampling import sample_rows

MOST_COMPONENTS = 100


class NCA(MetricLearner):
    """Maximise the chance that a row's random neighbour shares its class.

    With p_ij ∝ exp(−‖A x_i − A x_j‖²), j ≠ i,

        maximise over A   Σ_i Σ_{j : y_j = y_i} p_ij,                        (1)

    by scikit-learn's ``NeighborhoodComponentsAnalysis`` (L-BFGS).

    Parameters
    ----------
    n_components : int or None
        Rows of A; None keeps all features, up to 100.
    init : "auto", "pca", "lda", "identity", "random" or ndarray of shape (n_components, d)
    max_iter : int
    tol : float
    max_samples : int or None
        Beyond so many rows a random sample of that size, with the classes in proportion, is
        fitted, and a warning says so: (1) takes time and memory quadratic in the rows. None
        always takes all.
    random_state : int, RandomState or None
    verbose : int

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    n_samples_fit_ : int
        How many rows the map was learned from.
    classes_ : ndarray of shape (R,)
    n_iter_ : int

    Notes
    -----
    Time O(n² (d + n_components)) a step and memory O(n²), n ≤ ``max_samples``.

    References
    ----------
    Goldberger, Roweis, Hinton and Salakhutdinov, "Neighbourhood components analysis",
    NIPS 2004 [goldberger2004].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NCA
    >>> X, y = load_iris(return_X_y=True)
    >>> NCA(n_components=2, random_state=0).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | AnyArray = "auto",
        max_iter: int = 50,
        tol: float = 1e-5,
        max_samples: int | None = 3000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: AnyArray, y: AnyArray) -> NCA:
        """Maximise (1).

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        """
        X, self.classes_, codes = check_classification_input(self, X, y)
        check_at_least_two_classes(self, self.classes_)
        check_components(self.n_components, X.shape[1])
        random = check_random_state(self.random_state)
        rows: IntArray = np.arange(len(X))
        if self.max_samples is not None and len(X) > self.max_samples:
            rows = sample_rows(codes, self.max_samples, random)
            warnings.warn(
                f"NCA was fitted on a random {len(rows):,} of {len(X):,} rows "
                "(max_samples); its cost is quadratic in the rows.",
                UserWarning,
                stacklevel=2,
            )
        self._fit_sample(X[rows], codes[rows], random)
        return self

    def _fit_sample(self, X: AnyArray, codes: IntArray, random: np.random.RandomState) -> None:
        learner = NeighborhoodComponentsAnalysis(
            n_components=choose_n_components(self.n_components, self.init, *X.shape),
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=random,
            verbose=self.verbose,
        ).fit(X, codes)
        self.components_ = learner.components_.astype(X.dtype, copy=False)
        self.n_samples_fit_ = len(X)
        self.n_iter_ = learner.n_iter_


def choose_n_components(n_components: int | None, init: Any, n: int, d: int) -> int | None:
    """Return the rows of A: as asked, else all features, or at most 100 the data can span."""
    if n_components is not None or not isinstance(init, str) or d <= MOST_COMPONENTS:
        return n_components
    return max(1, min(MOST_COMPONENTS, n - 1))
