"""Triangles seen from the front: against solving for every pixel and triangle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal._kernels._raster import nearest_faces


def look(corners, size):
    """Return the triangle in front at each pixel, by barycentric coordinates of all pairs."""
    shown = np.full((size, size), -1)
    for i in range(size):
        for j in range(size):
            best = -np.inf
            for f, triangle in enumerate(corners):
                system = np.vstack([triangle[:, :2].T, np.ones(3)])
                if abs(np.linalg.det(system)) < 1e-12:
                    continue
                shares = np.linalg.solve(system, [j + 0.5, i + 0.5, 1])
                depth = shares @ triangle[:, 2]
                if (shares >= 0).all() and depth > best:
                    best, shown[i, j] = depth, f
    return shown


@given(seed=st.integers(0, 10**6), n=st.integers(0, 12))
def test_the_nearest_triangle_is_shown(seed, n):
    rng = np.random.default_rng(seed)
    corners = rng.normal(4, 4, (n, 3, 3))  # some of it out of the picture
    assert_array_equal(nearest_faces(corners, 8), look(corners, 8))


def test_a_triangle_seen_from_its_edge_is_not_shown():
    edge = np.array([[[0, 0, 0], [8, 8, 0], [4, 4, 5]]], float)
    assert_array_equal(nearest_faces(edge, 8), -1)
