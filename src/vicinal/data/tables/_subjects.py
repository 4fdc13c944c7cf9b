"""Rows that are not independent: told from the table itself, before any of them is shuffled.

    what the rows are                  by                                          so the folds
    in the order of a date             dates that never turn back, and targets     follow time
                                       that follow one another
    several of one subject, user, ...  a column called so whose values come        keep each
                                       again, and rows alike within them, or       together
                                       any whose rows lie side by side and have
                                       one answer
    copies                             a tenth of all rows, where columns          keep copies
                                       shuffled one by one hold none               together

Where only some of it is seen, a line says so and what to ask for. Chance gives each of these in one
table of a thousand. Whoever names a protocol, groups or a column to keep is not second-guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data.tables._columns import FEW_ROWS, is_whole
from vicinal.data.tables._reading import Column

if TYPE_CHECKING:
    import pandas as pd

# One-sided, of a normal deviate: one in a thousand.
BEYOND_CHANCE = 3.09
# Beyond a tenth, copies move an error by points.
MANY_COPIES = 0.1
N_SHUFFLES = 50
MOST_LOOKED_AT = 2000
MOST_SEARCHED = 20_000
_SUBJECTS = (
    "subject|patient|proband|participant|person|respondent|user|customer|client|member|household"
    "|family|animal|speaker|singer|author|student|pupil|player|driver|device|machine|session"
    "|recording|trajectory|molecule|batch|kunde|kundin|patientin|teilnehmer|nutzer|gerät|charge"
)
_SUBJECT = re.compile(
    rf"(?:.*[\s_.-])?(?:{_SUBJECTS})s?(?:[\s_.-]?(?:ids?|nr|no|num|number|code|name|key))?"
    r"|.+[\s_.-](?:id|nr|key)|.*[a-z](?:Id|ID|Nr)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dependence:
    """How rows belong together: ``groups`` (n,) by number, ``times`` (n,) in days, and why.

    ``column`` is the one that says so, where it is a column of groups and thus no feature.
    """

    protocol: str = "kfold"
    groups: IntArray | None = None
    times: FloatArray | None = None
    column: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What is looked at: features (n, d) with the column of each, targets (n, c) standardised."""

    X: FloatArray
    owners: AnyArray
    targets: FloatArray

    def without(self, column: str) -> FloatArray:
        """Return the features of all other columns, scaled, holes at the mean; few rows more."""
        X = self.X[:, self.owners != column]
        mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        return np.nan_to_num((X - mean) / np.where(spread > 0, spread, 1.0))


def standardise(y: AnyArray, n_classes: int) -> FloatArray:
    """Return targets (n, c) of mean 0: a number in its deviations, or one 0/1 column a class."""
    values = (y[:, None] == np.arange(n_classes)).astype(float) if n_classes else y[:, None] * 1.0
    centred = values - values.mean(axis=0)
    spread = np.abs(centred).max(initial=0.0)
    centred = centred / (spread or 1.0)  # so that squares stay within floats
    return np.asarray(centred / (np.sqrt(np.mean(centred**2)) or 1.0))


# Time -----------------------------------------------------------------------------------------


def find_time(columns: list[Column], frame: pd.DataFrame, rows: Evidence) -> Dependence | None:
    """Return the order of the first date that says something, or a line on one that may."""
    for column in columns:
        if column.kind != "date":
            continue
        days = rows.X[:, np.flatnonzero(rows.owners == column.name)[0]]
        if np.isnan(days).any() or len(np.unique(days)) < FEW_ROWS:
            continue
        steps = np.diff(days)
        in_order = bool(np.all(steps >= 0) or np.all(steps <= 0))
        follows = serial_dependence(rows.targets, days) > BEYOND_CHANCE
        if in_order and follows:
            line = (
                f"rows come in the order of {column.name!r} and their targets follow one another: "
                "each part is learned from what came before it (protocol='time'); where time "
                "does not matter, shuffle them (protocol='kfold')"
            )
            return Dependence("time", times=days, notes=(line,))
        if in_order or follows:
            seen = "rows come in the order" if in_order else "targets follow one another in order"
            line = (
                f"{seen} of {column.name!r}: if later rows are to be predicted from earlier ones, "
                "have them judged so (protocol='time'), or every error may be flattered"
            )
            return Dependence(times=days, notes=(line,))
        return Dependence(times=days)
    return None


