"""Triangles seen from the front: which one each pixel shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray


@njit(cache=True, nogil=True)
def nearest_faces(corners: AnyArray, size: int) -> Any:
    """Find the triangle in front at each pixel of a square picture, looking down the z axis.

    Parameters
    ----------
    corners : float64 ndarray of shape (f, 3, 3)
        x and y run from 0 to ``size``, larger z is nearer to the eye.
    size : int
        Pixels a side; pixel (i, j) is the point x = j + ½, y = i + ½.

    Returns
    -------
    int64 ndarray of shape (size, size)
        The triangle with the largest z there, the first of several; -1 where there is none.

    Notes
    -----
    Time O(f + pixels covered, counted once a triangle), memory O(size²).
    """
    faces = np.full((size, size), -1)
    depths = np.full((size, size), -np.inf)
    for f in range(len(corners)):
        ax, ay, az = corners[f, 0, 0], corners[f, 0, 1], corners[f, 0, 2]
        bx, by, bz = corners[f, 1, 0], corners[f, 1, 1], corners[f, 1, 2]
        cx, cy, cz = corners[f, 2, 0], corners[f, 2, 1], corners[f, 2, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:  # seen from its edge
            continue
        left = max(0, int(np.floor(min(ax, bx, cx))))
        right = min(size, int(np.ceil(max(ax, bx, cx))))
        top = max(0, int(np.floor(min(ay, by, cy))))
        bottom = min(size, int(np.ceil(max(ay, by, cy))))
        for i in range(top, bottom):
            for j in range(left, right):
                x, y = j + 0.5, i + 0.5
                u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                w = 1 - u - v
                if u >= 0 and v >= 0 and w >= 0:
                    z = u * az + v * bz + w * cz
                    if z > depths[i, j]:
                        depths[i, j] = z
                        faces[i, j] = f
    return faces
