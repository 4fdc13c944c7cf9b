"""From what users give to checked rows; the only file that touches scikit-learn's internals."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_array, check_X_y
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import _get_feature_names, validate_data

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import read_numbers
from vicinal.rows._disguises import (
    refuse_disguises,
    refuse_extremes,
    refuse_far_queries,
    refuse_long_whole_numbers,
    refuse_strange_labels,
    widen,
)
from vicinal.rows._places import telling_where
from vicinal.rows._rows import Rows
from vicinal.rows._target import Classes, Numbers, read_target

FLOATS = (np.float64, np.float32)
# Weights that are less than this part of the largest count as zero: their products vanish.
_LEAST_WEIGHT = 1e-100


def read_rows(
    estimator: Any,
    X: AnyArray,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    task: str | None = "classification",
    several: bool = False,
    accept_sparse: bool = False,
    any_scale: bool = False,
    least_rows: int = 1,
    distributed: bool = False,
    missing: bool = False,
) -> Rows:
    """Return X, y, weights and groups as rows; refuse in words what they cannot be.

    Parameters
    ----------
    estimator : object
        Whose ``fit`` was given them, for messages. Nothing is written to it.
    X : array-like of shape (n, d)
    y : array-like of shape (n,), or (n, C) for numbers; or a Target
        Not looked at where ``task`` is None. What somebody has read already is what it is to a
        learner that takes both: whole numbers that are a quantity are no classes then.
    sample_weight, groups : array-like of shape (n,) or None
        A row without weight is no row: its target need not even make sense.
    task : {"classification", "regression", "auto"} or None
        What y is read as; None reads rows alone.
    several : bool
        Whether y may have several columns of numbers.
    accept_sparse : bool
    any_scale : bool
        Lets values through whose powers leave float64, for an estimator that only searches.
    least_rows : int
        How many rows there must be.
    distributed : bool
        Whether X may be a dask array, which stays where it is; its values are looked at where they
        are used. y is gathered; weights and groups are the caller's.
    missing : bool
        Whether values of X may be missing: NaN.
    """
    if distributed and is_distributed(X):
        return _read_partitions(X, y, task, several)
    if isinstance(y, Classes | Numbers):
        if task == "auto":
            task = "classification" if y.labels is not None else "regression"
        y = y.given
    refuse_distributed(estimator, X, y)
    refuse_disguises(X, None if task is None else y)
    names = _get_feature_names(X)
    how: dict[str, Any] = {
        "dtype": list(FLOATS),
        "order": "C",
        "accept_sparse": "csr" if accept_sparse else False,
        "ensure_min_samples": least_rows,
        "ensure_all_finite": _finite(missing),
        "estimator": estimator,
    }
    if task is not None:
        _refuse_strange_targets(y, task)
        if not several:
            _refuse_several_targets(estimator, y)
    with telling_where(X, missing=missing):
        if task is None:
            checked, targets = check_array(X, **how), None
        else:
            numeric = task == "regression"
            checked, targets = check_X_y(X, y, multi_output=several, y_numeric=numeric, **how)
    weights, groups = check_weights(sample_weight, checked.shape[0]), check_groups(
        groups, checked.shape[0]
    )  # fmt: skip
    if weights is not None and not weights.all():
        checked, targets, weights, groups = _counted(checked, targets, weights, groups)
    if not any_scale:
        refuse_extremes(checked)
        checked = widen(checked)
    target = None if task is None else read_target(targets, task)
    if task == "regression" and not any_scale:
        refuse_extremes(np.reshape(target.given, (checked.shape[0], -1)), "y")  # type: ignore[union-attr]
    return Rows(checked, target, weights, groups, names)


def _read_partitions(X: Any, y: Any, task: str | None, several: bool) -> Rows:
    """Return the rows of a dask array with their gathered targets."""
    if getattr(X, "ndim", None) != 2 or not hasattr(X, "chunks") or X.dtype.kind not in "fiub":
        raise ValueError(
            "X must be a dask array of numbers with two axes; of a frame take "
            "to_dask_array(lengths=True)."
        )
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    target = None
    if task is not None:
        values = np.asarray(y.compute() if is_distributed(y) else y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        _refuse_strange_targets(values, task)
        if (values.ndim != 1 and not (several and values.ndim == 2)) or len(values) != len(X):
            raise ValueError(f"y has shape {values.shape}, but X has {len(X)} rows.")
        target = read_target(values, task)
    return Rows(X.rechunk({1: -1}), target)


def _counted(
    X: AnyArray, y: AnyArray | None, weights: FloatArray, groups: AnyArray | None
) -> tuple[AnyArray, AnyArray | None, FloatArray | None, AnyArray | None]:
    """Return what belongs to rows that have weight, their weights again of mean 1."""
    rows = np.flatnonzero(weights)
    y, groups = (None if part is None else part[rows] for part in (y, groups))
    return X[rows], y, check_weights(weights[rows], len(rows)), groups


def _refuse_strange_targets(y: Any, task: str) -> None:
    """Refuse dates, missing entries, mixed kinds, and whole numbers that floats round."""
    values = np.asarray(y)
    if values.dtype.kind in "mM":
        raise ValueError("y holds dates or durations; turn them into numbers first.")
    if task == "regression":
        refuse_long_whole_numbers(y, "y")
        if values.dtype.kind == "O" and y is not None:  # a missing y is told of by scikit-learn
            missing = np.flatnonzero([value is None for value in values.ravel()])
            if len(missing):
                raise ValueError(
                    f"y contains None, first in row {missing[0]}; drop rows without a target."
                )
    else:
        refuse_strange_labels(y)


def _refuse_several_targets(estimator: Any, y: Any) -> None:
    shape = np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got {shape[1]} columns: {type(estimator).__name__} learns "
            "from one target. Fit one estimator for each column; the plain distance "
            "(metric=None) serves several targets at once."
        )


def remember_columns(estimator: Any, rows: Rows) -> None:
    """Have an estimator know the columns it was fitted on, as scikit-learn's do."""
    estimator.n_features_in_ = rows.X.shape[1]
    if rows.names is not None:
        estimator.feature_names_in_ = rows.names
    else:
        estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit


