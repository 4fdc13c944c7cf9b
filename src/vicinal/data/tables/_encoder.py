"""Columns of a table into numbers, the same way for the training rows and for new ones."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, BoolArray, FloatArray
from vicinal.data.tables._cells import as_texts, days_of, without_words
from vicinal.data.tables._columns import recognise_columns
from vicinal.data.tables._dates import date_parts, parse_dates
from vicinal.data.tables._letters import Letters
from vicinal.data.tables._numbers import parse_numbers, read_number_texts
from vicinal.data.tables._raw_table import TableError, quoted
from vicinal.data.tables._reading import FROM_0, Column, Reading, UnusableColumns
from vicinal.rows import refuse_masked

if TYPE_CHECKING:
    import pandas as pd


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, text, flags and dates into a matrix of floats.

    A column of numbers stays one feature. A column of texts that come again, flags or categories
    becomes one feature a value, 1 where the row holds it and 0 elsewhere, named
    ``column=value``; a missing cell is a value like another, and values of fewer than five rows
    share a feature. Columns of many different texts and of prose become up to 30 features by
    their letters (:class:`Letters`). A date becomes days since 1970, and month, weekday and hour
    where they vary. Where ten rows or more lack a number, a date or a text, a 0/1 feature says
    so. Identifiers, constant and empty columns are left out. Nothing is learned from a target.
    Missing numbers and dates are refused, or kept as NaN for an :class:`Imputer` that is fitted
    on training rows alone.

    Parameters
    ----------
    keep_missing : bool
        Keep missing values as NaN rather than refuse them.
    keep : collection of str, or "all"
        Columns to use although they would be left out.

    Attributes
    ----------
    record_ : list of dict
        What each column is taken for and why, as plain values; see :attr:`reading`.
    columns_ : list of str
        The columns ``transform`` needs, by name and in any order.
    feature_names_ : list of str, length d
    blocks_ : int ndarray of shape (d,)
        Features with the same number are the values of one column.
    deviations_ : ndarray of shape (d,)
        What a standard deviation of each feature is, NaN where training rows say: two values
        of a category, or a missing cell and another, are one standard deviation apart whatever
        their frequency.
    letters_ : dict of str to Letters
        By column of text.

    Notes
    -----
    O(n d) time and memory, and that of :class:`Letters`.
    """

    def __init__(self, *, keep_missing: bool = False, keep: Collection[str] | str = ()) -> None:
        self.keep_missing = keep_missing
        self.keep = keep

    def fit(self, X: pd.DataFrame, y: Any = None, reading: Reading | None = None) -> TableEncoder:
        """Learn what the columns are, or take a record of it.

        Raises
        ------
        UnusableColumns
            With every column that cannot be used.
        """
        frame = as_frame(X)
        if frame.shape[1] == 0:
            raise ValueError("There are no feature columns beside the target.")
        reading = reading or recognise_columns(frame, keep=self.keep)
        unusable = [column for column in reading.columns if column.kind == "unusable"]
        if unusable:
            raise UnusableColumns(unusable)
        used = [column for column in reading.columns if column.used]
        if not used:
            left_out = "; ".join(f"{c.name!r} {c.why}" for c in reading.columns[:10])
            raise ValueError(f"No column is left as a feature: {left_out}. Bring some back (keep).")
        self.record_ = [column.to_dict() for column in reading.columns]
        self.columns_ = [column.name for column in used]
        self.feature_names_ = [feature for column in used for feature in column.features]
        self.blocks_ = _number_blocks(used)
        self.deviations_ = _given_deviations(used)
        self.letters_ = {
            column.name: Letters(column.n_axes).fit(as_texts(frame[column.name]))
            for column in used
            if column.kind == "text"
        }
        self.n_features_in_ = frame.shape[1]
        return self

    @property
    def reading(self) -> Reading:
        """What each column is taken for and why."""
        check_is_fitted(self, "record_")
        return Reading(tuple(Column.from_dict(values) for values in self.record_))

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The column each feature comes from, length d."""
        used = (column for column in self.reading.columns if column.used)
        return tuple(column.name for column in used for _ in column.features)

    def transform(self, X: pd.DataFrame) -> FloatArray:
        """Return the features, of shape (n, d).

        A value that no training row has counts among the rare ones of its column; where it has
        none, all features of the column are 0. A warning says so.

        Parameters
        ----------
        X : DataFrame, or array-like of shape (n, n_columns) in the order of ``columns_``
            A frame's columns are found by name; other columns are left alone.
        """
        check_is_fitted(self, "columns_")
        used = [column for column in self.reading.columns if column.used]
        frame = _select(X, self.columns_)
        values = _encode(frame, used, self.letters_, len(self.feature_names_))
        _refuse_infinity(values, self.feature_names_)
        if not self.keep_missing:
            _refuse_missing(values, used)
        return values

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the features as an object array."""
        check_is_fitted(self, "columns_")
        return np.array(self.feature_names_, dtype=object)

    def text_columns(self) -> list[str]:
        """Return the columns a reader of text files must leave as text."""
        flags = {"True", "False"}
        plain = [
            column.name
            for column in self.reading.columns
            if (column.kind == "number" and not column.convention.describe())
            or (column.categories and set(column.categories) <= flags)
        ]
        return [name for name in self.columns_ if name not in plain]

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "record_" not in state and "categories_" in state:  # a file of before the record
            categories = state.pop("categories_")
            state["record_"] = [
                Column(n, "category", categories=tuple(categories[n])).to_dict()
                if n in categories
                else Column(n, "number").to_dict()
                for n in state["columns_"]
            ]
        if "letters_" not in state and "blocks_" in state:  # of before texts and given deviations
            state["letters_"] = {}
            state["deviations_"] = np.full(len(state["blocks_"]), np.nan)
        super().__setstate__(state)


