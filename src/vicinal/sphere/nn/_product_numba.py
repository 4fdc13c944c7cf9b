"""The Clebsch–Gordan product and its mixing by compiled kernels, on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from vicinal._kernels import _clebsch_gordan as kernels
from vicinal._kernels._packed_rows import fold_weights, unfold_gradient
from vicinal._kernels._tiles import ROW_BYTES
from vicinal._types import AnyArray, FloatArray
from vicinal.sphere.harmonic import Fragments
from vicinal.sphere.nn._pairs import Pairing
from vicinal.sphere.nn._product_tables import make_tables, take_scratch

# Chunks are summed in this many groups at most, whatever the number of threads, so that the
# gradient of the weights does not depend on it.
MOST_GROUPS = 8


def multiply_and_mix(fragments: Fragments, weight: Tensor, pairing: Pairing) -> Fragments:
    """Return Σ C_lᵀ [f_l1 ⊗ f_l2] W_l by the compiled kernel, with its own gradient.

    Products live in a buffer that a processor's cache holds, one a thread, and are made again for
    the gradient; nothing but the input is kept. Threads (``torch.get_num_threads()``) share out
    chunks of samples; results do not depend on their number. Twice differentiable, for forces.
    """
    return Fragments(pairing.type_out, _Product.apply(fragments.packed, weight, pairing))


class _Product(torch.autograd.Function):
    """P(f; W) and its derivative, which is differentiable once more."""

    @staticmethod
    def forward(ctx: Any, packed: Tensor, weight: Tensor, pairing: Pairing) -> Tensor:
        ctx.save_for_backward(packed, weight)
        ctx.pairing = pairing
        return _multiply(packed, weight, pairing)

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        packed, weight = ctx.saved_tensors
        needs = tuple(ctx.needs_input_grad[:2])
        if not torch.is_grad_enabled():
            return *_derive(packed, weight, grad_out, ctx.pairing, needs), None
        return *_Derivative.apply(packed, weight, grad_out, ctx.pairing, needs), None


class _Derivative(torch.autograd.Function):
    """The gradients (∂f, ∂W) of ⟨g, P(f; W)⟩, with their own.

    P is quadratic in f: P(f) = Q(f, f), and so ∂f is linear in f, in W and in g. A direction u of
    ∂f stands for ⟨g, 2 Q(f, u; W)⟩, a direction v of ∂W for ⟨g, P(f; v)⟩; their gradients are the
    same two kernels at other places, since 2 Q(f, u) = (P(f + u) − P(f − u)) / 2. There u is
    brought to the size of f, so that the difference loses no digits.
    """

    @staticmethod
    def forward(
        ctx: Any, packed: Tensor, weight: Tensor, grad_out: Tensor, pairing: Pairing, wanted: Any
    ) -> tuple[Tensor | None, Tensor | None]:
        ctx.save_for_backward(packed, weight, grad_out)
        ctx.pairing, ctx.wanted = pairing, wanted
        return _derive(packed, weight, grad_out, pairing, wanted)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, u: Tensor | None, v: Tensor | None) -> tuple[Tensor | None, ...]:
        f, weight, g = ctx.saved_tensors
        pairing = ctx.pairing
        grad_f, grad_w, grad_g = torch.zeros_like(f), torch.zeros_like(weight), torch.zeros_like(g)
        if u is not None and bool(u.any()):
            size = f.norm() / u.norm()
            scale = size if bool(size > 0) else torch.ones_like(size)
            for sign in (1, -1):
                at = f + sign * scale * u
                half = sign / (2 * scale)
                grad_g += half * _multiply(at, weight, pairing)
                if ctx.needs_input_grad[1]:
                    part = _derive(at, weight, g, pairing, (False, True))[1]
                    assert part is not None
                    grad_w += half * part
            if ctx.needs_input_grad[0]:
                grad_f += _first(_derive(u, weight, g, pairing, (True, False)))
        if v is not None and bool(v.any()):
            grad_g += _multiply(f, v, pairing)
            if ctx.needs_input_grad[0]:
                grad_f += _first(_derive(f, v, g, pairing, (True, False)))
        return grad_f, grad_w, grad_g, None, None


def _first(gradients: tuple[Tensor | None, Tensor | None]) -> Tensor:
    assert gradients[0] is not None
    return gradients[0]


def _multiply(packed: Tensor, weight: Tensor, pairing: Pairing) -> Tensor:
    """Return P(f; W), (rows out, batch)."""
    rows, folded = _array(packed), _fold(_array(weight), pairing)
    out = packed.new_empty(pairing.type_out.n_rows, packed.shape[1])
    target, tables = out.numpy(), make_tables(pairing, rows.dtype)

    def run(group: tuple[int, int]) -> None:
        scratch = take_scratch(pairing, rows.dtype, backward=False)
        kernels.forward(rows, tables, folded, group, scratch, target)

    groups = _groups(packed.shape[1], rows.dtype)
    _share_out(run, groups, _count_threads(groups))
    return out


def _derive(
    packed: Tensor, weight: Tensor, grad_out: Tensor, pairing: Pairing, wanted: tuple[bool, bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients of ⟨g, P(f; W)⟩ by f and by W, where they are wanted."""
    rows, grads = _array(packed), _array(grad_out)
    folded = _fold(_array(weight), pairing)
    tables = make_tables(pairing, rows.dtype)
    groups = _groups(packed.shape[1], rows.dtype)
    n_threads = _count_threads(groups)
    grad_packed = np.empty_like(rows if wanted[0] else rows[:0])
    total = np.zeros(folded.size if wanted[1] else 0, rows.dtype)
    parts = np.empty((n_threads, total.size), rows.dtype)

    def run(group: tuple[int, int], part: FloatArray) -> None:
        scratch = take_scratch(pairing, rows.dtype, backward=True)
        part[:] = 0
        kernels.backward(rows, grads, tables, folded, group, wanted, scratch, grad_packed, part)

    # The order of the sum is that of the groups, whatever the number of threads.
    for start in range(0, len(groups), n_threads):
        wave = groups[start : start + n_threads]
        _share_out(run, wave, n_threads, parts)
        for part in parts[: len(wave)]:
            total += part
    return (
        torch.from_numpy(grad_packed) if wanted[0] else None,
        _unfold(total, weight, pairing) if wanted[1] else None,
    )


