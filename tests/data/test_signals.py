"""Claims about images on the sphere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vicinal.data._signals import PROJECTIONS, draw_warps, project_images


def _fine_grid(n: int = 3000, n_longitudes: int = 400):
    """Midpoints in cos θ and φ: every cell has the same area."""
    cosines = (np.arange(n) + 0.5) / n  # the northern half only
    longitudes = 2 * np.pi * (np.arange(n_longitudes) + 0.5) / n_longitudes
    theta, phi = np.meshgrid(np.arccos(cosines), longitudes, indexing="ij")
    return theta, phi, 2 * np.pi / theta.size


@pytest.mark.parametrize("pixel", [(14, 14), (14, 22), (7, 7), (3, 14)])
def test_a_pixel_covers_the_same_area_wherever_it_is(pixel):
    image = np.zeros((1, 29, 29))
    image[0, *pixel] = 1.0
    theta, phi, cell = _fine_grid()
    covered = project_images(image, theta, phi).sum() * cell
    share = 1.0 / (np.pi * 14.5**2)  # of the disc, whose image is the hemisphere
    assert covered == pytest.approx(2 * np.pi * share, rel=0.01)


@pytest.mark.parametrize("pixel", [(14, 14), (14, 22), (7, 7), (3, 14)])
def test_the_stereographic_map_draws_the_centre_larger(pixel):
    image = np.zeros((1, 29, 29))
    image[0, *pixel] = 1.0
    theta, phi, cell = _fine_grid()
    covered = project_images(image, theta, phi, projection="stereographic").sum() * cell
    squared_radius = ((pixel[0] - 14) ** 2 + (pixel[1] - 14) ** 2) / 14.5**2
    assert covered == pytest.approx(4 / (1 + squared_radius) ** 2 / 14.5**2, rel=0.02)


@pytest.mark.parametrize(
    ("projection", "radius"),
    [("lambert", lambda t: np.sqrt(2) * np.sin(t / 2)), ("stereographic", lambda t: np.tan(t / 2))],
)
def test_colatitude_is_distance_from_the_centre_by_the_maps_rule(projection, radius):
    ramp = np.broadcast_to((np.arange(29) - 14) / 14.5, (1, 29, 29))  # how far to the right
    theta = np.linspace(0, 1.5, 12)
    seen = project_images(ramp, theta, np.zeros(12), projection=projection)[0]
    np.testing.assert_allclose(seen, radius(theta), atol=1e-6)


def test_an_unknown_map_is_refused_by_name():
    with pytest.raises(ValueError, match="projection='mercator': take 'lambert'"):
        project_images(np.ones((1, 4, 4)), np.zeros(1), np.zeros(1), projection="mercator")


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_centre_of_the_image_lies_at_the_pole(projection):
    image = np.zeros((1, 29, 29))
    image[0, 14, 14] = 1.0
    drawn = project_images(image, np.array([0.0]), np.array([0.0]), projection=projection)
    assert drawn[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_seen_from_above_right_is_x_and_up_is_y(projection):
    image = np.zeros((1, 29, 29))
    image[0, 14, 21:] = 1.0  # a bar to the right
    image[0, :8, 14] = 2.0  # and a heavier one upwards
    cosine = 0.5 if projection == "lambert" else 0.6  # where the map's radius is half the disc's
    theta = np.full(4, np.arccos(cosine))
    drawn = project_images(image, theta, np.pi / 2 * np.arange(4), projection=projection)
    right, up, left, down = drawn[0]
    assert (right, up) == pytest.approx((1.0, 2.0))
    assert (left, down) == (0.0, 0.0)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_southern_half_is_empty(projection):
    theta, phi = np.meshgrid(np.linspace(1.6, np.pi, 20), np.linspace(0, 6, 20))
    assert not project_images(np.ones((1, 28, 28)), theta, phi, projection=projection).any()


def test_a_rotated_drawing_has_at_x_the_value_of_the_unrotated_at_the_inverse():
    generator = np.random.default_rng(0)
    images = generator.random((3, 28, 28))
    rotations = Rotation.random(3, rng=generator).as_matrix()
    points = generator.normal(size=(50, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    rotated = project_images(images, *_angles(points), rotations=rotations)
    for image, rotation, values in zip(images, rotations, rotated, strict=True):
        expected = project_images(image[None], *_angles(points @ rotation))[0]
        np.testing.assert_allclose(values, expected, atol=1e-6)


def _angles(points):
    return np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])


def test_a_turn_about_the_pole_turns_the_image():
    images = np.random.default_rng(1).random((1, 28, 28))
    theta, phi, _ = _fine_grid(20, 40)
    quarter = Rotation.from_euler("z", 90, degrees=True).as_matrix()[None]
    turned = project_images(images, theta, phi, rotations=quarter)
    expected = project_images(np.rot90(images, axes=(1, 2)).copy(), theta, phi)
    np.testing.assert_allclose(turned, expected, atol=1e-5)


def test_warps_are_slight_varied_and_repeatable():
    warps = draw_warps(2000, np.random.default_rng(3))
    np.testing.assert_array_equal(warps, draw_warps(2000, np.random.default_rng(3)))
    np.testing.assert_allclose(warps.mean(0), np.eye(2, 3), atol=0.02)
    assert (warps.std(0) > 0.01).all()
    assert (np.linalg.det(warps[:, :, :2]) > 0.5).all()  # none is mirrored or crushed


def test_no_warp_of_strength_zero_changes_anything():
    warps = draw_warps(4, np.random.default_rng(0), strength=0.0)
    np.testing.assert_allclose(warps, np.broadcast_to(np.eye(2, 3), (4, 2, 3)))


def test_warps_without_shift_differ_in_nothing_else():
    warps = draw_warps(50, np.random.default_rng(3), shift=0.0)
    assert not warps[:, :, 2].any()
    np.testing.assert_array_equal(
        warps[:, :, :2], draw_warps(50, np.random.default_rng(3))[:, :, :2]
    )


def test_a_warp_moves_what_is_read():
    image = np.zeros((1, 29, 29))
    image[0, 14, 21] = 1.0
    shift = np.eye(2, 3)[None].copy()
    shift[0, 0, 2] = 7 / 14.5  # the pole now shows what lies seven pixels to the right
    pole = project_images(image, np.array([0.0]), np.array([0.0]), warps=shift)
    assert pole[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"images": np.ones((28, 28))}, r"\(28, 28\).*\(n, height, width\)"),
        ({"images": np.full((1, 4, 4), np.nan)}, "NaN"),
        ({"images": np.ones((2, 4, 4)), "rotations": np.eye(3)[None]}, "rotations of shape"),
        ({"images": np.ones((2, 4, 4)), "warps": np.eye(3)[None]}, "warps of shape"),
    ],
)
def test_bad_input_is_named(arguments, message):
    images = arguments.pop("images")
    with pytest.raises(ValueError, match=message):
        project_images(images, np.zeros(1), np.zeros(1), **arguments)
