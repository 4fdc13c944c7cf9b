"""What may not be what it seems: lines for a user to judge; nothing is changed by them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import lgamma, log
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.data.tables._columns import FEW_ROWS, is_whole
from vicinal.data.tables._numbers import NO_NUMBER
from vicinal.data.tables._raw_table import quoted
from vicinal.data.tables._reading import Column

if TYPE_CHECKING:
    import pandas as pd

# What programs write where a number is missing.
NINES = frozenset(sign * (10**digits - 1) for digits in range(2, 7) for sign in (-1, 1))
# Words for yes, and words for no: a column needs one of each.
FLAGS = (frozenset({"true", "yes", "y", "t", "1"}), frozenset({"false", "no", "n", "f", "0"}))
_TOTAL = re.compile(
    r"(?:grand |sub)?(?:total|sum|mean|average)s?|summe|gesamt|insgesamt|mittelwert|durchschnitt"
    r"|somme|moyenne|suma|totale|totaal|media|promedio",
    re.IGNORECASE,
)
# A column that tells all classes by chance alone, in one table of so many.
CHANCE = 1e-3
MOST_NAMED = 5
# Fewer whole numbers than these are seldom marks or counts.
FEWEST_GRADES = 5


def list_doubts(
    X: FloatArray,
    y: AnyArray,
    columns: Sequence[Column],
    classes: Sequence[Any],
    target: str,
    asked: bool = False,
) -> tuple[str, ...]:
    """Return what a user should look at before a result is believed.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Codes into ``classes``, or numbers where there are none.
    columns : sequence of Column
        Those that became the features, in their order.
    classes : sequence
    target : str
        What y is called.
    asked : bool
        Whether someone said which task it is.

    Notes
    -----
    O(n log n) a column; beside the table, memory of a column and a number a row.
    """
    if len(y) < FEW_ROWS:
        return ()  # of a handful of rows nothing can be said
    parts = list(_parts(X, columns))
    numbers = [(column, part[:, 0]) for column, part in parts if column.kind == "number"]
    categories = [column for column, _ in parts if column.kind == "category"]
    counts = np.bincount(y, minlength=len(classes)) if classes else np.empty(0)
    return (
        *_doubt_target(target, y, classes, counts, asked),
        *_doubt_numbers(numbers),
        *_doubt_categories(categories),
        *_doubt_answers(parts, y, counts, target),
    )


def _parts(X: FloatArray, columns: Iterable[Column]) -> Iterator[tuple[Column, FloatArray]]:
    start = 0
    for column in columns:
        end = start + len(column.features)
        yield column, X[:, start:end]
        start = end


def _doubt_target(
    target: str, y: AnyArray, classes: Sequence[Any], counts: AnyArray, asked: bool
) -> Iterator[str]:
    whole = all(type(name) is int for name in classes) if classes else is_whole(y)
    n_values = len(classes) or len(np.unique(y))
    if not asked and classes and whole and n_values >= FEWEST_GRADES:
        yield (
            f"the {n_values} whole numbers of {target!r} ({min(classes)} to {max(classes)}) are "
            "taken for classes; as a quantity, whose nearer values are less wrong, they are "
            "predicted by the mean of the neighbours (task='regression')"
        )
    if not asked and not classes and (whole or n_values <= FEW_ROWS):
        yield (
            f"the {n_values} different numbers of {target!r} are taken for a quantity; if they are "
            "codes, say so (task='classification')"
        )
    if not classes:
        return
    if alike := _alike(classes):
        yield f"the classes {quoted(alike, MOST_NAMED)} of {target!r} differ in capitals alone"
    if np.median(counts) == 2:
        yield (
            f"most classes of {target!r} have two rows, so that at most one neighbour can be of "
            "the right class: ask one (k='1')"
        )
    elif pairs := [name for name, count in zip(classes, counts, strict=True) if count == 2]:
        several = len(pairs) > 1
        yield (
            f"{len(pairs)} class{'es' * several} of {target!r} ({quoted(pairs, MOST_NAMED)}) "
            f"{'have' if several else 'has'} two rows: more than one neighbour can only outvote "
            f"{'them' if several else 'it'}, so ask one, too (k='1,3')"
        )
    alone = [name for name, count in zip(classes, counts, strict=True) if count == 1]
    if alone:
        several = len(alone) > 1
        yield (
            f"{len(alone)} class{'es' * several} of {target!r} ({quoted(alone, MOST_NAMED)}) "
            f"{'have' if several else 'has'} one row, so no other row can tell "
            f"{'them' if several else 'it'}"
        )


def _alike(names: Iterable[Any]) -> list[str]:
    """Return the texts that are another one in other capitals."""
    groups = defaultdict(list)
    for name in names:
        if isinstance(name, str):
            groups[name.casefold()].append(name)
    return [name for group in groups.values() if len(group) > 1 for name in group]


def _doubt_numbers(numbers: Sequence[tuple[Column, FloatArray]]) -> Iterator[str]:
    unique: list[str] = []
    copies: list[str] = []
    first: dict[int, str] = {}
    for column, values in numbers:
        name, present = column.name, np.unique(values[~np.isnan(values)])
        plain = not column.convention.unit  # what has a unit is a quantity
        if plain and len(present) == len(values) > FEW_ROWS and is_whole(present):
            unique.append(name)
        for code in _codes_for_missing(present):
            n = int(np.sum(values == code))
            yield (
                f"{name!r} is {code:g} in {n:,} row{'s' * (n > 1)}, far from all its other values: "
                "leave those cells empty if it stands for a missing one"
            )
        original = first.setdefault(hash(values.tobytes()), name)
        if original != name:
            copies.append(f"{name!r} repeats {original!r}")
    if unique:
        holds = "hold" if len(unique) > 1 else "holds"
        yield (
            f"{quoted(unique, MOST_NAMED)} {holds} a different whole number in every row: leave "
            "out what only tells rows apart (drop)"
        )
    if copies:
        more = f" and {len(copies) - MOST_NAMED} more" if len(copies) > MOST_NAMED else ""
        yield f"{', '.join(copies[:MOST_NAMED])}{more}, and so counts twice"


def _codes_for_missing(known: FloatArray) -> Iterator[float]:
    """Yield ends of the sorted values that are all nines, farther off than the others span."""
    if len(known) < 3:
        return
    for end, near, others in ((known[0], known[1], known[1:]), (known[-1], known[-2], known[:-1])):
        if end in NINES and abs(end - near) > np.ptp(others):
            yield float(end)


def _doubt_categories(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        words = [c for c in column.categories if c.lower() in NO_NUMBER]
        if words and "+" not in column.categories:
            yield (
                f"{column.name!r} takes {quoted(words, MOST_NAMED)} for values like any other: "
                "leave those cells empty if they are missing"
            )
        if alike := _alike(column.categories):
            yield f"{quoted(alike, MOST_NAMED)} of {column.name!r} differ in capitals alone"
        for flags in FLAGS:
            same = [c for c in column.categories if c.casefold() in flags]
            if len({c.casefold() for c in same}) > 1:
                yield f"{quoted(same)} of {column.name!r} may mean the same: write them alike if so"


def leave_total(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out a last row that sums up the others; say so of one that only seems to."""
    if len(frame) < FEW_ROWS:
        return frame, ()
    for name in frame.columns[[dtype.kind not in "iufb" for dtype in frame.dtypes]]:
        last = frame[name].iloc[-1]
        named = isinstance(last, str) and _TOTAL.fullmatch(last.strip())
        if named and int((frame[name] == last).sum()) == 1:
            row = f"{last!r} in {str(name)!r}"
            if _sums_up(frame):
                return frame.iloc[:-1], (
                    f"left out the last row, which sums up the others ({row})",
                )
            doubt = f"the last row seems to sum up the others ({row}): remove it if it does"
            return frame, (doubt,)
    return frame, ()


