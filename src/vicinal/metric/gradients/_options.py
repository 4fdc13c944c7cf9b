"""Checks of what the gradient metrics are told, each with the value and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_choice,
    check_positive,
    check_weights,
    check_whole,
)
from vicinal.metric.gradients._estimate import Reference, Setting, prepare_reference
from vicinal.metric.gradients._smoothing import KERNELS, Coordinates, Sample, Targets

ESTIMATORS = ("auto", "analytic", "difference", "local-linear", "kernel-ridge")
INDICATORS = ("practical", "theoretical", "none")
# More distinct whole numbers than this are taken for a measured target.
_MANY_CLASSES = 100


def check_kernel(kernel: Any, estimator: str) -> str:
    """Return the kernel; refuse one the estimator cannot use."""
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}; got {kernel!r}.")
    if estimator in ("analytic", "kernel-ridge") and kernel != "gaussian":
        raise ValueError(
            f"estimator={estimator!r} differentiates a Gaussian kernel; for kernel={kernel!r} take "
            "estimator='difference' or 'local-linear'."
        )
    return str(kernel)


def check_bandwidth(bandwidth: Any) -> float | str | None:
    """Return None (cross-validate), "rule" or a finite number above zero."""
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "rule"):
        return bandwidth
    if isinstance(bandwidth, str):
        raise ValueError(f"bandwidth must be a number, None or 'rule'; got {bandwidth!r}.")
    return check_positive("bandwidth", bandwidth)


def check_step(step: Any, n_features: int, n_columns: int, n_iter: int) -> Any:
    """Return None, a number, or an array of shape (d,) or (d, C), all above zero."""
    if step is None:
        return None
    steps = np.asarray(step, dtype=np.float64)
    shapes = ((), (n_features,), (n_features, n_columns))
    if steps.shape not in shapes:
        raise ValueError(
            f"step must be a number, {n_features} numbers (one a feature) or an array of shape "
            f"({n_features}, {n_columns}) (one a feature and class); got shape {steps.shape}."
        )
    if not np.isfinite(steps).all() or (steps <= 0).any():
        raise ValueError(f"step must be above zero and finite; the least is {steps.min()}.")
    if steps.ndim and n_iter > 1:
        raise ValueError(
            "step must be one number where n_iter > 1: later iterations step along the learned "
            "directions, not along features."
        )
    return float(steps) if steps.ndim == 0 else steps


def check_real_target(y: AnyArray) -> FloatArray:
    """Return y as floats; two classes become 0 and 1; refuse more classes."""
    y = np.asarray(y)
    if y.dtype.kind == "O" and type_of_target(y) == "unknown":
        raise ValueError("Unknown label type: y must hold numbers or two classes.")
    distinct = np.unique(y)
    classes = y.dtype.kind not in "fc" and (
        y.dtype.kind not in "iu" or len(distinct) <= _MANY_CLASSES
    )
    if classes and len(distinct) == 1:
        raise ValueError(
            f"EGOP needs a target that varies; y holds one class ({distinct[0]!r}). Check the "
            "target column."
        )
    if classes and len(distinct) > 2:
        raise ValueError(
            f"y holds {len(distinct)} classes; EGOP takes a real target or two classes. Use EJOP "
            "for more, or pass y as floats if its values are quantities."
        )
    if classes:
        return (y == distinct[1]).astype(np.float64)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    return y.astype(np.float64)


def is_multiclass(y: AnyArray) -> bool:
    """Return whether y holds more than two classes rather than a real target."""
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return False
    distinct = len(np.unique(y))
    if y.dtype.kind in "iu" and distinct > _MANY_CLASSES:
        return False
    return distinct > 2 and type_of_target(y) == "multiclass"


def check_point_weights(sample_weight: Any, n_rows: int) -> tuple[FloatArray, float]:
    """Return weights (n,) of mean 1, and what they were divided by."""
    weights = check_weights(sample_weight, n_rows)
    scale = 1.0 if sample_weight is None else float(np.asarray(sample_weight, float).mean())
    return np.ones(n_rows) if weights is None else weights, scale


def check_classes(y: AnyArray) -> tuple[AnyArray, IntArray]:
    """Return the sorted classes and y as their indices; refuse a continuous target."""
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {type_of_target(y)}. EJOP takes classes; use EGOP for a real "
            "target."
        )
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64)


def check_setting(told: Any, n_features: int, n_columns: int, n_iter: int) -> Setting:
    """Return what an estimator was told as a setting, its bandwidth still open."""
    check_choice("estimator", told.estimator, ESTIMATORS)
    check_choice("indicator", told.indicator, INDICATORS)
    confidence = check_positive("confidence", told.confidence)
    if confidence >= 1:
        raise ValueError(f"confidence must be below 1, got {confidence}.")
    temperature, n_local = told.temperature, told.n_local
    return Setting(
        estimator=told.estimator,
        bandwidth=1.0,
        kernel=check_kernel(told.kernel, told.estimator),
        step=check_step(told.step, n_features, n_columns, n_iter),
        indicator=told.indicator,
        confidence=confidence,
        n_local=None if n_local is None else check_whole("n_local", n_local, 2),
        temperature=None if temperature is None else check_positive("temperature", temperature),
    )


def rebuild_reference(places: Any, sample: Any, targets: Any, setting: Any) -> Reference:
    """Return a reference from the plain arrays it was kept as."""
    panel, weights, starts, clamp = sample
    kept = Sample(panel, Targets(*targets), weights, starts, clamp)
    return prepare_reference(Coordinates(*places), kept, Setting(**dict(setting)))
