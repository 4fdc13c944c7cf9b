"""Maps computed directly from the rows, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric._relief import diagonal_map, relieff_weights
from vicinal.metric.descent import Frame, FramedRows
from vicinal.metric.starts._discriminant import (
    WithinScatter,
    discriminant_map,
    discriminant_ratios,
    within_scatter,
)

# How within-class scatter is shrunk: the least expected error for Gaussian rows.
SHRINKAGE = "oas"
# Rows ReliefF averages over, as many as a gradient metric is chosen on: of hundreds of columns that
# do not matter each keeps some weight by chance, which falls with the root of this number.
RELIEF_ROWS = 2000
STARTS = ("identity", "standardised", "whitening", "pca", "lda", "dann", "relieff")


@dataclass(frozen=True)
class Start:
    """A named start with so many rows (None is all), and how far it goes where that is open."""

    name: str
    n_components: int | None = None
    strength: float | None = None

    def label(self) -> str:
        """Return a short description for progress lines and ``init_``."""
        rank = "" if self.n_components is None else f", {self.n_components} components"
        strength = "" if self.strength is None else f", strength {self.strength:g}"
        return f"{self.name}{rank}{strength}"


def check_map(init: AnyArray, n_features: int, n_components: int | None) -> FloatArray:
    """Return an array given as a start; refuse other shapes than (n_components, n_features)."""
    components = np.asarray(init, dtype=np.float64)
    if (
        components.ndim != 2
        or components.shape[1] != n_features
        or not np.isfinite(components).all()
    ):
        raise ValueError(
            f"init must be a name or a finite array of shape (n_components, {n_features}), got "
            f"shape {components.shape}."
        )
    if n_components is not None and len(components) != n_components:
        raise ValueError(
            f"init has {len(components)} rows and n_components={n_components}; give one of them "
            "only, or a start with so many rows."
        )
    return components


def start_map(
    start: Start, X: AnyArray, codes: IntArray, frame: Frame, rng: np.random.Generator
) -> FloatArray:
    """Return the map L (p, r) a start names, for rows X (n, r) in a frame, not scaled.

    "identity" has the distances of the features as given, "standardised" and "zeros" those of the
    frame; "whitening" and "pca" know the rows, "lda", "dann" and "relieff" their classes too.
    """
    width = X.shape[1]
    p = min(start.n_components or width, width)
    if sparse.issparse(X) and start.name in ("whitening", "lda", "dann", "relieff"):
        raise ValueError(
            f"init={start.name!r} needs dense rows; for sparse ones use init='pca' or 'identity', "
            "or make them dense."
        )
    if start.name == "identity":
        return frame.plain(p)
    if start.name == "pca":
        return principal_map(X, p, rng)
    if start.name == "whitening":
        return whitening_map(X, p)
    if start.name == "lda":
        return discriminant_map(within_scatter(X, codes, len(frame.scale)), p, SHRINKAGE)
    if start.name == "dann":
        return adaptive_map(within_scatter(X, codes, len(frame.scale)), p)
    if start.name == "relieff":
        return diagonal_map(sampled_relieff(X, codes, rng), p if p < width else None)
    return np.eye(p, width)


def sampled_relieff(X: FloatArray, codes: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return ReliefF's weights (d,), averaged over some of the rows where there are many."""
    present = np.unique(codes, return_inverse=True)[1]
    some = np.sort(rng.permutation(len(X))[:RELIEF_ROWS])
    return relieff_weights(X, present, some, n_jobs=1)


def start_for(rows: FramedRows, start: Start, seed: int) -> FloatArray:
    """Return the map (p, r) a start names for rows in a frame, in float64."""
    rng = np.random.default_rng(seed)
    return start_map(start, rows.X, rows.codes, rows.frame, rng).astype(np.float64)


def principal_map(X: AnyArray, n_components: int, rng: np.random.Generator) -> FloatArray:
    """Return the first principal directions of the rows."""
    if sparse.issparse(X) or n_components < 0.3 * min(X.shape):
        from sklearn.decomposition import TruncatedSVD

        model = TruncatedSVD(n_components, random_state=int(rng.integers(2**31)))
        directions: FloatArray = model.fit(X).components_
        return directions
    centred = X - X.mean(axis=0)
    _, directions = eigh((centred.T @ centred).astype(np.float64))
    return np.ascontiguousarray(directions[:, ::-1][:, :n_components].T)


def adaptive_map(scatter: WithinScatter, n_components: int) -> FloatArray:
    """Return whitening within the classes, each direction scaled to its *whole* variance.

    The rows a of (1) in ``_discriminant`` times √(1 + λ): LᵀL = S^{-1/2} (B + I) S^{-1/2} with
    B = S^{-1/2} S_b S^{-1/2}, the global metric of discriminant adaptive nearest neighbours
    [hastie1996]. Directions that part the classes count most, and none is lost.
    """
    whitened = discriminant_map(scatter, n_components, SHRINKAGE)
    stretch = np.sqrt(1 + discriminant_ratios(scatter, whitened))
    stretched: FloatArray = stretch[:, None] * whitened
    return stretched


def whitening_map(X: FloatArray, n_components: int) -> FloatArray:
    """Return principal directions scaled to unit variance, widest first; variances are shrunk."""
    together = within_scatter(X, np.zeros(len(X), np.int64), X.shape[1])
    whitened = discriminant_map(together, X.shape[1], SHRINKAGE)
    order = np.argsort(np.einsum("ij,ij->i", whitened, whitened), kind="stable")
    return np.ascontiguousarray(whitened[order[:n_components]])
