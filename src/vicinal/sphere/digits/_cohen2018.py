"""Digits on the sphere as the published generator draws them [cohen2018].

Written from its description. The sphere stands on the image's plane and is projected onto it from
just above its north pole, so that the image, a square of half side 1.5 around the point of
contact, covers the southern cap up to some 74° from the pole. A point reads four pixels two apart,
which blurs; each drawing is then stretched to 0 … 255 and cut off to whole numbers. Five hundred
images share one rotation.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from vicinal._types import AnyArray, FloatArray

GROUP = 500  # images that share a rotation
HALF_SIDE = 1.5  # of the image on the plane, the sphere's radius being 1
SOURCE = 2.001  # height of the point of projection; the north pole is at 2


def draw_cohen2018(images: AnyArray, points: AnyArray, rotations: AnyArray) -> FloatArray:
    """Return images on rotated spheres, whole multiples of 1/255 from 0 to 1.

    Parameters
    ----------
    images : array of shape (n, height, width)
    points : array of shape (p, 3)
        Unit vectors. The drawing's value at x is that of the unrotated one at R⁻¹x.
    rotations : array of shape (⌈n / GROUP⌉, 3, 3)

    Returns
    -------
    float32 ndarray of shape (n, p)

    Notes
    -----
    The sampler is linear: one sparse matrix a rotation. Time O(n p), memory the result.
    """
    images = np.asarray(images, np.float32)
    drawn = np.empty((len(images), len(points)), np.float32)
    for group, rotation in enumerate(rotations):
        rows = slice(group * GROUP, (group + 1) * GROUP)
        sampler = make_sampler(points @ rotation, images.shape[1:])
        pixels = images[rows].reshape(-1, sampler.shape[1])
        drawn[rows] = _quantise((sampler @ pixels.T).T)
    return drawn


def make_sampler(points: AnyArray, shape: tuple[int, ...]) -> csr_array:
    """Return the matrix (p, height · width) that reads images at points of the sphere.

    A point (x, y, z) lies at (x, y) s / (s − 1 − z) on the plane, s the height of the source; x
    runs down the image's rows and y along its columns. Between the pixels before and behind its
    own, two apart, values are interpolated linearly in both directions. The northern half is zero.
    """
    southern = points[:, 2] <= 0
    scale = SOURCE / (SOURCE - 1 - points[:, 2:])
    place = (points[:, :2] * scale / HALF_SIDE + 1) / 2 * np.array(shape)
    own = np.floor(place).astype(int)
    parts = []
    for step in np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]):
        pixel = own + step
        weight = (1 - np.abs(place - pixel) / 2).prod(axis=1)
        inside = southern & ((pixel >= 0) & (pixel < shape)).all(axis=1)
        column = pixel[:, 0] * shape[1] + pixel[:, 1]
        parts.append((weight[inside], np.flatnonzero(inside), column[inside]))
    weights, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    size = (len(points), int(np.prod(shape)))
    return csr_array((weights.astype(np.float32), (rows, columns)), shape=size)


def _quantise(values: FloatArray) -> FloatArray:
    """Stretch each drawing to 0 … 255 and cut off what is behind the point; a flat one is zero."""
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    spread = np.where(high > low, high - low, 1)
    return np.floor((values - low) / spread * 255) / np.float32(255)
