"""What y is: classes or numbers. The only place that reads it.

    y, task ─▶ read_target ─▶ Classes(names, codes) | Numbers(values)

Words, truth values and few whole numbers are classes; all else are numbers. A label's type does
not matter: "a", 0 and 0.0 name a class alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice, check_neighbors

# More different whole numbers than this are taken for a measured quantity.
MANY_CLASSES = 100
# And more than ten of which each comes in fewer rows: five folds could not each hold one of all.
FEW_CLASSES, ROWS_OF_CLASS = 10, 5
# k where nobody says: that of scikit-learn's predictors, and of ours.
USUAL_NEIGHBORS = 5
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Classes:
    """Classes of n rows: their sorted ``names`` (R,), and ``codes`` (n,) into these."""

    names: AnyArray
    codes: IntArray

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def labels(self) -> IntArray:
        """What splits keep in proportion: the codes."""
        return self.codes

    @property
    def given(self) -> AnyArray:
        """The class of each row by its name, as y had it."""
        return self.names[self.codes]

    def take(self, rows: IntArray) -> Classes:
        """Return the classes of some rows; names that none of them has stay."""
        return Classes(self.names, self.codes[rows])

    def present(self) -> Classes:
        """Return the same rows, numbered by the classes they do hold."""
        held, codes = np.unique(self.codes, return_inverse=True)
        return self if len(held) == len(self.names) else Classes(self.names[held], codes)


@dataclass(frozen=True)
class Numbers:
    """A quantity of n rows: ``values`` of shape (n,), or (n, C) for several."""

    values: FloatArray

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.values)

    @property
    def labels(self) -> None:
        """Numbers are kept in no proportion by splits."""
        return

    @property
    def given(self) -> FloatArray:
        """The numbers themselves."""
        return self.values

    def take(self, rows: IntArray) -> Numbers:
        """Return the numbers of some rows."""
        return Numbers(self.values[rows])

    def present(self) -> Numbers:
        """Return the numbers as they are."""
        return self


Target = Classes | Numbers


def read_target(y: Any, task: str = "auto") -> Target:
    """Return y as classes or as numbers.

    Parameters
    ----------
    y : array-like of shape (n,)
        For numbers also (n, C).
    task : {"auto", "classification", "regression"}
        What y is; "auto" takes words and truth values for classes, and whole numbers, however
        they are written, unless there are more than 100 different ones, or more than ten with
        fewer than five rows each on average. All else are numbers.

    Raises
    ------
    ValueError
        For a target that is neither, or not what ``task`` says.
    """
    check_choice("task", task, TASKS)
    y = np.asarray(y)
    if task == "regression":
        return Numbers(as_numbers(y))
    kind = kind_of(y)
    if task == "classification" or holds_classes(y, kind):
        return as_classes(y, kind)
    return Numbers(as_numbers(y))


def holds_classes(y: AnyArray, kind: str | None = None) -> bool:
    """Return whether y (n,) holds classes rather than quantities."""
    if (kind or kind_of(y)).startswith("continuous"):
        return False
    if y.dtype.kind not in "iuf":
        return True
    n_values = len(np.unique(y))
    hardly_repeated = n_values > FEW_CLASSES and ROWS_OF_CLASS * n_values > len(y)
    return n_values <= MANY_CLASSES and not hardly_repeated


def as_classes(y: AnyArray, kind: str | None = None) -> Classes:
    """Return y (n,) as classes; refuse fractions."""
    kind = kind or kind_of(y)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. y must hold one class a row: words, truth values or "
            "whole numbers; for a quantity take what learns from numbers, such as EGOP."
        )
    names, codes = np.unique(y, return_inverse=True)
    return Classes(names, codes.astype(np.int64))


def as_numbers(y: AnyArray) -> FloatArray:
    """Return y as float64; refuse words."""
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Unknown label type: y must hold numbers for regression, but {error}."
        ) from error


def usual_neighbors(n_neighbors: Any, n_rows: int) -> int:
    """Return k for so many rows to choose from: the given one, or else the usual one.

    A given k that is too large is refused; the usual one is as large as the rows allow.
    """
    if n_neighbors is None:
        return max(1, min(USUAL_NEIGHBORS, n_rows))
    return check_neighbors(n_neighbors, n_rows)


def kind_of(y: AnyArray) -> str:
    """Return scikit-learn's name for a target, which of many or large whole numbers would warn."""
    if y.ndim == 1 and y.dtype.kind in "iu":
        return "multiclass"
    if y.ndim == 1 and y.dtype.kind == "f":
        return "multiclass" if np.array_equal(y, np.rint(y)) else "continuous"
    kind: str = type_of_target(y, raise_unknown=True)
    return kind
