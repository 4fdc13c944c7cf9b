"""Claims about images bent by smooth random fields."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.ndimage import map_coordinates

from vicinal._kernels._bending import bend
from vicinal.data._bending import N_KNOTS, bend_images


def _spline_field(knots, height, width):
    """The tensor-product B-spline by scipy: coefficients over uniform knots."""
    g = len(knots)
    places = np.arange(-3, g + 1)
    rows = (np.arange(height) + 0.5) / height * (g - 3)
    columns = (np.arange(width) + 0.5) / width * (g - 3)
    down = BSpline.design_matrix(rows, places.astype(float), 3).toarray()
    right = BSpline.design_matrix(columns, places.astype(float), 3).toarray()
    return down @ knots @ right.T


@pytest.mark.parametrize("shape", [(28, 28), (9, 14)])
def test_pixels_are_read_where_scipys_spline_and_interpolation_say(shape):
    generator = np.random.default_rng(0)
    images = generator.random((3, *shape)).astype(np.float32)
    knots = generator.normal(0, 1.5, (3, 2, 6, 6))
    for image, pair, bent in zip(images, knots, bend(images, knots), strict=True):
        rows, columns = np.indices(shape, dtype=float)
        u, v = (_spline_field(field, *shape) for field in pair)
        expected = map_coordinates(
            np.pad(image, 20), [rows + u + 20, columns + v + 20], order=1, mode="constant"
        )
        np.testing.assert_allclose(bent, expected, atol=1e-5)


def test_a_constant_field_shifts_the_image():
    images = np.random.default_rng(1).random((1, 12, 12)).astype(np.float32)
    knots = np.zeros((1, 2, 5, 5))
    knots[:, 0], knots[:, 1] = 2.0, -1.0
    np.testing.assert_allclose(bend(images, knots)[0, :10, 1:], images[0, 2:, :11], atol=1e-6)


def test_strength_is_the_root_mean_square_of_the_displacement():
    generator = np.random.default_rng(2)
    ramp = np.tile(np.arange(200.0), (40, 200, 1))  # its value is the column: bending shows it
    moved = (bend_images(ramp, generator, strength=0.5) - ramp)[:, 60:140, 60:140]
    assert np.sqrt((moved**2).mean()) == pytest.approx(0.5 * 0.05 * 200, rel=0.1)


def test_no_strength_bends_nothing():
    images = np.random.default_rng(3).random((2, 28, 28)).astype(np.float32)
    np.testing.assert_allclose(
        bend_images(images, np.random.default_rng(0), strength=0.0), images, atol=1e-6
    )


def test_the_same_generator_bends_the_same_way_and_images_differ_in_theirs():
    images = np.repeat(np.random.default_rng(4).random((1, 28, 28)), 2, axis=0)
    first = bend_images(images, np.random.default_rng(7))
    np.testing.assert_array_equal(first, bend_images(images, np.random.default_rng(7)))
    assert np.abs(first[0] - first[1]).max() > 0.1
    assert N_KNOTS >= 4


@pytest.mark.parametrize(
    "broken", [np.zeros((28, 28)), np.full((1, 8, 8), np.nan), np.zeros((0, 8, 8))]
)
def test_what_are_no_images_is_refused(broken):
    with pytest.raises(ValueError, match="images"):
        bend_images(broken, np.random.default_rng(0))
