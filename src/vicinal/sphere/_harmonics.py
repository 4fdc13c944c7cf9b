"""Spherical harmonics, orthonormal with the Condon–Shortley phase."""

from __future__ import annotations

from math import pi, sqrt

import torch
from torch import Tensor

from vicinal.sphere._rotations import _floating

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
    theta, phi = torch.broadcast_tensors(*_floating(theta, phi))
    legendre = normalised_legendre(int(l_max), theta)
    waves = [torch.polar(torch.ones_like(phi), m * phi) for m in range(int(l_max) + 1)]
    columns = []
    for l in range(int(l_max) + 1):
        positive = [legendre[m][l - m] * waves[m] for m in range(l + 1)]
        negative = [(-1) ** m * positive[m].conj() for m in range(l, 0, -1)]
        columns += [*negative, *positive]
    return torch.stack(columns, dim=-1)


def normalised_legendre(l_max: int, theta: Tensor) -> list[list[Tensor]]:
    """Evaluate the P̄_l^m(cos θ) with Y_l^m = P̄_l^m exp(imφ), for 0 ≤ m ≤ l ≤ l_max.

    Upward in l at fixed m, the stable direction, from P̄_m^m ∝ sinᵐθ. Entry [m][l − m] is like θ.
    """
    south = theta > pi / 2
    angle = torch.where(south, pi - theta, theta)
    versine, sine = 2 * torch.sin(angle / 2) ** 2, torch.sin(angle)
    diagonal = torch.full_like(theta, sqrt(1 / (4 * pi)))
    table = []
    for m in range(l_max + 1):
        if m:
            diagonal = -sqrt((2 * m + 1) / (2 * m)) * sine * diagonal
        ratios = _ratios_to_diagonal(l_max, m, versine)
        even = [diagonal * ratio for ratio in ratios]
        table.append([torch.where(south, -P, P) if n % 2 else P for n, P in enumerate(even)])
    return table


def _ratios_to_diagonal(l_max: int, m: int, versine: Tensor) -> list[Tensor]:
    """Evaluate P̄_l^m / P̄_m^m for l = m … l_max on the northern half.

    These are Gegenbauer polynomials; g, their quotient by the value at the pole, is advanced by its
    differences, in 1 − cos θ. The usual recursion in cos θ is 80 times less exact near the pole
    (3e-13 at l = 63, θ = π/256).
    """
    g, difference, scale = torch.ones_like(versine), torch.zeros_like(versine), 1.0
    ratios = [g]
    for l in range(m + 1, l_max + 1):
        n = l - m - 1
        difference = (n * difference - (2 * l - 1) * versine * g) / (l + m)
        g = g + difference
        scale *= sqrt((2 * l + 1) / (2 * l - 1) * (l + m) / (l - m))
        ratios.append(scale * g)
    return ratios
