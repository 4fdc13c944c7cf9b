"""Checks of parameters: each refusal with the name, the value and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from vicinal._types import AnyArray, FloatArray


def check_neighbors(n_neighbors: Any, n_samples: int) -> int:
    """Return k as an int; refuse values that are not whole, below 1 or above the sample."""
    k = check_whole("n_neighbors", n_neighbors)
    if k > n_samples:
        raise ValueError(
            f"n_neighbors={k} is more than the n_samples={n_samples} there are to "
            f"choose from; use at most {n_samples}."
        )
    return k


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the allowed."""
    if value not in allowed:
        listed = ", ".join(repr(option) for option in allowed)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least ``least`` and, where given, at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number, got {value!r}.")
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name} must be at least {least}{upper}, got {value}.")
    return int(value)


def check_components(n_components: Any, limit: int, what: str = "features") -> int | None:
    """Return how many components are asked for; None, the learner's own number, stays None.

    ``what`` names the things of which there are ``limit``, for the message.
    """
    if n_components is None:
        return None
    if check_whole("n_components", n_components) > limit:
        raise ValueError(
            f"n_components={n_components} is more than the {limit} {what}; ask for at most {limit}."
        )
    return int(n_components)


def check_positive(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a finite number above zero (or zero, where allowed)."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        bound = "zero or more" if zero else "above zero"
        raise ValueError(f"{name} must be a number {bound}, got {value!r}.")
    return float(value)


def check_auto(name: str, value: Any, check: Any) -> Any:
    """Return None for "auto", else the checked value."""
    return None if isinstance(value, str) and value == "auto" else check(name, value)


def check_costs(costs: Any, n_classes: int, *, spare: bool = False) -> FloatArray:
    """Return Λ (R, R) as float64: 0/1 where None is given, refused where it is no cost matrix.

    ``spare`` allows more rows and columns than there are classes.
    """
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix: FloatArray = read_numbers("costs", costs)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"costs must be a square matrix, got shape {matrix.shape}.")
    if len(matrix) < n_classes or (len(matrix) > n_classes and not spare):
        raise ValueError(
            f"costs has {len(matrix)} rows but there are {n_classes} classes; its shape must be "
            f"({n_classes}, {n_classes}), a row and a column to each class in sorted order."
        )
    wrong = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if len(wrong):
        raise ValueError(f"costs must be finite and not negative, but one entry is {wrong[0]}.")
    for r in np.flatnonzero(np.diagonal(matrix)):
        raise ValueError(
            f"costs must be zero on the diagonal (a right vote costs nothing), but "
            f"costs[{r}, {r}] is {matrix[r, r]}."
        )
    return matrix


def read_numbers(name: str, values: Any) -> AnyArray:
    """Return real numbers as float64; refuse what would lose a part on the way."""
    if isinstance(values, np.ma.MaskedArray) or issparse(values):
        raise ValueError(f"{name} is masked or sparse; give plain numbers.")
    array = np.asarray(values)
    if array.dtype.kind in "cmM":
        raise ValueError(f"{name} must be real numbers, got values of type {array.dtype}.")
    try:
        with np.errstate(over="ignore"):
            numbers: FloatArray = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error
    if array.dtype.kind == "f" and np.isinf(numbers).sum() > np.isinf(array).sum():
        raise ValueError(f"{name} holds numbers beyond the range of float64.")
    return numbers
