"""The Clebsch–Gordan product of fragments with its mixing, on chunks of neighbouring samples.

For a block of products of degrees (l1, l2), order by order m: the outer products with m1 + m2 = m,
their projections on each degree, which are mixed into the output and dropped. The way back makes
them again. A chunk is as many samples as a row holds; fragments are stacks of such rows, in the
order of the packed planes: [degree][channel][re, im][m].

Products are laid out as [k][column][re, im], k counting the m1 of a diagonal, and projections as
[degree][column][re, im]. Rows of zeros fill the last tile up to its width.

Fragments of real functions come with m ≥ 0 alone, [degree][channel][f^0, √2 Re f^m, √2 Im f^m]:
they are spread over all m of a chunk's rows on the way in, and only m ≥ 0 are multiplied, projected
and mixed, which halves the work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb

from vicinal._kernels._packed_rows import gather, scatter
from vicinal._kernels._tiles import (
    TILE_WIDTH,
    complex_tile,
    dot_tile,
    multiply_diagonal,
    multiply_diagonal_back,
    real_tile,
)
from vicinal._types import FloatArray, IntArray

# The columns of Tables.blocks and of Tables.degrees.
L1, L2, ROW1, ROW2, N_COLUMNS, COLUMN_AT, N_DEGREES, DEGREE_AT, ORDER_AT = range(9)
DEGREE, N_USED, WEIGHT_AT, OUT_ROW, N_OUT = range(5)

_combine_4, _combine_2, _combine_1 = (real_tile(a, TILE_WIDTH) for a in (4, 2, 1))
_mix_4, _mix_3, _mix_2, _mix_1 = (complex_tile(a, conjugate=False, add=True) for a in (4, 3, 2, 1))
_mix_back_4, _mix_back_2, _mix_back_1 = (
    complex_tile(a, conjugate=True, add=False) for a in (4, 2, 1)
)
_dot_2xw, _dot_2x1, _dot_1xw, _dot_1x1 = (
    dot_tile(height, width) for height in (2, 1) for width in (TILE_WIDTH, 1)
)

_njit: Any = nb.njit  # its type hints leave two options out
_compiled = _njit(cache=True, nogil=True, error_model="numpy")
# Called by the others only, and kept with them: a way in from Python would be compiled, too.
_inner = _njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Tables(NamedTuple):
    """What a layer multiplies, as plain arrays.

    Attributes
    ----------
    blocks : (n_blocks, 9): l1, l2; first rows of these degrees; columns and where they begin;
        degrees and where they begin; where the orders m begin in ``starts``
    degrees : (n, 5): degree, columns it uses, where its weights (complex) begin, its first row
        and its channels in the output; in each block by rising degree
    columns : (n, 2): channels i, j
    starts : (n,): where the coefficients of a block and order begin
    coefficients : (n,): for each block and order (degrees with l ≥ |m|, terms)
    spread_in, spread_out : (channels, 3): degree, first row among all m, first row of m ≥ 0; of
        real functions, else empty
    """

    blocks: IntArray
    degrees: IntArray
    columns: IntArray
    starts: IntArray
    coefficients: FloatArray
    spread_in: IntArray
    spread_out: IntArray


class Scratch(NamedTuple):
    """Rows that a chunk is worked on in; ``projected`` has room for every order of a block."""

    rows: FloatArray
    grad_rows: FloatArray
    out_rows: FloatArray
    products: FloatArray
    projected: FloatArray
    grad_projected: FloatArray


@_compiled
def forward(
    packed: FloatArray, tables: Tables, weights: FloatArray, chunks: Any,
    scratch: Scratch, out: FloatArray,
) -> None:  # fmt: skip
    """Write the mixed products of chunks ``chunks[0]`` to ``chunks[1]`` into ``out``.

    Parameters
    ----------
    packed : (rows, batch)
    weights : (2 n_folded,)
        Folded weights, real and imaginary parts alternating.
    out : (rows out, batch)
    """
    for chunk in range(chunks[0], chunks[1]):
        gather(packed, chunk, scratch.rows, tables.spread_in, True)
        scratch.out_rows[:] = 0
        for b in range(len(tables.blocks)):
            _forward_block(tables, b, weights, scratch)
        scatter(scratch.out_rows, chunk, out, tables.spread_out, False)


@_compiled
def backward(
    packed: FloatArray, grad_out: FloatArray, tables: Tables, weights: FloatArray, chunks: Any,
    wanted: Any, scratch: Scratch, grad_packed: FloatArray, grad_weights: FloatArray,
) -> None:  # fmt: skip
    """Write the gradient of the input into ``grad_packed``, add that of the weights to theirs.

    ``wanted`` says which of the two is asked for; the other is left alone.
    """
    for chunk in range(chunks[0], chunks[1]):
        gather(packed, chunk, scratch.rows, tables.spread_in, True)
        gather(grad_out, chunk, scratch.out_rows, tables.spread_out, False)
        scratch.grad_rows[:] = 0
        for b in range(len(tables.blocks)):
            if wanted[0]:
                _input_gradient(tables, b, weights, scratch)
            if wanted[1]:
                _weight_gradient(tables, b, scratch, grad_weights)
        if wanted[0]:
            scatter(scratch.grad_rows, chunk, grad_packed, tables.spread_in, True)


@_inner
def _forward_block(tables: Tables, b: int, weights: FloatArray, scratch: Scratch) -> None:
    block = tables.blocks[b]
    width = _width(block)
    top = tables.degrees[block[DEGREE_AT] + block[N_DEGREES] - 1, DEGREE]
    for m in range(_least_order(tables, top), top + 1):
        first = _first_degree(tables, block, m)
        _multiply(tables, block, m, scratch)
        _project(tables, block, m, top, first, scratch, 0)
        for d in range(first, block[N_DEGREES]):
            degree = tables.degrees[block[DEGREE_AT] + d]
            _mix(degree, m, weights, scratch.projected, d * width, scratch.out_rows)


@_inner
def _weight_gradient(tables: Tables, b: int, scratch: Scratch, grad_weights: FloatArray) -> None:
    """Add Σ_m Σ_lane conj(T[m, column]) g[m, c] to the gradient of V[column, c]."""
    block = tables.blocks[b]
    width = _width(block)
    step = width * block[N_DEGREES]
    top = tables.degrees[block[DEGREE_AT] + block[N_DEGREES] - 1, DEGREE]
    for m in range(_least_order(tables, top), top + 1):
        first = _first_degree(tables, block, m)
        _multiply(tables, block, m, scratch)
        _project(tables, block, m, top, first, scratch, (m + top) * step)
    for d in range(block[N_DEGREES]):
        degree = tables.degrees[block[DEGREE_AT] + d]
        low = max(_least_order(tables, top), -degree[DEGREE])
        at = (top + low) * step + d * width
        _dot(degree, low, scratch.projected, at, step, scratch.out_rows, grad_weights)


@_inner
def _input_gradient(tables: Tables, b: int, weights: FloatArray, scratch: Scratch) -> None:
    """Add the gradient through one block to ``scratch.grad_rows``."""
    block = tables.blocks[b]
    width = _width(block)
    top = tables.degrees[block[DEGREE_AT] + block[N_DEGREES] - 1, DEGREE]
    for m in range(_least_order(tables, top), top + 1):
        first = _first_degree(tables, block, m)
        for d in range(first, block[N_DEGREES]):
            degree = tables.degrees[block[DEGREE_AT] + d]
            _mix_back(
                degree, m, weights, scratch.out_rows, scratch.grad_projected, d * width, width
            )
        n_terms = min(block[L1], m + block[L2]) - max(-block[L1], m - block[L2]) + 1
        at = tables.starts[block[ORDER_AT] + m + top]
        _combine(
            n_terms, width, scratch.products, 0, tables.coefficients, at, 1, n_terms,
            scratch.grad_projected, first * width, block[N_DEGREES] - first,
        )  # fmt: skip
        _multiply_back(tables, block, m, scratch)


@_inner
def _least_order(tables: Tables, top: int) -> int:
    """Return the least m that is made: real functions have m ≥ 0."""
    return 0 if len(tables.spread_in) else -top


@_inner
def _width(block: IntArray) -> int:
    """Return the rows of one term: two for each column, in whole tiles."""
    return -(-2 * block[N_COLUMNS] // TILE_WIDTH) * TILE_WIDTH


@_inner
def _first_degree(tables: Tables, block: IntArray, m: int) -> int:
    """Return the number of the block's first degree that has the order m."""
    first = 0
    while tables.degrees[block[DEGREE_AT] + first, DEGREE] < abs(m):
        first += 1
    return first


