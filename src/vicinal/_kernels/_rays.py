"""Rays from the origin through triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray

# Of the size of the products that are compared with zero: some thousand times their rounding.
SLACK = 1e-12
CAP_SLACK = 1e-9  # by which a cap is taken too large, for rounding


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
    Rays are sorted by height once, so that a triangle looks only at those between the lowest and
    the highest point of the cap around it. Time O(p log p + f p) at worst, where triangles are
    large; memory O(p).
    """
    n_rays = len(directions)
    order = np.argsort(directions[:, 2])
    rays = directions[order]
    heights = rays[:, 2].copy()
    distances = np.zeros(n_rays)
    by = np.full(n_rays, -1)
    for f in range(len(corners)):
        a, b, c = corner(corners, f, 0), corner(corners, f, 1), corner(corners, f, 2)
        ab, bc, ca = cross(a, b), cross(b, c), cross(c, a)
        volume = dot(a, bc)
        if volume == 0.0:  # the origin lies in the triangle's plane, which rays only graze
            continue
        axis, least = cap_around(a, b, c)
        lowest, highest = heights_of_cap(axis[2], least)
        start = np.searchsorted(heights, lowest - CAP_SLACK)
        stop = np.searchsorted(heights, highest + CAP_SLACK)
        for i in range(start, stop):
            ray = (rays[i, 0], rays[i, 1], rays[i, 2])
            if dot(ray, axis) < least:
                continue
            u, v, w = dot(ray, ab), dot(ray, bc), dot(ray, ca)
            slack = SLACK * (abs(u) + abs(v) + abs(w))
            if min(u, v, w) >= -slack or max(u, v, w) <= slack:
                total = u + v + w
                if total != 0.0 and volume / total > distances[i]:
                    distances[i] = volume / total
                    by[i] = f
    radii, faces = np.empty(n_rays), np.empty(n_rays, np.int64)
    radii[order], faces[order] = distances, by
    return radii, faces


@njit(cache=True, nogil=True, inline="always")
def corner(corners: AnyArray, f: int, j: int) -> Any:
    """Return a corner of a triangle as three numbers."""
    return corners[f, j, 0], corners[f, j, 1], corners[f, j, 2]


@njit(cache=True, nogil=True, inline="always")
def dot(a: Any, b: Any) -> Any:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, nogil=True, inline="always")
def cross(a: Any, b: Any) -> Any:
    """Return a × b as three numbers."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@njit(cache=True, nogil=True, inline="always")
def scale(a: Any, factor: float) -> Any:
    """Return factor · a."""
    return a[0] * factor, a[1] * factor, a[2] * factor


@njit(cache=True, nogil=True)
def cap_around(a: Any, b: Any, c: Any) -> Any:
    """Return an axis and the cosine of the cap about it that holds a triangle seen from the origin.

    The directions of a triangle are the convex hull, on the sphere, of those of its corners, so a
    cap of less than a right angle that holds the corners holds them all. Where there is none, the
    cosine is -2, which no direction is below.
    """
    a = scale(a, 1 / np.sqrt(dot(a, a)))
    b = scale(b, 1 / np.sqrt(dot(b, b)))
    c = scale(c, 1 / np.sqrt(dot(c, c)))
    axis = (a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2])
    length = np.sqrt(dot(axis, axis))
    if length == 0.0:
        return axis, -2.0
    axis = scale(axis, 1 / length)
    least = min(dot(a, axis), dot(b, axis), dot(c, axis))
    return axis, (least - CAP_SLACK if least > 1e-6 else -2.0)


@njit(cache=True, nogil=True, inline="always")
def heights_of_cap(height: float, cosine: float) -> Any:
    """Return the lowest and the highest z of a cap about an axis of this height."""
    if cosine < -1.0:
        return -1.0, 1.0
    middle = np.arccos(min(1.0, max(-1.0, height)))
    reach = np.arccos(min(1.0, cosine))
    return np.cos(min(np.pi, middle + reach)), np.cos(max(0.0, middle - reach))
