"""How y is read: a quantity, two classes as 0 and 1, or one indicator column a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import type_of_target

from vicinal._types import AnyArray, FloatArray, IntArray

# More distinct whole numbers than this are taken for a measured target.
_MANY_CLASSES = 100
# Gradients of larger targets have outer products no float can hold.
_LARGEST = 1e100


@dataclass(frozen=True)
class Targets:
    """What f predicts: one real column, or one indicator column a class.

    ``values`` (n,) is y (all 1 for classes), ``codes`` (n,) the column a row counts in, and
    ``n_columns`` how many there are. Real y are standardised; ``scale`` is their divisor.
    """

    values: FloatArray
    codes: IntArray
    n_columns: int
    scale: float = 1.0

    @property
    def is_real(self) -> bool:
        """Whether there is one real column."""
        return self.n_columns == 1

    def take(self, rows: IntArray) -> Targets:
        """Return the targets of some rows."""
        return Targets(self.values[rows], self.codes[rows], self.n_columns, self.scale)

    def columns(self) -> FloatArray:
        """Return the targets as a matrix (n, n_columns)."""
        matrix = np.zeros((len(self.values), self.n_columns))
        matrix[np.arange(len(matrix)), self.codes] = self.values
        return matrix


def real_targets(y: AnyArray, weights: FloatArray | None = None) -> Targets:
    """Return y (n,), numbers or two classes, standardised; refuse a constant or more classes.

    Mean and deviation are those of rows weighed by ``weights`` (n,), all above zero.
    """
    y = _as_numbers(np.asarray(y))
    largest = float(np.abs(y).max())
    if largest > _LARGEST:
        raise ValueError(f"y holds values up to {largest:g}, whose squares overflow; rescale them.")
    centred = y - np.average(y, weights=weights)
    scale = float(np.abs(centred).max())
    if scale == 0 or not scale > 1e-12 * largest:
        raise ValueError(
            f"y is constant ({float(y[0])!r}): a constant function has no gradient to learn a "
            "metric from. Check the target column."
        )
    if scale * _LARGEST < 1:
        raise ValueError(f"y varies by no more than {scale:g}, whose squares vanish; rescale it.")
    deviation = scale * float(np.sqrt(np.average((centred / scale) ** 2, weights=weights)))
    return Targets(centred / deviation, np.zeros(len(y), np.int64), 1, deviation)


def class_targets(y: AnyArray) -> tuple[AnyArray, Targets]:
    """Return the sorted classes and one indicator column each; refuse a continuous target."""
    kind = type_of_target(y)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. EJOP takes classes; use EGOP for a real target."
        )
    classes, codes = np.unique(y, return_inverse=True)
    return classes, Targets(np.ones(len(codes)), codes.astype(np.int64), len(classes))


def is_multiclass(y: AnyArray) -> bool:
    """Return whether y holds more than two classes rather than a real target."""
    y = np.asarray(y)
    return _holds_classes(y) and len(np.unique(y)) > 2 and type_of_target(y) == "multiclass"


def _holds_classes(y: AnyArray) -> bool:
    """Return whether y holds names, or few enough whole numbers, rather than quantities."""
    if y.dtype.kind in "iu":
        return len(np.unique(y)) <= _MANY_CLASSES
    return y.dtype.kind not in "fc"


def _as_numbers(y: AnyArray) -> FloatArray:
    """Return y as floats; two classes become 0 and 1."""
    if y.dtype.kind == "O" and type_of_target(y) == "unknown":
        raise ValueError("Unknown label type: y must hold numbers or two classes.")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    if not _holds_classes(y):
        return y.astype(np.float64)
    distinct = np.unique(y)
    if len(distinct) == 1:
        raise ValueError(
            f"EGOP needs a target that varies; y holds one class ({distinct[0]!r}). Check the "
            "target column."
        )
    if len(distinct) > 2:
        raise ValueError(
            f"y holds {len(distinct)} classes; EGOP takes a real target or two classes. Use EJOP "
            "for more, or pass y as floats if its values are quantities."
        )
    return (y == distinct[1]).astype(np.float64)
