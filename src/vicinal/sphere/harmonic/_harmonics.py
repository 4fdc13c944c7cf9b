"""Spherical harmonics, orthonormal with the Condon–Shortley phase."""

from __future__ import annotations

from functools import cache
from math import pi, sqrt

import torch
from torch import Tensor

from vicinal.sphere.groups._rotations import floating_alike

HIGHEST_DEGREE = 1000  # Legendre functions are scaled by up to 2^l_max on the way


def spherical_harmonics(l_max: int, theta: Tensor, phi: Tensor) -> Tensor:
    """Evaluate Y_l^m(θ, φ) for all l ≤ l_max and |m| ≤ l.

    Orthonormal on the sphere with the Condon–Shortley phase, as scipy's ``sph_harm_y(l, m, θ, φ)``:

        Y_l^m(θ, φ) = P̄_l^m(cos θ) exp(imφ),   Y_l^{−m} = (−1)^m conj Y_l^m.

    Parameters
    ----------
    l_max : int
        The highest degree, zero or more.
    theta : Tensor
        Colatitude in [0, π].
    phi : Tensor
        Longitude; ``theta`` and ``phi`` broadcast together to the shape (...).

    Returns
    -------
    Tensor of shape (..., (l_max + 1)²)
        Complex; Y_l^m is at position l² + l + m. Time and memory O(l_max²) per point.

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import spherical_harmonics
    >>> Y = spherical_harmonics(1, torch.tensor(0.0), torch.tensor(0.0))
    >>> [round(float(y.abs()), 4) for y in Y]  # at the north pole only m = 0 is not zero
    [0.2821, 0.0, 0.4886, 0.0]
    """
    if isinstance(l_max, bool) or int(l_max) != l_max or l_max < 0:
        raise ValueError(f"l_max must be a whole number, zero or more, but it is {l_max}")
    if l_max > HIGHEST_DEGREE:
        raise ValueError(f"degrees above {HIGHEST_DEGREE} would overflow, but l_max = {l_max}")
    theta, phi = torch.broadcast_tensors(*floating_alike(theta, phi))
    l, m = _degrees_and_orders(int(l_max), theta.device)
    signs = 1 - 2 * ((m < 0) & (m % 2 == 1)).to(theta)
    table = normalised_legendre(int(l_max), theta.double()).to(theta.dtype)  # 2^l overflows single
    legendre = signs * table[..., l * (l + 1) // 2 + m.abs()]
    angle = m * phi[..., None]
    return torch.complex(legendre * torch.cos(angle), legendre * torch.sin(angle))


def _degrees_and_orders(l_max: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """List l and m of every harmonic up to l_max, m from −l to l."""
    degrees = torch.arange(l_max + 1, device=device)
    l = degrees.repeat_interleave(2 * degrees + 1)
    return l, torch.arange((l_max + 1) ** 2, device=device) - l * (l + 1)


def normalised_legendre(l_max: int, theta: Tensor) -> Tensor:
    """Evaluate the P̄_l^m(cos θ) with Y_l^m = P̄_l^m exp(imφ), for 0 ≤ m ≤ l ≤ l_max.

    P̄_l^m / P̄_m^m are Gegenbauer polynomials; g, their quotient by the value at the pole, advances
    upward in l, the stable direction, by its differences, in 1 − cos θ, all m at once. The usual
    recursion in cos θ is 80 times less exact near the pole (3e-13 at l = 63, θ = π/256).

    Returns
    -------
    Tensor of shape (..., (l_max + 1)(l_max + 2)/2), P̄_l^m at position l(l + 1)/2 + m
    """
    south = (theta > pi / 2)[..., None]
    angle = torch.where(south, pi - theta[..., None], theta[..., None])
    versine, m = 2 * torch.sin(angle / 2) ** 2, torch.arange(l_max + 1).to(theta)
    diagonal = _diagonal(m) * torch.sin(angle) ** m
    g, difference, scale = torch.ones_like(diagonal), torch.zeros_like(diagonal), torch.ones_like(m)
    columns = [diagonal]
    for n in range(l_max):  # from l = m + n to l = m + n + 1, for each m < l_max − n
        g, difference, scale, m = g[..., :-1], difference[..., :-1], scale[:-1], m[:-1]
        l = m + n + 1
        difference = (n * difference - (2 * l - 1) * versine * g) / (l + m)
        g = g + difference
        scale = scale * torch.sqrt((2 * l + 1) / (2 * l - 1) * (l + m) / (n + 1))
        column = diagonal[..., : len(m)] * (scale * g)
        columns.append(column if n % 2 else torch.where(south, -column, column))
    return torch.cat(columns, dim=-1)[..., _by_degree(l_max).to(theta.device)]


def _diagonal(m: Tensor) -> Tensor:
    """P̄_m^m / sinᵐθ = (−1)^m √(3·5 ⋯ (2m+1) / (2·4 ⋯ 2m) / 4π)."""
    factors = torch.where(
        m > 0, -torch.sqrt((2 * m + 1) / (2 * m).clamp(min=1)), sqrt(1 / (4 * pi))
    )
    return torch.cumprod(factors, dim=0)


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _by_degree(l_max: int) -> Tensor:
    """Where (l, m), in ascending l, then m ≥ 0, stands among all m of l − m = 0, then 1, …."""
    starts = [n * (l_max + 1) - n * (n - 1) // 2 for n in range(l_max + 1)]
    rows = [starts[l - m] + m for l in range(l_max + 1) for m in range(l + 1)]
    return torch.tensor(rows, device="cpu")


def real_waves(l_max: int, directions: Tensor) -> Tensor:
    """Evaluate conj Y_l^m of unit vectors as real numbers, by polynomials of their entries.

    Re Y_l^0, …, Re Y_l^l, −Im Y_l^1, …, −Im Y_l^l, degree by degree: what sums of them over points
    say of a real function, m ≥ 0 being enough. Polynomials have no pole: derivatives of any order
    are finite in every direction, where angles have none at θ = 0.

        Y_l^m = q_l^m(z) (x + iy)^m,    q_l^m = a (z q_{l−1}^m − b q_{l−2}^m)

    Parameters
    ----------
    l_max : int
    directions : Tensor of shape (..., 3), of length 1

    Returns
    -------
    Tensor of shape (..., (l_max + 1)²)
    """
    x, y, z = directions.unbind(-1)
    imaginary_parts: list[list[Tensor]] = [[] for _ in range(l_max + 1)]
    real, imaginary = torch.ones_like(x), torch.zeros_like(x)  # (x + iy)^m
    real_parts: list[list[Tensor]] = [[] for _ in range(l_max + 1)]
    lead = sqrt(1 / (4 * pi))
    for m in range(l_max + 1):
        if m:
            real, imaginary = x * real - y * imaginary, x * imaginary + y * real
            lead *= -sqrt((2 * m + 1) / (2 * m))
        before, q = torch.zeros_like(z), torch.full_like(z, lead)
        for l in range(m, l_max + 1):
            if l > m:
                a = sqrt((4 * l * l - 1) / (l * l - m * m))
                b = sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1)) if l - 1 > m else 0.0
                before, q = q, a * (z * q - b * before)
            real_parts[l].append(q * real)
            if m:
                imaginary_parts[l].append(-q * imaginary)
    pairs = zip(real_parts, imaginary_parts, strict=True)
    return torch.stack([part for both in pairs for of in both for part in of], -1)
