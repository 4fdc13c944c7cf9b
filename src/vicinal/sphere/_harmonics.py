"""Spherical harmonics, orthonormal with the Condon–Shortley phase."""

from __future__ import annotations

from math import pi, sqrt

import torch
from torch import Tensor

from vicinal.sphere._rotations import _floating


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
    >>> [round(float(y.real), 4) for y in Y]  # at the north pole only m = 0 is not zero
    [0.2821, 0.0, 0.4886, 0.0]
    """
    if isinstance(l_max, bool) or int(l_max) != l_max or l_max < 0:
        raise ValueError(f"l_max must be a whole number, zero or more, but it is {l_max}")
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
    x, s = torch.cos(theta), torch.sin(theta)
    diagonal = torch.full_like(theta, sqrt(1 / (4 * pi)))
    table = []
    for m in range(l_max + 1):
        if m:
            diagonal = -sqrt((2 * m + 1) / (2 * m)) * s * diagonal
        table.append(_upward(l_max, m, x, diagonal))
    return table


def _upward(l_max: int, m: int, x: Tensor, diagonal: Tensor) -> list[Tensor]:
    column, before = [diagonal], torch.zeros_like(diagonal)
    for l in range(m + 1, l_max + 1):
        a = sqrt((4 * l * l - 1) / (l * l - m * m))
        b = sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
        column.append(a * (x * column[-1] - b * before))
        before = column[-2]
    return column