def _given_deviations(used: list[Column]) -> FloatArray:
    """Return the deviations that do not depend on the rows, NaN for all others.

    Two values of a category differ in two features by 1, so √2 puts them one deviation apart.
    """
    given: list[float] = []
    for column in used:
        shared = 2**0.5 if column.kind in ("category", "text") else np.nan
        flag = 2**0.5 if column.kind == "category" else 1.0
        given += [*[shared] * len(column.values), *[flag] * column.missing]
    return np.array(given)


def _number_blocks(used: list[Column]) -> Any:
    """Number the features: one number for all values of a category, one for each other feature."""
    sizes: list[int] = []
    for column in used:
        n = len(column.features)
        sizes += [n] if column.kind == "category" else [1] * n
    return np.repeat(np.arange(len(sizes)), sizes)


def as_frame(X: Any, columns: list[str] | None = None) -> pd.DataFrame:
    """Return a frame with names that are texts; an array's columns are called x0, x1, ..."""
    import pandas as pd

    refuse_masked(X, "X")
    if isinstance(X, pd.DataFrame):
        frame = X.set_axis([str(name) for name in X.columns], axis=1)
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise ValueError(f"Two columns are named {twice[0]!r}; give each a name of its own.")
        return frame
    X = np.asarray(X)
    if X.ndim != 2 or (columns is not None and X.shape[1] != len(columns)):
        width = "columns" if columns is None else str(len(columns))
        raise ValueError(f"X must be a frame or have shape (n, {width}), got {X.shape}.")
    return pd.DataFrame(X, columns=columns or [f"x{number}" for number in range(X.shape[1])])


def _select(X: Any, columns: list[str]) -> pd.DataFrame:
    frame = as_frame(X, columns)
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ValueError(
            f"The table lacks {len(missing)} of the {len(columns)} columns the model was "
            f"fitted on: {quoted(missing)}."
        )
    return frame[columns]


# Features -------------------------------------------------------------------------------------


def _encode(
    frame: pd.DataFrame, used: list[Column], letters: dict[str, Letters], n_features: int
) -> FloatArray:
    values = np.empty((len(frame), n_features))
    starts = np.cumsum([0, *(len(column.features) for column in used)])
    kinds = np.array([dtype.kind for dtype in frame.dtypes])
    plain = np.array([column.kind == "number" for column in used]) & np.isin(kinds, list("iuf"))
    if plain.any():
        block = frame.iloc[:, np.flatnonzero(plain)]
        numbers = block.to_numpy(dtype=np.float64, na_value=np.nan)
        values[:, starts[:-1][plain]] = numbers
        flagged = np.array([column.missing for column in used])[plain]
        values[:, starts[1:][plain][flagged] - 1] = np.isnan(numbers[:, flagged])
    for number in np.flatnonzero(~plain):
        column = used[number]
        part = values[:, starts[number] : starts[number + 1]]
        part[:] = _features(frame[column.name], column, letters)
    return values


def _features(cells: pd.Series, column: Column, letters: dict[str, Letters]) -> FloatArray:
    """Return the features of a column, of shape (n, n_features); NaN where missing."""
    if column.kind == "category":
        return _indicators(as_texts(cells), column)
    if column.kind == "text":
        texts = as_texts(cells)
        lacking = np.array([text is None for text in texts])
        return _flagged(letters[column.name].transform(texts), lacking, column)
    values = _numbers_of(cells, column)
    return _flagged(values, np.isnan(values[:, 0]), column)


def _flagged(values: FloatArray, lacking: BoolArray, column: Column) -> FloatArray:
    return np.column_stack([values, lacking]) if column.missing else values


