"""The Clebsch–Gordan product and its mixing by compiled kernels, on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from vicinal._kernels import _clebsch_gordan as kernels
from vicinal._kernels._clebsch_gordan import Scratch, Tables
from vicinal._kernels._tiles import ROW_BYTES
from vicinal._types import AnyArray, FloatArray
from vicinal.sphere._clebsch_gordan import clebsch_gordan
from vicinal.sphere._fragments import Fragments
from vicinal.sphere._pairs import Block, Pairing

# Chunks are summed in this many groups at most, whatever the number of threads, so that the
# gradient of the weights does not depend on it.
MOST_GROUPS = 8
# Columns of a block are worked on together as long as their projections fit in a cache.
MOST_PROJECTED_BYTES = 1 << 20


def multiply_and_mix(fragments: Fragments, weight: Tensor, pairing: Pairing) -> Fragments:
    """Return Σ C_lᵀ [f_l1 ⊗ f_l2] W_l by the compiled kernel, with its own gradient.

    Products live in a buffer that a processor's cache holds, one a thread, and are made again for
    the gradient; nothing but the input is kept. Threads (``torch.get_num_threads()``) share out
    chunks of samples; results do not depend on their number. Gradients of gradients are left to
    the plain torch backend.
    """
    out = _Product.apply(fragments.packed, weight, pairing)
    return Fragments(pairing.type_out, out)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packed: Tensor, weight: Tensor, pairing: Pairing) -> Tensor:
        ctx.save_for_backward(packed, weight)
        ctx.pairing = pairing
        rows, folded = _array(packed), _fold(_array(weight), pairing)
        out = packed.new_empty(pairing.type_out.n_rows, packed.shape[1])
        target, tables = out.numpy(), make_tables(pairing, rows.dtype)

        def run(chunks: tuple[int, int]) -> None:
            scratch = _make_scratch(pairing, tables, rows.dtype, backward=False)
            kernels.forward(rows, tables, folded, chunks, scratch, target)

        _share_out(run, _groups(packed.shape[1], rows.dtype))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        packed, weight = ctx.saved_tensors
        pairing: Pairing = ctx.pairing
        wanted = tuple(ctx.needs_input_grad[:2])
        rows, grads = _array(packed), _array(grad_out)
        folded = _fold(_array(weight), pairing)
        tables = make_tables(pairing, rows.dtype)
        groups = _groups(packed.shape[1], rows.dtype)
        grad_packed = np.empty_like(rows if wanted[0] else rows[:0])
        parts = np.zeros((len(groups), folded.size if wanted[1] else 0), rows.dtype)

        def run(group: tuple[int, int]) -> None:
            scratch = _make_scratch(pairing, tables, rows.dtype, backward=True)
            part = parts[groups.index(group)]
            kernels.backward(rows, grads, tables, folded, group, wanted, scratch, grad_packed, part)

        _share_out(run, groups)
        return (
            torch.from_numpy(grad_packed) if wanted[0] else None,
            _unfold(parts.sum(axis=0), weight, pairing) if wanted[1] else None,
            None,
        )


@cache
def make_tables(pairing: Pairing, dtype: np.dtype[Any]) -> Tables:
    """Return the arrays that tell the kernel what to multiply."""
    rows_in, rows_out = pairing.type_in.row_starts(), pairing.type_out.row_starts()
    blocks: list[tuple[int, ...]] = []
    degrees: list[tuple[int, ...]] = []
    columns: list[list[int]] = []
    coefficients: list[FloatArray] = []
    for block in pairing.blocks:
        orders = len(coefficients)
        coefficients += _coefficients(block)
        for low, high in _parts(block):
            places = (rows_in[block.l1], rows_in[block.l2], high - low, len(columns))
            blocks.append((block.l1, block.l2, *places, len(block.degrees), len(degrees), orders))
            columns += block.columns[low:high].tolist()
            for l, n, start in zip(block.degrees, block.n_used, block.starts, strict=True):
                channels = pairing.type_out[l]
                used = min(max(n - low, 0), high - low)
                degrees.append((l, used, start + low * channels, rows_out[l], channels))
    starts = np.cumsum([0, *map(len, coefficients)])
    return Tables(
        blocks=np.array(blocks, dtype=np.int64),
        degrees=np.array(degrees, dtype=np.int64),
        columns=np.array(columns, dtype=np.int64),
        starts=starts.astype(np.int64),
        coefficients=np.concatenate(coefficients).astype(dtype),
    )


def _coefficients(block: Block) -> list[FloatArray]:
    """Return, for each order m, the coefficients of the degrees with l ≥ |m|, row by row."""
    l1, l2, top = block.l1, block.l2, block.degrees[-1]
    tables = {l: clebsch_gordan(l1, l2, l).numpy() for l in block.degrees}
    found = []
    for m in range(-top, top + 1):
        m1 = np.arange(max(-l1, m - l2), min(l1, m + l2) + 1)
        rows = [t[m1 + l1, m - m1 + l2, m + l] for l, t in tables.items() if l >= abs(m)]
        found.append(np.concatenate(rows))
    return found


def _parts(block: Block) -> list[tuple[int, int]]:
    """Return ranges of columns whose projections fit in a cache."""
    n = len(block.columns)
    one = 2 * ROW_BYTES * len(block.degrees) * (2 * block.degrees[-1] + 1)
    at_once = max(2, MOST_PROJECTED_BYTES // one)
    return [(low, min(low + at_once, n)) for low in range(0, n, at_once)]


def _make_scratch(
    pairing: Pairing, tables: Tables, dtype: np.dtype[Any], *, backward: bool
) -> Scratch:
    """Return the rows a thread works on, one after the other in one piece of memory."""
    b = tables.blocks
    width = 2 * (b[:, kernels.N_COLUMNS] + b[:, kernels.N_COLUMNS] % 2)
    last = b[:, kernels.DEGREE_AT] + b[:, kernels.N_DEGREES] - 1
    orders = 2 * tables.degrees[last, kernels.DEGREE] + 1
    projected = width * b[:, kernels.N_DEGREES]
    sizes = [
        pairing.type_in.n_rows,
        pairing.type_in.n_rows if backward else 0,
        pairing.type_out.n_rows,
        int((width * (2 * b[:, kernels.L2] + 1)).max()),
        int((projected * (orders if backward else 1)).max()),
        int(projected.max()) if backward else 0,
    ]
    memory = np.empty((sum(sizes) + 1) * ROW_BYTES, np.uint8)
    aligned = memory[-memory.ctypes.data % ROW_BYTES :][: sum(sizes) * ROW_BYTES]
    rows = aligned.view(dtype).reshape(sum(sizes), -1)
    return Scratch(*np.split(rows, np.cumsum(sizes)[:-1]))


def _groups(batch: int, dtype: np.dtype[Any]) -> list[tuple[int, int]]:
    """Return ranges of chunks, as even as can be."""
    n_chunks = -(-batch // (ROW_BYTES // dtype.itemsize))
    n_groups = min(n_chunks, MOST_GROUPS)
    ends = [n_chunks * group // n_groups for group in range(n_groups + 1)] if n_chunks else [0]
    return list(pairwise(ends))


def _share_out(run: Callable[[tuple[int, int]], None], groups: list[tuple[int, int]]) -> None:
    """Call ``run`` on every group, by as many threads as torch uses."""
    n_threads = min(torch.get_num_threads(), len(groups))
    if n_threads <= 1:
        for group in groups:
            run(group)
    else:
        list(_pool(n_threads).map(run, groups))


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="clebsch-gordan")


# A forked process has the pool's record but none of its threads, and would wait for ever.
os.register_at_fork(after_in_child=_pool.cache_clear)


def _array(tensor: Tensor) -> AnyArray:
    array: AnyArray = tensor.detach().contiguous().numpy()
    return array


def _fold(weight: FloatArray, pairing: Pairing) -> FloatArray:
    """Return the folded weights, real and imaginary parts alternating."""
    columns = weight.reshape(len(weight), -1)
    folded = np.empty((len(pairing.first), columns.shape[1]), weight.dtype)
    kernels.fold_weights(columns, pairing.first, pairing.second, pairing.sign, folded)
    if weight.ndim == 1:
        folded = np.where(np.stack([pairing.odd, ~pairing.odd], axis=1), 0, folded)
    return folded.ravel()


def _unfold(grad_folded: FloatArray, weight: Tensor, pairing: Pairing) -> Tensor:
    """Return the gradient of the weights from that of the folded ones."""
    grads = grad_folded.reshape(-1, 2)
    if weight.ndim == 1:
        grads = np.where(pairing.odd, grads[:, 1], grads[:, 0])[:, None]
    grad = torch.zeros_like(weight)
    columns = grad.view(len(weight), -1).numpy()
    kernels.unfold_gradient(grads, pairing.first, pairing.second, pairing.sign, columns)
    return grad
