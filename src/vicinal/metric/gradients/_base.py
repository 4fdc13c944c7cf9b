"""What GW, EGOP and EJOP share: parameters, fit, more points, intervals, gradients anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._threads import map_blocks, thread_count
from vicinal._types import AnyArray, FloatArray, Fold
from vicinal._validation import check_components, check_whole
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import LinearMaps
from vicinal.rows import Classes, Rows, check_transform_input, refuse_distributed

from ._evaluation import (
    Blocks,
    evaluate,
    fit_smoother,
    gradients_at,
)
from ._fit import BegunFit, begin_fit
from ._kept import KeptGradients, as_stored
from ._local import LocalRanking
from ._options import GradientOptions, check_options, check_point_weights, weight_scale
from ._rows import distinct_rows
from ._smoother import Smoother, Smoothing
from ._spectrum import (
    bootstrap_spectra,
    interval,
)
from ._targets import Targets, class_targets, real_targets


class GradientMetric(KeptGradients):
    """Base of the metrics estimated from gradients; subclasses say what y and the matrix are."""

    _task = "auto"
    _weight_scale = 1.0  # what given weights were divided by
    _fits_distributed = True

    def __init__(
        self,
        estimator: str = "auto",
        *,
        bandwidth: Any = None,
        n_iter: int | None = None,
        n_components: int | str | None = None,
        power: float | None = None,
        n_neighbors: int = 7,
        n_evaluations: Any = "auto",
        smoothing: Smoothing | None = None,
        store_gradients: bool = False,
        local: bool = False,
        diagonal: bool | None = None,
        random_state: Any = None,
        block_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.bandwidth = bandwidth
        self.n_iter = n_iter
        self.n_components = n_components
        self.power = power
        self.n_neighbors = n_neighbors
        self.n_evaluations = n_evaluations
        self.smoothing = smoothing
        self.store_gradients = store_gradients
        self.local = local
        self.diagonal = diagonal
        self.random_state = random_state
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: AnyArray, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate gradients and make the metric.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Dense; features on comparable scales (z-scored, say).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Weighs rows both as samples and as evaluation points.

        Returns
        -------
        GradientMetric
            Itself.
        """
        rows = self._read(X, y, sample_weight)
        self._weight_scale = weight_scale(sample_weight)
        return self.fit_rows(rows)

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map made of the gradients."""
        weights, targets = self._columns(rows)
        self._keep_fit(self._begin(rows).fit(rows.X, targets, weights))
        return self.maps_

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit whose smoother is chosen once, on some of all rows."""
        rows = self.note_rows(rows)
        begun = self._begin(rows)

        def without(fold: Fold) -> LinearMaps:
            part, inner = rows.take(fold.train), clone(self)
            inner.n_features_in_ = self.n_features_in_
            weights, targets = self._columns(part)
            inner._keep_fit(begun.fit(part.X, targets, weights, all_rows=False))
            return inner.maps_

        def finish() -> GradientMetric:
            weights, targets = self._columns(rows)
            self._keep_fit(begun.fit(rows.X, targets, weights))
            return self

        return CrossFit(without, finish)

    def forget_rows(self) -> None:
        """Drop the sample gradients are estimated from; a local metric cannot do without it."""
        if self.local:
            raise ValueError(
                "a metric with local=True ranks by gradients that it estimates from its training "
                "rows, so that none of them can be removed; fit anew without them."
            )
        self._fitted = None

    def _begin(self, rows: Rows) -> BegunFit:
        weights, targets = self._columns(rows)
        options = self._options(rows.X.shape[1], targets.n_columns)
        return begin_fit(options, rows.X, targets, weights, check_random_state(self.random_state))

    def _columns(self, rows: Rows) -> tuple[FloatArray, Targets]:
        """Return the weights of rows and the columns f predicts."""
        weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        return weights, self._targets(rows.target, weights)

    def partial_fit(self, X: AnyArray, y: Any = None, sample_weight: Any = None) -> Self:
        """Add evaluation points; the sample stays that of ``fit``, or of the first call.

        The first call, if there was no ``fit``, is one. Each later call estimates gradients at new
        rows from that sample and adds their outer products, so that calls on parts of a set of
        points give what one call on all of them would. y is not looked at then.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Needed in the first call.
        sample_weight : array-like of shape (n,) or None

        Returns
        -------
        GradientMetric
            Itself.
        """
        if not self._is_fitted:
            return self.fit(X, y, sample_weight)
        refuse_distributed(self, X)
        X = check_transform_input(self, X, accept_sparse=False)
        weights = check_point_weights(sample_weight, len(X))
        so_far, (fitted, span) = self._evaluated(), self._held()
        options = self._options(X.shape[1], fitted.sample.n_columns)
        X = X if span is None else span.enter(X)
        how = {"keep": so_far.gradients is not None, "diagonal": self._kind.diagonal}
        (added,) = evaluate(X, weights / self._weight_scale, fitted, options.blocks, **how)
        rank = options.n_components
        rank = len(self.components_) if isinstance(rank, str) else rank
        self._keep_sums(so_far.merge(added), rank)
        return self

    def spectrum_interval(
        self, level: float = 0.95, n_resamples: int = 200, random_state: Any = 0
    ) -> FloatArray:
        """Return bootstrap intervals (n_features, 2) of ``eigenvalues_``.

        Evaluation points are resampled, each with its weight; needs ``store_gradients=True``.
        """
        spectra, _ = self._bootstrap(1, n_resamples, random_state)
        intervals = interval(spectra, level)
        return np.pad(intervals, ((0, self.n_features_in_ - len(intervals)), (0, 0)))

    def principal_angle_interval(
        self,
        n_components: int | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = 0,
    ) -> FloatArray:
        """Return bootstrap intervals (r, 2), in degrees, of the leading principal angles.

        The angles are those between the r leading eigenvectors of a resample and those of all
        evaluation points; r is ``n_components``, by default that of ``components_``. Needs
        ``store_gradients=True``.
        """
        check_is_fitted(self, "components_")
        rank = check_components(n_components, self.n_features_in_) or len(self.components_)
        _, angles = self._bootstrap(rank, n_resamples, random_state)
        return interval(angles, level)

    def estimate_gradients(
        self, points: AnyArray, X: AnyArray, y: AnyArray, *, sample_weight: Any = None
    ) -> FloatArray:
        """Return gradients at any points, estimated from a sample as the fit's last iteration did.

        Parameters
        ----------
        points : array-like of shape (m, n_features)
        X : array-like of shape (n, n_features)
            The sample, usually that of ``fit``.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None

        Returns
        -------
        ndarray of shape (m, n_features), or (m, n_features, C) for classes
        """
        check_is_fitted(self, "components_")
        how, components = self._last_estimate
        points = check_transform_input(self, points, accept_sparse=False)
        check_transform_input(self, X, accept_sparse=False)
        sample = self._read(X, y, sample_weight)
        weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
        targets = self._targets(self._take_target(sample.target), weights)
        rows, targets, weights = distinct_rows(sample.X, targets, weights)
        fitted = fit_smoother(
            rows, targets, Smoother(**how), weights=weights, components=components
        )
        blocks = Blocks(n_threads=thread_count(self.n_jobs))
        parts = map_blocks(
            lambda block: gradients_at(points[block], fitted)[0],
            blocks.split(len(points), fitted),
            blocks.n_threads,
        )
        return as_stored(np.concatenate(parts))

    def local_metric(self, X: AnyArray) -> FloatArray:
        """Return J(x)J(x)ᵀ at each row, (m, n_features, n_features): how f changes around x.

        ``outer_product_`` of EGOP and EJOP is the mean of these over the evaluation points. J, of
        shape (d, C), is the Jacobian estimated from the sample of the fit. Memory O(m d²).
        """
        check_is_fitted(self, "components_")
        X = check_transform_input(self, X, accept_sparse=False)
        (jacobians,) = gradients_at(X, self._fitted_smoother())
        return np.einsum("mci,mcj->mij", jacobians, jacobians)

    @property
    def maps_(self) -> LinearMaps:
        """The learned map, and what ranks the nearest again with ``local``."""
        maps = super().maps_
        assert isinstance(maps, LinearMaps)
        return replace(maps, ranking=self.local_ranking()) if self.local else maps

    def local_ranking(self) -> LocalRanking | None:
        """Return what ranks candidates of a k-NN search again; None without ``local``."""
        check_is_fitted(self, "components_")
        if not self.local:
            return None
        components = self.components_.astype(np.float64)
        squared = np.einsum("pd,pd->p", components, components)
        positive = squared > 0
        # The mean of JJᵀ in the coordinates of the map, where the mean metric is the identity.
        sizes = self.eigenvalues_[: len(components)][positive] / squared[positive]
        return LocalRanking(self._fitted_smoother(), components, float(1 / sizes.mean()))

    def _targets(self, target: Any, weights: FloatArray) -> Targets:
        """Return the columns f predicts."""
        if isinstance(target, Classes):
            return class_targets(target)
        return real_targets(target.values, weights)

    def _options(self, n_features: int, n_columns: int) -> GradientOptions:
        smoothing = Smoothing() if self.smoothing is None else self.smoothing
        if not isinstance(smoothing, Smoothing):
            raise ValueError(f"smoothing must be a vicinal.Smoothing or None, got {smoothing!r}.")
        parameters = self.get_params(deep=False) | smoothing.get_params()
        return check_options(parameters, type(self).__name__, self._kind, n_features, n_columns)

    def _bootstrap(
        self, rank: int, n_resamples: int, random_state: Any
    ) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self, "components_")
        if "gradients_" not in vars(self):
            raise ValueError(
                "intervals need the gradients at every point: fit with store_gradients=True."
            )
        n_resamples = check_whole("n_resamples", n_resamples)
        gradients, random = self._stored_gradients(), check_random_state(random_state)
        weights = np.ones(len(gradients)) if self._point_weights is None else self._point_weights
        return bootstrap_spectra(gradients, weights, n_resamples, rank, random, self._kind)
