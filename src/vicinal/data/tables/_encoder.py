"""Columns of a table into numbers, the same way for the training rows and for new ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data.tables._files import quoted

if TYPE_CHECKING:
    import pandas as pd

MAX_CATEGORIES = 1000
# Beyond this, neighbouring whole numbers share one float64.
MAX_WHOLE = 2**53
# Rows are numbered as NumPy, pandas and the neighbours' row numbers are.
FROM_0 = "counting from 0"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, text and flags into a matrix of floats.

    A column of numbers stays one feature. A column of text, flags or categories becomes one
    feature a value, 1 where the row holds it and 0 elsewhere, named ``column=value``. Only the
    set of values is learned, no statistic of them, so fitting on all rows tells a test row
    nothing about its target. Missing values are refused, or kept as NaN (over all features of
    the column) for an :class:`Imputer` that is fitted on training rows alone.

    Parameters
    ----------
    keep_missing : bool
        Keep missing values as NaN rather than refuse them.

    Attributes
    ----------
    columns_ : list of str
        The columns ``transform`` needs, by name and in any order.
    categories_ : dict of str to list of str
        The values of each column that is not of numbers.
    feature_names_ : list of str, length d
    blocks_ : int ndarray of shape (d,)
        The column each feature was made from.

    Notes
    -----
    O(n d) time and memory.
    """

    def __init__(self, *, keep_missing: bool = False) -> None:
        self.keep_missing = keep_missing

    def fit(self, X: pd.DataFrame, y: Any = None) -> TableEncoder:
        """Learn the columns and their values."""
        frame = _as_frame(X)
        if frame.shape[1] == 0:
            raise ValueError("There are no feature columns beside the target.")
        self.columns_ = list(frame.columns)
        kinds = [dtype.kind for dtype in frame.dtypes]
        doubtful = [n for n, kind in zip(self.columns_, kinds, strict=True) if kind not in "iuf"]
        self.categories_ = {
            name: _categories(frame[name]) for name in doubtful if _is_category(frame[name])
        }
        widths = [len(self.categories_.get(name, " ")) for name in self.columns_]
        self.blocks_ = np.repeat(np.arange(len(widths)), widths)
        self.feature_names_ = [
            feature for name in self.columns_ for feature in self._features_of(name)
        ]
        self.n_features_in_ = len(self.columns_)
        return self

    def transform(self, X: pd.DataFrame) -> FloatArray:
        """Return the features, of shape (n, d).

        Parameters
        ----------
        X : DataFrame, or array-like of shape (n, n_columns) in the order of ``columns_``
            A frame's columns are found by name; other columns are left alone.
        """
        check_is_fitted(self, "columns_")
        frame = self._select(X)
        values = self._encode(frame) if self.categories_ else _numbers(frame, self.columns_)
        if not self.keep_missing:
            self._refuse_missing(values)
        return values

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the features as an object array."""
        check_is_fitted(self, "columns_")
        return np.array(self.feature_names_, dtype=object)

    def text_columns(self) -> list[str]:
        """Return the columns a CSV reader must leave as text."""
        flags = {"True", "False"}
        return [name for name, values in self.categories_.items() if not set(values) <= flags]

    def _features_of(self, name: str) -> list[str]:
        values = self.categories_.get(name)
        return [name] if values is None else [f"{name}={value}" for value in values]

    def _select(self, X: Any) -> pd.DataFrame:
        frame = _as_frame(X, self.columns_)
        missing = [name for name in self.columns_ if name not in frame.columns]
        if missing:
            raise ValueError(
                f"The table lacks {len(missing)} of the {len(self.columns_)} columns the model was "
                f"fitted on: {quoted(missing)}."
            )
        return frame[self.columns_]

    def _encode(self, frame: pd.DataFrame) -> FloatArray:
        values = np.empty((len(frame), len(self.feature_names_)))
        starts = np.searchsorted(self.blocks_, np.arange(len(self.columns_)))
        start_of = dict(zip(self.columns_, starts, strict=True))
        numeric = [name for name in self.columns_ if name not in self.categories_]
        values[:, [start_of[name] for name in numeric]] = _numbers(frame, numeric)
        for name, categories in self.categories_.items():
            stop = start_of[name] + len(categories)
            values[:, start_of[name] : stop] = _indicators(frame[name], categories)
        return values

    def _refuse_missing(self, values: FloatArray) -> None:
        counts = np.isnan(values).sum(axis=0)
        if not counts.any():
            return
        first = np.searchsorted(self.blocks_, np.arange(len(self.columns_)))
        named = [
            f"{name!r} ({count})"
            for name, count in zip(self.columns_, counts[first], strict=True)
            if count
        ]
        shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
        raise ValueError(
            f"Missing values in {len(named)} column{'s' * (len(named) > 1)}: {shown}. Fill them "
            "in, remove those rows or columns, or have them filled in (impute): numbers with the "
            "median, other columns with the most frequent value of the training rows."
        )


class Imputer(TransformerMixin, BaseEstimator):
    """Fill NaN with the median, or with the most frequent value of a category.

    Parameters
    ----------
    blocks : array-like of int of shape (d,), optional
        Features with the same number come from one column (``TableEncoder.blocks_``); a row of
        a block of several features is filled as a whole, so that exactly one of them is 1.
        By default each feature stands alone.

    Attributes
    ----------
    fill_ : ndarray of shape (d,)
        What NaN becomes; 0 where the training rows hold no value at all.
    """

    def __init__(self, blocks: AnyArray | None = None) -> None:
        self.blocks = blocks

    def fit(self, X: FloatArray, y: Any = None) -> Imputer:
        """Learn the fillings from training rows."""
        X = np.asarray(X, dtype=np.float64)
        blocks = np.arange(X.shape[1]) if self.blocks is None else np.asarray(self.blocks)
        if len(blocks) != X.shape[1]:
            raise ValueError(f"blocks has {len(blocks)} entries for {X.shape[1]} features.")
        self.fill_ = fillings(X, blocks)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return a copy of X without NaN, of shape (n, d)."""
        check_is_fitted(self, "fill_")
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.fill_):
            raise ValueError(f"X must have shape (n, {len(self.fill_)}), got {X.shape}.")
        filled: FloatArray = np.where(np.isnan(X), self.fill_, X)
        return filled


