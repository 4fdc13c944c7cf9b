"""Several rows of one subject, patient, device: columns that say so, and codes whose rows do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.data.tables._columns import FEW_ROWS, is_whole
from vicinal.data.tables._dependence import (
    BEYOND_CHANCE,
    MOST_LOOKED_AT,
    Dependence,
    Evidence,
    most_share,
    near_rows,
    share_groups,
)
from vicinal.data.tables._reading import Column
from vicinal.data.tables._roles import group_codes

if TYPE_CHECKING:
    import pandas as pd

N_SHUFFLES = 50
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
    near: tuple[IntArray, IntArray, FloatArray] | None = None
    for column in columns:
        named = bool(_SUBJECT.fullmatch(column.name))
        values: FloatArray | None = None
        if column.kind == "number":
            values = rows.numbers(column.name)
            if column.convention.describe() or not is_whole(values):
                continue
        elif column.kind not in ("category", "text"):
            continue
        codes = group_codes(frame[column.name])
        n_groups = int(codes.max()) + 1
        if not (3 if named else FEW_ROWS) <= n_groups <= len(codes) / 2:
            continue
        if values is not None and not named:
            near = near_rows(rows.without(""), 1) if near is None else near
            if not most_share(codes, *near[:2]):  # and less so without the column itself
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
    """Say whether rows of a group lie side by side, and it is not a quantity that X tells."""
    if X.shape[1] == 0 or not share_groups(codes, X):
        return False
    return numbers is None or numbers_name(numbers, X)


def numbers_name(values: FloatArray, X: FloatArray) -> bool:
    """Say whether numbers only name groups: those of near rows of two groups are not near.

    A quantity that others tell is shared by near rows, too, but where it differs it differs little.
    """
    rows, near, _ = near_rows(X, 1)
    values = values / (np.nanmax(np.abs(values)) or 1.0)  # so that squares stay within floats
    centred = values - np.nanmean(values)
    a, b = centred[rows], centred[near[:, 0]]
    differ = np.abs(a - b) > 0  # not where one is missing
    a, b = a[differ], b[differ]
    size = float(np.sqrt(np.sum(a**2) * np.sum(b**2)))
    return size == 0 or float(a @ b) / size * len(a) ** 0.5 <= BEYOND_CHANCE
