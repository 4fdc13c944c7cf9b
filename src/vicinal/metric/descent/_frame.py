"""The coordinates learning happens in: centred, scaled, and no wider than there are rows.

A metric does not see translations, and directions no row varies in cannot matter to any two
training rows. So learning happens on X' = (X − μ) diag(1/σ) V with V an orthonormal basis of the
row space where there are more features than rows, and a map L found there is folded back to
A = L Vᵀ diag(1/σ). Sparse rows are scaled only: they must not be made dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray, FloatArray


@dataclass(frozen=True)
class Frame:
    """The change of coordinates of the rows seen.

    ``centre`` (d,), ``scale`` (d,), and ``basis`` (d, r) orthonormal or None for the axes.
    """

    centre: FloatArray
    scale: FloatArray
    basis: FloatArray | None = None

    def enter(self, X: AnyArray) -> AnyArray:
        """Return rows in these coordinates, in float32 or float64 as given."""
        if sparse.issparse(X):
            return (X @ sparse.diags_array(1 / self.scale).astype(X.dtype)).tocsr()
        inside = (X - self.centre.astype(X.dtype)) / self.scale.astype(X.dtype)
        if self.basis is not None:
            inside = inside @ self.basis.astype(X.dtype)
        return np.ascontiguousarray(inside)

    def fold(self, components: FloatArray) -> FloatArray:
        """Return the map of original features equal to a map of these coordinates."""
        outside = components if self.basis is None else components @ self.basis.T
        return np.ascontiguousarray(outside / self.scale, dtype=components.dtype)

    def plain(self) -> FloatArray | None:
        """Return the map of these coordinates with the distances of the original features.

        None where that is the identity, to within the rounding of scaled features.
        """
        if np.allclose(self.scale, 1.0, rtol=0.02):
            return None
        if self.basis is None:
            return np.diag(self.scale)
        scaled = self.scale[:, None] * self.basis
        triangle: FloatArray = np.linalg.qr(scaled)[1]
        return triangle

    def unfold(self, components: FloatArray) -> FloatArray:
        """Return the map of these coordinates equal, on the rows, to one of original features."""
        inside = components * self.scale
        return inside if self.basis is None else inside @ self.basis


def make_frame(X: AnyArray) -> Frame:
    """Return the frame of the rows X; constant columns keep scale 1."""
    if sparse.issparse(X):
        return Frame(np.zeros(X.shape[1]), _scale(_sparse_spread(X)))
    centre = X.mean(axis=0, dtype=np.float64)
    scale = _scale(X.std(axis=0, dtype=np.float64))
    if X.shape[1] <= X.shape[0]:
        return Frame(centre, scale)
    scaled = (X - centre) / scale
    _, values, directions = np.linalg.svd(scaled, full_matrices=False)
    rank = max(1, int(np.sum(values > values[0] * 1e-6))) if values[0] > 0 else 1
    return Frame(centre, scale, np.ascontiguousarray(directions[:rank].T))


def _scale(spread: FloatArray) -> FloatArray:
    # A spread at the level of rounding is a constant column, whatever its size.
    floor = np.finfo(np.float32).tiny
    scale: FloatArray = np.where(spread > floor, spread, 1.0)
    return scale


def _sparse_spread(X: Any) -> FloatArray:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    spread: FloatArray = np.sqrt(np.maximum(square - mean**2, 0.0))
    return spread
