"""Rays by Embree, a tracer kept by others, where trimesh and embreex are installed."""

from __future__ import annotations

import numpy as np

from vicinal._types import FloatArray, IntArray


def farthest_hits_embree(
    corners: FloatArray, directions: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Find what `vicinal._kernels._rays.farthest_hits` finds, through a hierarchy of boxes.

    Rays come from outside, towards the origin; the first triangle met is where a ray from the
    origin leaves last, unless it lies beyond the origin. Embree calculates in single precision: it
    only names the triangles, whose distances are then computed as the kernel does.
    """
    try:
        from trimesh import Trimesh
        from trimesh.ray.ray_pyembree import RayMeshIntersector
    except ImportError:
        raise ValueError(
            "the tracer 'embree' needs two packages: pip install trimesh embreex"
        ) from None
    soup = Trimesh(
        corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3), process=False
    )
    outside = 2 * float(np.linalg.norm(corners, axis=2).max())
    hits = RayMeshIntersector(soup).intersects_first(outside * directions, -directions)
    a, b, c = corners[hits].swapaxes(0, 1)
    normals = np.cross(a, b) + np.cross(b, c) + np.cross(c, a)
    heights = (normals * directions).sum(axis=1)
    radii = (a * normals).sum(axis=1) / np.where(heights == 0, 1, heights)
    met = (hits >= 0) & (heights != 0) & (radii > 0)
    return np.where(met, radii, 0.0), np.where(met, hits, -1)
