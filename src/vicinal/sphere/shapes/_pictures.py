"""Pictures of meshes: grey, lit from above the eye, on nothing."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._raster import nearest_faces
from vicinal._types import AnyArray, FloatArray
from vicinal.sphere.shapes._clouds import Cloud
from vicinal.sphere.shapes._meshes import Mesh

FINER = 3  # pixels a side that are averaged into one, so that edges are smooth
_LIGHT = np.array([-0.4, 0.6, 0.7]) / np.linalg.norm([-0.4, 0.6, 0.7])
_DARKEST, _LIGHTEST = 70.0, 225.0  # seen well on white and on black paper


def look_from(direction: tuple[float, float, float], up: tuple[float, float, float]) -> FloatArray:
    """Return the rotation (3, 3) that turns a direction to the eye, with ``up`` upright."""
    towards = np.array(direction) / np.linalg.norm(direction)
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    view: FloatArray = np.stack([right, np.cross(towards, right), towards])
    return view


VIEW = look_from((0.55, -0.7, 0.45), (0.0, 0.0, 1.0))  # most meshes stand on x and y


def picture_mesh(mesh: Mesh, size: int = 96, view: FloatArray = VIEW) -> AnyArray:
    """Return a mesh as seen from afar, uint8 (size, size, 2): how light, and how opaque.

    Both sides of a triangle are lit, since which one is outside is not always known.
    """
    turned = mesh.vertices @ view.T
    used = turned[np.unique(mesh.faces)]
    middle = (used.min(axis=0) + used.max(axis=0)) / 2
    reach = np.ptp(used, axis=0)[:2].max() / 2
    n = FINER * size
    scaled = (turned - middle) * (0.48 * n / reach) * np.array([1.0, -1.0, 1.0])
    corners = np.ascontiguousarray((scaled + np.array([n / 2, n / 2, 0.0]))[mesh.faces])
    faces = nearest_faces(corners, n)
    there = faces >= 0
    lit = np.where(there, _lightness(turned[mesh.faces])[faces], 0.0)
    blocks = (size, FINER, size, FINER)
    opacity = there.reshape(blocks).mean(axis=(1, 3))
    light = lit.reshape(blocks).mean(axis=(1, 3)) / np.where(opacity > 0, opacity, 1)
    return np.stack([light, 255 * opacity], axis=-1).round().astype(np.uint8)


def picture_cloud(cloud: Cloud, size: int = 96, view: FloatArray = VIEW) -> AnyArray:
    """Return a cloud as seen from afar, uint8 (size, size, 2): near points are lighter."""
    turned = cloud.points @ view.T
    turned = turned[np.argsort(turned[:, 2])]  # the nearest are drawn last
    low, high = turned.min(axis=0), turned.max(axis=0)
    reach = (high - low)[:2].max() / 2
    places = (turned - (low + high) / 2)[:, :2] * np.array([1, -1]) * (0.46 * size / reach)
    columns, rows = (places + size / 2).astype(int).T
    picture = np.zeros((size, size, 2), np.uint8)
    depth = (turned[:, 2] - low[2]) / max(high[2] - low[2], 1e-9)
    picture[rows, columns, 0] = _DARKEST + (_LIGHTEST - _DARKEST) * depth
    picture[rows, columns, 1] = 255
    return picture


def _lightness(corners: FloatArray) -> FloatArray:
    """Return how light triangles are, (f,)."""
    a, b, c = corners.swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    facing = np.where(normals[:, 2:] < 0, -normals, normals)  # towards the eye
    cosines = (facing @ _LIGHT) / np.where(lengths > 0, lengths, 1)
    shares: FloatArray = _DARKEST + (_LIGHTEST - _DARKEST) * np.clip(cosines, 0, 1)
    return shares
