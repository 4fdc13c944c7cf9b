"""Priors and initial maps by metric-learn's names, and the parameters it has renamed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh, pinvh
from sklearn.datasets import make_spd_matrix
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_array, check_random_state

from vicinal._types import AnyArray, FloatArray


class NonPSDError(ValueError):
    """A matrix given as a metric has negative eigenvalues, or is not symmetric."""


INITS = ("auto", "pca", "lda", "identity", "random")
PRIORS = ("identity", "covariance", "random")


def renamed(value: Any, old: str, given: Any, new: str) -> Any:
    """Return the value of a renamed parameter, warning where the old name was used."""
    if isinstance(given, str) and given == "deprecated":
        return value
    warnings.warn(f"{old}= is now called {new}=.", FutureWarning, stacklevel=3)
    return given


def check_n_components(n_features: int, n_components: Any) -> int:
    """Return how many components are asked for: all where None is given."""
    if n_components is None:
        return n_features
    if not 0 < n_components <= n_features:
        raise ValueError(f"n_components={n_components} is not between 1 and {n_features}.")
    return int(n_components)


def initial_map(
    n_components: int, X: FloatArray, y: AnyArray, init: Any, random_state: Any, *, classes: bool
) -> FloatArray:
    """Return a start (n_components, d); ``classes`` says whether "lda" makes sense."""
    d = X.shape[1]
    if not isinstance(init, str):
        return _given_map(init, d, n_components)
    names = INITS if classes else tuple(name for name in INITS if name != "lda")
    if init not in names:
        raise ValueError(
            f"init={init!r} is unknown; use {', '.join(map(repr, names))} or a map of shape "
            "(n_components, n_features)."
        )
    if init == "auto":
        if classes and n_components <= min(d, len(np.unique(y)) - 1):
            init = "lda"
        else:
            init = "pca" if n_components < min(d, len(X)) else "identity"
    if init == "identity":
        return np.eye(n_components, d)
    random = check_random_state(random_state)
    if init == "random":
        return random.standard_normal((n_components, d))
    if init == "pca":
        components = PCA(min(n_components, *X.shape), random_state=random).fit(X).components_
    else:
        model = LinearDiscriminantAnalysis().fit(X, y)
        components = model.scalings_.T[:n_components]
    start = np.eye(n_components, d)
    start[: len(components)] = components
    return start


def _given_map(init: Any, n_features: int, n_components: int) -> FloatArray:
    start: FloatArray = check_array(init, dtype=np.float64)
    if start.shape[1] != n_features:
        raise ValueError(f"init maps points of {start.shape[1]} features, and X has {n_features}.")
    if start.shape[0] > start.shape[1]:
        raise ValueError(
            f"init has {start.shape[0]} rows for {start.shape[1]} features; give at most as many."
        )
    if start.shape[0] != n_components:
        raise ValueError(f"n_components={n_components}, but init has {start.shape[0]} rows.")
    return start


def prior_metric(
    points: FloatArray, prior: Any, random_state: Any, *, name: str = "prior", strict: bool = True
) -> FloatArray:
    """Return a Mahalanobis matrix (d, d) by name, or the one given, checked.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        For "covariance"; distinct points are counted once.
    prior : "identity", "covariance", "random" or ndarray of shape (d, d)
    random_state : int, RandomState or None
    name : str
        Of the parameter, for messages.
    strict : bool
        Whether it must be positive definite.
    """
    d = points.shape[1]
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise ValueError(
                f"{name}={prior!r} is unknown; use {', '.join(map(repr, PRIORS))} or a matrix of "
                "shape (n_features, n_features)."
            )
        if prior == "identity":
            return np.eye(d)
        if prior == "random":
            return make_spd_matrix(d, random_state=check_random_state(random_state))
        return _inverse_covariance(points, name, strict)
    matrix: FloatArray = check_array(prior, dtype=np.float64)
    if matrix.shape != (d, d):
        raise ValueError(f"{name} is of shape {matrix.shape}, but the points have {d} features.")
    if not np.allclose(matrix, matrix.T):
        raise NonPSDError(f"{name} is no metric: it is not symmetric.")
    smallest = _smallest_share(matrix, name)
    if strict and smallest <= 1e-12:
        raise np.linalg.LinAlgError(
            f"{name} has an eigenvalue of zero, and this learner needs its inverse."
        )
    return matrix


def _smallest_share(matrix: FloatArray, name: str) -> float:
    values = np.linalg.eigvalsh(matrix)
    share = float(values[0] / max(np.abs(values).max(), np.finfo(float).tiny))
    if share < -1e-9:
        raise NonPSDError(f"{name} is no metric: it has negative eigenvalues.")
    return share


def _inverse_covariance(points: FloatArray, name: str, strict: bool) -> FloatArray:
    covariance = np.atleast_2d(np.cov(np.unique(points, axis=0), rowvar=False))
    if _smallest_share(covariance, name) <= 1e-12:
        why = "the covariance of these points has no inverse, because features depend on each other"
        if strict:
            raise np.linalg.LinAlgError(
                f"{why}; choose another {name}, or reduce the features by PCA first."
            )
        warnings.warn(f"{why}; {name} is its pseudo-inverse.", UserWarning, stacklevel=4)
    inverse: FloatArray = pinvh(covariance)
    return inverse


def components_from_metric(metric: FloatArray) -> FloatArray:
    """Return L (d, d) with M = LᵀL: Cholesky's where M is definite, else by eigenvectors."""
    metric = np.asarray((metric + metric.T) / 2, dtype=np.float64)
    if not np.isfinite(metric).all():
        raise ValueError("the learned matrix is not finite; scale the features.")
    if np.array_equal(metric, np.diag(np.diag(metric))):
        return np.diag(np.sqrt(np.maximum(np.diag(metric), 0.0)))
    try:
        return np.linalg.cholesky(metric).T
    except np.linalg.LinAlgError:
        values, directions = eigh(metric)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * directions.T
