"""Sampling grids on the sphere, with weights exact for band-limited functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import pi

import numpy as np
import torch
from torch import Tensor

from vicinal._types import FloatArray

GRIDS = ("driscoll-healy", "gauss-legendre")


@dataclass(frozen=True)
class SphericalGrid:
    """Rings of equally spaced points: colatitudes, longitudes and one weight per ring.

    ∫ f dΩ = Σ_k weights[k] Σ_j f(theta[k], phi[j]), exactly where f has degree below twice the
    bandwidth.

    Attributes
    ----------
    theta : Tensor of shape (n_theta,), float64
        Colatitudes, from north to south, the poles left out.
    phi : Tensor of shape (n_phi,), float64
        Longitudes 0, 2π/n_phi, ….
    weights : Tensor of shape (n_theta,), float64
        The area that one point of each ring stands for; over all points they add up to 4π.
    """

    theta: Tensor
    phi: Tensor
    weights: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """(n_theta, n_phi)."""
        return len(self.theta), len(self.phi)

    def points(self) -> Tensor:
        """Compute the points as unit vectors, shape (n_theta, n_phi, 3)."""
        theta, phi = torch.meshgrid(self.theta, self.phi, indexing="ij")
        sine = torch.sin(theta)
        return torch.stack([sine * torch.cos(phi), sine * torch.sin(phi), torch.cos(theta)], -1)


def spherical_grid(bandwidth: int, kind: str = "driscoll-healy") -> SphericalGrid:
    """Build the sampling grid on which functions of degree below the bandwidth are known exactly.

    Parameters
    ----------
    bandwidth : int
        b ≥ 1: degrees l ≤ b − 1 are resolved.
    kind : {"driscoll-healy", "gauss-legendre"}
        "driscoll-healy": 2b rings at θ_k = π(2k+1)/(4b), 2b points each [driscoll1994].
        "gauss-legendre": b rings at the roots of the Legendre polynomial P_b, 2b points each; half
        the samples for the same degrees.

    Examples
    --------
    >>> from vicinal.sphere import spherical_grid
    >>> spherical_grid(30).shape, spherical_grid(30, "gauss-legendre").shape
    ((60, 60), (30, 60))
    """
    check_bandwidth(bandwidth)
    if kind not in GRIDS:
        raise ValueError(
            f"the grid must be one of {', '.join(map(repr, GRIDS))}, but it is {kind!r}"
        )
    theta, weights = _rings(int(bandwidth), kind)
    phi = torch.arange(2 * bandwidth, dtype=torch.float64, device="cpu") * (pi / bandwidth)
    return SphericalGrid(theta.clone(), phi, weights * (pi / bandwidth))


def check_bandwidth(bandwidth: int, l_max: int | None = None) -> None:
    """Refuse a bandwidth that is no whole number ≥ 1, or degrees that it does not resolve."""
    if isinstance(bandwidth, bool) or int(bandwidth) != bandwidth or bandwidth < 1:
        raise ValueError(f"the bandwidth must be a whole number, 1 or more, but it is {bandwidth}")
    if l_max is None:
        return
    if isinstance(l_max, bool) or int(l_max) != l_max or l_max < 0:
        raise ValueError(f"l_max must be a whole number, zero or more, but it is {l_max}")
    if l_max >= bandwidth:
        raise ValueError(
            f"l_max must be below the bandwidth: a grid of bandwidth {bandwidth} resolves degrees "
            f"up to {bandwidth - 1}, but l_max = {l_max}"
        )


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _rings(bandwidth: int, kind: str) -> tuple[Tensor, Tensor]:
    """Colatitudes and weights w_k with Σ_k w_k p(cos θ_k) = ∫ p(cos θ) sin θ dθ."""
    rule = _gauss_legendre if kind == "gauss-legendre" else _driscoll_healy
    theta, weights = rule(bandwidth)
    return torch.from_numpy(theta), torch.from_numpy(weights)


def _driscoll_healy(bandwidth: int) -> tuple[FloatArray, FloatArray]:
    theta = np.pi * (2 * np.arange(2 * bandwidth) + 1) / (4 * bandwidth)
    odd = 2 * np.arange(bandwidth) + 1
    series = (np.sin(theta[:, None] * odd) / odd).sum(1)
    return theta, 2 / bandwidth * np.sin(theta) * series


def _gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """Roots of P_n and their weights, to full precision near the poles too.

    NumPy's rule has 1e-13 errors there at n = 64: arccos loses digits and the weights inherit the
    error of the roots. Newton's method in θ, on the northern half, and weights by the Christoffel
    function 1 / Σ_l (2l+1)/2 P_l², a sum of squares at its extremum, do not.
    """
    north = np.pi * (4 * np.arange((n + 1) // 2) + 3) / (4 * n + 2)
    for _ in range(6):  # converges quadratically from 1e-3; three would do
        P = _legendre_polynomials(n, north)
        slope = n * (np.cos(north) * P[n] - P[n - 1]) / np.sin(north)  # dP_n/dθ
        north = north - P[n] / slope
    degrees = np.arange(n)
    christoffel = ((degrees + 0.5)[:, None] * _legendre_polynomials(n, north)[:n] ** 2).sum(0)
    theta = np.concatenate([north, np.pi - north[: n // 2][::-1]])
    weights = np.concatenate([1 / christoffel, 1 / christoffel[: n // 2][::-1]])
    return theta, weights


def _legendre_polynomials(n: int, theta: FloatArray) -> FloatArray:
    """P_0 … P_n at cos θ, by their differences: with 1 − cos θ nothing cancels near the pole."""
    versine = 2 * np.sin(theta / 2) ** 2
    P, difference = [np.ones_like(theta)], np.zeros_like(theta)
    for l in range(n):
        difference = (l * difference - (2 * l + 1) * versine * P[-1]) / (l + 1)
        P.append(P[-1] + difference)
    return np.array(P)
