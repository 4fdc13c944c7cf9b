"""Shapes made of a few numbers, for tests that need no files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from vicinal.sphere.shapes import ShapeRows, Shapes, make_mesh


def draw(kind, rng):
    """Return a mesh of one of three kinds: long, flat and spiky."""
    points = rng.normal(size=(60, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    faces = ConvexHull(points).simplices
    sizes = {0: [0.3, 0.3, 1], 1: [1, 1, 0.3], 2: [1, 1, 1]}[kind]
    lengths = rng.uniform(0.3, 1, (60, 1)) if kind == 2 else 1
    return make_mesh(points * sizes * np.exp(0.1 * rng.normal(size=3)) * lengths, faces)


@pytest.fixture(scope="package")
def few_shapes():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    meshes = tuple(draw(kind, rng) for kind in labels)
    order = rng.permutation(90)
    shapes = Shapes(tuple(meshes), labels, ("long", "flat", "spiky"))
    return ShapeRows(shapes, order[:54], order[54:60], order[60:])


@pytest.fixture(scope="package", autouse=True)
def rays_of_its_own(tmp_path_factory):
    """Keep what rays read in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VICINAL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
