"""What f predicts: a quantity, two classes as 0 and 1, or one indicator column a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.rows import Classes, Numbers, Target

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


def real_target(target: Target | None) -> Numbers:
    """Return a target as one quantity: numbers, two classes as 0 and 1; refuse more classes."""
    if isinstance(target, Numbers):
        return target
    assert target is not None
    names = target.names
    if len(names) == 2:
        return Numbers(target.codes.astype(np.float64))
    if names.dtype.kind == "f":  # written as a quantity
        return Numbers(target.given.astype(np.float64))
    if len(names) == 1:
        raise ValueError(
            f"EGOP needs a target that varies; y holds one class ({names.tolist()[0]!r}). Check "
            "the target column."
        )
    raise ValueError(
        f"y holds {len(names)} classes; EGOP takes a real target or two classes. Use EJOP for "
        "more, or pass y as floats if its values are quantities."
    )


def real_targets(y: FloatArray, weights: FloatArray | None = None) -> Targets:
    """Return numbers y (n,) standardised; refuse a constant.

    Mean and deviation are those of rows weighed by ``weights`` (n,), all above zero.
    """
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


def class_targets(classes: Classes) -> Targets:
    """Return one indicator column a class."""
    return Targets(np.ones(classes.n_rows), classes.codes, len(classes.names))


def is_multiclass(target: Target | None) -> bool:
    """Return whether a target holds more than two classes."""
    return isinstance(target, Classes) and len(target.names) > 2
