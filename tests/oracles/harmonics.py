"""Harmonic analysis by definition: quadrature, matrix exponentials and sums over all terms."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import sph_harm_y


def harmonics(l_max, theta, phi):
    """Return Y_l^m at points (n,) as (n, (l_max + 1)²), in ascending l, then m."""
    pairs = [(n, m) for n in range(l_max + 1) for m in range(-n, n + 1)]
    return np.stack([sph_harm_y(n, m, theta, phi) for n, m in pairs], axis=-1)


def angles(points):
    """Return colatitude and longitude of unit vectors (n, 3)."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)


def function(coefficients, points):
    """Return Σ_lm f̂_l^m Y_l^m at unit vectors (..., 3), coefficients in ascending l, then m."""
    l_max = round(len(coefficients) ** 0.5) - 1
    return harmonics(l_max, *angles(points)) @ coefficients


def sphere_nodes(n):
    """Return points (2n², 3) and weights of a product rule, exact for degrees below 2n."""
    x, w = np.polynomial.legendre.leggauss(n)
    phi = np.arange(2 * n) * np.pi / n
    x, phi = (a.ravel() for a in np.meshgrid(x, phi, indexing="ij"))
    s = np.sqrt(1 - x**2)
    return np.stack([s * np.cos(phi), s * np.sin(phi), x], -1), np.repeat(w, 2 * n) * np.pi / n


def generators(degree):
    """Return J_y and J_z in the basis m = −l … l: J± |m⟩ = √(l(l+1) − m(m±1)) |m±1⟩."""
    m = np.arange(-degree, degree + 1)
    up = np.diag(np.sqrt(degree * (degree + 1) - m[:-1] * (m[:-1] + 1.0)), -1)
    return (up - up.T) / 2j, np.diag(m)


def wigner(degree, alpha, beta, gamma):
    """Return exp(−iαJ_z) exp(−iβJ_y) exp(−iγJ_z), by the eigenvectors of J_y."""
    J_y, J_z = generators(degree)
    orders, vectors = np.linalg.eigh(J_y)  # its eigenvalues are those of J_z
    middle = vectors * np.exp(-1j * beta * orders.round()) @ vectors.conj().T
    m = np.diag(J_z)
    return np.exp(-1j * alpha * m)[:, None] * middle * np.exp(-1j * gamma * m)


def rotation(alpha, beta, gamma):
    """Return R_z(α) R_y(β) R_z(γ)."""
    return Rotation.from_euler("ZYZ", [alpha, beta, gamma]).as_matrix()
