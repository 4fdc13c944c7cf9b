"""Prediction by a plane through the nearest training rows under a learned metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice, check_neighbors, check_positive
from vicinal.metric.gradients import BATCH_ENTRIES, COMPACT, local_fits, neighbour_weights
from vicinal.metric.learner import maps_of
from vicinal.metric.selection import Entry, Score
from vicinal.predict._training_targets import NeighborsRegressor

# What leave-one-out chooses from, and at how many rows it looks.
NEIGHBORS, RIDGES = (15, 30, 60, 120, 240, 480), (0.01, 0.1, 1.0)
_TRIED_ROWS = 1000


class LocalLinearRegressor(NeighborsRegressor):
    """Predict by local linear regression among the k nearest rows under a learned metric.

    With u = A x and weights w_j = s_j K(‖u − u_j‖ / r), r just beyond the k-th neighbour and s_j
    the sample weight,

        ŷ(x) = ȳ_w + β·(u − ū_w),   β = (Cov_w(u) + λI)⁻¹ Cov_w(u, y),

    λ = ridge · tr Cov_w(u) / p. A plane follows a slope that the mean of the neighbours flattens,
    at the border most of all.

    Parameters
    ----------
    n_neighbors : int or None
        k; None chooses between 15 and 480 by leave-one-out error on at most 1000 training rows.
    metric : metric learner or transformer, default=None
        As for :class:`KNNRegressor`; one that encodes into bits has no slopes and is refused.
    ridge : float or None
        λ in units of the mean variance of the neighbours; large values give their weighted mean.
        None chooses 0.01, 0.1 or 1, with the neighbours.
    kernel : {"epanechnikov", "triangle", "biweight"}, default="epanechnikov"
    index : str, default="exact"
        As for :class:`KNNRegressor`.
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    n_neighbors_ : int
    ridge_ : float
    metric_ : the fitted metric, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Notes
    -----
    Time O(k p² + p³) a query beside the search, or O(k² p + k³) where k < p.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LocalLinearRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = LocalLinearRegressor(n_neighbors=5, ridge=1e-6).fit(X, 3 * X[:, 0])
    >>> float(model.predict([[1.0]])[0].round(3))
    3.0
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        metric: Any = None,
        *,
        ridge: float | None = None,
        kernel: str = "epanechnikov",
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.ridge = ridge
        self.kernel = kernel
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    def _check_settings(self, n_rows: int) -> None:
        if self.n_neighbors is not None:
            check_neighbors(self.n_neighbors, n_rows)
        check_choice("kernel", self.kernel, tuple(COMPACT))
        if self.ridge is not None:
            check_positive("ridge", self.ridge, zero=True)

    def _finish_fit(self) -> None:
        if maps_of(self.metric_).space == "hamming":
            raise ValueError(
                "a metric that encodes into bits has no slopes; use KNNRegressor with it."
            )
        self.n_neighbors_, self.ridge_ = self._choose()

    def _searches_only(self) -> bool:
        return False  # planes are made of products

    def _takes_sparse_rows(self) -> bool:
        return self.metric is not None

    @property
    def _k(self) -> int | None:
        return vars(self).get("n_neighbors_", self.n_neighbors)

    def predict(self, X: AnyArray) -> FloatArray:
        """Return the height of each row's plane, of shape (m,) or (m, n_outputs)."""
        check_is_fitted(self)
        queries = self._map_queries(X)
        squared, indices = self._index.query(queries, self.n_neighbors_)
        near = np.asarray(queries, np.float64), np.asarray(squared, np.float64), indices
        (heights,) = self._heights(*near, (self.ridge_,))
        return heights[:, 0] if self._targets.ndim == 1 else heights

    def _choose(self) -> tuple[int, float]:
        """Return k and ridge, what was left open by the least leave-one-out error."""
        n = len(self._columns())
        most = max(1, min(n - 1, n // 2 + 1))
        counts = sorted({min(k, most) for k in NEIGHBORS})
        counts = counts if self.n_neighbors is None else [self.n_neighbors]
        ridges = RIDGES if self.ridge is None else (float(self.ridge),)
        if len(counts) * len(ridges) == 1 or n < 3:
            return counts[0], ridges[-1]
        tried = np.unique(np.linspace(0, n - 1, min(n, _TRIED_ROWS)).astype(int))
        queries = np.asarray(self._training_queries()[tried], np.float64)
        squared, indices = self._others(queries, tried, min(counts[-1], n - 1))
        targets, weights = self._columns()[tried], self._row_weights()[tried]
        entries = [Entry(f"{k} neighbours", k) for k in counts]

        for entry in entries:
            near = squared[:, : entry.candidate], indices[:, : entry.candidate]
            heights = self._heights(queries, *near, ridges)
            losses = [np.sum((height - targets) ** 2, axis=1) for height in heights]
            entry.scores = [Score(each, weights) for each in losses]
        scores = {
            (e.candidate, r): s.mean for e in entries for r, s in zip(ridges, e.scores, strict=True)
        }
        return min(scores, key=scores.__getitem__)

    def _heights(
        self,
        queries: FloatArray,
        squared: FloatArray,
        indices: IntArray,
        ridges: tuple[float, ...],
    ) -> list[FloatArray]:
        """Return the heights (m, C) of the planes at the queries, for each ridge."""
        targets, sample_weights = self._columns(), self._row_weights()
        vectors = self._index.vectors  # type: ignore[union-attr]
        heights: list[FloatArray] = [np.empty((len(queries), targets.shape[1])) for _ in ridges]
        width = indices.shape[1] * (queries.shape[1] + targets.shape[1])
        batch = max(1, BATCH_ENTRIES // width)
        for start in range(0, len(queries), batch):
            part = slice(start, start + batch)
            weights = neighbour_weights(squared[part], COMPACT[self.kernel])
            weights = weights * sample_weights[indices[part]]
            near = vectors[indices[part]].astype(np.float64)
            centres, means, slopes = local_fits(near, targets[indices[part]], weights, ridges)
            for height, slope in zip(heights, slopes, strict=True):
                height[part] = means + np.einsum("mcd,md->mc", slope, queries[part] - centres)
        return heights

    def _columns(self) -> FloatArray:
        """Return the targets of the indexed rows, (n, C)."""
        targets = self._targets if self._rows is None else self._targets[self._rows]
        return targets.reshape(len(targets), -1)

    def _row_weights(self) -> FloatArray:
        """Return what each of the indexed rows counts, (n,)."""
        if self._weights is None:
            return np.ones(len(self._columns()))
        return self._weights if self._rows is None else self._weights[self._rows]