def fillings(X: FloatArray, blocks: IntArray) -> FloatArray:
    """Return each feature's median, or 1 for the commonest feature of its block and 0 else.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    blocks : int ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (d,)
    """
    fill = np.zeros(X.shape[1])
    numbers, sizes = np.unique(blocks, return_counts=True)
    alone = np.isin(blocks, numbers[sizes == 1]) & ~np.isnan(X).all(axis=0)
    if alone.any():
        fill[alone] = np.nanmedian(X[:, alone], axis=0)
    for number in numbers[sizes > 1]:
        members = np.flatnonzero(blocks == number)
        fill[members[np.argmax(np.nansum(X[:, members], axis=0))]] = 1.0
    return fill


def _as_frame(X: Any, columns: list[str] | None = None) -> pd.DataFrame:
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    X = np.asarray(X)
    if X.ndim != 2 or (columns is not None and X.shape[1] != len(columns)):
        wanted = "columns" if columns is None else str(len(columns))
        raise ValueError(f"X must be a frame or have shape (n, {wanted}), got {X.shape}.")
    return pd.DataFrame(X, columns=columns or [f"x{number}" for number in range(X.shape[1])])


def _is_category(column: pd.Series) -> bool:
    """Tell text, flags and categories from numbers; refuse what is neither."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column.dtype):
        return True
    if pd.api.types.is_complex_dtype(column.dtype):
        raise ValueError(f"Column {column.name!r} holds complex numbers; split them in two.")
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in {"integer", "floating", "mixed-integer-float", "decimal", "empty"}:
        return False
    dated = kind in {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}
    if dated or (kind == "string" and _all_dates(column)):
        raise ValueError(
            f"Column {column.name!r} holds dates or times. Turn it into numbers that mean "
            "something for your question (year, day of the week, days since a start) or remove it."
        )
    if kind not in {"string", "boolean", "categorical", "mixed-integer", "mixed"}:
        raise ValueError(f"Column {column.name!r} holds {kind} values; numbers or text are needed.")
    return True


def _all_dates(column: pd.Series) -> bool:
    values = column.dropna()
    return len(values) > 0 and all(_DATE.fullmatch(str(value).strip()) for value in values)


def _texts(column: pd.Series) -> AnyArray:
    """Return the column as an object array of str, None where missing."""
    values: AnyArray = column.astype(object).to_numpy()
    missing = column.isna().to_numpy()
    texts = np.array([str(value).strip() for value in values], dtype=object)
    texts[missing] = None
    return texts


def _categories(column: pd.Series) -> list[str]:
    texts = _texts(column)
    values = sorted({text for text in texts if text is not None})
    numbers = [value for value in values if _is_number(value)]
    if len(values) > 10 and len(numbers) > len(values) / 2 and len(numbers) < len(values):
        others = [value for value in values if not _is_number(value)]
        row = int(np.flatnonzero(texts == others[0])[0])
        raise ValueError(
            f"Column {column.name!r} is of numbers but for {quoted(others, 5)} (first in row "
            f"{row}, {FROM_0}). Write missing values as empty cells, and numbers without units or "
            "commas."
        )
    if len(values) > MAX_CATEGORIES or (len(values) > 50 and len(values) > len(texts) / 2):
        raise ValueError(
            f"Column {column.name!r} holds {len(values)} different texts in {len(texts)} rows "
            f"({quoted(values, 3)}): too many to be categories. Remove it or turn it into numbers."
        )
    return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _indicators(column: pd.Series, categories: list[str]) -> FloatArray:
    """Return 1 where a row holds a category, of shape (n, n_categories); NaN where missing."""
    texts = _texts(column)
    position = {value: number for number, value in enumerate(categories)}
    unseen = sorted({text for text in texts if text is not None and text not in position})
    if unseen:
        raise ValueError(
            f"Column {column.name!r} holds {quoted(unseen, 5)}, which no training row does; it "
            f"knows {quoted(categories, 10)}. Correct the value, or fit again with such rows."
        )
    codes = np.array([-1 if text is None else position[text] for text in texts], dtype=np.int64)
    indicators = (codes[:, None] == np.arange(len(categories))).astype(np.float64)
    indicators[codes < 0] = np.nan
    return indicators


def _numbers(frame: pd.DataFrame, names: list[str]) -> FloatArray:
    """Return columns of numbers as floats; refuse text, infinity and unholdable integers."""
    frame = frame[names]
    kinds = np.array([dtype.kind for dtype in frame.dtypes])
    parsed = {name: _parsed(frame[name]) for name in frame.columns[~np.isin(kinds, list("iufb"))]}
    values: FloatArray = frame.assign(**parsed).to_numpy(dtype=np.float64, na_value=np.nan)
    # The largest magnitude of each column, whatever is missing; no array as large as the table.
    largest = np.fmax(np.fmax.reduce(values, axis=0, initial=0.0), -np.fmin.reduce(values, axis=0))
    _refuse_infinity(values, np.flatnonzero(np.isinf(largest)), names)
    for number in np.flatnonzero((largest >= MAX_WHOLE) & np.isin(kinds, list("iuO"))):
        _check_whole_numbers(frame[names[number]])
    return values


def _refuse_infinity(values: FloatArray, columns: IntArray, names: list[str]) -> None:
    if len(columns) == 0:
        return
    row = int(np.flatnonzero(np.isinf(values[:, columns[0]]))[0])
    raise ValueError(
        f"Infinite values in column{'s' * (len(columns) > 1)} "
        f"{quoted([names[number] for number in columns])} (first in row {row}, {FROM_0}: "
        f"{values[row, columns[0]]}). Correct them, or leave them empty and impute."
    )


def _parsed(column: pd.Series) -> pd.Series:
    """Return text as numbers; refuse what is none, naming its row."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    wrong = (numbers.isna() & column.notna()).to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"Column {column.name!r} must hold numbers, but row {row} ({FROM_0}) "
            f"holds {str(column.iloc[row])!r}."
        )
    return numbers.astype(np.float64)


def _check_whole_numbers(column: pd.Series) -> None:
    """Refuse whole numbers a float64 cannot tell apart."""
    whole = [int(value) for value in column if isinstance(value, (int, np.integer))]
    largest = max((abs(value) for value in whole), default=0)
    if largest > MAX_WHOLE:
        raise ValueError(
            f"Column {column.name!r} holds whole numbers beyond 2^53 (such as {largest}), which "
            "cannot be told apart as floats; such columns are mostly identifiers. Remove it, or "
            "scale it down."
        )
