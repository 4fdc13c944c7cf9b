"""The operations of ``_lanes`` in plain Python, for their tests and for ``NUMBA_DISABLE_JIT=1``."""

from __future__ import annotations

import numpy as np

from vicinal._types import FloatArray

LANES = 64


def lower(lows: FloatArray, flat: FloatArray, offset: int) -> None:
    entries = flat[offset : offset + LANES]
    lows[:LANES] = np.where(entries < lows[:LANES], entries, lows[:LANES])


def least_above(lows: FloatArray, floor: float) -> float:
    entries = lows[:LANES]
    return float(np.min(entries, where=entries > floor, initial=np.inf))


def at_most(flat: FloatArray, offset: int, limit: float) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(flat[offset : offset + LANES] <= limit))


def first_lane(mask: int) -> int:
    return (int(mask) & -int(mask)).bit_length() - 1


def lanes_set(mask: int) -> int:
    return int(mask).bit_count()


def add_gaps(sums: FloatArray, offset: int, flat: FloatArray, start: int, value: float) -> None:
    sums[offset : offset + LANES] += np.abs(flat[start : start + LANES] - value)


def add_unequal(sums: FloatArray, offset: int, flat: FloatArray, start: int, value: float) -> None:
    sums[offset : offset + LANES] += flat[start : start + LANES] != value
