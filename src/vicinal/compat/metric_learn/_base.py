"""What all of metric-learn's learners can do, and what those of tuples can do beside."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal.compat.metric_learn._input import (
    check_pair_signs,
    make_preprocessor,
    read_points,
    read_tuples,
)
from vicinal.compat.metric_learn._thresholds import best_threshold, check_calibration


class BaseMetricLearner(BaseEstimator):
    """Base of all metric learners.

    Parameters
    ----------
    preprocessor : array-like of shape (n, n_features), callable or None
        What turns indicators of points into points.
    """

    _tuple_size: int | None = None

    if TYPE_CHECKING:  # each learner's parameters come from the table

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
    else:

        def __init__(self, preprocessor: Any = None) -> None:
            self.preprocessor = preprocessor

    def _check_preprocessor(self) -> None:
        """Make ``preprocessor_`` as a fit does: a hook for learners that derive from this one."""
        self.preprocessor_ = make_preprocessor(self.preprocessor)

    def _prepare_inputs(
        self, X: Any, y: Any = None, type_of_inputs: str = "classic", **kwargs: Any
    ) -> Any:
        """Return points ("classic") or "tuples" of them, checked, and labels where given.

        A hook for learners that derive from this one: fits begin with it.
        """
        if type_of_inputs == "tuples":
            tuples, labels = read_tuples(self, X, y, size=self._tuple_size, reset=True)
            return tuples if y is None else (tuples, labels)
        return read_points(self, X, y, reset=True, labels=y is not None)


class MetricTransformer(BaseEstimator):
    """A metric that is the Euclidean distance after a map.

    Learners of points are scikit-learn's transformers beside; those of tuples fit tuples and map
    points, so that ``fit_transform`` would make no sense of either.
    """


class MahalanobisMixin(MetricTransformer, BaseMetricLearner):
    """Base of learners of d(x, z) = ‖L x − L z‖, with L in ``components_``."""

    components_: FloatArray

    def transform(self, X: Any) -> FloatArray:
        """Return points (n, d), or indicators of points, mapped by L."""
        check_is_fitted(self, "components_")
        points = read_points(self, X, reset=False)
        mapped: FloatArray = points @ self.components_.T
        return mapped

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return a copy of M = LᵀL."""
        check_is_fitted(self, "components_")
        matrix: FloatArray = self.components_.T @ self.components_
        return matrix

    def get_metric(self) -> Callable[..., float]:
        """Return the distance as a function ``(u, v, squared=False)``, fixed to the present fit."""
        check_is_fitted(self, "components_")
        components = self.components_.copy()

        def metric_fun(u: AnyArray, v: AnyArray, squared: bool = False) -> float:
            u, v = (_vector(w) for w in (u, v))
            gap = np.atleast_1d(components @ (u - v))
            value = float(gap @ gap)
            return value if squared else float(np.sqrt(value))

        return metric_fun

    def pair_distance(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair, (n,)."""
        check_is_fitted(self, "components_")
        checked, _ = read_tuples(self, pairs, size=2)
        gaps = (checked[:, 1] - checked[:, 0]) @ self.components_.T
        distances: FloatArray = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
        return distances

    def pair_score(self, pairs: Any) -> FloatArray:
        """Return minus the learned distance of each pair: larger is more alike."""
        return -self.pair_distance(pairs)

    def score_pairs(self, pairs: Any) -> FloatArray:
        """Return the learned distance of each pair; use :meth:`pair_distance` or `pair_score`."""
        warnings.warn(
            "score_pairs is the former name of pair_distance; pair_score gives minus the distance.",
            FutureWarning,
            stacklevel=2,
        )
        return self.pair_distance(pairs)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def _vector(given: Any) -> FloatArray:
    vector = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if vector.ndim == 2 and len(vector) == 1:
        vector = vector[0]
    if vector.ndim != 1:
        raise ValueError(f"a metric takes two vectors, and one has the shape {vector.shape}.")
    return vector


class PointsLearner(TransformerMixin, MahalanobisMixin):
    """Learners of points, which are scikit-learn's transformers."""


class SupervisedLearner(PointsLearner):
    """Learners of points and labels."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _PairsClassifierMixin(ClassifierMixin, BaseMetricLearner):
    """Verbs of learners of pairs: alike where the distance is at most ``threshold_``."""

    classes_ = np.array([-1, 1])
    _tuple_size = 2
    threshold_: float

    def predict(self, pairs: Any) -> AnyArray:
        """Return +1 for pairs alike and −1 for others."""
        check_is_fitted(self, "components_")
        if "threshold_" not in vars(self):
            raise AttributeError(
                "there is no threshold to decide by yet: calibrate_threshold chooses one on "
                "labelled pairs, set_threshold takes yours."
            )
        return 2 * (-self.decision_function(pairs) <= self.threshold_).astype(int) - 1

    def decision_function(self, pairs: Any) -> FloatArray:
        """Return minus the distance of each pair."""
        scores: FloatArray = self.pair_score(pairs)
        return scores

    def score(self, pairs: Any, y: Any) -> float:
        """Return the area under the ROC curve."""
        return float(roc_auc_score(y, self.decision_function(pairs)))

    def set_threshold(self, threshold: Any) -> Any:
        """Set the threshold of the distance to a number."""
        check_is_fitted(self, "components_")
        if isinstance(threshold, bool) or not isinstance(threshold, (Number, np.number)):
            raise ValueError(f"threshold takes a number, got {threshold!r}.")
        self.threshold_ = threshold  # type: ignore[assignment]
        return self

    def calibrate_threshold(
        self,
        pairs_valid: Any,
        y_valid: Any,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
    ) -> Any:
        """Set the threshold to the one that does best on some pairs.

        Parameters
        ----------
        pairs_valid : array-like of shape (n, 2, d), or indicators (n, 2)
        y_valid : array-like of shape (n,)
        strategy : "accuracy", "f_beta", "max_tpr" or "max_tnr"
            What is to be largest: the share of right answers, the F-score, the share of pairs alike
            found while that of others is at least ``min_rate``, or the other way round.
        min_rate : float in [0, 1] or None
        beta : float
        """
        self._validate_calibration_params(strategy, min_rate, beta)
        check_is_fitted(self, "components_")
        pairs, y = read_tuples(self, pairs_valid, y_valid, size=2)
        check_pair_signs(y)
        scores = self.decision_function(pairs)
        self.threshold_ = best_threshold(scores, y, strategy, min_rate, beta)
        return self

    @staticmethod
    def _validate_calibration_params(
        strategy: Any = "accuracy", min_rate: Any = None, beta: Any = 1.0
    ) -> None:
        check_calibration(strategy, min_rate, beta)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


class _OrderedTuplesMixin(BaseMetricLearner):
    """Verbs of learners of tuples whose order is what is known: right is +1."""

    classes_ = np.array([0, 1])

    def predict(self, tuples: Any) -> AnyArray:
        """Return 1 where the first pair is nearer than the second, −1 where it is not."""
        check_is_fitted(self, "components_")
        return np.where(self.decision_function(tuples) > 0, 1, -1)

    def decision_function(self, tuples: Any) -> FloatArray:
        """Return by how much the second pair of each tuple is farther than the first."""
        check_is_fitted(self, "components_")
        checked, _ = read_tuples(self, tuples, size=self._tuple_size)
        near, far = self._pairs(checked)
        score: Any = self.pair_score
        difference: FloatArray = score(near) - score(far)
        return difference

    def score(self, tuples: Any, y: Any = None) -> float:
        """Return the share of tuples in the right order."""
        return float(np.mean(self.predict(tuples)) / 2 + 0.5)

    def _pairs(self, tuples: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


class _TripletsClassifierMixin(_OrderedTuplesMixin):
    _tuple_size = 3

    def _pairs(self, tuples: FloatArray) -> tuple[FloatArray, FloatArray]:
        return tuples[:, [0, 1]], tuples[:, [0, 2]]


class _QuadrupletsClassifierMixin(_OrderedTuplesMixin):
    _tuple_size = 4

    def _pairs(self, tuples: FloatArray) -> tuple[FloatArray, FloatArray]:
        return tuples[:, [0, 1]], tuples[:, [2, 3]]


__all__ = ["BaseMetricLearner", "MahalanobisMixin", "MetricTransformer", "NotFittedError"]
