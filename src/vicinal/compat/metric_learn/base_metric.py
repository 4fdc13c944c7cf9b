"""metric-learn's module of base classes, under the names its documentation lists."""

from vicinal.compat.metric_learn._base import (
    BaseMetricLearner,
    MahalanobisMixin,
    MetricTransformer,
    _PairsClassifierMixin,
    _QuadrupletsClassifierMixin,
    _TripletsClassifierMixin,
)

__all__ = [
    "BaseMetricLearner",
    "MahalanobisMixin",
    "MetricTransformer",
    "_PairsClassifierMixin",
    "_QuadrupletsClassifierMixin",
    "_TripletsClassifierMixin",
]
