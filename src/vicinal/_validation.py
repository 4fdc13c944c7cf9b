"""Input checks, and the only file that touches scikit-learn's internals or versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from vicinal._disguises import (
    read_numbers,
    refuse_disguises,
    refuse_extremes,
    refuse_far_queries,
    refuse_long_whole_numbers,
    refuse_strange_labels,
    widen,
)
from vicinal._types import AnyArray, FloatArray, IntArray

FLOATS = (np.float64, np.float32)
_BLOCK = 4096
# Weights that are less than this part of the largest count as zero: their products vanish.
_LEAST_WEIGHT = 1e-100


def check_transform_input(
    estimator: Any, X: AnyArray, *, accept_sparse: bool = True, any_scale: bool = False
) -> AnyArray:
    """Check X against what ``fit`` saw (columns, names, finiteness).

    ``any_scale`` lets values through that no learned map keeps in the range of floats.
    """
    refuse_disguises(X)
    checked: AnyArray = validate_data(
        estimator,
        X,
        reset=False,
        dtype=list(FLOATS),
        accept_sparse="csr" if accept_sparse else False,
    )
    if any_scale:
        return checked
    refuse_far_queries(checked)
    return widen(checked)


def name_columns(estimator: Any, X: AnyArray) -> Any:
    """Return rows as a frame where ``fit`` saw one, so that nothing warns of missing names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=names)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return rows of an array, sparse matrix or frame by their numbers."""
    return _safe_indexing(X, rows)


def follow_set_output(method: Callable[..., FloatArray]) -> Callable[..., Any]:
    """Make a method that maps rows obey ``set_output(transform=...)`` as ``transform`` does."""

    @wraps(method)
    def wrapped(self: Any, X: AnyArray) -> Any:
        return _wrap_data_with_container("transform", method(self, X), X, self)

    return wrapped


def check_classification_input(
    estimator: Any,
    X: AnyArray,
    y: AnyArray,
    *,
    accept_sparse: bool = False,
    reset: bool = True,
    any_scale: bool = False,
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Return X as floats, the sorted classes, and y as their indices 0..R-1.

    ``reset=False`` holds X to the columns an earlier fit saw; ``any_scale`` lets values through
    whose powers leave float64, for an estimator that only searches among them.
    """
    refuse_distributed(estimator, X, y)
    refuse_disguises(X, y)
    refuse_strange_labels(y)
    X, y = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        dtype=list(FLOATS),
        order="C",
        accept_sparse="csr" if accept_sparse else False,
    )
    check_classification_targets(y)
    X = X if any_scale else _in_range(X)
    _note_spread(estimator, X)
    classes, codes = np.unique(y, return_inverse=True)
    return X, classes, codes.astype(np.int64)


