"""The coordinates learning happens in: centred, scaled, and no wider than there are rows.

A metric does not see translations, and directions no row varies in cannot matter to any two
training rows. So learning happens on X' = (X − μ) diag(1/σ) V with V an orthonormal basis of the
row space where there are more features than rows, and a map L found there is folded back to
A = L Vᵀ diag(1/σ). Sparse rows are scaled only: they must not be made dense.

Two maps are another matter. Of ‖U'x' − V'z'‖ with centred rows, folding U' and V' back leaves
‖U x − V z − (U − V) μ‖: the offset (U − V) μ must be kept beside the maps (:meth:`Frame.offset`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from vicinal._types import AnyArray, FloatArray
from vicinal.metric.maps import LinearMaps
from vicinal.rows import Rows


@dataclass(frozen=True)
class Frame:
    """The change of coordinates of the rows seen.

    ``centre`` (d,), ``scale`` (d,), and ``basis`` (d, r) orthonormal or None for the axes.
    """

    centre: FloatArray
    scale: FloatArray
    basis: FloatArray | None = None

    @property
    def width(self) -> int:
        """How many coordinates there are."""
        return len(self.scale) if self.basis is None else self.basis.shape[1]

    def enter(self, X: AnyArray) -> AnyArray:
        """Return rows in these coordinates, in float32 or float64 as given."""
        if sparse.issparse(X):
            return self._enter_sparse(X)
        inside = (X - self.centre.astype(X.dtype)) / self.scale.astype(X.dtype)
        if self.basis is not None:
            inside = inside @ self.basis.astype(X.dtype)
        return np.ascontiguousarray(inside)

    def _enter_sparse(self, X: Any) -> AnyArray:
        """Scale sparse rows, which only a basis, being no wider than dense rows were, makes dense.

        Without one they are not centred, which no distance between rows in one frame sees.
        """
        if self.basis is None:
            return (X @ sparse.diags_array(1 / self.scale).astype(X.dtype)).tocsr()
        inward = self.basis / self.scale[:, None]
        inside: FloatArray = X @ inward.astype(X.dtype) - (self.centre @ inward).astype(X.dtype)
        return inside

    def fold(self, components: FloatArray) -> FloatArray:
        """Return the map of original features equal to a map of these coordinates."""
        outside = components if self.basis is None else components @ self.basis.T
        return np.ascontiguousarray(outside / self.scale, dtype=components.dtype)

    def unfold(self, components: FloatArray) -> FloatArray:
        """Return the map of these coordinates equal, on the rows, to one of original features."""
        inside = components * self.scale
        return inside if self.basis is None else inside @ self.basis

    def offset(self, query_components: FloatArray, components: FloatArray) -> FloatArray:
        """Return (U − V) μ, what two folded maps differ by at the centre; zero if they are one."""
        difference: FloatArray = (query_components - components) @ self.centre
        return difference

    def maps(self, components: FloatArray) -> LinearMaps:
        """Return the maps of features equal to a map, or to two stacked: queries', database's."""
        if components.ndim == 2:
            return LinearMaps(self.fold(components))
        query_map, database_map = (self.fold(side) for side in components)
        offset = self.offset(query_map, database_map).astype(components.dtype)
        return LinearMaps(database_map, query_map, -offset)

    def plain(self, n_components: int) -> FloatArray:
        """Return the first rows of a map with the distances of the features, up to one factor."""
        relative = self.scale / self.scale.max()  # or distances of large values would overflow
        if self.basis is None:
            return np.eye(n_components, len(self.scale)) * relative
        triangle: FloatArray = np.linalg.qr(relative[:, None] * self.basis)[1]
        return triangle[:n_components]

    @property
    def is_plain(self) -> bool:
        """Whether distances here are those of the features, to the rounding of scaled ones."""
        return bool(np.allclose(self.scale, self.scale[0], rtol=0.02))


PLAIN = Frame(np.zeros(0), np.ones(0))


@dataclass(frozen=True)
class FramedRows(Rows):
    """Rows in the coordinates of a frame."""

    frame: Frame = PLAIN


def enter_frame(rows: Rows, frame: Frame) -> FramedRows:
    """Return rows in the coordinates of a frame."""
    return FramedRows(frame.enter(rows.X), rows.target, rows.weights, rows.groups, frame=frame)


def frame_rows(rows: Rows) -> FramedRows:
    """Return rows about their mean, on one scale, in float64, no wider than there are rows."""
    frame = make_frame(rows.X, standardise=False)
    return enter_frame(replace(rows, X=rows.X.astype(np.float64, copy=False)), frame)


def make_frame(X: AnyArray, *, standardise: bool = True) -> Frame:
    """Return the frame of the rows X.

    ``standardise=False`` gives all columns one scale, the size of the largest entry about the mean.
    A column that varies by no more than the rounding of its values is constant, and keeps scale 1.
    """
    if sparse.issparse(X):
        mean, variance = np.asarray(mean_variance_axis(X, axis=0), dtype=np.float64)
        return Frame(np.zeros(X.shape[1]), _scale(mean, np.sqrt(variance), X.dtype))
    centre, spread = _moments(X)
    if standardise:
        scale = _scale(centre, spread, X.dtype)
    else:
        scale = np.full(X.shape[1], float(np.abs(X - centre).max(initial=0.0)) or 1.0)
    if X.shape[1] <= X.shape[0]:
        return Frame(centre, scale)
    _, values, directions = np.linalg.svd((X - centre) / scale, full_matrices=False)
    rank = max(1, int(np.sum(values > values[0] * 1e-6))) if values[0] > 0 else 1
    return Frame(centre, scale, np.ascontiguousarray(directions[:rank].T))


def _scale(centre: FloatArray, spread: FloatArray, dtype: Any) -> FloatArray:
    floor = 8 * np.finfo(dtype).eps * np.abs(centre) + np.finfo(dtype).tiny
    scale: FloatArray = np.where(spread > floor, spread, 1.0)
    return scale


def _moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of each column.

    Sums are of differences to the first row: those of a constant column are zero, while the sum of
    its values is rounded, the more rows the coarser.
    """
    moved = np.subtract(X, X[0], dtype=np.float64)
    shift = moved.mean(axis=0)
    moved -= shift
    return X[0] + shift, np.sqrt(np.einsum("ij,ij->j", moved, moved) / len(X))
