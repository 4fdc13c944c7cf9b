"""Rotations of space: Haar samples, and matrices from ZYZ Euler angles or unit quaternions.

R(α, β, γ) = R_z(α) R_y(β) R_z(γ) with α, γ ∈ [0, 2π) and β ∈ [0, π]; a quaternion is
(w, x, y, z) with w² + x² + y² + z² = 1, and q and −q are the same rotation. The way back, from
matrices, is scipy's ``Rotation.from_matrix``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_LOOSEST_ROTATION = 1e-5  # single precision keeps products of rotations well inside this


def random_rotations(
    n: int,
    generator: torch.Generator | None = None,
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Tensor:
    """Draw rotations from the Haar (uniform) distribution on SO(3).

    Four independent normal numbers, normalised, are a uniform unit quaternion.

    Parameters
    ----------
    n : int
        How many rotations, zero or more.
    generator : torch.Generator, optional
        The source of randomness; torch's global one by default.
    dtype : torch.dtype, default=torch.float64
        Double by default: a matrix rounded to single precision is a rotation to 1e-7 only.
    device : torch.device, optional
        Where the result lives; the generator's device by default.

    Returns
    -------
    Tensor of shape (n, 3, 3)

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import random_rotations
    >>> R = random_rotations(5, torch.Generator().manual_seed(0))
    >>> bool(torch.allclose(R @ R.mT, torch.eye(3, dtype=torch.float64)))
    True
    """
    if n < 0:
        raise ValueError(f"the number of rotations must be zero or more, but n = {n}")
    source = generator.device if generator is not None else device
    quaternions = torch.randn(n, 4, generator=generator, dtype=torch.float64, device=source)
    return quaternion_to_matrix(quaternions).to(dtype=dtype, device=device or source)


def check_rotations(rotations: Tensor) -> Tensor:
    """Return the rotations unchanged, or say in which way they are not rotations."""
    if not isinstance(rotations, Tensor):
        raise TypeError(
            f"rotations must be a torch tensor, but this is a {type(rotations).__name__}"
        )
    if rotations.shape[-2:] != (3, 3):
        raise ValueError(
            f"rotations must have shape (..., 3, 3), but it is {tuple(rotations.shape)}"
        )
    if rotations.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"rotations must be float32 or float64, but they are {rotations.dtype}")
    _check_orthogonal(rotations.detach())
    return rotations


def _check_orthogonal(rotations: Tensor) -> None:
    if rotations.numel() == 0:
        return
    identity = torch.eye(3, dtype=rotations.dtype, device=rotations.device)
    error = float((rotations @ rotations.mT - identity).abs().amax())
    if not error <= _LOOSEST_ROTATION:  # written so that NaN fails
        raise ValueError(
            f"rotations must be orthogonal, but some R Rᵀ is {error:.2g} from the identity; "
            f"at most {_LOOSEST_ROTATION:g} is taken for rounding"
        )
    if bool((torch.linalg.det(rotations) < 0).any()):
        raise ValueError("rotations must have determinant +1, but some are reflections (det −1)")


def euler_to_matrix(alpha: Tensor, beta: Tensor, gamma: Tensor) -> Tensor:
    """Compute R_z(α) R_y(β) R_z(γ), shape (..., 3, 3), from angles that broadcast together."""
    alpha, beta, gamma = torch.broadcast_tensors(*floating_alike(alpha, beta, gamma))
    return _about_z(alpha) @ _about_y(beta) @ _about_z(gamma)


def quaternion_to_matrix(quaternions: Tensor) -> Tensor:
    """Compute rotation matrices (..., 3, 3) from quaternions (..., 4), normalising them first."""
    (q,) = floating_alike(quaternions)
    if q.shape[-1:] != (4,):
        raise ValueError(f"quaternions must have shape (..., 4), but it is {tuple(q.shape)}")
    length = torch.linalg.vector_norm(q, dim=-1, keepdim=True)
    if not bool(((length > 0) & (length < math.inf)).all()):
        raise ValueError("quaternions must be finite and not zero, but some are not")
    w, x, y, z = (q / length).unbind(-1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def _about_z(angle: Tensor) -> Tensor:
    c, s, o, one = _parts_of_turn(angle)
    return torch.stack([c, -s, o, s, c, o, o, o, one], dim=-1).unflatten(-1, (3, 3))


def _about_y(angle: Tensor) -> Tensor:
    c, s, o, one = _parts_of_turn(angle)
    return torch.stack([c, o, s, o, one, o, -s, o, c], dim=-1).unflatten(-1, (3, 3))


def _parts_of_turn(angle: Tensor) -> tuple[Tensor, ...]:
    return torch.cos(angle), torch.sin(angle), torch.zeros_like(angle), torch.ones_like(angle)


def floating_alike(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Take tensors (or plain numbers, in double precision) of one precision and one device."""
    floats = tuple(
        t if isinstance(t, Tensor) else torch.as_tensor(t, dtype=torch.float64) for t in tensors
    )
    kinds = {(t.dtype, t.device) for t in floats}
    if len(kinds) > 1:
        mixture = " and ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
        raise ValueError(
            f"the arguments must share one precision and one device, but are {mixture}"
        )
    if floats[0].dtype not in (torch.float32, torch.float64):
        raise ValueError(f"the arguments must be float32 or float64, but are {floats[0].dtype}")
    return floats
