"""Wigner D matrices: how the coefficients of degree l turn when a function is rotated."""

from __future__ import annotations

from functools import cache
from math import sqrt

import torch
from torch import Tensor

from vicinal.sphere.groups._rotations import check_rotations


def wigner_d(l: int, rotations: Tensor) -> Tensor:
    """Compute the Wigner D matrices D^l(R) of a batch of rotations.

    D^l is unitary, D^l(R₁R₂) = D^l(R₁) D^l(R₂), and rotating a function, (Rf)(x) = f(R⁻¹x), takes
    its coefficients f̂_l to D^l(R) f̂_l. In ZYZ Euler angles

        D^l_mn(α, β, γ) = exp(−imα) d^l_mn(β) exp(−inγ).

    See :func:`wigner_d_all` for the method; its cost is O(l³) per rotation.

    Parameters
    ----------
    l : int
        The degree, zero or more.
    rotations : Tensor of shape (..., 3, 3)
        Rotation matrices in single or double precision.

    Returns
    -------
    Tensor of shape (..., 2l+1, 2l+1)
        complex64 or complex128, as precise as the rotations; indexed by (m + l, n + l).

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import random_rotations, wigner_d
    >>> A, B = random_rotations(2)
    >>> D = wigner_d(3, torch.stack([A, B, A @ B]))
    >>> bool(torch.allclose(D[0] @ D[1], D[2]))
    True
    """
    return wigner_d_all(l, rotations)[-1]


def wigner_d_all(l_max: int, rotations: Tensor) -> list[Tensor]:
    """Compute D^0(R), …, D^l_max(R) of a batch of rotations in one pass.

    D^1 is the rotation matrix itself in the basis of m = −1, 0, 1, and

        D^l = Cᵀ [D^{l−1} ⊗ D^1] C

    with the Clebsch–Gordan matrix C of (l − 1, 1, l). Each entry is a sum of nine products, all of
    modulus at most one, so errors add up and are never multiplied: D^64 is unitary to 1e-13. The
    entries are polynomials in those of R, with no angle to extract: nothing special happens at the
    poles and gradients exist everywhere. The computation runs in double precision and is rounded at
    the end; rounding errors in R that leave the group are projected out first.

    Parameters
    ----------
    l_max : int
        The highest degree, zero or more.
    rotations : Tensor of shape (..., 3, 3)

    Returns
    -------
    list of Tensor, the l-th of shape (..., 2l+1, 2l+1)
        O(l_max³) time and memory per rotation.
    """
    if isinstance(l_max, bool) or int(l_max) != l_max or l_max < 0:
        raise ValueError(f"the degree l must be a whole number, zero or more, but it is {l_max}")
    R = check_rotations(rotations)
    precision = torch.complex64 if R.dtype == torch.float32 else torch.complex128
    return [D.to(precision) for D in _recursion(int(l_max), _nearest_rotation(R.double()))]


def _nearest_rotation(R: Tensor) -> Tensor:
    """Two Newton steps to the orthogonal factor of R: an error of 1e-5 becomes one of 1e-20."""
    identity = torch.eye(3, dtype=R.dtype, device=R.device)
    for _ in range(2):
        R = R + 0.5 * R @ (identity - R.mT @ R)
    return R


def _recursion(l_max: int, R: Tensor) -> list[Tensor]:
    matrices = [torch.ones(*R.shape[:-2], 1, 1, dtype=torch.complex128, device=R.device)]
    first = _degree_one(R)
    for l in range(1, l_max + 1):
        matrices.append(_raise_degree(l, matrices[-1], first))
    return matrices


def _degree_one(R: Tensor) -> Tensor:
    """D^1 = U R U†, U v the coefficients of the linear function x ↦ v·x up to a factor."""
    h = sqrt(0.5)
    U = torch.tensor([[h, 1j * h, 0], [0, 0, 1], [-h, 1j * h, 0]], dtype=torch.complex128)
    U = U.to(R.device)
    return U @ R.to(torch.complex128) @ U.mH


def _raise_degree(l: int, D: Tensor, first: Tensor) -> Tensor:
    """Compute D^l from D^{l−1} and D^1: Σ_μν c_μ(m) c_ν(n) D^{l−1}[m−μ, n−ν] D^1[μ, ν]."""
    weights = _raising_weights(l).to(D.device)  # (3, 2l+1)
    padded = torch.nn.functional.pad(D, (2, 2, 2, 2))
    total = torch.zeros((), dtype=D.dtype, device=D.device)
    for mu in range(3):
        rows = padded[..., 2 - mu : 2 - mu + 2 * l + 1, :] * weights[mu, :, None]
        for nu in range(3):
            columns = rows[..., 2 - nu : 2 - nu + 2 * l + 1] * weights[nu]
            total = total + columns * first[..., mu, nu, None, None]
    return total


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _raising_weights(l: int) -> Tensor:
    """⟨l−1 m−μ 1 μ | l m⟩ for μ = −1, 0, 1, in closed form."""
    m = torch.arange(-l, l + 1, dtype=torch.float64, device="cpu")
    scale = 1.0 / ((2 * l - 1) * (2 * l))
    down = ((l - m - 1) * (l - m) * scale).clamp(min=0)
    level = ((l - m) * (l + m) * 2 * scale).clamp(min=0)
    up = ((l + m - 1) * (l + m) * scale).clamp(min=0)
    return torch.stack([down, level, up]).sqrt()
