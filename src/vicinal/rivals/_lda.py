"""Linear discriminant analysis as a metric: whitening within the classes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd
from sklearn.covariance import ledoit_wolf

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_at_least_two_classes, check_classification_input
from vicinal.metric._base import MetricLearner


class LDA(MetricLearner):
    """Learn the directions that part the classes, scaled by the spread within them.

    With S_w the pooled covariance within the classes and S_b that of the class means, the rows
    of ``components_`` solve

        S_b a = λ S_w a,   aᵀ S_w a = 1,                                    (1)

    in descending order of λ, so that the learned distance is the Mahalanobis distance of S_w
    inside the space the class means span. S_w is shrunk towards a multiple of the identity, so
    that more features than rows, constant columns and classes of one member need no care.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; at most min(R − 1, d), which None means.
    shrinkage : "auto" or float in [0, 1]
        (1 − γ) S_w + γ (tr S_w / d) I; "auto" takes γ from Ledoit and Wolf.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    eigenvalues_ : ndarray of shape (n_components,)
        λ of (1): variance between over variance within.
    shrinkage_ : float
        The γ used.
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        1: the solution is direct.

    Notes
    -----
    Time O(n d min(n, d) + min(n, d)³), memory O(n d).
    Departure from scikit-learn's ``LinearDiscriminantAnalysis``: the shrinkage is estimated once
    on all rows centred by class, not class by class, so that small classes do not spoil it.
    With γ = 0 the maps agree up to signs and one common factor.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA
    >>> X, y = load_wine(return_X_y=True)
    >>> LDA().fit(X, y).transform(X).shape
    (178, 2)
    """

    def __init__(self, n_components: int | None = None, *, shrinkage: str | float = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def fit(self, X: AnyArray, y: AnyArray) -> LDA:
        """Solve (1).

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        """
        X, self.classes_, codes = check_classification_input(self, X, y)
        check_at_least_two_classes(self, self.classes_)
        check_shrinkage(self.shrinkage)
        most = min(len(self.classes_) - 1, X.shape[1])
        wanted = check_n_components(self.n_components, most)
        components, eigenvalues, self.shrinkage_ = discriminant_directions(
            X.astype(np.float64, copy=False), codes, self.shrinkage
        )
        self.components_ = components[:wanted].astype(X.dtype, copy=False)
        self.eigenvalues_ = eigenvalues[:wanted]
        self.n_iter_ = 1
        return self


def check_shrinkage(shrinkage: str | float) -> None:
    """Refuse anything but "auto" and shares between 0 and 1."""
    valid = shrinkage == "auto" if isinstance(shrinkage, str) else 0.0 <= shrinkage <= 1.0
    if not valid:
        raise ValueError(f'shrinkage must be "auto" or between 0 and 1, got {shrinkage!r}.')


def check_n_components(n_components: int | None, most: int) -> int:
    """Return how many directions to keep; refuse more than there are."""
    if n_components is None:
        return most
    if not 1 <= n_components <= most:
        raise ValueError(
            f"n_components={n_components} must lie between 1 and {most}: LDA has at most "
            "min(classes - 1, features) directions."
        )
    return int(n_components)


def discriminant_directions(
    X: FloatArray, codes: IntArray, shrinkage: str | float
) -> tuple[FloatArray, FloatArray, float]:
    """Return the solutions of (1) as rows, their λ descending, and the shrinkage used.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    codes : int ndarray of shape (n,)
        Classes 0..R-1.
    shrinkage : "auto" or float

    Returns
    -------
    components : ndarray of shape (min(n, d), d)
    eigenvalues : ndarray of shape (min(n, d),)
    shrinkage : float
    """
    basis = _row_space(X)
    within, between = _deviations(X @ basis.T, codes)
    covariance, gamma = shrunk_covariance(within, shrinkage)
    scatter = between.T @ between / len(X)
    eigenvalues, vectors = eigh(scatter, covariance)
    return vectors.T[::-1] @ basis, eigenvalues[::-1], gamma


def _row_space(X: FloatArray) -> FloatArray:
    """An orthonormal basis (r, d) of the centred rows; the identity where they may fill space.

    S_b lies in that span and a shrunk S_w maps it to itself, so with d > n nothing is lost and
    the d × d matrices are never formed.
    """
    n, d = X.shape
    if d < n:
        return np.eye(d, dtype=X.dtype)
    basis: FloatArray = svd(X - X.mean(axis=0), full_matrices=False)[2]
    return basis


def _deviations(X: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Rows minus their class means, and those means minus the mean of all, both (n, d)."""
    counts = np.bincount(codes)
    means = np.zeros((len(counts), X.shape[1]))
    np.add.at(means, codes, X)
    means /= counts[:, None]
    return X - means[codes], means[codes] - X.mean(axis=0)


def shrunk_covariance(centred: FloatArray, shrinkage: str | float) -> tuple[FloatArray, float]:
    """Return (1 − γ) S + γ (tr S / d) I, never singular, and γ."""
    n, d = centred.shape
    if shrinkage == "auto":
        covariance, gamma = ledoit_wolf(centred, assume_centered=True)
    else:
        raw, gamma = centred.T @ centred / n, float(shrinkage)
        covariance = (1 - gamma) * raw + gamma * np.trace(raw) / d * np.eye(d)
    # Rounding alone may leave an eigenvalue of zero at or below zero; classes without any
    # spread leave nothing at all, and then the plain distance between the means remains.
    mean_variance = np.trace(covariance) / d
    floor = 1e-10 * mean_variance if mean_variance > 0 else 1.0
    return covariance + floor * np.eye(d), float(gamma)