def serial_dependence(targets: FloatArray, days: FloatArray) -> float:
    """Return how many deviations the correlation of neighbours in time is beyond chance."""
    values = targets[np.argsort(days, kind="stable")]
    total = float(np.sum(values**2))
    products = float(np.sum(values[1:] * values[:-1]))
    return products / total * len(values) ** 0.5 if total > 0 else 0.0


# Groups ---------------------------------------------------------------------------------------


def find_groups(columns: list[Column], frame: pd.DataFrame, rows: Evidence) -> Dependence | None:
    """Return the groups that a column of subjects makes, or a line on one that may."""
    weak: list[str] = []
    for column, codes, values in _repeated(columns, frame, rows):
        named = _SUBJECT.fullmatch(column.name)
        others = rows.without(column.name)
        answers = likeness(rows.targets, codes) > BEYOND_CHANCE
        apart = answers and not named and tell_apart(others, codes, values)
        if (named and (answers or likeness(others, codes) > BEYOND_CHANCE)) or (
            apart and one_answer_each(rows.targets, codes)
        ):
            line = (
                f"rows of one {column.name!r} are alike and stay together (groups="
                f"{column.name!r}), so that errors are those on new ones; where new rows are of "
                f"the same {codes.max() + 1:,}, make it a feature (keep={column.name!r})"
            )
            return Dependence("grouped", codes, column=column.name, notes=(line,))
        if named or apart:
            weak.append(column.name)
    lines = [
        f"each {name!r} has several rows: if new rows will be of others, keep them together "
        f"(groups={name!r}), or every error may be flattered"
        for name in weak[:1]
    ]
    return Dependence(notes=tuple(lines)) if lines else None


def _repeated(
    columns: list[Column], frame: pd.DataFrame, rows: Evidence
) -> Iterator[tuple[Column, IntArray, FloatArray | None]]:
    """Yield columns of names or codes of which each value has two rows or more on average.

    With each the group of every row, and its numbers, where it holds numbers. Whole numbers that
    nothing calls a subject are codes only where near rows share them.
    """
    from vicinal.data.tables._roles import group_codes

    pairs: tuple[IntArray, IntArray] | None = None
    for column in columns:
        named = bool(_SUBJECT.fullmatch(column.name))
        values: FloatArray | None = None
        if column.kind == "number":
            values = rows.X[:, np.flatnonzero(rows.owners == column.name)[0]]
            if column.convention.describe() or not is_whole(values):
                continue
        elif column.kind not in ("category", "text"):
            continue
        codes = group_codes(frame[column.name])
        n_groups = int(codes.max()) + 1
        if not (3 if named else FEW_ROWS) <= n_groups <= len(codes) / 2:
            continue
        if values is not None and not named:
            pairs = near_pairs(rows.without("")) if pairs is None else pairs
            if not _share(codes, *pairs):  # and less so without the column itself
                continue
        yield column, codes, values


def one_answer_each(targets: FloatArray, codes: IntArray) -> bool:
    """Say whether all rows of a group have the same target."""
    first = np.unique(codes, return_index=True)[1]
    return bool(np.array_equal(targets, targets[first[codes]]))


