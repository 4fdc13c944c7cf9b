"""What each column of a table is taken for: one look at its cells, then a decision.

A whole number is an identifier only where all values differ *and* they rise or fall from row to
row, fill a range without a gap, or are called one; from ten rows on, none of these is chance (one
order in 10! is sorted). A measurement with fractions never is, however different its values.

Texts are categories up to 30 different ones, unless a new row would more likely than not hold a
value that no row here has: by Good and Turing's estimate, the share of rows whose value occurs once
is above one half. Other texts are compared by their letters, but for codes of a single word that
tell rows apart. Values that five folds could not each hold a row of share one feature.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.data.tables._cells import as_texts, days_of, without_words
from vicinal.data.tables._dates import (
    CLOCK,
    MONTHS,
    PARTS,
    date_in_digits,
    date_orders,
    date_parts,
    parse_dates,
)
from vicinal.data.tables._numbers import (
    NO_NUMBER,
    Convention,
    NumberTexts,
    parse_numbers,
    read_number_texts,
)
from vicinal.data.tables._raw_table import quoted
from vicinal.data.tables._reading import ALL, FROM_0, Column, Reading

if TYPE_CHECKING:
    import pandas as pd

# A column makes at most so many features, unless its values are said to be codes.
MOST_FEATURES = 30
MAX_CATEGORIES = 1000
# Five folds could not each hold a row of a value with fewer.
FEWEST_OF_VALUE = 5
# Below so many rows, order and repetition say nothing: 10! orders are more than a million.
FEW_ROWS = 10
# Beyond this, neighbouring whole numbers share one float64.
MAX_WHOLE = 2**53
N_TRIED = 100
# Letters of a value in a message.
MOST_SHOWN = 60
# More words than this among numbers do not all stand for a missing one.
MOST_STRAYS = 5
_IDENTIFIER = re.compile(
    r"(?:.*[\s_.-])?(?:ids?|uuid|guid|index|idx|key|rownames?|row|nr|no|column \d+)\.?"
    r"|.*[a-z](?:Id|ID|Key|Index)|Unnamed: \d+",
)


def recognise_columns(
    frame: pd.DataFrame, decimal: str | None = None, keep: Collection[str] | str = ()
) -> Reading:
    """Return what each column is taken for.

    Parameters
    ----------
    frame : DataFrame
        With distinct names.
    decimal : str, optional
        The decimal mark where a column could be read with either and no other column decides.
    keep : collection of str, or "all"
        Columns to use although they would be left out.

    Returns
    -------
    Reading

    Notes
    -----
    O(n d) time for numbers, O(n log n) a column of text; beside the table, memory of one column.
    """
    looked_at = {str(name): _look_at(frame[name]) for name in frame.columns}
    marks = {mark for each in looked_at.values() for mark in each.evidence}
    agreed = marks.pop() if len(marks) == 1 else (decimal or ".")
    notes: list[str] = []
    columns = []
    for name, each in looked_at.items():
        stays = keep == ALL or name in keep
        columns.append(_flag_missing(each.decide(name, agreed, stays), each.missing, len(frame)))
        notes += _doubts(columns[-1], each)
    return Reading(tuple(columns), tuple(notes))


def _flag_missing(column: Column, n_missing: int, n_rows: int) -> Column:
    """Have a feature say where cells are missing: a value to a category, often enough to others."""
    least = 1 if column.kind == "category" else FEW_ROWS
    return replace(column, missing=column.used and least <= n_missing <= n_rows - least)


# One column -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """A column looked at by itself; ``decide`` needs the decimal mark of the table.

    ``missing`` counts its cells without a value.
    """

    decide: Callable[[str, str, bool], Column]
    missing: int = 0
    evidence: frozenset[str] = frozenset()
    numbers: NumberTexts | None = None
    example: str = ""
    orders: tuple[str, ...] = ()


def _look_at(column: pd.Series) -> _Look:
    import pandas as pd

    kind = column.dtype.kind
    if kind in "iuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = kind in "iu" or is_whole(values)
        if kind in "iu" and values.min() >= 19000101 and values.max() <= 20991231:
            return _look_at_texts(as_texts(column))
        marks = frozenset() if whole else frozenset(".")
        missing = int(np.isnan(values).sum())
        return _Look(
            lambda name, _, kept: number_column(name, column, values, kept), missing, marks
        )
    if kind == "c":
        return _Look(lambda name, *_: Column(name, "unusable", "holds complex numbers"))
    if kind in "Mm":
        return _look_at_times(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _look_at_categories(as_texts(column), declared=True)
    inferred = "boolean" if kind == "b" else pd.api.types.infer_dtype(column, skipna=True)
    if inferred in ("datetime", "datetime64", "date", "timedelta", "timedelta64", "period"):
        return _look_at_times(column)
    if inferred in ("bytes", "complex", "interval", "mixed") and _holds_objects(column):
        return _Look(lambda name, *_: Column(name, "unusable", f"holds {inferred} values"))
    if inferred in ("boolean", "boolean-integer"):
        return _look_at_categories(as_texts(column), declared=True)
    return _look_at_texts(as_texts(column))


def _holds_objects(column: pd.Series) -> bool:
    return any(not isinstance(v, (str, int, float, bool)) for v in column.dropna())


def _look_at_times(column: pd.Series) -> _Look:
    import pandas as pd

    if column.dtype.kind == "m" or isinstance(next(iter(column.dropna()), None), pd.Timedelta):
        days: FloatArray = pd.to_timedelta(column).dt.total_seconds().to_numpy() / 86400
        unit = Convention(unit="days")
        return _Look(
            lambda name, _, kept: replace(number_column(name, column, days, kept), convention=unit),
            int(np.isnan(days).sum()),
        )
    days = days_of(column)
    missing = int(np.isnan(days).sum())
    return _Look(lambda name, _, kept: _date_column(name, days, "", kept), missing)


def _look_at_texts(texts: AnyArray) -> _Look:
    values = list(dict.fromkeys(text for text in texts if text is not None))
    candidates = [value for value in values if value.lower() not in NO_NUMBER]
    if not candidates:
        return _look_at_categories(texts)
    missing = sum(text is None or text.lower() in NO_NUMBER for text in texts)
    if order := date_in_digits(candidates):
        days = parse_dates(texts, order)
        return _Look(lambda name, _, kept: _date_column(name, days, order, kept), missing)
    tried = read_number_texts(candidates[:N_TRIED])
    numbers = tried if len(candidates) <= N_TRIED else read_number_texts(candidates)
    if numbers.fitting and not numbers.wrong:
        decimals = numbers.decimals
        return _Look(
            lambda name, mark, kept: _written_numbers(name, texts, numbers.choose(mark), kept),
            missing,
            decimals if len(decimals) == 1 else frozenset(),
            numbers,
            candidates[0],
        )
    if (tried.wrong or tried.why) and (orders := date_orders(candidates)):
        days = parse_dates(texts, orders[0])
        decide = lambda name, _, kept: _date_column(name, days, orders[0], kept)  # noqa: E731
        return _Look(decide, missing, orders=orders)
    if all(date_orders([candidate]) for candidate in candidates):
        return _look_at_categories(texts, unless="holds dates written in several ways")
    n_numbers = len(candidates) - len(numbers.wrong)
    if numbers.why or (n_numbers > len(candidates) / 2 and len(candidates) > FEW_ROWS):
        why = _describe_strays(numbers, texts)
        few = (
            () if numbers.why or len(numbers.wrong) > MOST_STRAYS else tuple(sorted(numbers.wrong))
        )
        return _Look(lambda name, *_: Column(name, "unusable", why, strays=few))
    return _look_at_categories(texts)


def _describe_strays(found: NumberTexts, texts: AnyArray) -> str:
    if found.why:
        return f"holds {found.why}"
    row = int(np.flatnonzero(texts == found.wrong[0])[0])
    return (
        f"is of numbers but for {quoted(sorted(found.wrong), 5)} (first in row {row}, {FROM_0}); "
        "say so if they stand for missing values (missing)"
    )


def _look_at_categories(texts: AnyArray, *, declared: bool = False, unless: str = "") -> _Look:
    """Take texts for categories; ``unless`` says why not, where nobody asks for them."""
    counts = Counter(text for text in texts if text is not None)
    missing = len(texts) - counts.total()

    def decide(name: str, _: str, kept: bool) -> Column:
        if unless and not kept:
            return Column(name, "unread", unless)
        return _text_column(name, counts, missing, declared, kept)

    return _Look(decide, missing)


# Decisions ------------------------------------------------------------------------------------


def number_column(
    name: str, column: pd.Series | None, values: FloatArray, kept: bool, **more: Any
) -> Column:
    """Return a column of numbers, or why it is none: empty, constant, identifier, too large."""
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return Column(name, "empty", "holds no value at all")
    if not np.isfinite(present).all():
        row = int(np.flatnonzero(np.isinf(values))[0])
        why = f"holds infinite values (first in row {row}, {FROM_0}: {values[row]})"
        return Column(name, "unusable", why)
    whole = is_whole(present)
    if whole and np.abs(present).max() >= MAX_WHOLE and (largest := _largest(column)) > MAX_WHOLE:
        why = f"holds whole numbers beyond 2^53 (such as {largest}), which floats cannot tell apart"
        return Column(name, "unusable", why) if kept else Column(name, "identifier", why)
    number = Column(name, "number", **more)
    if kept:
        return number
    if present.min() == present.max():
        return replace(number, kind="constant", why=f"is {present[0]:g} in every row")
    why = _identifies(name, present) if whole and len(present) == len(values) else ""
    return replace(number, kind="identifier", why=why) if why else number


def _largest(column: pd.Series | None) -> int:
    """Return the largest magnitude of a column of exact integers, 0 for any other."""
    values = [] if column is None else column.dropna().tolist()
    return (
        max(map(abs, values), default=0) if all(isinstance(value, int) for value in values) else 0
    )


def is_whole(values: FloatArray) -> bool:
    """Say whether all values but NaN are whole numbers."""
    present = values[~np.isnan(values)]
    return bool(np.all(np.isfinite(present)) and np.all(present == np.floor(present)))


def _identifies(name: str, values: FloatArray) -> str:
    """Say why whole numbers tell rows apart and nothing else; empty where they do not."""
    steps = np.diff(values)
    few = len(values) < FEW_ROWS
    if not few and (np.all(steps > 0) or np.all(steps < 0)):
        numbered = np.all(np.abs(steps) == 1)
        return "numbers the rows" if numbered else "rises or falls from row to row"
    named = len(values) > 2 and _IDENTIFIER.fullmatch(name)
    fills = np.ptp(values) + 1 == len(values) and not few
    if not (named or fills) or len(np.unique(values)) < len(values):
        return ""
    return "holds every number of a range once" if fills else "differs in every row"


def _written_numbers(name: str, texts: AnyArray, convention: Convention, kept: bool) -> Column:
    texts = without_words(texts)
    values = parse_numbers(texts, convention)
    if np.abs(values).max(initial=0, where=~np.isnan(values)) >= MAX_WHOLE and is_whole(values):
        import pandas as pd

        digits = [int(t) for t in texts if t is not None and re.fullmatch(r"[+-]?\d{1,4000}", t)]
        exact = (
            pd.Series(digits, dtype=object) if len(digits) == np.sum(~np.isnan(values)) else None
        )
        return number_column(name, exact, values, kept, convention=convention)
    return number_column(name, None, values, kept, convention=convention)


def _date_column(name: str, days: FloatArray, order: str, kept: bool) -> Column:
    present = days[~np.isnan(days)]
    if len(present) == 0:
        return Column(name, "empty", "holds no value at all")
    if present.min() == present.max() and not kept:
        return Column(name, "constant", "holds one date or time", order=order)
    if order == CLOCK:
        return Column(name, "hours", order=order)
    parts = tuple(part for part, values in date_parts(present).items() if np.ptp(values) > 0)
    assert set(parts) <= set(PARTS)
    if order in MONTHS:
        parts = tuple(part for part in parts if part == "month")  # no day, so no weekday
    return Column(name, "date", order=order, parts=parts)


# A word and a number, as "row 12", are one word that counts.
_DIGITS = re.compile(r"\d")


def _text_column(
    name: str, counts: Counter[str], n_missing: int, declared: bool, kept: bool
) -> Column:
    """Return a column of texts: categories, compared by letters, or only telling rows apart."""
    n_rows, n_values = counts.total(), len(counts)
    if n_values == 0:
        return Column(name, "empty", "holds no value at all")
    if n_values == 1 and not kept and not n_missing:
        return Column(name, "constant", f"is {next(iter(counts))[:MOST_SHOWN]!r} in every row")
    once = sum(count == 1 for count in counts.values())
    new_ahead = n_rows >= FEW_ROWS and once > n_rows / 2
    if n_values <= (MAX_CATEGORIES if declared else MOST_FEATURES) and (declared or not new_ahead):
        return _category_column(name, counts)
    words = sum(count for text, count in counts.items() if len(_DIGITS.sub("", text).split()) > 1)
    if new_ahead and words <= n_rows / 2 and not kept:
        share = "every row" if once == n_rows else f"{once:,} of {n_rows:,} rows"
        return Column(name, "identifier", f"holds a code of its own in {share}")
    return Column(name, "text", n_axes=min(MOST_FEATURES, n_values))


def _category_column(name: str, counts: Counter[str]) -> Column:
    """Return a category; values of few rows share a feature where others have one."""
    rare = [value for value, count in counts.items() if count < FEWEST_OF_VALUE]
    if not 1 < len(rare) < len(counts):
        rare = []
    own = counts.keys() - set(rare)
    return Column(name, "category", categories=tuple(sorted(own)), rare=tuple(sorted(rare)))


def _doubts(column: Column, look: _Look) -> list[str]:
    """Return what was decided where a column could be read in two ways."""
    if look.numbers is not None and len(look.numbers.decimals) == 2 and column.used:
        ways = {mark: look.numbers.choose(mark) for mark in ".,"}
        cell = np.array([look.example], dtype=object)
        values = {mark: parse_numbers(cell, way)[0] for mark, way in ways.items()}
        if values["."] != values[","] and column.convention != Convention(unit=look.numbers.unit):
            taken = f"{look.example!r} is taken as {values[column.convention.decimal]:.12g}"
            return [f"{column.name!r} could be read in two ways; {taken}"]
    if {"day first", "month first"} <= set(look.orders) and column.used:
        return [f"{column.name!r} is taken as day, month, year; month, day, year would fit as well"]
    return []
