"""Points and tuples of points, as they are or as indicators a preprocessor turns into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import read_numbers
from vicinal.rows import (
    refuse_disguises,
    refuse_extremes,
    refuse_far_queries,
    refuse_long_whole_numbers,
    refuse_masked,
    refuse_strange_labels,
    widen,
)

_WORDS = {2: "pairs", 3: "triplets", 4: "quadruplets"}


class PreprocessorError(Exception):
    """The preprocessor could not turn the indicators it was given into points."""

    def __init__(self, original_error: Exception) -> None:
        self.original_error = original_error
        super().__init__(
            "the preprocessor failed on the indicators it was given: "
            f"{type(original_error).__name__}: {original_error}"
        )


class ArrayIndexer:
    """A preprocessor made of an array: indices in, rows out."""

    def __init__(self, X: Any) -> None:
        self.X = check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False)

    def __call__(self, indices: AnyArray) -> AnyArray:
        """Return the rows of the indices."""
        return self.X[indices]


def make_preprocessor(preprocessor: Any) -> Any:
    """Return a function from indicators to points, or None.

    Raises
    ------
    ValueError
        Where the preprocessor is neither None, nor an array, nor callable.
    """
    if preprocessor is None or callable(preprocessor):
        return preprocessor
    if hasattr(preprocessor, "__len__") or hasattr(preprocessor, "shape"):
        return ArrayIndexer(preprocessor)
    raise ValueError(
        f"preprocessor must be None, an array of points or a callable, got {preprocessor!r}."
    )


def _preprocessor_of(estimator: Any, reset: bool) -> Any:
    """Return the preprocessor of a fit, made anew where a fit begins."""
    if reset:
        estimator.preprocessor_ = make_preprocessor(estimator.preprocessor)
    return getattr(estimator, "preprocessor_", None)


def apply_preprocessor(preprocessor: Any, indicators: AnyArray) -> AnyArray:
    """Return the points of some indicators; wrap whatever goes wrong."""
    try:
        return np.asarray(preprocessor(indicators))
    except Exception as error:
        raise PreprocessorError(error) from error


def read_points(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    reset: bool,
    labels: bool = False,
    numeric: bool = False,
) -> Any:
    """Return points (n, d) as floats, and with ``labels`` the labels too.

    One-dimensional input is of indicators where the estimator has a preprocessor.
    """
    preprocessor = _preprocessor_of(estimator, reset)
    if preprocessor is not None:
        points = np.asarray(X)
        if points.ndim == 1:
            X = apply_preprocessor(preprocessor, points)
    refuse_disguises(X, y)
    if numeric and np.asarray(y).dtype.kind in "mM":
        raise ValueError("y holds dates or durations; turn them into numbers first.")
    settings: dict[str, Any] = {"dtype": [np.float64, np.float32], "reset": reset, "order": "C"}
    if not labels:
        X = validate_data(estimator, X, **settings)
        refuse_far_queries(X)
        return widen(X)
    if not numeric:
        refuse_strange_labels(y)
    X, y = validate_data(estimator, X, y, y_numeric=numeric, ensure_min_samples=2, **settings)
    if numeric:
        refuse_long_whole_numbers(y, "y")
        y = y.astype(np.float64)
        refuse_extremes(y[:, None], "y")
    else:
        check_classification_targets(y)
    refuse_extremes(X)
    return widen(X), y


def read_tuples(
    estimator: Any, tuples: Any, y: Any = None, *, size: int | None, reset: bool = False
) -> tuple[FloatArray, Any]:
    """Return tuples (n, size, d) as floats and labels as an array (or None).

    Raises
    ------
    ValueError
        For another number of dimensions, of points a tuple or of features, numbers that are not
        finite, or another number of labels.
    """
    what = _WORDS.get(size or 0, "tuples")
    refuse_masked(tuples, what)
    preprocessor = _preprocessor_of(estimator, reset)
    values = np.asarray(tuples) if not hasattr(tuples, "toarray") else tuples
    if preprocessor is not None and values.ndim == 2:
        columns = [apply_preprocessor(preprocessor, values[:, t]) for t in range(values.shape[1])]
        values = np.stack(columns, axis=1)
    if values.ndim != 3:
        hint = "" if preprocessor is not None else " or set a preprocessor to give indices instead"
        raise ValueError(
            f"{what} have three axes (which, point, feature), and these are of shape "
            f"{values.shape}{hint}."
        )
    refuse_disguises(values)
    checked: FloatArray = check_array(
        values, dtype=[np.float64, np.float32], allow_nd=True, input_name=what,
        estimator=type(estimator).__name__,
    )  # fmt: skip
    if size is not None and checked.shape[1] != size:
        raise ValueError(
            f"{type(estimator).__name__} takes {size} points at a time, and these are "
            f"{checked.shape[1]} (shape {checked.shape})."
        )
    if checked.shape[2] < 1:
        raise ValueError(f"there is not one feature in points of shape {checked.shape}.")
    if reset:
        estimator.n_features_in_ = checked.shape[2]
        refuse_extremes(checked.reshape(-1, checked.shape[2]), what)
    else:
        refuse_far_queries(checked.reshape(-1, checked.shape[2]))
    if getattr(estimator, "n_features_in_", checked.shape[2]) != checked.shape[2]:
        raise ValueError(
            f"{what} have {checked.shape[2]} features, but {type(estimator).__name__} was fitted "
            f"on {estimator.n_features_in_}."
        )
    if y is None:
        return checked, None
    y = column_or_1d(read_numbers("y", y))
    check_consistent_length(checked, y)
    return checked, y


def check_pair_signs(y: AnyArray) -> AnyArray:
    """Refuse labels of pairs other than +1 and −1."""
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"a pair is alike (1) or not (-1); y holds {np.unique(y)[:5]}.")
    return y
