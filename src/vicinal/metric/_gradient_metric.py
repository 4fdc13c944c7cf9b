"""What GW, EGOP and EJOP share: settings, iterations, sums over parts, bootstrap intervals."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_transform_input
from vicinal.index._inputs import check_block_size
from vicinal.index._threads import thread_count
from vicinal.metric import _bandwidth as selection
from vicinal.metric import _gradient_options as checks
from vicinal.metric import _options as plain_checks
from vicinal.metric._base import MetricLearner
from vicinal.metric._gradient_estimate import Reference, Setting, evaluate, make_reference
from vicinal.metric._gradient_sums import (
    GradientSums,
    bootstrap_spectra,
    metric_components,
    spectrum,
)
from vicinal.metric._smoothing import Targets

_MOST_EVALUATIONS = 10_000
# Multiplications local linear fits may take before fewer evaluation points are taken.
_FIT_BUDGET = 2e11


class GradientMetric(MetricLearner):
    """Base of the metrics estimated from gradients; subclasses say what y and the matrix are."""

    gradients_: FloatArray
    # Powers of the eigenvalues that cross-validation tries.
    _powers: tuple[float, ...] = (0.5, 1.0)

    def __init__(
        self,
        estimator: str = "auto",
        *,
        bandwidth: Any = None,
        step: Any = None,
        n_iter: int = 1,
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
        self._part: tuple[Any, ...] | None = None
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
                self.gradients_ = np.concatenate([self.gradients_, gradients])
            self._keep_metric(sums)
        self._remember(sums, reference)
        return self

    def spectrum_interval(
        self, level: float = 0.95, n_resamples: int = 200, random_state: Any = 0
    ) -> FloatArray:
        """Return bootstrap intervals (n_features, 2) of ``eigenvalues_``.

        Evaluation points are resampled; needs ``store_gradients=True``.
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
        rank = min(plain_checks.check_whole("n_components", rank), self.n_features_in_)
        _, angles = self._bootstrap(rank, n_resamples, random_state)
        return interval(angles, level)

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
        distinct = selection.distinct_rows(X, targets, weights, random)
        probe = selection.probe_rows(X, distinct, random)
        median = selection.median_distance(probe)
        if median == 0:
            raise ValueError(
                f"all rows of X are equal (n_samples={len(X)}): there is no direction to learn."
            )
        path = self._choose(X, targets, distinct, probe, median, random)
        chosen = self._evaluation_rows(path[0], len(X), X.shape[1], random)
        points = (X, weights) if chosen is None else (X[chosen], weights[chosen])
        components: FloatArray | None = None
        for last, setting in enumerate(path, start=1 - len(path)):
            attempts = self._attempts(setting, median, len(X))
            sums, gradients, reference = self._first_found(
                attempts, (X, targets, weights), points, components, median
            )
            if last < 0:
                metric = self._metric(sums, setting.power)
                components = selection.keep_scale(metric, probe, median)
        self.n_iter_, self._dtype = len(path), X.dtype.name
        self._keep_setting(reference.setting)
        self._keep_metric(sums)
        if gradients is not None:
            self.gradients_ = gradients
        return sums, reference

    def _attempts(self, setting: Setting, median: float, n_rows: int) -> list[Setting]:
        """Return the setting, and a wider one should y not change that near to any row."""
        if self.bandwidth is not None and self.bandwidth != "rule":
            return [setting]
        return [setting, selection.widest_setting(setting, median, n_rows)]

    def _first_found(
        self,
        attempts: list[Setting],
        sample: tuple[AnyArray, Targets, FloatArray],
        points: tuple[AnyArray, FloatArray],
        components: FloatArray | None,
        median: float,
    ) -> tuple[GradientSums, FloatArray | None, Reference]:
        """Return what the first setting finds under which f changes at all."""
        X, targets, weights = sample
        for setting in attempts:
            reference = make_reference(X, targets, setting, weights=weights, components=components)
            sums, gradients = self._evaluate(*points, reference, own=True)
            if selection.found_gradients(sums, targets, setting):
                return sums, gradients, reference
        raise selection.nothing_near(attempts[0], median)

    def _evaluate(
        self, X: AnyArray, weights: FloatArray, reference: Reference, *, own: bool
    ) -> tuple[GradientSums, FloatArray | None]:
        """Return sums and, where stored, gradients: (m, d), or (m, d, C) for classes."""
        size = None if self.block_size is None else check_block_size(self.block_size)
        sums, gradients = evaluate(
            X,
            weights,
            reference,
            block_size=size,
            n_threads=thread_count(self.n_jobs),
            own=own,
            keep=self.store_gradients,
        )
        if gradients is not None:
            real = reference.sample.targets.is_real
            gradients = gradients[:, 0] if real else gradients.transpose(0, 2, 1)
        return sums, gradients

    def _choose(
        self,
        X: AnyArray,
        targets: Targets,
        rows: IntArray,
        probe: FloatArray,
        median: float,
        random: Any,
    ) -> list[Setting]:
        """Return the setting of each iteration, by cross-validation where several are possible."""
        n_iter = plain_checks.check_whole("n_iter", self.n_iter)
        power = None if self.power is None else plain_checks.check_positive("power", self.power)
        k = plain_checks.check_whole("n_neighbors", self.n_neighbors)
        settings = [
            replace(setting, power=power or 1.0)
            for setting in self._settings(X, targets, median, n_iter)
        ]
        if self.bandwidth is not None:
            return settings * n_iter
        if len(rows) < selection.CV_LEAST:
            return [settings[len(settings) // 2]] * n_iter
        halves = selection.split_halves(X, targets, rows, k, random, thread_count(self.n_jobs))
        return selection.choose_path(
            halves,
            settings,
            self._powers if power is None else (power,),
            n_iter,
            lambda sums, q: selection.keep_scale(self._metric(sums, q), probe, median),
            self._report,
        )

    def _settings(self, X: AnyArray, targets: Targets, median: float, n_iter: int) -> list[Setting]:
        """Return the candidates; one where nothing is left to choose."""
        bandwidth = checks.check_bandwidth(self.bandwidth)
        base = checks.check_setting(self, X.shape[1], targets.n_columns, n_iter)
        ridge = self.ridge
        if ridge is not None:
            ridge = plain_checks.check_positive("ridge", ridge)
        if bandwidth is None:
            return selection.candidate_settings(base, median, len(X), X.shape[1], ridge)
        if bandwidth == "rule":
            return [selection.rule_setting(base, median, len(X), X.shape[1], ridge)]
        if base.estimator == "auto":
            raise ValueError("estimator='auto' chooses the bandwidth too; give one estimator.")
        base = replace(base, bandwidth=float(bandwidth), ridge=ridge or base.ridge)
        local = base.estimator == "local-linear"
        return [replace(base, kernel=selection.local_kernel(base.kernel)) if local else base]

    def _evaluation_rows(
        self, setting: Setting, n_rows: int, n_features: int, random: Any
    ) -> AnyArray | None:
        """Return the rows gradients are estimated at, None for all."""
        if self.n_evaluations is None:
            return None
        cost = selection.fit_cost(setting, n_features)
        most = max(1000, min(_MOST_EVALUATIONS, int(_FIT_BUDGET / max(cost, 1))))
        if not isinstance(self.n_evaluations, str) or self.n_evaluations != "auto":
            most = plain_checks.check_whole("n_evaluations", self.n_evaluations)
        return None if most >= n_rows else np.sort(random.permutation(n_rows)[:most])

    # What is kept --------------------------------------------------------------------------------

    def _metric(self, sums: GradientSums, power: float) -> FloatArray:
        """Return the map of the matrix, (d, d)."""
        return metric_components(*spectrum(self._matrix(sums)), power)

    def _keep_metric(self, sums: GradientSums) -> None:
        n_components = self.n_components
        if n_components is not None:
            n_components = min(
                plain_checks.check_whole("n_components", n_components), len(sums.outer)
            )
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
        n_resamples = plain_checks.check_whole("n_resamples", n_resamples)
        gradients = self.gradients_
        by_column = gradients[:, None] if gradients.ndim == 2 else gradients.transpose(0, 2, 1)
        random = check_random_state(random_state)
        return bootstrap_spectra(by_column, n_resamples, rank, random, self._matrix)

    def _report(self, line: str) -> None:
        if self.verbose:
            sys.stdout.write(f"[{type(self).__name__}] {line}\n")
            sys.stdout.flush()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def interval(values: FloatArray, level: float) -> FloatArray:
    """Return the central interval of resampled values (B, p), of shape (p, 2)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}.")
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(values, tails, axis=0).T
