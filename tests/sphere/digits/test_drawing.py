"""Claims about images drawn on the sphere for a network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from vicinal.data import project_images
from vicinal.sphere import Fragments, SphericalTransform
from vicinal.sphere.digits._drawing import (
    Drawing,
    FragmentBatches,
    SignalBatches,
    draw_digits,
    draw_rotations,
)
from vicinal.sphere.harmonic._grids import spherical_grid

DRAWING = Drawing(bandwidth=16, l_max=6)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    """Smooth blobs, which a low bandwidth resolves."""
    generator = np.random.default_rng(0)
    at = np.linspace(-1, 1, 28)
    centres = generator.uniform(-0.4, 0.4, (12, 2, 1, 1))
    return np.exp(-4 * ((at[:, None] - centres[:, 0]) ** 2 + (at - centres[:, 1]) ** 2))


def draw_all(images: np.ndarray, drawing: Drawing) -> Fragments:
    taken = draw_digits(images, np.zeros(len(images)), drawing).take(torch.arange(len(images)))
    assert isinstance(taken, Fragments)
    return taken


def draw(images: np.ndarray, drawing: Drawing) -> torch.Tensor:
    drawn = draw_digits(images, np.zeros(len(images)), drawing)
    assert isinstance(drawn, FragmentBatches)
    return drawn.rows


def test_both_protocols_agree_on_smooth_images(images):
    turned = replace(DRAWING, rotated=True)
    resampled = draw(images, turned)
    exact = draw(images, replace(turned, protocol="coefficients"))
    error = torch.linalg.vector_norm(resampled - exact) / torch.linalg.vector_norm(exact)
    assert 0 < error < 0.02


def test_unrotated_drawings_differ_from_rotated_ones(images):
    assert (draw(images, DRAWING) - draw(images, replace(DRAWING, rotated=True))).abs().max() > 0.01


def test_the_seed_alone_decides_the_drawing(images):
    turned = replace(DRAWING, rotated=True, warp=1.0)
    assert torch.equal(draw(images, turned), draw(images, turned))
    assert not torch.equal(draw(images, turned), draw(images, replace(turned, seed=1)))


def test_rotations_are_those_of_the_drawing(images):
    turned = replace(DRAWING, rotated=True, protocol="coefficients", seed=5)
    plain = draw_all(images, DRAWING)
    expected = plain.rotate(draw_rotations(12, turned))
    torch.testing.assert_close(draw(images, turned).T, expected.packed)


def test_only_varied_digits_are_drawn_anew_each_epoch():
    assert DRAWING.at_epoch(3) == DRAWING
    warped = replace(DRAWING, warp=1.0)
    assert len({warped.at_epoch(epoch).seed for epoch in range(5)} | {warped.seed}) == 6


@pytest.mark.parametrize("protocol", ["resampled", "cohen2018"])
def test_warped_digits_differ_and_those_for_testing_are_not_warped(images, protocol):
    as_they_are = replace(DRAWING, protocol=protocol)
    plain, varied = draw(images, as_they_are), replace(as_they_are, warp=1.0)
    assert (draw(images, varied) - plain).abs().max() > 0.01
    torch.testing.assert_close(draw(images, varied.faithful(3)), plain)


def test_drawing_leaves_the_number_of_threads_as_it_was(images):
    n_threads = torch.get_num_threads()
    try:
        for wanted in (1, 2):
            torch.set_num_threads(wanted)
            draw(images, replace(DRAWING, warp=1.0))
            assert torch.get_num_threads() == wanted
    finally:
        torch.set_num_threads(n_threads)


def test_signals_stay_on_the_grid_where_a_network_asks_for_them(images):
    drawn = draw_digits(images, np.arange(12), replace(DRAWING, l_max=None))
    assert isinstance(drawn, SignalBatches)
    taken = drawn.take(torch.tensor([3, 1]))
    assert taken.shape == (2, 1, 32, 32)
    fragments = SphericalTransform(16, 6)(taken)
    torch.testing.assert_close(fragments.packed.T, draw(images, DRAWING)[[3, 1]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"protocol": "exact"}, "protocol='exact'"),
        ({"projection": "mercator"}, "projection='mercator'"),
        ({"protocol": "coefficients", "rotated": True, "l_max": None}, "reads the signal"),
    ],
)
def test_drawings_that_cannot_be_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Drawing(**settings)


@pytest.mark.parametrize("rotated", [False, True])
def test_a_drawing_lies_on_the_sphere_by_its_projection(rotated):
    images = np.random.default_rng(2).random((3, 12, 12))
    drawing = replace(DRAWING, l_max=None, projection="stereographic", rotated=rotated, seed=4)
    batches = draw_digits(images, np.zeros(3), drawing)
    assert isinstance(batches, SignalBatches)
    drawn = batches.take(torch.arange(3))[:, 0]
    grid = spherical_grid(16)
    expected = project_images(
        images,
        grid.theta.numpy()[:, None],
        grid.phi.numpy(),
        rotations=draw_rotations(3, drawing).numpy() if rotated else None,
        projection="stereographic",
    )
    np.testing.assert_array_equal(drawn.numpy(), expected)
