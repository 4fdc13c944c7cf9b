"""Packed fragments and weights on their way into the Clebsch–Gordan kernel and out of it."""

from __future__ import annotations

from typing import Any

import numba as nb

from vicinal._types import FloatArray, IntArray

ROOT_HALF, ROOT_TWO = 0.5**0.5, 2.0**0.5

_njit: Any = nb.njit  # its type hints leave two options out
_compiled = _njit(cache=True, nogil=True, error_model="numpy")
# Called by other kernels only, and kept with them.
_inner = _njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


@_compiled
def fold_weights(
    weight: FloatArray, first: IntArray, second: IntArray, sign: IntArray, odd: Any,
    folded: FloatArray,
) -> None:  # fmt: skip
    """Compute V = W[first] + sign W[second], (n, 2); of real weights (n, 1) the odd ones are iV."""
    for at in range(len(first)):
        for part in range(weight.shape[1]):
            value = weight[first[at], part] + sign[at] * weight[second[at], part]
            if weight.shape[1] == 2:
                folded[at, part] = value
            else:
                folded[at, 0] = 0 if odd[at] else value
                folded[at, 1] = value if odd[at] else 0


@_compiled
def unfold_gradient(
    grad_folded: FloatArray, first: IntArray, second: IntArray, sign: IntArray, odd: Any,
    grad: FloatArray,
) -> None:  # fmt: skip
    """Write the gradient of the folded weights into that of the weights; zero is left as it is."""
    for at in range(len(first)):
        for part in range(grad.shape[1]):
            plane = part if grad.shape[1] == 2 else int(odd[at])
            grad[first[at], part] = grad_folded[at, plane]
            if sign[at]:
                grad[second[at], part] = sign[at] * grad_folded[at, plane]


@_inner
def gather(
    packed: FloatArray, chunk: int, rows: FloatArray, spread: IntArray, mirrored: bool
) -> None:
    """Copy a chunk of samples into rows, zeros behind the last sample.

    Real functions are spread over all m where ``mirrored``: f^m = (u + iv) / √2. Otherwise they are
    gradients of the output: √2 (u + iv) at m > 0, and nothing below.
    """
    lanes = rows.shape[1]
    start = chunk * lanes
    n = min(lanes, packed.shape[1] - start)
    if len(spread) == 0:
        for row in range(packed.shape[0]):
            for lane in range(n):
                rows[row, lane] = packed[row, start + lane]
            for lane in range(n, lanes):
                rows[row, lane] = 0
        return
    rows[:] = 0
    root = rows.dtype.type(ROOT_HALF if mirrored else ROOT_TWO)
    for channel in range(len(spread)):
        degree, full, half = spread[channel]
        below = full + 2 * degree + 1  # imaginary parts
        for lane in range(n):
            rows[full + degree, lane] = packed[half, start + lane]
        for m in range(1, degree + 1):
            sign = -root if m % 2 else root
            for lane in range(n):
                u, v = packed[half + m, start + lane], packed[half + degree + m, start + lane]
                rows[full + degree + m, lane] = root * u
                rows[below + degree + m, lane] = root * v
                if mirrored:
                    rows[full + degree - m, lane] = sign * u
                    rows[below + degree - m, lane] = -sign * v


@_inner
def scatter(
    rows: FloatArray, chunk: int, packed: FloatArray, spread: IntArray, mirrored: bool
) -> None:
    """Copy rows back into a chunk of samples; of real functions the transpose of `gather`."""
    start = chunk * rows.shape[1]
    n = min(rows.shape[1], packed.shape[1] - start)
    if len(spread) == 0:
        for row in range(packed.shape[0]):
            for lane in range(n):
                packed[row, start + lane] = rows[row, lane]
        return
    root = rows.dtype.type(ROOT_HALF if mirrored else ROOT_TWO)
    for channel in range(len(spread)):
        degree, full, half = spread[channel]
        below = full + 2 * degree + 1
        for lane in range(n):
            packed[half, start + lane] = rows[full + degree, lane]
        for m in range(1, degree + 1):
            sign = -root if m % 2 else root
            for lane in range(n):
                u, v = root * rows[full + degree + m, lane], root * rows[below + degree + m, lane]
                if mirrored:
                    u += sign * rows[full + degree - m, lane]
                    v -= sign * rows[below + degree - m, lane]
                packed[half + m, start + lane] = u
                packed[half + degree + m, start + lane] = v