def likeness(values: FloatArray, codes: IntArray) -> float:
    """Return how many deviations rows of a group are more alike than shuffled ones.

    By the sum of squares between groups, over columns of mean 0, against shuffles of the rows.
    """
    from scipy.sparse import csr_matrix

    if values.shape[1] == 0:
        return 0.0
    rng = np.random.default_rng(0)
    if len(codes) > MOST_LOOKED_AT:
        some = rng.choice(len(codes), MOST_LOOKED_AT, replace=False)
        values, codes = values[some], np.unique(codes[some], return_inverse=True)[1]
    n = len(codes)
    groups = csr_matrix((np.ones(n), (codes, np.arange(n))))
    sizes = np.asarray(groups.sum(axis=1)).ravel()
    between = [
        float(np.sum((groups @ shuffled) ** 2 / sizes[:, None]))
        for shuffled in (values, *(values[rng.permutation(n)] for _ in range(N_SHUFFLES)))
    ]
    chance = np.array(between[1:])
    spread = float(chance.std()) or float(np.abs(chance).max()) * 1e-12
    return (between[0] - float(chance.mean())) / spread if spread else 0.0


def tell_apart(X: FloatArray, codes: IntArray, numbers: FloatArray | None) -> bool:
    """Say whether a row's nearest other row is of its own group, in most groups.

    Where groups are numbers, these must name them: not be a quantity that X tells.
    """
    if X.shape[1] == 0:
        return False
    pairs = near_pairs(X)
    return _share(codes, *pairs) and (numbers is None or numbers_name(numbers, *pairs))


def near_pairs(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return some rows and the nearest other row of each, among many where there are more."""
    from sklearn.neighbors import NearestNeighbors

    order = np.random.default_rng(0).permutation(len(values))
    some, many = order[:MOST_LOOKED_AT], order[:MOST_SEARCHED]
    search = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(values[many])
    near = many[search.kneighbors(values[some], return_distance=False)]
    return some, np.where(near[:, 0] == some, near[:, 1], near[:, 0])


def _share(codes: IntArray, rows: IntArray, near: IntArray) -> bool:
    """Say whether near rows share their group more often than not, each group counting alike."""
    own, (_, groups) = codes[near] == codes[rows], np.unique(codes[rows], return_inverse=True)
    return bool(np.mean(np.bincount(groups, own) / np.bincount(groups)) > 0.5)


def numbers_name(values: FloatArray, rows: IntArray, near: IntArray) -> bool:
    """Say whether numbers only name groups: those of near rows of two groups are not near.

    A quantity that others tell is shared by near rows, too, but where it differs it differs little.
    """
    centred = values - np.nanmean(values)
    a, b = centred[rows], centred[near]
    differ = np.abs(a - b) > 0  # not where one is missing
    a, b = a[differ], b[differ]
    size = float(np.sqrt(np.sum(a**2) * np.sum(b**2)))
    return size == 0 or float(a @ b) / size * len(a) ** 0.5 <= BEYOND_CHANCE


# Copies ---------------------------------------------------------------------------------------


def copy_codes(X: FloatArray, y: AnyArray) -> IntArray:
    """Return a number a row, the same for rows alike in all features and the answer.

    They count up from the first row, so that folds made by them are the same in any process.
    """
    numbers: dict[tuple[bytes, object], int] = {}
    rows = zip(np.ascontiguousarray(X), y.tolist(), strict=True)
    codes = [numbers.setdefault((row.tobytes(), answer), len(numbers)) for row, answer in rows]
    return np.array(codes, dtype=np.int64)


def find_copies(X: FloatArray, y: AnyArray) -> Dependence | None:
    """Return copies as groups where they are many and not by chance, or a line on them."""
    n, codes = len(y), copy_codes(X, y)
    n_copies = n - int(codes.max()) - 1
    if n_copies <= MANY_COPIES * n:
        return None
    seen = f"{n_copies:,} of {n:,} rows repeat an earlier one, answer included"
    rng = np.random.default_rng(0)
    shuffled = np.column_stack([column[rng.permutation(n)] for column in X.T])
    if int(copy_codes(shuffled, y).max()) + 1 < n or n - n_copies < FEW_ROWS:
        line = (
            f"{seen}: where they are copies of one case, remove them or keep them together "
            "(groups='copies'), or every error is flattered"
        )
        return Dependence(notes=(line,))
    line = (
        f"{seen}: copies stay together (groups='copies'), or they would be each other's "
        "neighbours; where they are cases of their own, shuffle them (protocol='kfold')"
    )
    return Dependence("grouped", codes, notes=(line,))
