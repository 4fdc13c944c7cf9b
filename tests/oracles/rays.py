"""Rays through triangles by solving for the point of each pair."""

from __future__ import annotations

import numpy as np


def farthest_hits(corners, directions, slack=1e-12):
    """Return the largest t > 0 at which t u lies in a triangle, for every ray; 0 where none does.

    t u = α a + β b + γ c with α + β + γ = 1 and none of them negative.
    """
    radii = np.zeros(len(directions))
    for triangle in corners:
        if abs(np.linalg.det(triangle)) < 1e-14:
            continue
        shares = np.linalg.solve(triangle.T, directions.T).T  # of a, b and c in u
        total = shares.sum(axis=1)
        inside = (total > slack) & (shares >= -slack * np.abs(total)[:, None]).all(axis=1)
        t = np.where(inside, 1 / np.where(total == 0, 1, total), 0.0)
        radii = np.maximum(radii, t)
    return radii
