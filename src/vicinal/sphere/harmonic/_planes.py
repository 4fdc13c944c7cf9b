"""One degree of an activation: planes (τ, 2, 2l + 1, batch), or (τ, 1, 2l + 1, batch) if real."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from vicinal.sphere.harmonic._fragment_type import FragmentType

REAL_OF = {torch.complex64: torch.float32, torch.complex128: torch.float64}


def fill_orders(half: Tensor) -> Tensor:
    """Return planes (τ, 2, 2l + 1, batch) of real functions' rows (τ, 2l + 1, batch)."""
    l = half.shape[1] // 2
    signs = half.new_tensor([(-1.0) ** m for m in range(l, 0, -1)])[:, None]
    root = 0.5**0.5
    real, imaginary = root * half[:, 1 : l + 1], root * half[:, l + 1 :]
    reals = torch.cat([signs * real.flip(1), half[:, :1], real], 1)
    zero = torch.zeros_like(half[:, :1])
    return torch.stack([reals, torch.cat([-signs * imaginary.flip(1), zero, imaginary], 1)], 1)


def real_part(planes: Tensor) -> Tensor:
    """Return the rows (τ, 2l + 1, batch) of the real parts of functions, [f^0, √2 Re, √2 Im f^m].

    Their coefficients are ½ (f^m + (−1)^m conj f^{−m}).
    """
    l = planes.shape[2] // 2
    signs = planes.new_tensor([(-1.0) ** m for m in range(l + 1)])[:, None]
    real, imaginary = planes.unbind(1)
    above = 0.5 * (real[:, l:] + signs * real[:, : l + 1].flip(1))
    beside = 0.5 * (imaginary[:, l:] - signs * imaginary[:, : l + 1].flip(1))
    return torch.cat([above[:, :1], 2**0.5 * above[:, 1:], 2**0.5 * beside[:, 1:]], 1)


def split_functions(planes: Tensor) -> Tensor:
    """Return rows (τ, 2, 2l + 1, batch): of each function's real part, and of its imaginary one."""
    real, imaginary = planes.unbind(1)
    return torch.stack([real_part(planes), real_part(torch.stack([imaginary, -real], 1))], 1)


def in_real_basis(matrix: Tensor) -> Tensor:
    """Return D^l as it acts on the rows of a real function: real, orthogonal."""
    size = matrix.shape[-1]
    units = torch.eye(size, dtype=torch.float64, device=matrix.device)[:, :, None]  # (k, 2l + 1, 1)
    columns = torch.view_as_complex(fill_orders(units)[..., 0].permute(0, 2, 1).contiguous()).T
    return (columns.mH @ matrix @ columns).real


def to_complex_part(planes: Tensor) -> Tensor:
    """Return (batch, 2l + 1, τ), complex, of planes (τ, 2, 2l + 1, batch)."""
    if planes.shape[1] == 1:
        planes = fill_orders(planes[:, 0])
    real, imaginary = planes.unbind(1)
    return torch.complex(real, imaginary).permute(2, 1, 0)


def turn_planes(planes: Tensor, wigner: Tensor) -> Tensor:
    """Return the packed rows of D f for planes (τ, 2, 2l + 1, batch)."""
    product = "mn,cnb->cmb" if wigner.ndim == 2 else "bmn,cnb->cmb"
    if not wigner.is_complex():
        return torch.einsum(product, wigner.to(planes.dtype), planes[:, 0]).flatten(0, 1)
    real, imaginary = planes[:, 0], planes[:, 1]
    d_real, d_imaginary = wigner.real.to(planes.dtype), wigner.imag.to(planes.dtype)
    turned = torch.stack(
        [
            torch.einsum(product, d_real, real) - torch.einsum(product, d_imaginary, imaginary),
            torch.einsum(product, d_real, imaginary) + torch.einsum(product, d_imaginary, real),
        ],
        dim=1,
    )
    return turned.flatten(0, 2)


def check_parts(parts: Sequence[Tensor], kind: FragmentType | None) -> None:
    """Raise where the tensors are not (batch, 2l + 1, τ_l), complex, of one batch and precision."""
    first = parts[0]
    if kind is not None and len(kind) != len(parts):
        raise ValueError(f"{kind} takes {len(kind)} tensors, got {len(parts)}.")
    for l, part in enumerate(parts):
        dim, channels = (2 * l + 1, "channels") if kind is None else (kind.dims[l], kind[l])
        fits = part.ndim == 3 and part.shape[1] == dim
        if not fits or (kind is not None and part.shape[2] != channels):
            raise ValueError(
                f"degree {l} takes a tensor (batch, {dim}, {channels}), got shape "
                f"{tuple(part.shape)}."
            )
        if part.dtype not in REAL_OF:
            raise ValueError(f"degree {l} must be complex64 or complex128, got {part.dtype}.")
        if part.shape[0] != first.shape[0]:
            raise ValueError(
                f"degree 0 has {first.shape[0]} samples and degree {l} has {part.shape[0]}."
            )
        if part.dtype != first.dtype or part.device != first.device:
            raise ValueError(
                f"degree 0 is {first.dtype} on {first.device} and degree {l} is {part.dtype} "
                f"on {part.device}: bring all to one precision and device."
            )
