"""Which rows leave an index, by their numbers or by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import BoolArray, IntArray


def row_numbers(rows: Any, n_rows: int, name: str = "indices") -> IntArray:
    """Return row numbers, ascending as given, from numbers or a mask of n rows.

    Raises
    ------
    ValueError
        For a mask of another length, numbers that are no rows, and a number that comes twice.
    """
    numbers_or_mask = np.asarray(rows)
    if numbers_or_mask.ndim != 1:
        raise ValueError(
            f"{name} must be row numbers or a mask, (m,), got shape {numbers_or_mask.shape}."
        )
    if numbers_or_mask.dtype == bool:
        if len(numbers_or_mask) != n_rows:
            raise ValueError(
                f"a mask has one entry for each of {n_rows} rows, got {len(numbers_or_mask)}."
            )
        return np.flatnonzero(numbers_or_mask)
    if not len(numbers_or_mask):
        return np.empty(0, np.int64)
    if numbers_or_mask.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers or a mask, got {numbers_or_mask.dtype}.")
    wrong = numbers_or_mask[(numbers_or_mask < 0) | (numbers_or_mask >= n_rows)]
    if len(wrong):
        raise ValueError(f"{name} holds {wrong[0]}; the rows are 0 to {n_rows - 1}.")
    numbers, counts = np.unique(numbers_or_mask, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{name} holds row {numbers[counts > 1][0]} twice.")
    return numbers_or_mask.astype(np.int64)


def rows_left(rows: Any, n_rows: int, name: str = "indices") -> BoolArray:
    """Return a mask of the rows that stay, one of them at least."""
    left = np.ones(n_rows, bool)
    left[row_numbers(rows, n_rows, name)] = False
    if not left.any():
        raise ValueError(f"{name} names all {n_rows} rows; one at least must stay.")
    return left
