"""Kernel estimates and their gradients as the textbook has them: one query, one step at a time."""

from __future__ import annotations

import numpy as np

PROFILES = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "triangle": lambda u: np.where(u < 1, 1 - u, 0.0),
    "epanechnikov": lambda u: np.where(u < 1, 1 - u**2, 0.0),
    "biweight": lambda u: np.where(u < 1, (1 - u**2) ** 2, 0.0),
}


def kernel_estimate(x, X, Y, h, kernel, weights=None):
    """Return f(x) = Σ_i w_i Y_i, Y (n, C); the weighted mean where no weight is positive."""
    weights = np.ones(len(X)) if weights is None else weights
    mass = weights * PROFILES[kernel](np.linalg.norm(X - x, axis=1) / h)
    mass = mass if mass.sum() > 0 else weights
    return (mass[:, None] * Y).sum(axis=0) / mass.sum()


def softmax(values, temperature):
    """Return exp(v / T) / Σ exp(v / T)."""
    powers = np.exp(values / temperature)
    return powers / powers.sum()


def practical(x, X, h):
    """Whether the ball of radius h around x holds a sample."""
    return np.any(np.linalg.norm(X - x, axis=1) <= h)


def theoretical(x, X, h, delta):
    """Whether the ball of radius h/2 around x holds 2d ln 2n + ln(4/δ) samples."""
    n, d = X.shape
    near = np.sum(np.linalg.norm(X - x, axis=1) <= h / 2)
    return near >= 2 * d * np.log(2 * n) + np.log(4 / delta)


def difference_gradient(x, X, Y, h, steps, kernel, *, trusted, temperature=None, weights=None):
    """Return Δ (C, d) by 2d evaluations of f; steps (d,) or (d, C); ``trusted(point)`` is A."""
    d, n_columns = X.shape[1], Y.shape[1]
    steps = np.asarray(steps, float)
    result = np.zeros((n_columns, d))
    for i in range(d):
        for c in range(n_columns):
            t = steps[i] if steps.ndim == 1 else steps[i, c]
            ends = [x + sign * t * np.eye(d)[i] for sign in (-1, 1)]
            fits = [kernel_estimate(end, X, Y, h, kernel, weights) for end in ends]
            if temperature is not None:
                fits = [softmax(fit, temperature) for fit in fits]
            if all(trusted(end) for end in ends):
                result[c, i] = (fits[1][c] - fits[0][c]) / (2 * t)
    return result


def local_slope(x, X, Y, mass, ridge):
    """Return the slope (C, d) of weighted ridge regression around x, by its normal equations."""
    mass = mass / mass.sum()
    centred = X - mass @ X
    residuals = Y - mass @ Y
    covariance = (centred * mass[:, None]).T @ centred
    joint = (centred * mass[:, None]).T @ residuals
    penalty = ridge * np.trace(covariance) / X.shape[1]
    return np.linalg.solve(covariance + penalty * np.eye(X.shape[1]), joint).T