@_inner
def _multiply(tables: Tables, block: IntArray, m: int, scratch: Scratch) -> None:
    """Compute products[k, column] = f_l1,i^{low + k} f_l2,j^{m − low − k}."""
    low = max(-block[L1], m - block[L2])
    n_terms = min(block[L1], m + block[L2]) - low + 1
    width, n = _width(block), block[N_COLUMNS]
    w1, w2 = 2 * block[L1] + 1, 2 * block[L2] + 1
    for column in range(n):
        i, j = tables.columns[block[COLUMN_AT] + column]
        x = block[ROW1] + 2 * w1 * i + low + block[L1]
        y = block[ROW2] + 2 * w2 * j + m - low + block[L2]
        multiply_diagonal(scratch.products, 2 * column, width, scratch.rows, x, w1, y, w2, n_terms)
    if 2 * n < width:
        for k in range(n_terms):
            scratch.products[k * width + 2 * n : (k + 1) * width] = 0


@_inner
def _multiply_back(tables: Tables, block: IntArray, m: int, scratch: Scratch) -> None:
    """Add the gradient of ``_multiply``, found in ``products``, to that of the rows."""
    low = max(-block[L1], m - block[L2])
    n_terms = min(block[L1], m + block[L2]) - low + 1
    width = _width(block)
    w1, w2 = 2 * block[L1] + 1, 2 * block[L2] + 1
    for column in range(block[N_COLUMNS]):
        i, j = tables.columns[block[COLUMN_AT] + column]
        x = block[ROW1] + 2 * w1 * i + low + block[L1]
        y = block[ROW2] + 2 * w2 * j + m - low + block[L2]
        multiply_diagonal_back(
            scratch.products, 2 * column, width, scratch.rows, scratch.grad_rows,
            x, w1, y, w2, n_terms,
        )  # fmt: skip


