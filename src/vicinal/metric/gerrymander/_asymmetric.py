"""AsymmetricMLNG: one map for queries, another for the database, learned by the k-NN vote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import FloatArray
from vicinal.metric.descent import Descent, Progress
from vicinal.metric.gerrymander._mlng import MLNG
from vicinal.metric.gerrymander._objective import part
from vicinal.metric.gerrymander._problem import LinearProblem
from vicinal.metric.gerrymander._regularizers import TWO_MAPS
from vicinal.metric.starts import Start


@dataclass(frozen=True)
class TwoMapProblem(LinearProblem):
    """MLNG's problem with two stacked maps (2, p, r), U of queries and V of the database."""

    def make_start(self, start: Start, rng: np.random.Generator) -> FloatArray:
        """Return both maps where a start puts one, unless they are given apart."""
        one = super().make_start(start, rng)
        return one if one.ndim == 3 else np.stack([one, one])

    def begin(self, setting: Any, seed: Sequence[int]) -> Descent:
        """Return a descent at the setting's start, in the coordinates of both maps' mean."""
        return part(super().begin(setting, seed))


class AsymmetricMLNG(MLNG):
    """Learn two maps, of queries and of the database, whose k nearest neighbours vote right.

    D(x, z) = ‖U x + b − V z‖² with U the map of queries, V the map of the database and b the offset
    that makes rows' mean lie at distance 0 of itself. Sets h* and ĥ and the loss are those of
    :class:`MLNG`; both maps start as one and part where the loss gains by it. D(x, x) need not be
    0.

    Parameters
    ----------
    n_neighbors, n_components, costs, learning_rate, max_iter, tol, warm_start
        As of :class:`MLNG`.
    init : str or array of shape (n_components, n_features), default="auto"
        As of :class:`MLNG`: where both maps start; the ``components_`` of a fitted one will do.
    regularizer : {None, "joint", "metrics", "maps"}
        Added to the objective, on standardised features, as λ times ½‖W‖²_F of the 2d × 2d matrix
        W = [UᵀU, −UᵀV; −VᵀU, VᵀV]; ‖UᵀU‖_F + ‖VᵀV‖_F; or ‖U‖_F + ‖V‖_F.
    regularization : float or "auto"
        λ.
    candidates : {"auto", "all", "exact", "approximate", "faiss"}
        As of :class:`MLNG`; the last two look for rows near a row's own place in the database's
        map, which is near the query's while the maps are alike.
    random_state, verbose, n_jobs, callback
        As of :class:`MLNG`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        V.
    query_components_ : ndarray of shape (n_components, n_features)
        U.
    query_offset_ : ndarray of shape (n_components,)
        b = (V − U) μ with μ the mean of the training rows.
    classes_, n_iter_, loss_curve_, init_, learning_rate_, regularization_, settings_, n_skipped_
        As of :class:`MLNG`.

    Notes
    -----
    Time and memory are twice those of :class:`MLNG`. Search needs the mapped rows only: any
    Euclidean index of ``transform(X)`` answers ``transform_queries(X)``.
    The source prints factors 2 and 4 in the gradient of ½‖W‖²_F; they are 2 and 2.

    References
    ----------
    trivedi2018, neyshabur2013

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import AsymmetricMLNG, KNNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KNNClassifier(n_neighbors=3, metric=AsymmetricMLNG(random_state=0))
    >>> float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.9
    True
    """

    solver = "factored"
    query_components_: FloatArray
    query_offset_: FloatArray
    _problem = TwoMapProblem
    _regularizers = tuple(TWO_MAPS)

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        n_components: int | None = None,
        init: Any = "auto",
        regularizer: str | None = None,
        regularization: Any = "auto",
        costs: Any = None,
        learning_rate: Any = "auto",
        max_iter: int = 12,
        tol: float = 1e-4,
        candidates: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.init = init
        self.regularizer = regularizer
        self.regularization = regularization
        self.costs = costs
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.candidates = candidates
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return W = [UᵀU, −UᵀV; −VᵀU, VᵀV] of shape (2 n_features, 2 n_features).

        D(x, z) = [x, z]ᵀ W [x, z] for rows about the training mean.
        """
        check_is_fitted(self, "components_")
        both = np.hstack([self.query_components_, -self.components_])
        matrix: FloatArray = both.T @ both
        return matrix
