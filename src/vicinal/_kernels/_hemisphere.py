"""Images read off where an equal-area map puts them on the northern hemisphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray


@njit(cache=True, nogil=True, inline="always")
def read_bilinear(image: AnyArray, row: float, column: float) -> float:
    """Interpolate an image bilinearly at a place in pixels; nothing is outside it."""
    height, width = image.shape
    top, left = int(np.floor(row)), int(np.floor(column))
    down, right = row - top, column - left
    total = 0.0
    for i in range(2):
        for j in range(2):
            r, c = top + i, left + j
            if 0 <= r < height and 0 <= c < width:
                weight = (down if i else 1.0 - down) * (right if j else 1.0 - right)
                total += weight * image[r, c]
    return total


@njit(cache=True, nogil=True)
def sample_hemisphere(
    images: AnyArray, points: AnyArray, frames: AnyArray, warps: AnyArray, conformal: bool
) -> Any:
    """Evaluate images on the sphere: f(x) at u = Rᵀx, zero where u lies south of the equator.

    Lambert's azimuthal map takes u to p = (u_x, u_y) / sqrt(1 + u_z), a disc of radius 1 for
    the hemisphere, areas in proportion; the stereographic one to p = (u_x, u_y) / (1 + u_z), the
    same disc, angles kept. A p + b then is the place in the image, in halves of its shorter side
    from the centre, x to the right and y up.

    Parameters
    ----------
    images : float32 ndarray of shape (n, height, width)
    points : float64 ndarray of shape (p, 3)
        Unit vectors.
    frames : float64 ndarray of shape (n, 3, 3)
        The rotation R of each image.
    warps : float64 ndarray of shape (n, 2, 3)
        [A | b] of each image; [I | 0] changes nothing.
    conformal : bool
        The stereographic map instead of Lambert's.

    Returns
    -------
    float32 ndarray of shape (n, p)

    Notes
    -----
    Time O(n p), memory the result. Images are independent, so threads may share them out.
    """
    n, height, width = images.shape
    values = np.zeros((n, len(points)), np.float32)
    half = 0.5 * min(height, width)
    for i in range(n):
        frame, warp = frames[i], warps[i]
        for j in range(len(points)):
            x, y, z = points[j]
            up = frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z
            if up < 0.0:
                continue
            shrink = 1.0 / (1.0 + up) if conformal else 1.0 / np.sqrt(1.0 + up)
            p = shrink * (frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z)
            q = shrink * (frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z)
            right = warp[0, 0] * p + warp[0, 1] * q + warp[0, 2]
            above = warp[1, 0] * p + warp[1, 1] * q + warp[1, 2]
            row = 0.5 * (height - 1) - half * above
            column = 0.5 * (width - 1) + half * right
            values[i, j] = read_bilinear(images[i], row, column)
    return values
