"""What a gradient metric keeps of its fit, and reads again: values and arrays, for model files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import FloatArray
from vicinal.metric.learner import MetricLearner

from ._evaluation import Evaluated, FittedSmoother, gradients_at
from ._fit import GradientFit
from ._rows import Span
from ._sample import Coordinates
from ._spectrum import (
    MetricKind,
    diagonal_components,
    ladle,
    metric_components,
    spectrum,
    with_signs,
)
from ._sums import GradientSums

# Points whose gradients tell how many directions stand out.
_LADLE_POINTS = 500


class KeptGradients(MetricLearner):
    """A learner that holds the sums of gradients, their metric, and what they came from."""

    gradients_: FloatArray
    _kind: MetricKind
    # What gradients are estimated from, as plain values; None where its rows are not held.
    _fitted: dict[str, Any] | None

    def _keep_fit(self, fit: GradientFit) -> None:
        smoother = fit.smoother
        self.n_iter_ = fit.n_iter
        self.estimator_ = smoother.estimator
        self.bandwidth_ = float(smoother.bandwidth)
        self.n_local_ = smoother.n_local
        self.ridge_ = float(smoother.ridge)
        self.power_ = float(smoother.power)
        self.diagonal_ = smoother.diagonal
        lifted = fit.components if fit.span is None else fit.span.lift(fit.components)
        self._last_estimate = (dict(vars(smoother)), lifted)
        self._span = None if fit.span is None else dict(vars(fit.span))
        self._dtype = fit.dtype
        self._fitted = None if fit.fitted is None else fit.fitted.as_plain()
        self._keep_sums(fit.evaluated, self._count(fit.n_components))

    def _count(self, n_components: int | str | None) -> int | None:
        """Return how many components to keep; "auto" looks at gradients at some of the sample."""
        if not isinstance(n_components, str):
            return n_components
        fitted, _ = self._held()
        sample = fitted.sample.rows
        rows = np.random.RandomState(0).permutation(len(sample))[:_LADLE_POINTS]
        inside = replace(fitted, coordinates=Coordinates(np.zeros(sample.shape[1]), None, 1.0))
        (gradients,) = gradients_at(sample[rows], inside, own=True)
        return ladle(fitted.coordinates.leave(gradients), np.random.RandomState(0))

    def _keep_sums(self, result: Evaluated, n_components: int | None) -> None:
        sums, d = result.sums, self.n_features_in_
        self._sums = dict(vars(sums))
        self.n_evaluations_ = sums.count
        if self._kind.diagonal or vars(self).get("diagonal_", False):  # files of before have none
            diagonal = sums.mean if self._kind.diagonal else np.diagonal(sums.mean)
            order = np.argsort(-diagonal, kind="stable")
            self.eigenvalues_ = diagonal[order]
            components = np.zeros((d, d), self._dtype)
            components[np.arange(d), order] = diagonal_components(diagonal, self.power_)[order]
        else:
            values, vectors = spectrum(sums.mean)
            self.eigenvalues_ = np.concatenate([values, np.zeros(d - len(values))])
            components = metric_components(values, vectors, self.power_)
            if self._span is not None:
                lifted = Span(**self._span).lift(components)
                components = with_signs(lifted) * np.sqrt(d / len(values))
        self.components_ = components[:n_components].astype(self._dtype, copy=False)
        if result.gradients is not None:
            gradients = result.gradients
            if self._span is not None:
                gradients = gradients @ self._span["basis"]
            self.gradients_, self._point_weights = as_stored(gradients), result.weights
        else:  # an earlier fit's
            self.__dict__.pop("gradients_", None)
            self.__dict__.pop("_point_weights", None)

    @property
    def outer_product_(self) -> FloatArray:
        """The matrix itself, in units of y² / x² (GW: y / x), of shape (n_features, n_features)."""
        check_is_fitted(self, "components_")
        matrix = GradientSums(**self._sums).mean
        if self._kind.diagonal:
            return np.diag(matrix)
        if self._span is None:
            return matrix
        basis: FloatArray = self._span["basis"]
        return basis.T @ matrix @ basis

    def _stored_gradients(self) -> FloatArray:
        """Return ``gradients_`` as (m, C, r), in the plane of the fit."""
        gradients = by_column(self.gradients_)
        return gradients if self._span is None else gradients @ self._span["basis"].T

    def _evaluated(self) -> Evaluated:
        sums = GradientSums(**self._sums)
        if "gradients_" not in vars(self):
            return Evaluated(sums)
        return Evaluated(sums, self._stored_gradients(), self._point_weights)

    def _held(self) -> tuple[FittedSmoother, Span | None]:
        """Return what gradients are estimated from, and the plane it lies in."""
        if self._fitted is None:
            raise ValueError(
                f"this {type(self).__name__} was fitted to chunks it does not hold, so there is no "
                "sample to estimate further gradients from: fit it to rows in memory."
            )
        span = None if self._span is None else Span(**self._span)
        return FittedSmoother.from_plain(self._fitted), span

    def _fitted_smoother(self) -> FittedSmoother:
        """Return what gradients are estimated from, at rows as the user has them."""
        fitted, span = self._held()
        return fitted if span is None else fitted.seen_from(span)


def as_stored(gradients: FloatArray) -> FloatArray:
    """Return gradients (m, C, d) as users see them: (m, d), or (m, d, C) for classes."""
    return gradients[:, 0] if gradients.shape[1] == 1 else gradients.transpose(0, 2, 1)


def by_column(stored: FloatArray) -> FloatArray:
    """Return stored gradients as (m, C, d) again."""
    return stored[:, None] if stored.ndim == 2 else stored.transpose(0, 2, 1)
