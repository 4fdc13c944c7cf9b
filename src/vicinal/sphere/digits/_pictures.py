"""Spheres as one would see them, for a page."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray
from vicinal.data import project_images
from vicinal.sphere.digits._cohen2018 import make_sampler
from vicinal.sphere.digits._drawing import Drawing, draw_rotations
from vicinal.sphere.digits._panoramas import sample_panoramas

SIDE = 96  # pixels


def picture_spheres(images: AnyArray, rows: AnyArray, drawing: Drawing) -> AnyArray:
    """Return pictures (n, side, side) of some images on their spheres, with the grid's lines.

    The digit is in the middle and upright; rotated spheres show it by their lines. Those of the
    protocol cohen2018 are seen from within: from outside, its drawing is mirrored.
    """
    if not len(rows):
        return np.zeros((0, SIDE, SIDE), np.uint8)
    across = (np.arange(SIDE) + 0.5) * (2.0 / SIDE) - 1.0
    right, up = np.meshgrid(across, -across)
    depth = np.sqrt(np.clip(1 - right**2 - up**2, 0, None))
    if drawing.protocol == "cohen2018":  # rows run along x and columns along y, round the south
        points = np.stack([-up, right, -depth], -1)
        sampler = make_sampler(points.reshape(-1, 3), images.shape[1:])
        ink = (sampler @ images[rows].reshape(len(rows), -1).T).T.reshape(-1, SIDE, SIDE)
    elif drawing.projection == "equirectangular":
        points = np.stack([depth, right, up], -1)  # the equator in front, the pole above
        ink = sample_panoramas(images[rows], points.reshape(-1, 3)).reshape(-1, SIDE, SIDE)
    else:
        points = np.stack([right, up, depth], -1)
        longitude = np.arctan2(up, right)
        ink = project_images(
            images[rows], np.arccos(depth), longitude, projection=drawing.projection
        )
    # A point of the picture lies at R u on the grid's sphere: that is where its lines are.
    rotations = np.tile(np.eye(3), (len(rows), 1, 1))
    if drawing.rotated:
        rotations = draw_rotations(len(images), drawing).numpy()[rows]
    lines = np.stack([_grid_lines(points @ rotation.T) for rotation in rotations])
    pixels = 255 * (0.75 + 0.25 * depth) * (1 - 0.9 * ink) * (1 - 0.25 * lines)
    pixels[:, right**2 + up**2 > 1] = 255
    return np.clip(pixels, 0, 255).astype(np.uint8)


def _grid_lines(points: AnyArray) -> AnyArray:
    """Return 1 near meridians and circles of latitude 30° apart, 0 elsewhere."""
    spacing, width = np.pi / 6, 0.03
    theta = np.arccos(np.clip(points[..., 2], -1, 1))
    phi = np.arctan2(points[..., 1], points[..., 0])
    off_circle = np.abs((theta + spacing / 2) % spacing - spacing / 2)
    off_meridian = np.abs((phi + spacing / 2) % spacing - spacing / 2) * np.sin(theta)
    return ((off_circle < width) | (off_meridian < width)).astype(float)
