"""Pictures of meshes."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from vicinal.sphere.shapes import make_mesh, picture_mesh
from vicinal.sphere.shapes._pictures import look_from


def box(*sides):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return make_mesh(corners * sides, ConvexHull(corners * sides).simplices)


def test_a_box_seen_from_the_front_is_its_wall():
    picture = picture_mesh(box(1, 2, 1), 50, look_from((0, 0, 1), (0, 1, 0)))
    assert picture.shape == (50, 50, 2)
    assert picture.dtype == np.uint8
    opaque = picture[..., 1] == 255
    assert opaque.any(axis=1).sum() in (47, 48, 49)  # as high as the picture, but for a rim
    assert opaque.any(axis=0).sum() in (23, 24, 25)  # and half as wide
    assert len(np.unique(picture[opaque, 0])) == 1  # one wall, one shade
    assert (picture[picture[..., 1] == 0, 0] == 0).all()


def test_walls_that_face_the_light_otherwise_have_other_shades():
    picture = picture_mesh(box(1, 1, 1), 60)
    shades = np.unique(picture[picture[..., 1] == 255, 0], return_counts=True)
    assert (shades[1] > 100).sum() == 3


def test_what_is_upright_stays_upright():
    view = look_from((0.3, -0.5, 0.2), (0, 0, 1))
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) > 0
    up = view @ [0, 0, 1]
    assert abs(up[0]) < 1e-12
    assert up[1] > 0
