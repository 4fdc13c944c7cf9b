"""What an index accepts: finite numbers in rows, a block size, a radius."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from vicinal._types import AnyArray, FloatArray
from vicinal.pairs import BLOCK_SIZE, LARGEST_VALUE, choose_unit, in_units
from vicinal.rows import refuse_long_whole_numbers, refuse_masked

# No distance is farther, but whole numbers may be.
_ENDLESS = 1e308


def check_vectors(vectors: ArrayLike, name: str = "vectors") -> FloatArray:
    """Return finite rows as a C-ordered array of float32 (where that loses nothing) or float64."""
    rows = _as_floats(vectors, name)
    if rows.shape[1] == 0 or (name == "vectors" and len(rows) == 0):
        raise ValueError(f"{name} must have at least one row and one column, got {rows.shape}.")
    _refuse_missing(rows, name)
    return rows


def check_unit(vectors: FloatArray, *, largest: float = 1e100, least: float = 1e-100) -> float:
    """Return the power of two in which squared distances are measured (:func:`choose_unit`).

    Raises
    ------
    ValueError
        Where most rows differ by less than ``least`` of the largest value: no unit keeps the
        squares of both.
    """
    sizes = np.maximum(vectors.max(axis=1, initial=0.0), -vectors.min(axis=1, initial=0.0))
    size = float(sizes.max(initial=0.0))
    usual = 1 / largest <= size <= largest
    if size and (not usual or _median(sizes) < least * size):
        _refuse_one_extreme(vectors, sizes.astype(np.float64), least)
    return choose_unit(vectors, largest=largest)


def _refuse_one_extreme(vectors: FloatArray, sizes: FloatArray, least: float) -> None:
    """Refuse vectors of which most differ, from a usual one, too little beside the largest."""
    size = float(sizes.max())
    row = np.argsort(sizes)[(len(sizes) - 1) // 2]
    gaps = np.abs(vectors.astype(np.float64) / size - vectors[row].astype(np.float64) / size)
    typical = _median(gaps.max(axis=1))
    if typical < least:
        raise ValueError(
            f"vectors hold a value of size {size:.3g} in row {int(np.argmax(sizes))}, beside which "
            f"the differences of most rows ({typical * size:.3g}) vanish; remove or rescale it."
        )


def _median(values: FloatArray) -> float:
    """Return the lower median of the values that are not zero, infinity where there are none."""
    some = np.sort(values[values > 0])
    return float(some[(len(some) - 1) // 2]) if len(some) else np.inf


def check_queries(queries: ArrayLike, vectors: FloatArray, unit: float = 1.0) -> FloatArray:
    """Return queries in an index's unit; their width must be that of the vectors."""
    rows = in_units(check_vectors(queries, "queries"), unit)
    refuse_far(rows, unit)
    return check_query_width(rows, vectors)


def check_query_width(queries: Any, vectors: Any) -> Any:
    """Return queries of an index's width; refuse others."""
    if queries.shape[1] != vectors.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} columns, but the indexed vectors have "
            f"{vectors.shape[1]}."
        )
    return queries


def check_width(rows: Any, vectors: Any) -> Any:
    """Return rows that join the vectors of an index; refuse those of another width."""
    if rows.shape[1] != vectors.shape[1]:
        raise ValueError(
            f"rows to add have {rows.shape[1]} columns, but the indexed vectors have "
            f"{vectors.shape[1]}."
        )
    return rows


def refuse_far(values: FloatArray, unit: float) -> None:
    """Refuse queries, in an index's unit, whose squared distances are beyond floats."""
    if max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))) > LARGEST_VALUE:
        raise ValueError(
            f"queries hold values beyond {LARGEST_VALUE * unit:g}, so much farther than the "
            "indexed vectors that squared distances overflow; check their scale."
        )


def check_block_size(block_size: Any) -> int:
    """Return the block size; None is the default of 1,024."""
    if block_size is None:
        return BLOCK_SIZE
    if (
        isinstance(block_size, bool)
        or not isinstance(block_size, int | np.integer)
        or block_size < 1
    ):
        raise ValueError(f"block_size must be a whole number of at least 1, got {block_size!r}.")
    return int(block_size)


def check_radius(radius: Any) -> float:
    """Return the radius as a float; refuse what is not a number, NaN or negative."""
    if (
        isinstance(radius, bool)
        or not isinstance(radius, int | float | np.number)
        or not radius >= 0
    ):
        raise ValueError(f"radius must be a number of at least 0, got {radius!r}.")
    return float(radius) if radius < _ENDLESS else np.inf


def _as_floats(vectors: ArrayLike, name: str) -> FloatArray:
    if issparse(vectors):
        raise ValueError(f"{name} are sparse; an index holds dense rows: call .toarray() first.")
    refuse_masked(vectors, name)
    rows = np.asarray(vectors)
    if rows.ndim != 2:
        raise ValueError(f"{name} must have two axes (rows, columns), got shape {rows.shape}.")
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got values of type {rows.dtype}.")
    refuse_long_whole_numbers(rows, name)
    keeps = np.can_cast(rows.dtype, np.float32, casting="safe")
    return np.ascontiguousarray(rows, dtype=np.float32 if keeps else np.float64)


def _refuse_missing(rows: FloatArray, name: str) -> None:
    largest, smallest = float(rows.max(initial=0.0)), float(rows.min(initial=0.0))
    if not (np.isfinite(largest) and np.isfinite(smallest)):
        row = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(f"{name} hold NaN or infinity, first in row {row}; remove or impute it.")


def check_codes(codes: ArrayLike, name: str) -> NDArray[np.uint8]:
    """Return packed codes as a C-ordered array of bytes."""
    packed = np.asarray(codes)
    if packed.ndim != 2 or packed.dtype != np.uint8:
        raise ValueError(
            f"{name} must be packed bits, uint8 of shape (rows, bytes), got {packed.dtype} of "
            f"shape {packed.shape}; pack bits with numpy.packbits(bits, axis=1)."
        )
    if packed.shape[1] == 0 or (name == "codes" and len(packed) == 0):
        raise ValueError(f"{name} must have at least one row and one byte, got {packed.shape}.")
    return np.ascontiguousarray(packed)


def check_soft_codes(soft: AnyArray, codes: NDArray[np.uint8]) -> FloatArray:
    """Return queries before they are bits, (m, c) in [−½, ½]; c must be the bits of the codes."""
    n_bits = 8 * codes.shape[1]
    if soft.ndim != 2 or soft.shape[1] != n_bits:
        raise ValueError(
            f"queries of floats must have {n_bits} columns, one to a bit of the codes; got shape "
            f"{soft.shape}."
        )
    if not np.all(np.abs(soft) <= 0.5):
        raise ValueError("queries of floats must lie between −½ and ½; soften_queries gives such.")
    return np.asarray(soft, np.float32)
