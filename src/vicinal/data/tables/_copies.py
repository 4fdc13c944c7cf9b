"""Copies of rows, to the letter or nearly."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data.tables._columns import FEW_ROWS
from vicinal.data.tables._dependence import Dependence, Evidence, near_rows

# Beyond a tenth, copies move an error by points.
MANY_COPIES = 0.1
# Rows of one case are so many times nearer than those of others, and no more than so many. Of
# independent rows one in nine has such a gap by chance on a line, and fewer in more dimensions.
NEARER = 10.0
MOST_NEAR = 11


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


def find_near_copies(rows: Evidence) -> Dependence | None:
    """Return a line where most rows have others ten times nearer than the next, answer included."""
    X = rows.without("")
    if len(X) <= MOST_NEAR or X.shape[1] == 0:
        return None
    some, near, distances = near_rows(X, MOST_NEAR)
    far, less = distances[:, 1:], distances[:, :-1]
    jumps = (less > 0) & (far >= NEARER * less)
    place = jumps.argmax(axis=1)
    alike = np.all(rows.targets[near] == rows.targets[some][:, None], axis=2)
    agree = np.cumsum(alike, axis=1)[np.arange(len(some)), place] == place + 1
    share = float(np.mean(jumps.any(axis=1) & agree))
    if share <= 0.5:
        return None
    line = (
        f"{share:.0%} of the rows have others of the same answer {NEARER:.0f} times nearer than "
        "any further one: where they are measurements or versions of one case, name the column "
        "that tells cases (groups), or every error is flattered"
    )
    return Dependence(notes=(line,))
