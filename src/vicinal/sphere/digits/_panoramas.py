"""Images of the whole sphere, equirectangular: rows are circles of latitude, columns meridians."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray

BLOCK = 64  # images at a time: some 20 MB of places at bandwidth 30


def sample_panoramas(
    images: AnyArray, points: AnyArray, rotations: AnyArray | None = None
) -> FloatArray:
    """Return panoramas as values at directions of the sphere, each turned by its rotation.

    Row i of h lies at θ = (i + ½) π / h, column j of w at φ = (j + ½) 2π / w; in between values are
    interpolated linearly, around the sphere along a row and up to the last one at the poles. A
    rotation R carries the image along: its value at x is the unrotated one's at R⁻¹x.

    Parameters
    ----------
    images : array of shape (n, height, width)
    points : array of shape (p, 3), unit vectors
    rotations : array of shape (n, 3, 3), optional

    Returns
    -------
    float32 ndarray of shape (n, p)
    """
    images = np.asarray(images, np.float32)
    values = np.empty((len(images), len(points)), np.float32)
    for start in range(0, len(images), BLOCK):
        rows = slice(start, start + BLOCK)
        block = images[rows]
        turned = np.broadcast_to(points, (len(block), *points.shape))
        if rotations is not None:
            turned = points @ rotations[rows]  # (Rᵀ x)ᵀ = xᵀ R
        values[rows] = _interpolate(block, turned)
    return values


def _interpolate(images: FloatArray, points: AnyArray) -> FloatArray:
    n, height, width = images.shape
    theta = np.arccos(np.clip(points[..., 2], -1, 1))
    phi = np.arctan2(points[..., 1], points[..., 0]) % (2 * np.pi)
    down = np.clip(theta * height / np.pi - 0.5, 0, height - 1)
    along = phi * width / (2 * np.pi) - 0.5
    top, left = np.minimum(down.astype(int), height - 2), np.floor(along).astype(int)
    a, b = down - top, along - left
    at = np.arange(n)[:, None]
    left, right = left % width, (left + 1) % width
    upper = (1 - b) * images[at, top, left] + b * images[at, top, right]
    lower = (1 - b) * images[at, top + 1, left] + b * images[at, top + 1, right]
    answer: FloatArray = (1 - a) * upper + a * lower
    return answer