def _finite(missing: bool) -> bool | str:
    return "allow-nan" if missing else True


def check_transform_input(
    estimator: Any, X: AnyArray, *, accept_sparse: bool = True, any_scale: bool = False,
    missing: bool = False,
) -> AnyArray:  # fmt: skip
    """Check X against what ``fit`` saw (columns, names, finiteness).

    ``any_scale`` lets values through that no learned map keeps in the range of floats, ``missing``
    such as are not there.
    """
    refuse_disguises(X)
    with telling_where(X, missing=missing):
        checked: AnyArray = validate_data(
            estimator,
            X,
            reset=False,
            dtype=list(FLOATS),
            accept_sparse="csr" if accept_sparse else False,
            ensure_all_finite=_finite(missing),
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


def check_at_least_two_classes(estimator: Any, target: Classes) -> None:
    """Refuse a single class: there is nothing to tell apart."""
    if len(target.names) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes; y holds one class "
            f"({target.names.tolist()[0]!r}). Check the target column."
        )


def check_pairs(estimator: Any, pairs: AnyArray, *, missing: bool = False) -> FloatArray:
    """Return pairs as floats of shape (n, 2, d), d the number of features ``fit`` saw."""
    refuse_disguises(pairs)
    finite = _finite(missing)
    checked: FloatArray = check_array(
        pairs, allow_nd=True, dtype=list(FLOATS), ensure_all_finite=finite
    )
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


def is_distributed(value: Any) -> bool:
    """Return whether a value is a dask collection, whose parts may lie elsewhere."""
    return type(value).__module__.partition(".")[0].startswith("dask")


def refuse_distributed(estimator: Any, X: Any, y: Any = None) -> None:
    """Refuse dask collections, which would be gathered in one place without a word.

    Learners that :func:`vicinal.scale.fit_distributed` takes have a true ``_fits_distributed``.
    """
    for name, value in (("X", X), ("y", y)):
        if not is_distributed(value):
            continue
        in_place = ""
        if getattr(estimator, "_fits_distributed", False):
            in_place = "vicinal.scale.fit_distributed(estimator, X, y) fits it in place. Otherwise "
        raise ValueError(
            f"{name} is a dask collection, which {type(estimator).__name__}.fit would gather in "
            f"memory; {in_place}pass {name}.compute()."
        )


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


def check_groups(groups: Any, n_rows: int) -> AnyArray | None:
    """Return the groups of the rows, or None; refuse another number of them."""
    if groups is None:
        return None
    checked = np.asarray(groups)
    if checked.shape != (n_rows,):
        raise ValueError(f"groups must have shape ({n_rows},), got {checked.shape}.")
    return checked
