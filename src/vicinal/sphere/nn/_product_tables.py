"""What a Clebsch–Gordan layer multiplies, as arrays for the compiled kernel, and room to do it."""

from __future__ import annotations

import threading
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from vicinal._kernels import _clebsch_gordan as kernels
from vicinal._kernels._clebsch_gordan import Scratch, Tables
from vicinal._kernels._tiles import ROW_BYTES, TILE_WIDTH
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.sphere.groups import clebsch_gordan
from vicinal.sphere.harmonic import FragmentType
from vicinal.sphere.nn._pairs import Block, Pairing

# Columns of a block are worked on together as long as their projections fit in a cache.
MOST_PROJECTED_BYTES = 1 << 20

_of_this_thread = threading.local()


@cache
def make_tables(pairing: Pairing, dtype: np.dtype[Any]) -> Tables:
    """Return the arrays that tell the kernel what to multiply."""
    rows_in, rows_out = (_full(of).row_starts() for of in (pairing.type_in, pairing.type_out))
    blocks: list[tuple[int, ...]] = []
    degrees: list[tuple[int, ...]] = []
    columns: list[list[int]] = []
    coefficients: list[FloatArray] = []
    for block in pairing.blocks:
        orders = len(coefficients)
        l1, l2, projected = _degrees(pairing, block)
        coefficients += _coefficients(l1, l2, projected)
        for low, high in _parts(len(block.columns), projected):
            places = (rows_in[block.first], rows_in[block.second], high - low, len(columns))
            blocks.append((l1, l2, *places, len(projected), len(degrees), orders))
            columns += block.columns[low:high].tolist()
            outputs = zip(projected, block.outputs, block.n_used, block.starts, strict=True)
            for l, place, n, start in outputs:
                channels = pairing.type_out[place]
                used = min(max(n - low, 0), high - low)
                degrees.append((l, used, start + low * channels, rows_out[place], channels))
    starts = np.cumsum([0, *map(len, coefficients)])
    return Tables(
        blocks=np.array(blocks, dtype=np.int64),
        degrees=np.array(degrees, dtype=np.int64),
        columns=np.array(columns, dtype=np.int64),
        starts=starts.astype(np.int64),
        coefficients=np.concatenate(coefficients).astype(dtype),
        spread_in=_spread(pairing.type_in),
        spread_out=_spread(pairing.type_out),
    )


def _full(kind: FragmentType) -> FragmentType:
    """Return the type in which the kernel works: all m."""
    return kind.as_complex() if kind.real else kind


def _spread(kind: FragmentType) -> IntArray:
    """Return degree, first row among all m and first row of m ≥ 0 of each channel, if real."""
    rows = [
        (dim // 2, full + 2 * dim * channel, half + dim * channel)
        for dim, t, full, half in zip(
            kind.dims, kind.tau, _full(kind).row_starts(), kind.row_starts(), strict=False
        )
        for channel in range(t)
    ]
    return np.array(rows if kind.real else [], np.int64).reshape(-1, 3)


def _degrees(pairing: Pairing, block: Block) -> tuple[int, int, list[int]]:
    """Return the degrees of a block's factors and, rising, of what they are projected on."""

    def degree(kind: FragmentType, place: int) -> int:
        l = kind.group.degree(kind.irreps[place])
        if l is None:
            raise ValueError(f"the compiled kernel multiplies by degrees, not irreps of {kind}.")
        return l

    projected = [degree(pairing.type_out, place) for place in block.outputs]
    return degree(pairing.type_in, block.first), degree(pairing.type_in, block.second), projected


def _coefficients(l1: int, l2: int, degrees: list[int]) -> list[FloatArray]:
    """Return, for each order m, the coefficients of the degrees with l ≥ |m|, row by row."""
    tables = {l: clebsch_gordan(l1, l2, l).numpy() for l in degrees}
    orders = []
    for m in range(-degrees[-1], degrees[-1] + 1):
        m1 = np.arange(max(-l1, m - l2), min(l1, m + l2) + 1)
        rows = [t[m1 + l1, m - m1 + l2, m + l] for l, t in tables.items() if l >= abs(m)]
        orders.append(np.concatenate(rows))
    return orders


def _parts(n: int, degrees: list[int]) -> list[tuple[int, int]]:
    """Return ranges of columns whose projections fit in a cache."""
    one = 2 * ROW_BYTES * len(degrees) * (2 * degrees[-1] + 1)
    at_once = max(2, MOST_PROJECTED_BYTES // one)
    return [(low, min(low + at_once, n)) for low in range(0, n, at_once)]


def take_scratch(pairing: Pairing, dtype: np.dtype[Any], *, backward: bool) -> Scratch:
    """Return the rows that the calling thread works on; they are its own until it asks again."""
    ends = list(accumulate(_scratch_sizes(pairing, dtype, backward), initial=0))
    rows = _take_rows(ends[-1]).view(dtype).reshape(ends[-1], -1)
    return Scratch(*(rows[start:end] for start, end in pairwise(ends)))


@cache
def _scratch_sizes(pairing: Pairing, dtype: np.dtype[Any], backward: bool) -> list[int]:
    """Return how many rows each part of the scratch has."""
    tables = make_tables(pairing, dtype)
    blocks = tables.blocks
    width = -(-2 * blocks[:, kernels.N_COLUMNS] // TILE_WIDTH) * TILE_WIDTH
    last = blocks[:, kernels.DEGREE_AT] + blocks[:, kernels.N_DEGREES] - 1
    orders = 2 * tables.degrees[last, kernels.DEGREE] + 1
    projected = width * blocks[:, kernels.N_DEGREES]
    return [
        _full(pairing.type_in).n_rows,
        _full(pairing.type_in).n_rows if backward else 0,
        _full(pairing.type_out).n_rows,
        int((width * (2 * blocks[:, kernels.L2] + 1)).max()),
        int((projected * (orders if backward else 1)).max()),
        int(projected.max()) if backward else 0,
    ]


def _take_rows(n_rows: int) -> AnyArray:
    """Return bytes that begin at a row's boundary; fresh memory would cost a fault a page."""
    memory: AnyArray | None = getattr(_of_this_thread, "memory", None)
    if memory is None or len(memory) < (n_rows + 1) * ROW_BYTES:
        memory = _of_this_thread.memory = np.empty((n_rows + 1) * ROW_BYTES, np.uint8)
    return memory[-memory.ctypes.data % ROW_BYTES :][: n_rows * ROW_BYTES]