def check_at_least_two_classes(estimator: Any, classes: AnyArray) -> None:
    """Refuse a single class: there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes; y holds one class "
            f"({classes[0]!r}). Check the target column."
        )


def check_neighbors(n_neighbors: Any, n_samples: int) -> int:
    """Return k as an int; refuse values that are not whole, below 1 or above the sample."""
    k = check_whole("n_neighbors", n_neighbors)
    if k > n_samples:
        raise ValueError(
            f"n_neighbors={k} is more than the n_samples={n_samples} there are to "
            f"choose from; use at most {n_samples}."
        )
    return k


def check_pairs(estimator: Any, pairs: AnyArray) -> FloatArray:
    """Return pairs as floats of shape (n, 2, d), d the number of features ``fit`` saw."""
    refuse_disguises(pairs)
    checked: FloatArray = check_array(pairs, allow_nd=True, dtype=list(FLOATS))
    if checked.ndim != 3 or checked.shape[1] != 2:
        raise ValueError(
            f"pairs must have shape (n, 2, n_features), got {checked.shape}; stack each query "
            "and its database point along axis 1."
        )
    width = getattr(estimator, "n_features_in_", checked.shape[2])
    if checked.shape[2] != width:
        raise ValueError(
            f"pairs have {checked.shape[2]} features, but {type(estimator).__name__} was fitted "
            f"on {width}."
        )
    return checked


def check_regression_input(
    estimator: Any,
    X: AnyArray,
    y: AnyArray,
    *,
    accept_sparse: bool = False,
    any_scale: bool = False,
) -> tuple[AnyArray, FloatArray]:
    """Return X and y as floats; y may have several columns.

    ``any_scale`` lets values through whose powers leave float64.
    """
    refuse_distributed(estimator, X, y)
    refuse_disguises(X, y)
    refuse_long_whole_numbers(y, "y")
    y = _as_numbers(y)
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=list(FLOATS),
        order="C",
        accept_sparse="csr" if accept_sparse else False,
        multi_output=True,
        y_numeric=True,
    )
    y = y.astype(np.float64)
    if not any_scale:
        X = _in_range(X)
        refuse_extremes(y.reshape(len(y), -1), "y")
    _note_spread(estimator, X)
    return X, y


def check_plain_input(estimator: Any, X: AnyArray) -> AnyArray:
    """Return X, dense or sparse, as floats, for a learner that needs no target."""
    refuse_distributed(estimator, X)
    refuse_disguises(X)
    checked: AnyArray = validate_data(estimator, X, dtype=list(FLOATS), accept_sparse="csr")
    _note_spread(estimator, checked)
    return checked


def check_plain_dense_input(estimator: Any, X: AnyArray) -> FloatArray:
    """Return dense X of two rows or more as floats, for a learner that needs no target."""
    refuse_distributed(estimator, X)
    refuse_disguises(X)
    checked: FloatArray = validate_data(
        estimator, X, dtype=list(FLOATS), order="C", ensure_min_samples=2
    )
    return _in_range(checked)


def check_target_input(estimator: Any, X: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return dense X as floats and y (n,) as it is: numbers or class names."""
    refuse_distributed(estimator, X, y)
    refuse_disguises(X, y)
    y = _as_numbers(y)
    refuse_strange_labels(y)
    X, y = validate_data(estimator, X, y, dtype=list(FLOATS), order="C")
    X = _in_range(X)
    _note_spread(estimator, X)
    return X, y


def _in_range(X: AnyArray) -> AnyArray:
    """Return rows whose powers are floats, the narrow ones of float32 as float64."""
    refuse_extremes(X)
    wide: AnyArray = widen(X)
    return wide


def _as_numbers(y: Any) -> Any:
    """Return targets as they are, but for dates, None and whole numbers that floats round."""
    given = np.asarray(y)
    if given.dtype.kind in "mM":
        raise ValueError("y holds dates or durations; turn them into numbers first.")
    if given.dtype.kind == "O" and y is not None:  # a missing y is told of by scikit-learn
        missing = np.flatnonzero([value is None for value in given.ravel()])
        if len(missing):
            raise ValueError(
                f"y contains None, first in row {missing[0]}; drop rows without a target."
            )
    return y


def _note_spread(estimator: Any, X: AnyArray) -> None:
    """Let a metric learner know how much the features of its rows vary."""
    if getattr(estimator, "_notes_spread", False):
        estimator.feature_spread_ = feature_spread(X)


def feature_spread(X: Any, weights: FloatArray | None = None) -> FloatArray:
    """Return the standard deviation of each feature of dense or sparse X (n, d), of shape (d,).

    Rows of dense X may have weights (n,). O(n d) time; beside X, memory of a block of rows.
    """
    n_rows = X.shape[0]
    if issparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel() / n_rows
        variance: FloatArray = np.maximum(squares - mean**2, 0.0)
        return np.sqrt(variance)
    blocks = [slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK)]
    shares = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    # In units of each column's own size, a power of two, so that no square leaves the range.
    largest = np.max([np.abs(X[block]).max(axis=0) for block in blocks], axis=0)
    unit = np.ldexp(1.0, np.frexp(np.asarray(largest, np.float64))[1] - 1)
    mean = np.sum([shares[block] @ (X[block] / unit) for block in blocks], axis=0)
    squares = [shares[block] @ (X[block] / unit - mean) ** 2 for block in blocks]
    spread: FloatArray = unit * np.sqrt(np.sum(squares, axis=0))
    return spread


