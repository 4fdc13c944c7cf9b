"""Claims about digits drawn as by the published generator."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from vicinal.sphere import spherical_grid
from vicinal.sphere.digits import Drawing, draw_digits
from vicinal.sphere.digits._cohen2018 import GROUP, draw_cohen2018, make_sampler
from vicinal.sphere.digits._drawing import SignalBatches, draw_rotations

DRAWING = Drawing(bandwidth=6, l_max=None, protocol="cohen2018")


def read_slowly(image: np.ndarray, point: np.ndarray) -> float:
    """Follow the ray from just above the pole to the plane, and interpolate there, by hand."""
    source = np.array([0.0, 0.0, 2.001])
    on_sphere = point + np.array([0.0, 0.0, 1.0])  # the sphere stands on the plane
    along = source[2] / (source[2] - on_sphere[2])
    x, y, z = source + along * (on_sphere - source)
    assert abs(z) < 1e-9
    if point[2] > 0:
        return 0.0
    height, width = image.shape
    row, column = (x + 1.5) / 3 * height, (y + 1.5) / 3 * width
    top, left = math.floor(row) - 1, math.floor(column) - 1
    down, right = (row - top) / 2, (column - left) / 2
    total = 0.0
    for r, at_r in ((top, 1 - down), (top + 2, down)):
        for c, at_c in ((left, 1 - right), (left + 2, right)):
            if 0 <= r < height and 0 <= c < width:
                total += at_r * at_c * image[r, c]
    return total


def test_the_sampler_is_the_ray_through_each_point_and_pixels_two_apart():
    generator = np.random.default_rng(0)
    image = generator.random((28, 28))
    points = generator.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    expected = [read_slowly(image, point) for point in points]
    found = make_sampler(points, image.shape) @ image.ravel()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_weights_add_up_to_one_within_the_image_and_to_nothing_far_north():
    south = np.array([[0.0, 0.0, -1.0], [0.3, -0.2, -math.sqrt(1 - 0.13)]])
    north = np.array([[0.0, 0.0, 1.0], [0.1, 0.1, math.sqrt(0.98)]])
    sums = make_sampler(np.concatenate([south, north]), (28, 28)).sum(axis=1)
    np.testing.assert_allclose(sums, [1, 1, 0, 0], atol=1e-6)


def test_every_drawing_is_stretched_to_whole_steps_from_0_to_1():
    images = np.random.default_rng(1).random((3, 28, 28)) * np.array([0.2, 1.0, 3.0])[:, None, None]
    points = spherical_grid(8).points().flatten(0, 1).numpy()
    drawn = draw_cohen2018(images, points, np.eye(3)[None])
    np.testing.assert_array_equal(drawn.min(axis=1), 0)
    np.testing.assert_array_equal(drawn.max(axis=1), 1)
    np.testing.assert_allclose(drawn * 255, np.round(drawn * 255), atol=1e-4)
    assert not draw_cohen2018(np.full((1, 28, 28), 0.0), points, np.eye(3)[None]).any()


def test_five_hundred_images_share_a_rotation():
    turned = replace(DRAWING, rotated=True, seed=3)
    rotations = draw_rotations(1200, turned)
    groups = [rotations[start : start + GROUP] for start in range(0, 1200, GROUP)]
    assert all(torch.equal(group, group[:1].expand_as(group)) for group in groups)
    assert len({tuple(group[0].flatten().tolist()) for group in groups}) == 3


@pytest.mark.parametrize("rotated", [False, True])
def test_a_rotated_drawing_is_the_unrotated_one_at_turned_points(rotated):
    images = np.random.default_rng(2).random((GROUP + 4, 8, 8))
    drawing = replace(DRAWING, rotated=rotated, seed=7)
    drawn = draw_digits(images, np.zeros(len(images)), drawing)
    assert isinstance(drawn, SignalBatches)
    rotation = draw_rotations(len(images), drawing)[-1].numpy() if rotated else np.eye(3)
    points = spherical_grid(6).points().flatten(0, 1).numpy()
    expected = draw_cohen2018(images[-1:], points @ rotation, np.eye(3)[None])
    np.testing.assert_array_equal(drawn.signals[-1].flatten().numpy(), expected[0])
