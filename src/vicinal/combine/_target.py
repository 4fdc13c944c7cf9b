"""What a target is: classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import type_of_target

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice

# More distinct whole numbers than this are taken for a measured target.
MANY_CLASSES = 100
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Target:
    """``classes`` (R,) and ``codes`` (n,) of a classification, or ``values`` (n,) of numbers."""

    classes: AnyArray | None = None
    codes: IntArray | None = None
    values: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        known = self.values if self.codes is None else self.codes
        return 0 if known is None else len(known)

    def take(self, rows: IntArray) -> Target:
        """Return the target of some rows, all classes kept."""
        codes = None if self.codes is None else self.codes[rows]
        values = None if self.values is None else self.values[rows]
        return Target(self.classes, codes, values)


def read_target(y: AnyArray, task: str = "auto") -> Target:
    """Return the target y (n,) as classes or as numbers.

    With "auto", words, truth values and at most 100 distinct whole numbers are classes.
    """
    check_choice("task", task, TASKS)
    kind = _kind_of(y)
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"Unknown label type: {kind}. y must hold one class or number a row.")
    if task == "auto":
        many = y.dtype.kind in "iuf" and len(np.unique(y)) > MANY_CLASSES
        task = "regression" if kind == "continuous" or many else "classification"
    if task == "regression":
        return Target(values=np.asarray(y, dtype=np.float64))
    if kind == "continuous":
        raise ValueError("Unknown label type: continuous. task='classification' needs classes.")
    classes, codes = np.unique(y, return_inverse=True)
    return Target(classes=classes, codes=codes.astype(np.int64))


def _kind_of(y: AnyArray) -> str:
    """Return scikit-learn's name for a target, which of many whole numbers would warn."""
    if y.ndim == 1 and y.dtype.kind in "iu":
        return "multiclass"
    kind: str = type_of_target(y, raise_unknown=True)
    return kind
