"""Triangle meshes: what is taken for one, and its place and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from vicinal._types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class Mesh:
    """A soup of triangles about the origin, and its convex hull.

    Attributes
    ----------
    vertices : float64 ndarray of shape (v, 3)
        The centre of area is the origin and the farthest vertex at distance 1.
    faces : int64 ndarray of shape (f, 3)
    hull : int64 ndarray of shape (h, 3)
        The triangles of the convex hull, by the same vertices.
    """

    vertices: FloatArray
    faces: IntArray
    hull: IntArray


def make_mesh(vertices: AnyArray, faces: AnyArray, *, name: str = "the mesh") -> Mesh:
    """Check a mesh, put it in its place and add its hull.

    Raises
    ------
    ValueError
        Where there are no faces or no area, numbers are not finite, faces name vertices that are
        not there, or all of it lies in a plane; ``name`` says which mesh it is.
    """
    vertices, faces = np.asarray(vertices, np.float64), np.asarray(faces)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ValueError(f"{name}: vertices must have the shape (v, 3), not {vertices.shape}.")
    if faces.ndim != 2 or faces.shape[1] != 3 or not np.issubdtype(faces.dtype, np.integer):
        raise ValueError(
            f"{name}: faces must be whole numbers of the shape (f, 3), not {faces.dtype} of "
            f"{faces.shape}; cut larger polygons into triangles first."
        )
    if not len(faces):
        raise ValueError(f"{name} has no faces, so no ray can meet it.")
    if not np.isfinite(vertices).all():
        raise ValueError(f"{name} has vertices that are not finite numbers.")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError(
            f"{name} has {len(vertices)} vertices, and faces that name vertices "
            f"{faces.min()} to {faces.max()}."
        )
    faces = faces.astype(np.int64)
    placed = _place(vertices, faces, name)
    used = np.unique(faces)
    try:
        hull = used[ConvexHull(placed[used]).simplices]
    except QhullError:
        raise ValueError(f"{name} is flat: all of it lies in one plane.") from None
    return Mesh(placed, faces, hull.astype(np.int64))


def _place(vertices: FloatArray, faces: IntArray, name: str) -> FloatArray:
    """Move the centre of area to the origin and the farthest vertex to distance 1."""
    used = np.unique(faces)
    # In units of the mesh's own extent, so that squares neither vanish nor overflow.
    extent = np.ptp(vertices[used], axis=0).max()
    if not extent > 0:
        raise ValueError(f"{name} is a single point.")
    vertices = (vertices - vertices[used[0]]) / extent
    corners = vertices[faces]
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    if not areas.sum() > 0:
        raise ValueError(f"{name} has no area: all its triangles are lines or points.")
    vertices = vertices - np.average(corners.mean(axis=1), axis=0, weights=areas)
    placed: FloatArray = vertices / np.linalg.norm(vertices[used], axis=1).max()
    return placed


def deform(mesh: Mesh, matrix: FloatArray) -> Mesh:
    """Return a mesh under a linear map (3, 3), whose hull is the hull under the map."""
    vertices = mesh.vertices @ np.asarray(matrix, np.float64).T
    vertices /= np.linalg.norm(vertices[mesh.hull.ravel()], axis=1).max()
    return Mesh(vertices, mesh.faces, mesh.hull)


def random_stretches(n: int, spread: float, rng: np.random.Generator) -> Sequence[FloatArray]:
    """Return linear maps that stretch along three random axes by exp(spread · normal)."""
    axes = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    factors = np.exp(spread * rng.normal(size=(n, 1, 3)))
    stretches: FloatArray = (axes * factors) @ axes.swapaxes(1, 2)
    return list(stretches)
