"""Linear discriminants: whitening within the classes, turned so that their means part first.

With S_w the pooled covariance within the classes, S_b that of the class means and
S = (1−γ) S_w + γ (tr S_w / d) I, the rows of the map solve

    S_b a = λ S a,   aᵀ S a = 1,                                                   (1)

in descending order of λ. All rows together are S^{-1/2} up to a rotation; the first R−1 are linear
discriminant analysis. γ is given, or the one of least expected error by the formulas of Ledoit and
Wolf [ledoit2004] or of Chen, Wiesel, Eldar and Hero (OAS) [chen2010], as scikit-learn has them;
both need but Σλ_i and Σλ_i² of S_w, the first also the rows' fourth moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, svd

from vicinal._types import AnyArray, FloatArray, IntArray

SHRINKAGES = ("ledoit_wolf", "oas")
_BLOCK = 4096


@dataclass(frozen=True)
class WithinScatter:
    """Second moments of rows: within the classes, diagonalised, and the class means.

    S_w = V diag(λ) Vᵀ with ``values`` λ (r,) and ``directions`` V (width, r), where r is the
    rows' width or, of wide rows, their number; ``means`` (R, width) are the class means less the
    overall mean, ``shares`` (R,) the classes' shares of the rows. ``fourth_moment`` is the mean of
    ‖x − m‖⁴ about the class means, ``n_features`` the number d that tr S_w is spread over, which
    exceeds the width where rows stand in the coordinates of their span.
    """

    values: FloatArray
    directions: FloatArray
    means: FloatArray
    shares: FloatArray
    fourth_moment: float
    n_samples: int
    n_features: int

    @property
    def total(self) -> float:
        """Mean variance of a feature, tr S_w / d."""
        return float(self.values.sum() / self.n_features)


def within_scatter(X: AnyArray, codes: IntArray, n_features: int) -> WithinScatter:
    """Return the scatter of rows (n, r).

    Time O(n r min(n, r) + min(n, r)³). Memory O(r²) beside the rows, or O(n r) where r > n: the
    r × r matrices of wide rows are never formed. Sparse rows are made dense a block at a time.
    """
    n, width = X.shape
    counts = np.bincount(codes)
    members = sparse.csr_array((np.ones(n), (codes, np.arange(n))))
    sums = members @ X
    means = _dense(sums) / np.maximum(counts, 1)[:, None]
    centre = counts @ means / n
    basis = _row_space(X, centre) if width > n else None
    covariance, fourth_moment = _residual_moments(X, codes, means, basis)
    # Divide and conquer is twice as fast as the default driver at several hundred features.
    values, directions = eigh(covariance, driver="evd")
    # Variances at the level of the rows' rounding are none.
    size = np.square(means).sum(axis=1).max(initial=0.0)
    values[values <= (8 * np.finfo(X.dtype).eps) ** 2 * size] = 0.0
    return WithinScatter(
        values=values,
        directions=directions if basis is None else basis.T @ directions,
        means=means - centre,
        shares=counts / n,
        fourth_moment=fourth_moment,
        n_samples=n,
        n_features=n_features,
    )


def _row_space(X: AnyArray, centre: FloatArray) -> FloatArray:
    """Return an orthonormal basis (n, width) of the centred rows.

    S_b lies in that span and a shrunk S_w maps it to itself: nothing is lost.
    """
    if sparse.issparse(X):
        raise ValueError(
            f"discriminants of {X.shape[0]} sparse rows with {X.shape[1]} features would make them "
            "dense; use principal directions, or make the rows dense first."
        )
    basis: FloatArray = svd(X - centre, full_matrices=False, overwrite_a=True)[2]
    return basis


def _residual_moments(
    X: AnyArray, codes: IntArray, means: FloatArray, basis: FloatArray | None
) -> tuple[FloatArray, float]:
    """Return S_w, in the basis where there is one, and the mean of ‖x − m‖⁴."""
    n, width = len(codes), X.shape[1] if basis is None else len(basis)
    covariance, fourth = np.zeros((width, width)), 0.0
    for start in range(0, n, _BLOCK):
        part = slice(start, start + _BLOCK)
        residuals = _dense(X[part]) - means[codes[part]].astype(X.dtype)
        if basis is not None:
            residuals = residuals @ basis.T
        covariance += residuals.T @ residuals
        squared_norms = np.einsum("ij,ij->i", residuals, residuals, dtype=np.float64)
        fourth += float(squared_norms @ squared_norms)
    return covariance / n, fourth / n


def _dense(X: Any) -> FloatArray:
    dense: FloatArray = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return dense


def shrinkage_of(scatter: WithinScatter, shrinkage: str | float) -> float:
    """Return γ: a number as it is, "ledoit_wolf" or "oas" by their formulas.

    0 where there is a single feature, and where S_w is a multiple of the identity already.
    """
    if not isinstance(shrinkage, str):
        return float(shrinkage)
    n, d = scatter.n_samples, scatter.n_features
    square = float(scatter.values @ scatter.values)
    # ‖S_w − (tr S_w / d) I‖², which is zero but for rounding where there is nothing to shrink.
    excess = square - d * scatter.total**2
    if d == 1 or excess <= 1e-14 * square:
        return 0.0
    if shrinkage == "oas":
        return min(1.0, (square + (d * scatter.total) ** 2) / ((n + 1) * excess))
    if shrinkage == "ledoit_wolf":
        return min(1.0, max(0.0, scatter.fourth_moment - square) / (n * excess))
    raise ValueError(f"shrinkage must be a number or one of {SHRINKAGES}, got {shrinkage!r}.")


def discriminant_map(
    scatter: WithinScatter, n_components: int, shrinkage: str | float
) -> FloatArray:
    """Return the first ``n_components`` solutions of (1) as rows, at most r of them.

    Beyond the span of the class means λ is zero, and the rows are any that complete S^{-1/2}.
    """
    gamma = shrinkage_of(scatter, shrinkage)
    shrunk = floor_variances((1 - gamma) * scatter.values + gamma * scatter.total)
    whitening = (scatter.directions / np.sqrt(shrunk)).T
    means = np.sqrt(scatter.shares)[:, None] * scatter.means @ whitening.T
    rotation = np.linalg.svd(means, full_matrices=n_components > min(means.shape))[2]
    components: FloatArray = rotation[:n_components] @ whitening
    return components


def discriminant_ratios(scatter: WithinScatter, components: FloatArray) -> FloatArray:
    """Return λ of (1) for each row of a map: variance between the classes over that within."""
    ratios: FloatArray = scatter.shares @ np.square(scatter.means @ components.T)
    return ratios


def floor_variances(variances: FloatArray) -> FloatArray:
    """Lift variances to a share of the largest, so that none is divided by; all zero become 1."""
    largest = variances.max(initial=0.0)
    floored: FloatArray = np.maximum(variances, 1e-8 * largest if largest > 0 else 1.0)
    return floored
