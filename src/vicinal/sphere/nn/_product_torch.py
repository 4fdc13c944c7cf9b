"""The Clebsch–Gordan product and its mixing in plain torch operations, on any device."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from vicinal.sphere.harmonic import Fragments, clebsch_gordan
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
    batch, planes = fragments.batch_size, fragments.all_planes()
    sums = [
        fragments.packed.new_zeros(2 * t, (2 * l + 1) * batch)
        for l, t in enumerate(pairing.type_out.tau)
    ]
    for block in pairing.blocks:
        first, second = planes[block.l1], planes[block.l2]
        weights = [
            folded[start : start + n * pairing.type_out[l]].view(n, pairing.type_out[l], 2)
            for l, n, start in zip(block.degrees, block.n_used, block.starts, strict=True)
        ]
        mixed = checkpoint(
            _mix_block,
            block,
            first,
            second,
            *weights,
            use_reentrant=False,
            preserve_rng_state=False,
        )
        for l, part in zip(block.degrees, mixed, strict=True):
            sums[l] = sums[l] + part
    return Fragments(pairing.type_out, torch.cat([part.view(-1, batch) for part in sums]))


def _mix_block(block: Block, first: Tensor, second: Tensor, *weights: Tensor) -> list[Tensor]:
    """Return (2 τ_l, (2l + 1) batch) for each degree of the block."""
    columns = torch.from_numpy(block.columns).to(first.device)
    products = _outer(first[columns[:, 0]], second[columns[:, 1]])
    batch = products.shape[-1]
    coefficients = _coefficients(block.l1, block.l2, block.degrees, first.dtype, str(first.device))
    projected = coefficients @ products
    mixed, row = [], 0
    for l, weight in zip(block.degrees, weights, strict=True):
        used = projected[: weight.shape[0], :, row : row + 2 * l + 1]
        mixed.append(real_matrix(weight) @ used.reshape(2 * weight.shape[0], (2 * l + 1) * batch))
        row += 2 * l + 1
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
    l1: int, l2: int, degrees: tuple[int, ...], dtype: torch.dtype, device: str
) -> Tensor:
    """Return the coefficients of several degrees, (Σ (2l + 1), (2 l1 + 1)(2 l2 + 1))."""
    with torch.inference_mode(False):
        tables = [clebsch_gordan(l1, l2, l).flatten(0, 1).T for l in degrees]
        return torch.cat(tables).to(device, dtype).contiguous()