def _numbers_of(cells: pd.Series, column: Column) -> FloatArray:
    if column.kind == "date":
        days = days_of(cells) if cells.dtype.kind == "M" or not column.order else None
        days = _as_dates(cells, column) if days is None else days
        parts = date_parts(days)
        return np.column_stack([days, *(parts[name] for name in column.parts)])
    if column.kind == "hours":
        return _as_dates(cells, column)[:, None]
    return _as_numbers(cells, column)[:, None]


def _as_dates(cells: pd.Series, column: Column) -> FloatArray:
    texts = without_words(as_texts(cells))
    days = parse_dates(texts, column.order)
    _refuse_others(texts, days, column, f"dates ({column.order})")
    return days


def _as_numbers(cells: pd.Series, column: Column) -> FloatArray:
    """Return texts as numbers: as the training rows wrote them, or as all of these do."""
    if cells.dtype.kind == "m":
        seconds: FloatArray = cells.dt.total_seconds().to_numpy() / 86400
        return seconds
    if cells.dtype.kind == "b":
        return cells.to_numpy(dtype=np.float64)
    texts = without_words(as_texts(cells))
    values = parse_numbers(texts, column.convention)
    wrong = np.isnan(values) & np.array([text is not None for text in texts])
    if wrong.any():
        numbers = read_number_texts([text for text in set(texts) if text is not None])
        if numbers.fitting and not numbers.wrong and numbers.unit in ("", column.convention.unit):
            return parse_numbers(texts, numbers.choose(column.convention.decimal))
    _refuse_others(texts, values, column, "numbers")
    return values


def _refuse_others(texts: AnyArray, values: FloatArray, column: Column, kind: str) -> None:
    wrong = np.flatnonzero(np.isnan(values) & np.array([text is not None for text in texts]))
    if len(wrong):
        raise ValueError(
            f"Column {column.name!r} must hold {kind}, but row {wrong[0]} ({FROM_0}) "
            f"holds {texts[wrong[0]]!r}."
        )


def _indicators(texts: AnyArray, column: Column) -> FloatArray:
    """Return one feature a value (n, values), for rare ones together, and for missing cells."""
    n_own, n_values = len(column.categories), len(column.values)
    position: dict[str | None, int] = {
        value: number for number, value in enumerate(column.categories)
    }
    position |= dict.fromkeys(column.rare, n_own)
    position |= {None: n_values} if column.missing else {}
    codes = np.array([position.get(text, -1) for text in texts], dtype=np.int64)
    missing = np.array([text is None for text in texts], dtype=bool)
    unseen = np.flatnonzero((codes < 0) & ~missing)
    if len(unseen):
        codes[unseen] = n_own if column.rare else -1
        new = sorted({texts[row] for row in unseen})
        names = quoted(column.categories, 5)
        taken = "one of its rare values" if column.rare else f"none of {names}"
        warnings.warn(
            f"Column {column.name!r} holds {quoted(new, 5)} in {len(unseen):,} "
            f"row{'s' * (len(unseen) > 1)}, which no training row does: taken as {taken}.",
            stacklevel=2,
        )
    indicators = (codes[:, None] == np.arange(len(column.features))).astype(np.float64)
    indicators[missing & (codes < 0)] = np.nan
    return indicators


def _refuse_infinity(values: FloatArray, names: list[str]) -> None:
    largest = np.fmax.reduce(values, axis=0, initial=0.0)
    smallest = np.fmin.reduce(values, axis=0, initial=0.0)
    columns = np.flatnonzero(np.isinf(largest) | np.isinf(smallest))
    if len(columns) == 0:
        return
    row = int(np.flatnonzero(np.isinf(values[:, columns[0]]))[0])
    raise ValueError(
        f"Infinite values in column{'s' * (len(columns) > 1)} "
        f"{quoted([names[number] for number in columns])} (first in row {row}, {FROM_0}: "
        f"{values[row, columns[0]]}). Correct them, or leave them empty and impute."
    )


class MissingValues(TableError):
    """Missing values where none are allowed; ``names`` lists the columns."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.names = tuple(counts)
        named = [f"{name!r} ({count})" for name, count in counts.items()]
        shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
        super().__init__(
            f"Missing values in {len(named)} column{'s' * (len(named) > 1)}: {shown}. Fill them "
            "in, remove those rows or columns, or have them filled in (impute): numbers with the "
            "median, categories with the most frequent value of the training rows.",
            impute=True,
        )


def _refuse_missing(values: FloatArray, used: list[Column]) -> None:
    missing = np.isnan(values).sum(axis=0)
    if missing.any():
        starts = np.cumsum([0, *(len(column.features) for column in used)])[:-1]
        counts = {c.name: int(missing[s]) for c, s in zip(used, starts, strict=True) if missing[s]}
        raise MissingValues(counts)