def _groups(batch: int, dtype: np.dtype[Any]) -> list[tuple[int, int]]:
    """Return ranges of chunks, as even as can be."""
    n_chunks = -(-batch // (ROW_BYTES // dtype.itemsize))
    n_groups = min(n_chunks, MOST_GROUPS)
    ends = [n_chunks * group // n_groups for group in range(n_groups + 1)] if n_chunks else [0]
    return list(pairwise(ends))


def _count_threads(groups: list[tuple[int, int]]) -> int:
    return max(1, min(torch.get_num_threads(), len(groups)))


def _share_out(
    run: Callable[..., None], groups: list[tuple[int, int]], n_threads: int, *others: Iterable[Any]
) -> None:
    """Call ``run`` on every group, and the others' entries with it, by several threads."""
    if n_threads == 1:
        for arguments in zip(groups, *others, strict=False):
            run(*arguments)
    else:
        list(_pool(n_threads).map(run, groups, *others))


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
    folded = np.empty((len(pairing.first), 2), weight.dtype)
    fold_weights(columns, pairing.first, pairing.second, pairing.sign, pairing.odd, folded)
    return folded.ravel()


def _unfold(grad_folded: FloatArray, weight: Tensor, pairing: Pairing) -> Tensor:
    """Return the gradient of the weights from that of the folded ones."""
    grads = grad_folded.reshape(-1, 2)
    grad = np.zeros((len(weight), weight.ndim), grads.dtype)
    unfold_gradient(grads, pairing.first, pairing.second, pairing.sign, pairing.odd, grad)
    return torch.from_numpy(grad).view_as(weight)