@_inner
def _project(
    tables: Tables, block: IntArray, m: int, top: int, first: int, scratch: Scratch, at: int
) -> None:
    """Compute projected[degree, column] = Σ_k C[degree, k] products[k, column], from ``at`` on."""
    n_terms = min(block[L1], m + block[L2]) - max(-block[L1], m - block[L2]) + 1
    width = _width(block)
    _combine(
        block[N_DEGREES] - first, width, scratch.projected, at + first * width,
        tables.coefficients, tables.starts[block[ORDER_AT] + m + top], n_terms, 1,
        scratch.products, 0, n_terms,
    )  # fmt: skip


@_inner
def _combine(
    n_out: int, width: int, out: FloatArray, out_at: int,
    factors: FloatArray, factor_at: int, step_a: int, step_k: int,
    rows: FloatArray, row_at: int, n_terms: int,
) -> None:  # fmt: skip
    """Compute out[a, b] = Σ_k factor[a, k] row[k, b] for a < n_out, b < width, tile by tile."""
    for b in range(0, width, TILE_WIDTH):
        a = 0
        while a + 4 <= n_out:
            _combine_4(
                out, out_at + a * width + b, width, factors, factor_at + a * step_a, step_a, step_k,
                rows, row_at + b, width, n_terms,
            )  # fmt: skip
            a += 4
        if a + 2 <= n_out:
            _combine_2(
                out, out_at + a * width + b, width, factors, factor_at + a * step_a, step_a, step_k,
                rows, row_at + b, width, n_terms,
            )  # fmt: skip
            a += 2
        if a < n_out:
            _combine_1(
                out, out_at + a * width + b, width, factors, factor_at + a * step_a, step_a, step_k,
                rows, row_at + b, width, n_terms,
            )  # fmt: skip


