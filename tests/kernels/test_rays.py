"""Rays through triangles: against solving for every pair, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull
from tests.oracles import rays as oracle

from vicinal._kernels._rays import farthest_hits


def unit_vectors(n, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(seed=st.integers(0, 10**6), n_faces=st.integers(1, 30), size=st.sampled_from([0.05, 0.5, 3]))
def test_the_last_triangle_on_the_way_is_found(seed, n_faces, size):
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(n_faces, 1, 3)) + size * rng.normal(size=(n_faces, 3, 3))
    directions = unit_vectors(200, seed + 1)
    radii, faces = farthest_hits(corners, directions)
    assert_allclose(radii, oracle.farthest_hits(corners, directions), rtol=1e-9)
    assert_array_equal(faces >= 0, radii > 0)
    for face, radius, direction in zip(faces, radii, directions, strict=True):
        if face >= 0:  # the point lies in the plane of the triangle it is said to be of
            a, b, c = corners[face]
            assert abs(np.linalg.det([radius * direction - a, b - a, c - a])) < 1e-7


def test_a_closed_surface_lets_no_ray_through():
    """Rays at the corners and through the edges of a hull included."""
    points = unit_vectors(60, 0)
    corners = points[ConvexHull(points).simplices]
    middles = (corners + np.roll(corners, 1, axis=1)).reshape(-1, 3)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    radii, _ = farthest_hits(corners, np.concatenate([points, middles]))
    assert radii.min() > 0.5
    assert_allclose(radii[:60], 1.0, rtol=1e-12)


def test_the_wall_of_a_box_is_as_far_as_it_is():
    box = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], float)
    directions = unit_vectors(500, 1)
    radii, _ = farthest_hits(box[ConvexHull(box).simplices], directions)
    expected = np.min(np.array([1, 2, 3]) / np.abs(directions), axis=1)
    assert_allclose(radii, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "triangle",
    [
        [[1, 0, 0], [2, 0, 0], [0, 1, 0]],  # the origin in its plane
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],  # a point
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],  # a corner at the origin
    ],
)
def test_triangles_that_rays_only_graze_are_not_met(triangle):
    radii, faces = farthest_hits(np.array([triangle], float), np.eye(3))
    assert_array_equal(radii, 0)
    assert_array_equal(faces, -1)