def _sums_up(frame: pd.DataFrame) -> bool:
    """Say whether the last row holds the sum or the mean of most columns of numbers."""
    numbers = frame.select_dtypes("number")
    above, last = numbers.iloc[:-1], numbers.iloc[-1]
    near = [np.isclose(last, found, rtol=1e-3, atol=0) for found in (above.sum(), above.mean())]
    return bool(len(numbers.columns)) and bool(np.mean(near[0] | near[1]) > 0.5)


def _doubt_answers(
    parts: Sequence[tuple[Column, FloatArray]], y: AnyArray, counts: AnyArray, target: str
) -> list[str]:
    """Say which columns give the target away."""
    if len(y) <= FEW_ROWS:
        return []
    if len(counts) == 0:
        numbers = [(c.name, part[:, 0]) for c, part in parts if c.kind == "number"]
        names = [name for name, values in numbers if _orders(values, y, CHANCE / len(parts))]
        what = "in order, row by row"
    else:
        # Of all ways to lay out the classes over n rows, those that k groups of rows could tell.
        ways = lgamma(len(y) + 1) - sum(lgamma(count + 1) for count in counts)
        free = (log(CHANCE) - log(len(parts)) + ways) / log(len(counts))
        names = [column.name for column, part in parts if _tells(column, part, y, free)]
        what = "in every row"
    if not names:
        return []
    tell = "tells" if len(names) == 1 else "tell, each alone,"
    return [
        f"{quoted(names, MOST_NAMED)} {tell} {target!r} {what}: leave out what is made from it or "
        "known only after it (drop)"
    ]


def _orders(values: FloatArray, y: AnyArray, chance: float) -> bool:
    """Say whether rows in the order of the values are in that of y, or the reverse, beyond chance.

    So is whatever is made from y by another unit, a logarithm, rounding, or bands.
    """
    present = ~np.isnan(values)
    if present.sum() <= FEW_ROWS:
        return False
    values, y = values[present], y[present]
    counts = np.unique(values, return_counts=True)[1]
    # Of all ways to lay out the values over the rows of different y, two are in order.
    ways = lgamma(len(y) + 1) - sum(lgamma(count + 1) for count in counts)
    ways -= sum(lgamma(count + 1) for count in np.unique(y, return_counts=True)[1])
    if ways <= log(2 / chance):
        return False
    rising, falling = y[np.lexsort((y, values))], y[np.lexsort((-y, values))]
    return bool(np.all(rising[:-1] <= rising[1:]) or np.all(falling[:-1] >= falling[1:]))


def _tells(column: Column, part: FloatArray, y: AnyArray, most_groups: float) -> bool:
    """Say whether each value, each of as many ranges as classes, or a gap holds one class alone."""
    if column.kind == "text":
        return False
    if column.missing and column.kind != "category" and _part(part[:, -1], y, most_groups):
        return True
    if np.isnan(part).any():
        return False
    if column.kind == "category":
        return _part(part.argmax(axis=1), y, most_groups)
    ordered = y[np.argsort(part[:, 0], kind="stable")]
    n_classes = len(np.unique(y))
    if n_classes > most_groups or int((ordered[1:] != ordered[:-1]).sum()) >= n_classes:
        return False
    return _part(part[:, 0], y, np.inf)


def _part(groups: AnyArray, y: AnyArray, most_groups: float) -> bool:
    """Say whether each of at most so many groups holds one class alone."""
    if len(np.unique(groups)) > most_groups:
        return False
    order = np.lexsort((y, groups))
    changes = y[order][1:] != y[order][:-1]
    return not bool((changes & (groups[order][1:] == groups[order][:-1])).any())