@_inner
def _mix(
    degree: IntArray, m: int, weights: FloatArray, projected: FloatArray, at: int, out: FloatArray
) -> None:
    """Add Σ_column V[column, c] T[column] to the output's order m."""
    n, n_out, high = degree[N_USED], degree[N_OUT], 2 * degree[DEGREE] + 1
    w, step = 2 * degree[WEIGHT_AT], 2 * n_out
    o = degree[OUT_ROW] + m + degree[DEGREE]
    c = 0
    while c + 4 <= n_out:
        _mix_4(out, o, 2 * high, high, weights, w, 2, step, projected, at, 2, 1, n)
        o, w, c = o + 8 * high, w + 8, c + 4
    if c + 3 == n_out:
        _mix_3(out, o, 2 * high, high, weights, w, 2, step, projected, at, 2, 1, n)
    elif c + 2 == n_out:
        _mix_2(out, o, 2 * high, high, weights, w, 2, step, projected, at, 2, 1, n)
    elif c + 1 == n_out:
        _mix_1(out, o, 2 * high, high, weights, w, 2, step, projected, at, 2, 1, n)


@_inner
def _mix_back(
    degree: IntArray, m: int, weights: FloatArray, grad_out: FloatArray,
    grad: FloatArray, at: int, width: int,
) -> None:  # fmt: skip
    """Compute gT[column] = Σ_c conj(V[column, c]) g[c]; zero for columns that are not used."""
    n, n_out, high = degree[N_USED], degree[N_OUT], 2 * degree[DEGREE] + 1
    w, step = 2 * degree[WEIGHT_AT], 2 * n_out
    g = degree[OUT_ROW] + m + degree[DEGREE]
    grad[at + 2 * n : at + width] = 0
    while n >= 4:
        _mix_back_4(grad, at, 2, 1, weights, w, step, 2, grad_out, g, 2 * high, high, n_out)
        at, w, n = at + 8, w + 4 * step, n - 4
    if n >= 2:
        _mix_back_2(grad, at, 2, 1, weights, w, step, 2, grad_out, g, 2 * high, high, n_out)
        at, w, n = at + 4, w + 2 * step, n - 2
    if n:
        _mix_back_1(grad, at, 2, 1, weights, w, step, 2, grad_out, g, 2 * high, high, n_out)


@_inner
def _dot(
    degree: IntArray, low: int, projected: FloatArray, at: int, step: int,
    grad_out: FloatArray, grad_weights: FloatArray,
) -> None:  # fmt: skip
    """Add the products of projections with the output's gradient, over orders from ``low`` on."""
    n_out, high = degree[N_OUT], 2 * degree[DEGREE] + 1
    n_orders = degree[DEGREE] - low + 1
    w, row = 2 * degree[WEIGHT_AT], 2 * n_out
    columns = degree[N_USED]
    while columns > 0:
        c, g = 0, degree[OUT_ROW] + low + degree[DEGREE]
        while c < n_out:
            v = w + 2 * c
            if columns > 1 and c + TILE_WIDTH <= n_out:
                _dot_2xw(grad_weights, v, row, 2, projected, at, 2, step, 1,
                         grad_out, g, 2 * high, 1, high, n_orders)  # fmt: skip
            elif columns > 1:
                _dot_2x1(grad_weights, v, row, 2, projected, at, 2, step, 1,
                         grad_out, g, 2 * high, 1, high, n_orders)  # fmt: skip
            elif c + TILE_WIDTH <= n_out:
                _dot_1xw(grad_weights, v, row, 2, projected, at, 2, step, 1,
                         grad_out, g, 2 * high, 1, high, n_orders)  # fmt: skip
            else:
                _dot_1x1(grad_weights, v, row, 2, projected, at, 2, step, 1,
                         grad_out, g, 2 * high, 1, high, n_orders)  # fmt: skip
            taken = TILE_WIDTH if c + TILE_WIDTH <= n_out else 1
            c, g = c + taken, g + 2 * high * taken
        at, w, columns = at + 4, w + 2 * row, columns - 2