def refuse_distributed(estimator: Any, X: Any, y: Any = None) -> None:
    """Refuse dask collections, which would be gathered in one place without a word.

    Learners that :func:`vicinal.scale.fit_distributed` takes have a true ``_fits_distributed``.
    """
    for name, value in (("X", X), ("y", y)):
        if not type(value).__module__.partition(".")[0].startswith("dask"):
            continue
        in_place = ""
        if getattr(estimator, "_fits_distributed", False):
            in_place = "vicinal.scale.fit_distributed(estimator, X, y) fits it in place. Otherwise "
        raise ValueError(
            f"{name} is a dask collection, which {type(estimator).__name__}.fit would gather in "
            f"memory; {in_place}pass {name}.compute()."
        )


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the allowed."""
    if value not in allowed:
        listed = ", ".join(repr(option) for option in allowed)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least ``least`` and, where given, at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number, got {value!r}.")
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name} must be at least {least}{upper}, got {value}.")
    return int(value)


def check_components(n_components: Any, limit: int, what: str = "features") -> int | None:
    """Return how many components are asked for; None, the learner's own number, stays None.

    ``what`` names the things of which there are ``limit``, for the message.
    """
    if n_components is None:
        return None
    if check_whole("n_components", n_components) > limit:
        raise ValueError(
            f"n_components={n_components} is more than the {limit} {what}; ask for at most {limit}."
        )
    return int(n_components)


def check_positive(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a finite number above zero (or zero, where allowed)."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        bound = "zero or more" if zero else "above zero"
        raise ValueError(f"{name} must be a number {bound}, got {value!r}.")
    return float(value)


def check_auto(name: str, value: Any, check: Any) -> Any:
    """Return None for "auto", else the checked value."""
    return None if isinstance(value, str) and value == "auto" else check(name, value)


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return weights of mean 1, or None for equal weights."""
    if sample_weight is None:
        return None
    weights = read_numbers("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero.")
    if np.all(weights == weights[0]):
        return None
    scaled: FloatArray = weights / weights.max()  # first, or the sum of huge ones overflows
    scaled[scaled < _LEAST_WEIGHT] = 0.0
    return scaled / scaled.mean()


def check_costs(costs: Any, n_classes: int, *, spare: bool = False) -> FloatArray:
    """Return Λ (R, R) as float64: 0/1 where None is given, refused where it is no cost matrix.

    ``spare`` allows more rows and columns than there are classes.
    """
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix: FloatArray = read_numbers("costs", costs)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"costs must be a square matrix, got shape {matrix.shape}.")
    if len(matrix) < n_classes or (len(matrix) > n_classes and not spare):
        raise ValueError(
            f"costs has {len(matrix)} rows but there are {n_classes} classes; its shape must be "
            f"({n_classes}, {n_classes}), a row and a column to each class in sorted order."
        )
    wrong = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if len(wrong):
        raise ValueError(f"costs must be finite and not negative, but one entry is {wrong[0]}.")
    for r in np.flatnonzero(np.diagonal(matrix)):
        raise ValueError(
            f"costs must be zero on the diagonal (a right vote costs nothing), but "
            f"costs[{r}, {r}] is {matrix[r, r]}."
        )
    return matrix


def check_groups(groups: Any, n_rows: int) -> AnyArray | None:
    """Return the groups of the rows, or None; refuse another number of them."""
    if groups is None:
        return None
    checked = np.asarray(groups)
    if checked.shape != (n_rows,):
        raise ValueError(f"groups must have shape ({n_rows},), got {checked.shape}.")
    return checked
