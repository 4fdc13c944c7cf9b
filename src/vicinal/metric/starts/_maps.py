"""Maps computed directly from the rows, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric._relief import feature_scale, relieff_weights
from vicinal.metric.descent import Frame
from vicinal.metric.starts._discriminant import discriminant_map, within_scatter

# How within-class scatter is shrunk: the least expected error for Gaussian rows.
SHRINKAGE = "oas"
STARTS = ("identity", "standardised", "whitening", "pca", "lda", "relieff")


@dataclass(frozen=True)
class Start:
    """A named start with so many rows; None is all."""

    name: str
    n_components: int | None = None

    def label(self) -> str:
        """Return a short description for progress lines and ``init_``."""
        rank = "" if self.n_components is None else f", {self.n_components} components"
        return f"{self.name}{rank}"


def start_map(
    start: Start, X: AnyArray, codes: IntArray, frame: Frame, rng: np.random.Generator
) -> FloatArray:
    """Return the map L (p, r) a start names, for rows X (n, r) in a frame, not scaled.

    "identity" has the distances of the features as given, "standardised" and "zeros" those of the
    frame; "whitening" and "pca" know the rows, "lda" and "relieff" their classes too.
    """
    width = X.shape[1]
    p = min(start.n_components or width, width)
    if sparse.issparse(X) and start.name in ("whitening", "lda", "relieff"):
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
    if start.name == "relieff":
        return relief_map(X, codes, p)
    return np.eye(p, width)


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


def whitening_map(X: FloatArray, n_components: int) -> FloatArray:
    """Return principal directions scaled to unit variance, widest first; variances are shrunk."""
    together = within_scatter(X, np.zeros(len(X), np.int64), X.shape[1])
    whitened = discriminant_map(together, X.shape[1], SHRINKAGE)
    order = np.argsort(np.einsum("ij,ij->i", whitened, whitened), kind="stable")
    return np.ascontiguousarray(whitened[order[:n_components]])


def relief_map(X: FloatArray, codes: IntArray, n_components: int) -> FloatArray:
    """Return the diagonal map of ReliefF's weights (their square roots), the heaviest rows."""
    weights = feature_scale(relieff_weights(X, codes, n_jobs=1))
    heaviest = np.sort(np.argsort(-weights, kind="stable")[:n_components])
    components = np.zeros((n_components, X.shape[1]))
    components[np.arange(n_components), heaviest] = weights[heaviest]
    return components
