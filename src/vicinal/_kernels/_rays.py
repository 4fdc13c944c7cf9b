"""Rays from the origin through triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray

# Of the size of the products that are compared with zero: some thousand times their rounding.
SLACK = 1e-12


@njit(cache=True, nogil=True)
def farthest_hits(corners: AnyArray, directions: AnyArray) -> Any:
    """Find where rays from the origin leave a soup of triangles for the last time.

    The ray t u, t > 0, meets the triangle (a, b, c) where u·(a×b), u·(b×c) and u·(c×a) have one
    sign, at t = det(a, b, c) / u·(a×b + b×c + c×a). Edges and corners count, with a slack for
    rounding, so that no ray slips through where triangles meet.

    Parameters
    ----------
    corners : float64 ndarray of shape (f, 3, 3)
    directions : float64 ndarray of shape (p, 3)
        Unit vectors u.

    Returns
    -------
    radii : float64 ndarray of shape (p,)
        The largest t of each ray; 0 where it meets nothing.
    faces : int64 ndarray of shape (p,)
        The triangle met there, the first of several; -1 where there is none.

    Notes
    -----
    Time O(f p), of which a ray outside the cap around a triangle costs three products; memory the
    result.
    """
    n_rays = len(directions)
    radii = np.zeros(n_rays)
    faces = np.full(n_rays, -1)
    for f in range(len(corners)):
        a, b, c = corners[f, 0], corners[f, 1], corners[f, 2]
        ab, bc, ca = cross(a, b), cross(b, c), cross(c, a)
        volume = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2]
        if volume == 0.0:  # the origin lies in the triangle's plane, which rays only graze
            continue
        axis, least = cap_around(corners[f])
        for i in range(n_rays):
            x, y, z = directions[i, 0], directions[i, 1], directions[i, 2]
            if x * axis[0] + y * axis[1] + z * axis[2] < least:
                continue
            u = x * ab[0] + y * ab[1] + z * ab[2]
            v = x * bc[0] + y * bc[1] + z * bc[2]
            w = x * ca[0] + y * ca[1] + z * ca[2]
            slack = SLACK * (abs(u) + abs(v) + abs(w))
            if min(u, v, w) >= -slack or max(u, v, w) <= slack:
                total = u + v + w
                if total != 0.0 and volume / total > radii[i]:
                    radii[i] = volume / total
                    faces[i] = f
    return radii, faces


@njit(cache=True, nogil=True, inline="always")
def cross(a: AnyArray, b: AnyArray) -> Any:
    """Return a × b as three numbers."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@njit(cache=True, nogil=True)
def cap_around(triangle: AnyArray) -> Any:
    """Return an axis and the cosine of the cap about it that holds a triangle seen from the origin.

    The directions of a triangle are the convex hull, on the sphere, of those of its corners, so a
    cap of less than a right angle that holds the corners holds them all. Where there is none, the
    cosine is -2, which no direction is below.
    """
    axis = np.zeros(3)
    units = np.empty((3, 3))
    for j in range(3):
        length = np.sqrt(triangle[j, 0] ** 2 + triangle[j, 1] ** 2 + triangle[j, 2] ** 2)
        for i in range(3):
            units[j, i] = triangle[j, i] / length
            axis[i] += units[j, i]
    length = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    if length == 0.0:
        return axis, -2.0
    axis /= length
    least = 1.0
    for j in range(3):
        least = min(least, units[j, 0] * axis[0] + units[j, 1] * axis[1] + units[j, 2] * axis[2])
    return axis, (least - 1e-9 if least > 1e-6 else -2.0)
