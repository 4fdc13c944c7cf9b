"""The Clebsch–Gordan product and its mixing in plain torch operations, on any device."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from vicinal.sphere.harmonic import Fragments
from vicinal.sphere.nn._linear import real_matrix
from vicinal.sphere.nn._pairs import Block, Pairing


def multiply_and_mix(fragments: Fragments, folded: Tensor, pairing: Pairing) -> Fragments:
    """Return Σ over blocks of C_lᵀ [f_l1 ⊗ f_l2] V_l, a block of degrees (l1, l2) at a time.

    The products of a block are made, projected, mixed and dropped, and made again on the way back,
    so that memory holds one block, never all.

    Parameters
    ----------
    fragments : Fragments of pairing.type_in
    folded : Tensor of shape (n_folded, 2)
        Folded weights, real and imaginary parts.
    pairing : Pairing
    """
    if fragments.type.real:  # readable, not quick: all m are made and half of them dropped
        full = complex_pairing(pairing)
        return multiply_and_mix(fragments.to_full(), folded, full).to_real()
    batch, planes = fragments.batch_size, fragments.all_planes()
    kind = pairing.type_out
    sums = [
        fragments.packed.new_zeros(2 * t, dim * batch)
        for t, dim in zip(kind.tau, kind.dims, strict=True)
    ]
    for block in pairing.blocks:
        first, second = planes[block.first], planes[block.second]
        weights = [
            folded[start : start + n * kind[place]].view(n, kind[place], 2)
            for place, n, start in zip(block.outputs, block.n_used, block.starts, strict=True)
        ]
        mixed = checkpoint(
            _mix_block,
            pairing,
            block,
            first,
            second,
            *weights,
            use_reentrant=False,
            preserve_rng_state=False,
        )
        for place, part in zip(block.outputs, mixed, strict=True):
            sums[place] = sums[place] + part
    return Fragments(kind, torch.cat([part.view(-1, batch) for part in sums]))


@cache
def complex_pairing(pairing: Pairing) -> Pairing:
    """Return the same products of complex functions."""
    type_in, type_out = pairing.type_in.as_complex(), pairing.type_out.as_complex()
    return replace(pairing, type_in=type_in, type_out=type_out)


def _mix_block(
    pairing: Pairing, block: Block, first: Tensor, second: Tensor, *weights: Tensor
) -> list[Tensor]:
    """Return (2 τ, dim · batch) for each output of the block."""
    columns = torch.from_numpy(block.columns).to(first.device)
    products = _outer(first[columns[:, 0]], second[columns[:, 1]])
    batch = products.shape[-1]
    real, imaginary = _coefficients(pairing, block, first.dtype, str(first.device))
    projected = real @ products
    if imaginary is not None:  # C† is taken, of tensors that may be complex
        turned = imaginary @ products
        projected = projected + torch.stack([turned[:, 1], -turned[:, 0]], 1)
    mixed, row = [], 0
    for place, weight in zip(block.outputs, weights, strict=True):
        dim = pairing.type_out.dims[place]
        used = projected[: weight.shape[0], :, row : row + dim]
        mixed.append(real_matrix(weight) @ used.reshape(2 * weight.shape[0], dim * batch))
        row += dim
    return mixed


def _outer(first: Tensor, second: Tensor) -> Tensor:
    """Return the complex outer products (n, 2, (2 l1 + 1)(2 l2 + 1), batch) over m1, m2."""
    a_real, a_imaginary = first[:, 0, :, None], first[:, 1, :, None]
    b_real, b_imaginary = second[:, 0, None], second[:, 1, None]
    planes = [
        a_real * b_real - a_imaginary * b_imaginary,
        a_real * b_imaginary + a_imaginary * b_real,
    ]
    return torch.stack(planes, dim=1).flatten(2, 3)


@cache
def _coefficients(
    pairing: Pairing, block: Block, dtype: torch.dtype, device: str
) -> tuple[Tensor, Tensor | None]:
    """Return the coefficients of all outputs, (Σ dim, d1 d2): real parts, and imaginary if any."""
    kind, (a, b) = pairing.type_in, (block.first, block.second)
    outputs = zip(block.outputs, block.copies, strict=True)
    with torch.inference_mode(False):
        tensors = [
            kind.group.cg(kind.irreps[a], kind.irreps[b], pairing.type_out.irreps[place])[copy]
            for place, copy in outputs
        ]
        table = torch.cat([of.flatten(0, 1).T for of in tensors])
        real = (table.real if table.is_complex() else table).to(device, dtype).contiguous()
        if not table.is_complex() or not bool(table.imag.any()):
            return real, None
        return real, table.imag.to(device, dtype).contiguous()
