"""The Clebsch–Gordan product and its mixing as the formula stands: dense, slow, easy to read."""

from __future__ import annotations

import torch
from torch import Tensor

from vicinal.sphere.harmonic import Fragments, clebsch_gordan
from vicinal.sphere.nn._pairs import Pairing


def multiply_and_mix(fragments: Fragments, folded: Tensor, pairing: Pairing) -> Fragments:
    """Return Σ C_lᵀ [f_l1 ⊗ f_l2] V_l over all blocks, in complex numbers.

    Parameters
    ----------
    fragments : Fragments of pairing.type_in
    folded : Tensor of shape (n_folded, 2)
        Folded weights, real and imaginary parts.
    pairing : Pairing
    """
    parts = fragments.to_complex()
    weights = torch.view_as_complex(folded)
    out = [
        parts[0].new_zeros(fragments.batch_size, 2 * l + 1, t)
        for l, t in enumerate(pairing.type_out.tau)
    ]
    for block in pairing.blocks:
        i, j = torch.from_numpy(block.columns).to(fragments.device).unbind(1)
        first, second = parts[block.l1][:, :, i], parts[block.l2][:, :, j]
        for l, n, start in zip(block.degrees, block.n_used, block.starts, strict=True):
            coefficients = clebsch_gordan(block.l1, block.l2, l).to(first)
            products = torch.einsum(
                "xyz,bxn,byn->bzn", coefficients, first[..., :n], second[..., :n]
            )
            mixing = weights[start : start + n * pairing.type_out[l]].view(n, -1)
            out[l] = out[l] + products @ mixing
    return Fragments.from_complex(out, check=False)
