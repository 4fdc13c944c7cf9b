"""Images bent by smooth fields of displacements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from vicinal._kernels._hemisphere import read_bilinear
from vicinal._types import AnyArray


@njit(cache=True, nogil=True)
def _spline_weights(n_pixels: int, n_knots: int) -> Any:
    """First knot and the four weights of the uniform cubic B-spline at each pixel's centre."""
    first = np.empty(n_pixels, np.int64)
    weights = np.empty((n_pixels, 4))
    for pixel in range(n_pixels):
        place = (pixel + 0.5) / n_pixels * (n_knots - 3)
        first[pixel] = int(place)
        t = place - first[pixel]
        weights[pixel, 0] = (1.0 - t) ** 3 / 6.0
        weights[pixel, 1] = (3.0 * t**3 - 6.0 * t**2 + 4.0) / 6.0
        weights[pixel, 2] = (-3.0 * t**3 + 3.0 * t**2 + 3.0 * t + 1.0) / 6.0
        weights[pixel, 3] = t**3 / 6.0
    return first, weights


@njit(cache=True, nogil=True, parallel=True)
def bend(images: AnyArray, knots: AnyArray) -> Any:
    """Read each image at displaced places: g(r, c) = f(r + u(r, c), c + v(r, c)).

    u and v are uniform cubic B-splines over the image, so the field is twice differentiable.

    Parameters
    ----------
    images : float32 ndarray of shape (n, height, width)
    knots : float64 ndarray of shape (n, 2, g, g), g ≥ 4
        Coefficients of u and v of each image, in pixels.

    Returns
    -------
    float32 ndarray of shape (n, height, width)

    Notes
    -----
    Time O(n · pixels · 16), memory the result. Images are independent, so threads change nothing.
    """
    n, height, width = images.shape
    bent = np.empty_like(images)
    top, down = _spline_weights(height, knots.shape[2])
    left, right = _spline_weights(width, knots.shape[3])
    for i in prange(n):
        for r in range(height):
            for c in range(width):
                u = v = 0.0
                for a in range(4):
                    for b in range(4):
                        weight = down[r, a] * right[c, b]
                        u += weight * knots[i, 0, top[r] + a, left[c] + b]
                        v += weight * knots[i, 1, top[r] + a, left[c] + b]
                bent[i, r, c] = read_bilinear(images[i], r + u, c + v)
    return bent
