"""The sample a kernel estimate is made from, in coordinates where the bandwidth is 1.

    f(x) = Σ_j w_j(x) y_j,   w_j(x) ∝ ω_j K(‖A(x − x_j)‖ / h),

with A the present metric and ω the sample weights. Where no weight is positive, w_j ∝ ω_j.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._kernels import _smoothing as kernels
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.pairs import RowSide, panels_of, product_blocks

from ._targets import Targets

COMPACT = {
    "triangle": kernels.TRIANGLE,
    "epanechnikov": kernels.EPANECHNIKOV,
    "biweight": kernels.BIWEIGHT,
}
KERNELS = ("gaussian", *COMPACT)

# Samples a tile: with 256 queries a tile of float32 weights is 1 MB and stays in cache.
TILE = 1024
# Rows that are mapped at a time.
_CHUNK = 4096
# Below this many samples products in float64 cost nothing that matters.
_FEW = 2048
# Beyond this squared norm float32 cannot hold ‖x‖² − 2x·z + ‖z‖² to a hundredth.
_FLOAT32_NORM = 1e5


def apply(components: FloatArray, rows: FloatArray) -> FloatArray:
    """Return rows (n, d) under a map A (p, d), or a diagonal one (d,)."""
    return rows * components if components.ndim == 1 else rows @ components.T


@dataclass(frozen=True)
class Coordinates:
    """u = A(x − centre) / unit: where distances are measured, in units of the bandwidth.

    ``components`` A (p, d), or (d,) if diagonal, is the present metric, None the Euclidean one.
    """

    centre: FloatArray
    components: FloatArray | None
    unit: float

    def enter(
        self,
        X: AnyArray,
        dtype: Any,
        *,
        order: IntArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return rows (in ``order``, where given) in these coordinates, (n, p).

        Computed in float64, a few thousand rows at a time, whatever they are kept as.
        """
        width = len(self.centre) if self.components is None else len(self.components)
        rows = np.empty((len(X), width), dtype) if out is None else out
        for start in range(0, len(X), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            part = np.subtract(X[chunk] if order is None else X[order[chunk]], self.centre)
            if self.components is not None:
                part = apply(self.components, part)
            np.divide(part, self.unit, out=rows[chunk], casting="same_kind")
        return rows

    def leave(self, gradients: FloatArray) -> FloatArray:
        """Return gradients (..., p) with respect to u as gradients (..., d) with respect to x."""
        gradients = gradients / self.unit
        return gradients if self.components is None else apply(self.components.T, gradients)


@dataclass(frozen=True)
class Sample:
    """Rows and targets of a kernel estimate, sorted by class, ready for matrix products.

    ``panel`` (n, d + 2) holds [u, 1, −½‖u‖²], so that one product with [u', −½‖u'‖², 1] gives
    −½‖u − u'‖²; ``starts`` (C + 1,) says where each class begins.
    """

    panel: FloatArray
    targets: Targets
    weights: FloatArray
    starts: IntArray
    clamp: bool

    @property
    def rows(self) -> FloatArray:
        """The rows u, (n, d)."""
        return self.panel[:, :-2]

    @property
    def n_columns(self) -> int:
        """How many columns f has."""
        return self.targets.n_columns

    def segments(self, tile: slice) -> Iterator[tuple[int, slice]]:
        """Yield (column, rows within the tile), one for each class the tile meets."""
        first = int(np.searchsorted(self.starts, tile.start, side="right")) - 1
        for column in range(first, self.n_columns):
            start, stop = self.starts[column], self.starts[column + 1]
            if start >= tile.stop:
                return
            if stop > tile.start:
                yield (
                    column,
                    slice(max(start, tile.start) - tile.start, min(stop, tile.stop) - tile.start),
                )


def make_sample(
    X: AnyArray, targets: Targets, coordinates: Coordinates, weights: AnyArray | None = None
) -> Sample:
    """Return the sample in the given coordinates. O(n d) time; one copy of X."""
    order = np.argsort(targets.codes, kind="stable")
    width = len(coordinates.enter(X[:1], np.float64)[0])
    panel = np.empty((len(X), width + 2), np.float64 if len(X) <= _FEW else np.float32)
    largest = _fill_panel(panel, X, order, coordinates)
    if largest > _FLOAT32_NORM and panel.dtype == np.float32:
        panel = panel.astype(np.float64)
        _fill_panel(panel, X, order, coordinates)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights)[order]
    starts = np.searchsorted(targets.codes[order], np.arange(targets.n_columns + 1))
    return Sample(
        panel, targets.take(order), weights / weights.max(), starts, largest > _FLOAT32_NORM
    )


def _fill_panel(panel: FloatArray, X: AnyArray, order: IntArray, coordinates: Coordinates) -> float:
    """Fill [u, 1, −½‖u‖²] and return the largest ‖u‖²."""
    in_order = bool(np.all(order[1:] > order[:-1]))
    rows = coordinates.enter(X, panel.dtype, order=None if in_order else order, out=panel[:, :-2])
    norms = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    panel[:, -2], panel[:, -1] = 1, -norms / 2
    return float(norms.max())


def query_panel(rows: FloatArray) -> FloatArray:
    """Return [u, −½‖u‖², 1], the other factor of the product behind :func:`log_weights`."""
    panel = np.empty((len(rows), rows.shape[1] + 2), rows.dtype)
    panel[:, :-2], panel[:, -1] = rows, 1
    panel[:, -2] = -np.einsum("ij,ij->i", rows, rows, dtype=np.float64) / 2
    return panel


def tiles(n_rows: int) -> Iterator[slice]:
    """Yield slices of TILE consecutive samples."""
    for start in range(0, n_rows, TILE):
        yield slice(start, min(start + TILE, n_rows))


def log_weights(rows: FloatArray, sample: Sample) -> Iterator[tuple[slice, FloatArray]]:
    """Yield tiles of samples with −½‖u − u_j‖² of the queries ``rows`` (m, d), (m, tile).

    The numbers may be overwritten, and are by the next tile's.
    """
    norms = sample.panel[:, -1]
    panels = panels_of(RowSide(sample.panel, norms, norms), TILE)
    for first, panel, logs in product_blocks(query_panel(rows), panels):
        if sample.clamp:
            np.minimum(logs, 0, out=logs)
        yield slice(first, first + len(panel.rows)), logs


def prior(sample: Sample) -> FloatArray:
    """Return the weighted mean of each column, (n_columns,): f where no sample is near."""
    weighted = sample.weights * sample.targets.values
    sums = np.bincount(sample.targets.codes, weighted, minlength=sample.n_columns)
    mean: FloatArray = sums / sample.weights.sum()
    return mean


def divide_or_mean(numerators: FloatArray, totals: FloatArray, mean: FloatArray) -> FloatArray:
    """Return numerators (..., C) / totals (...), and ``mean`` (C,) where a total is zero."""
    empty = totals <= 0
    values = numerators / np.where(empty, 1.0, totals)[..., None]
    values[empty] = mean
    return values
