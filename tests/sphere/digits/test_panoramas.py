"""Panoramas are read where they lie: around the sphere, at the poles, and turned."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from vicinal.sphere import SphericalTransform, random_rotations
from vicinal.sphere.digits import Drawing, draw_digits
from vicinal.sphere.digits._panoramas import sample_panoramas


def panorama(f, height=128):
    theta = (np.arange(height) + 0.5) * np.pi / height
    phi = (np.arange(2 * height) + 0.5) * np.pi / height
    theta, phi = np.meshgrid(theta, phi, indexing="ij")
    return f(np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta))


def smooth(x, y, z):
    return 0.5 + 0.2 * x * y - 0.3 * z + 0.1 * x


def test_values_are_those_of_the_function_that_was_drawn():
    points = np.random.default_rng(0).normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[0], points[1] = (0, 0, 1), (0, 0, -1)
    values = sample_panoramas(panorama(smooth)[None], points)
    np.testing.assert_allclose(values[0], smooth(*points.T), atol=0.01)


def test_a_turned_panorama_is_the_turned_function():
    points = np.eye(3)
    R = random_rotations(2, torch.Generator().manual_seed(0)).numpy()
    values = sample_panoramas(np.stack([panorama(smooth)] * 2), points, R)
    for row in range(2):
        expected = smooth(*(points @ R[row]).T)
        np.testing.assert_allclose(values[row], expected, atol=0.01)


def test_drawn_panoramas_turn_as_their_coefficients_do():
    images = np.stack([panorama(smooth)] * 3)
    plain = Drawing(bandwidth=12, l_max=4, projection="equirectangular")
    turned = Drawing(12, 4, True, projection="equirectangular")
    exact = Drawing(12, 4, True, "coefficients", "equirectangular")
    drawings: list[Any] = [draw_digits(images, np.zeros(3), of) for of in (plain, turned, exact)]
    *drawn, expected = (of.take(torch.arange(3)) for of in drawings)
    assert float((drawn[1].packed - expected.packed).abs().max()) < 0.01
    assert float((drawn[0].packed - expected.packed).abs().max()) > 0.1
    assert SphericalTransform(12, 4).fragment_type() == drawn[0].type
