"""Numbers that would be read as something else than they say, refused in words.

NumPy turns masked entries, dates, the real parts of complex numbers and whole numbers beyond 2⁵³
into floats without a word, and products of extreme ones into zero or infinity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vicinal._types import FloatArray

# Learners multiply squares with squares; the fourth powers of values beyond leave float64.
LARGEST_VALUE, SMALLEST_VALUE = 1e75, 1e-75
# The same for float32: rows beyond are taken as float64.
_LARGEST_SINGLE, _SMALLEST_SINGLE = 1e9, 1e-9
# What the maps of learners, whose rows were within the former, leave in range.
_LARGEST_MAPPED = 1e150
_LONGEST = 2**53


def refuse_disguises(X: Any, y: Any = None) -> None:
    """Refuse rows and targets whose numbers would be read as others."""
    refuse_masked(X, "X")
    refuse_masked(y, "y")
    if issparse(y):
        raise ValueError("y is sparse; pass y.toarray().")
    if hasattr(X, "columns") and len(set(X.columns)) < len(X.columns):
        raise ValueError(
            "X needs unique column names, and some stand twice; name every column anew, or leave "
            "one of the two out."
        )
    if any(kind in "mM" for kind in _kinds(X)):
        raise ValueError("X holds dates or durations; turn them into numbers first.")
    refuse_long_whole_numbers(X, "X")


def refuse_masked(values: Any, name: str) -> None:
    """Refuse an array of which some entries are to be left alone."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array: fill or drop what is masked ({name}.filled(...))."
        )


def _kinds(values: Any) -> list[str]:
    """Return the kinds of number, as NumPy has them, of an array or the columns of a frame."""
    types = values.dtypes if hasattr(values, "columns") else [getattr(values, "dtype", None)]
    kinds = [getattr(kind, "kind", None) for kind in types]
    return [kind for kind in kinds if isinstance(kind, str)]


def refuse_long_whole_numbers(values: Any, name: str) -> None:
    """Refuse whole numbers that floats cannot tell apart."""
    for whole in _whole_numbers(values):
        if max(-int(whole.min()), int(whole.max())) > _LONGEST:
            raise ValueError(
                f"{name} holds whole numbers beyond 2**53, which floats cannot tell apart; leave "
                "out identifiers, or subtract a common offset."
            )


def _whole_numbers(values: Any) -> Iterator[Any]:
    """Yield what there is of whole numbers: arrays, columns of frames, objects among others."""
    if hasattr(values, "columns") and hasattr(values, "items"):
        for item in values.items():
            yield from _whole_numbers(item[1])
        return
    if isinstance(values, (list, tuple)):
        values = np.asarray(values)  # ragged lists are refused in NumPy's own words
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind == "O":
        objects = [v for v in np.asarray(values).ravel() if isinstance(v, (int, np.integer))]
        values = np.array(objects, dtype=object)
    elif kind not in ("i", "u"):
        return
    elif issparse(values):
        values = values.data
    elif hasattr(values, "dropna"):
        values = values.dropna()
    if len(values):
        yield values


def refuse_extremes(X: Any, name: str = "X") -> None:
    """Refuse columns whose largest value is so large or so small that its powers leave float64."""
    columns = _largest_of_columns(X)
    extreme = (columns > LARGEST_VALUE) | ((columns > 0) & (columns < SMALLEST_VALUE))
    if extreme.any():
        column = int(np.argmax(extreme))
        raise ValueError(
            f"{name} holds values of size {columns[column]:.3g} in column {column}, whose powers "
            "leave the range of floats; rescale it (StandardScaler needs this, too: divide by a "
            "constant first)."
        )


def refuse_far_queries(X: Any) -> None:
    """Refuse rows so large that their images under a learned map leave the range of floats."""
    largest = float(_largest_of_columns(X).max(initial=0.0))
    if largest > _LARGEST_MAPPED:
        raise ValueError(
            f"X holds values of size {largest:.3g}, whose images leave the range of floats; they "
            "are not in the unit of the rows that fit saw."
        )


def widen(X: Any) -> Any:
    """Return rows of float32 as float64 where their powers leave float32; others as they are."""
    if X.dtype != np.float32:
        return X
    columns = _largest_of_columns(X)
    tiny = (columns > 0) & (columns < _SMALLEST_SINGLE)
    return X.astype(np.float64) if tiny.any() or (columns > _LARGEST_SINGLE).any() else X


def _largest_of_columns(X: Any) -> FloatArray:
    if issparse(X):
        return np.asarray(abs(X).max(axis=0).toarray(), dtype=np.float64).ravel()
    if not len(X):
        return np.zeros(X.shape[1])
    # What is missing has no size.
    largest = np.maximum(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    return np.nan_to_num(largest.astype(np.float64), posinf=np.inf)


def refuse_strange_labels(y: Any) -> None:
    """Refuse targets given as objects of which some are missing, or of kinds without an order."""
    labels = np.asarray(y)
    if y is None or labels.dtype.kind != "O" or labels.ndim != 1:
        return  # those are told of by scikit-learn
    rows = defaultdict(list)
    for row, value in enumerate(labels):
        rows[_kind_of_label(value)].append(row)
    for missing in ("None", "NaN"):
        if missing in rows:
            raise ValueError(
                f"y contains {missing}, first in row {rows[missing][0]}; drop rows without a "
                "target."
            )
    if len(rows) > 1:
        raise ValueError(
            f"y mixes {' and '.join(sorted(rows))}; give all of one kind, for instance as text."
        )


def _kind_of_label(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "None"
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return "NaN" if value != value else "numbers"
    return "text" if isinstance(value, str) else type(value).__name__
