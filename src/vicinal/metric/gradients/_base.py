"""What GW, EGOP and EJOP share: settings, iterations, sums over parts, bootstrap intervals."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._threads import thread_count
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_transform_input, check_whole
from vicinal.index._inputs import check_block_size
from vicinal.metric._base import MetricLearner
from vicinal.metric.gradients import _options as checks
from vicinal.metric.gradients._estimate import Reference, Setting, evaluate, make_reference
from vicinal.metric.gradients._plan import Evaluated, FitPlan, follow_plan, plan_fit
from vicinal.metric.gradients._smoothing import Targets
from vicinal.metric.gradients._sums import (
    GradientSums,
    bootstrap_spectra,
    metric_components,
    spectrum,
)


class GradientMetric(MetricLearner):
    """Base of the metrics estimated from gradients; subclasses say what y and the matrix are."""

    gradients_: FloatArray
    _point_weights: FloatArray  # of the points the gradients are at
    # Powers of the eigenvalues that cross-validation tries.
    _powers: tuple[float, ...] = (0.5, 1.0)
    # Iterations where none are asked for, and rows are neither few nor many.
    _iterations: int = 1
    _fits_distributed = True

    def __init__(
        self,
        estimator: str = "auto",
        *,
        bandwidth: Any = None,
        step: Any = None,
        n_iter: int | None = None,
        n_components: int | None = None,
        power: float | None = None,
        n_neighbors: int = 7,
        n_evaluations: Any = "auto",
        temperature: float | None = 1.0,
        kernel: str = "gaussian",
        indicator: str = "practical",
        confidence: float = 0.05,
        n_local: int | None = None,
        ridge: float | None = None,
        store_gradients: bool = False,
        random_state: Any = None,
        block_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.bandwidth = bandwidth
        self.step = step
        self.n_iter = n_iter
        self.n_components = n_components
        self.power = power
        self.n_neighbors = n_neighbors
        self.n_evaluations = n_evaluations
        self.temperature = temperature
        self.kernel = kernel
        self.indicator = indicator
        self.confidence = confidence
        self.n_local = n_local
        self.ridge = ridge
        self.store_gradients = store_gradients
        self.random_state = random_state
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: AnyArray, y: AnyArray, sample_weight: Any = None) -> Any:
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
        self._learn(X, y, sample_weight)
        return self

    def partial_fit(self, X: AnyArray, y: Any = None, sample_weight: Any = None) -> Any:
        """Add evaluation points; the sample stays that of the first call.

        The first call fits on X and y and keeps them. Each later call estimates gradients at new
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
        if getattr(self, "_part", None) is None:
            sums, reference = self._learn(X, y, sample_weight)
        else:
            X = check_transform_input(self, X, accept_sparse=False)
            sums, reference = self._resume()
            checks.check_point_weights(sample_weight, len(X))
            weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
            weights = np.broadcast_to(weights, len(X)) / self._weight_scale
            added, gradients = self._evaluate(X, weights, reference, own=False)
            sums = sums.merge(added)
            if gradients is not None:
                self.gradients_ = np.concatenate([self.gradients_, as_stored(gradients)])
                self._point_weights = np.concatenate([self._point_weights, weights])
            self._keep_metric(sums)
        self._remember(sums, reference)
        return self

    def spectrum_interval(
        self, level: float = 0.95, n_resamples: int = 200, random_state: Any = 0
    ) -> FloatArray:
        """Return bootstrap intervals (n_features, 2) of ``eigenvalues_``.

        Evaluation points are resampled, each with its weight; needs ``store_gradients=True``.
        """
        spectra, _ = self._bootstrap(1, n_resamples, random_state)
        return interval(spectra, level)

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
        rank = len(self.components_) if n_components is None else n_components
        rank = min(check_whole("n_components", rank), self.n_features_in_)
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
        setting, components = self._last_estimate
        points = check_transform_input(self, points, accept_sparse=False)
        # A clone: the checks of a fit leave what they saw with the estimator.
        sample, targets = clone(self)._check_input(X, y)
        check_transform_input(self, X, accept_sparse=False)
        weights, _ = checks.check_point_weights(sample_weight, len(sample))
        reference = make_reference(
            sample, targets, Setting(**dict(setting)), weights=weights, components=components
        )
        n_threads = thread_count(self.n_jobs)
        flat = np.ones(len(points))
        gradients = evaluate(points, flat, reference, n_threads=n_threads, keep=True)[1]
        assert gradients is not None
        return as_stored(gradients)

    # What the subclasses differ in -----------------------------------------------------------

    def _check_input(self, X: AnyArray, y: AnyArray) -> tuple[AnyArray, Targets]:
        """Return X as floats, and the columns f predicts."""
        raise NotImplementedError

    def _matrix(self, sums: GradientSums) -> FloatArray:
        """Return the metric's matrix."""
        return sums.mean_outer

    # Learning ------------------------------------------------------------------------------------

    def _learn(
        self, X: AnyArray, y: AnyArray, sample_weight: Any
    ) -> tuple[GradientSums, Reference]:
        X, targets = self._check_input(X, y)
        random = check_random_state(self.random_state)
        weights, self._weight_scale = checks.check_point_weights(sample_weight, len(X))
        plan = plan_fit(self, X, targets, weights, len(X), random)
        at = slice(None) if plan.points is None else plan.points
        points, point_weights = X[at], weights[at]

        def evaluate_points(setting: Setting, components: FloatArray | None) -> Evaluated:
            reference = make_reference(X, targets, setting, weights=weights, components=components)
            sums, gradients = self._evaluate(points, point_weights, reference, own=True)
            return Evaluated(sums, gradients, reference, point_weights)

        found = follow_plan(self, plan, evaluate_points)
        assert found.reference is not None
        return found.sums, found.reference

    def _evaluate(
        self, X: AnyArray, weights: FloatArray, reference: Reference, *, own: bool
    ) -> tuple[GradientSums, FloatArray | None]:
        """Return sums and, where stored, gradients (m, C, d)."""
        size = None if self.block_size is None else check_block_size(self.block_size)
        return evaluate(
            X,
            weights,
            reference,
            block_size=size,
            n_threads=thread_count(self.n_jobs),
            own=own,
            keep=self.store_gradients,
        )

    # What is kept --------------------------------------------------------------------------------

    def _keep_fit(
        self, plan: FitPlan, setting: Setting, components: FloatArray | None, found: Evaluated
    ) -> None:
        """Keep what a fit found; ``components`` measured the distances in its last iteration."""
        self._part: tuple[Any, ...] | None = None
        self.n_iter_, self._dtype = len(plan.path), plan.dtype
        # As plain values, which a model file can hold.
        self._last_estimate = (tuple(vars(setting).items()), components)
        self._keep_setting(setting)
        self._keep_metric(found.sums)
        if found.gradients is not None:
            self.gradients_ = as_stored(found.gradients)
            flat = np.ones(len(found.gradients))
            self._point_weights = flat if found.weights is None else found.weights
        elif hasattr(self, "gradients_"):
            del self.gradients_, self._point_weights  # an earlier fit's

    def _keep_metric(self, sums: GradientSums) -> None:
        n_components = self.n_components
        if n_components is not None:
            n_components = min(check_whole("n_components", n_components), len(sums.outer))
        self.outer_product_ = self._matrix(sums)
        self.eigenvalues_, vectors = spectrum(self.outer_product_)
        components = metric_components(self.eigenvalues_, vectors, self.power_)
        self.components_ = components[:n_components].astype(self._dtype)
        self.n_evaluations_ = sums.count

    def _keep_setting(self, setting: Setting) -> None:
        self.estimator_ = setting.estimator
        self.bandwidth_ = float(setting.bandwidth)
        self.n_local_ = setting.n_local
        self.ridge_ = float(setting.ridge)
        self.power_ = float(setting.power)

    def _remember(self, sums: GradientSums, reference: Reference) -> None:
        """Keep sums and sample as plain arrays, which a model file can hold."""
        sample, places = reference.sample, reference.coordinates
        targets, setting = sample.targets, reference.setting
        self._part = (
            (sums.count, sums.weight, sums.outer, sums.absolute),
            (places.centre, places.components, places.unit),
            (sample.panel, sample.weights, sample.starts, sample.clamp),
            (targets.values, targets.codes, targets.n_columns, targets.scale),
            tuple(vars(setting).items()),
        )

    def _resume(self) -> tuple[GradientSums, Reference]:
        assert self._part is not None
        sums, places, sample, targets, setting = self._part
        return GradientSums(*sums), checks.rebuild_reference(places, sample, targets, setting)

    def _bootstrap(
        self, rank: int, n_resamples: int, random_state: Any
    ) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self, "components_")
        if not hasattr(self, "gradients_"):
            raise ValueError(
                "intervals need the gradients at every point: fit with store_gradients=True."
            )
        n_resamples = check_whole("n_resamples", n_resamples)
        gradients = self.gradients_
        by_column = gradients[:, None] if gradients.ndim == 2 else gradients.transpose(0, 2, 1)
        random = check_random_state(random_state)
        return bootstrap_spectra(
            by_column, self._point_weights, n_resamples, rank, random, self._matrix
        )

    def _report(self, line: str) -> None:
        if self.verbose:
            sys.stdout.write(f"[{type(self).__name__}] {line}\n")
            sys.stdout.flush()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def as_stored(gradients: FloatArray) -> FloatArray:
    """Return gradients (m, C, d) as users see them: (m, d), or (m, d, C) for classes."""
    return gradients[:, 0] if gradients.shape[1] == 1 else gradients.transpose(0, 2, 1)


def interval(values: FloatArray, level: float) -> FloatArray:
    """Return the central interval of resampled values (B, p), of shape (p, 2)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}.")
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(values, tails, axis=0).T
