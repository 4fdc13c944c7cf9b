"""Scalings and PCA, fitted on the training part only: pure functions and a thin transformer."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal._types import AnyArray, FloatArray
from vicinal.rows import FLOATS, check_transform_input, refuse_disguises

Scale = Literal["zscore", "histogram", "none", "unit"]
SCALES: tuple[str, ...] = get_args(Scale)


def column_moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return mean and scale of each column; a constant column gets scale 1.

    .. math:: \mu_j = \tfrac1n \sum_i x_{ij}, \qquad
              \sigma_j = \sqrt{\tfrac1n \sum_i (x_{ij} - \mu_j)^2}

    The sums run in double precision whatever the input's. A column counts as constant when its
    deviation is within rounding of its size.

    Parameters
    ----------
    X : ndarray of shape (n, d)

    Returns
    -------
    mean, scale : float64 ndarrays of shape (d,)
    """
    mean = X.mean(axis=0, dtype=np.float64)
    scale = X.std(axis=0, dtype=np.float64)
    rounding = 10 * np.finfo(X.dtype).eps * np.abs(X).max(axis=0)
    constant = scale <= rounding
    return mean, np.where(constant, 1.0, scale)


def zscore(X: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    r"""Return :math:`(x_{ij} - \mu_j) / \sigma_j`, in the precision of X."""
    return ((X - mean) / scale).astype(X.dtype, copy=False)


def normalize_histograms(X: FloatArray) -> FloatArray:
    r"""Divide each row by its sum, :math:`x_{ij} / \sum_l x_{il}`; a row of zeros stays zero.

    Only counts and other non-negative values are histograms: a negative value is refused.
    """
    if X.size and X.min() < 0:
        row, column = np.argwhere(X < 0)[0]
        raise ValueError(
            f"histogram normalisation needs non-negative values, but row {row}, column {column} "
            f"is {X[row, column]:.6g}; use scale='zscore' or 'none' for these data."
        )
    total = X.sum(axis=1, keepdims=True, dtype=np.float64)
    return (X / np.where(total > 0, total, 1.0)).astype(X.dtype, copy=False)


def normalize_rows(X: FloatArray) -> FloatArray:
    r"""Divide each row by its length, :math:`x_i / \|x_i\|_2`; a row of zeros stays zero."""
    length = np.sqrt(np.square(X, dtype=np.float64).sum(axis=1, keepdims=True))
    return (X / np.where(length > 0, length, 1.0)).astype(X.dtype, copy=False)


# Lengths of unit vectors stored as half floats differ from 1 by less.
_ROUNDING = 2e-3


def are_unit_vectors(X: FloatArray) -> bool:
    """Return whether all rows have length 1, as embeddings have; shares of a whole have no sign."""
    if X.ndim != 2 or not X.size or not X.min() < 0:  # which NaN is not either
        return False
    lengths = np.sqrt(np.square(X, dtype=np.float64).sum(axis=1))
    return bool(np.abs(lengths - 1).max() < _ROUNDING)


def principal_axes(X: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray]:
    """Return the centre and the first principal axes of X, largest variance first.

    Each axis is turned so that its largest entry (the first of equals) is positive, which makes
    the result independent of the solver's choice of sign. Computed by the singular values of
    the centred data when n < d, else from the d x d covariance: O(n d min(n, d)) time.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_components : int
        At most min(n, d).

    Returns
    -------
    centre : float64 ndarray of shape (d,)
    axes : float64 ndarray of shape (n_components, d)
        Orthonormal rows.
    """
    n, d = X.shape
    if not 1 <= n_components <= min(n, d):
        raise ValueError(
            f"n_components={n_components} principal components cannot be had from {n} rows of "
            f"{d} features; use 1 to {min(n, d)}."
        )
    centre = X.mean(axis=0, dtype=np.float64)
    centred = X - centre
    if n < d:
        axes = np.linalg.svd(centred, full_matrices=False)[2]
    else:
        axes = np.linalg.eigh(centred.T @ centred)[1].T[::-1]
    return centre, _fix_signs(axes[:n_components])


def _fix_signs(axes: FloatArray) -> FloatArray:
    # Entries that differ by rounding only must not decide the sign, so compare coarsely.
    size = np.abs(axes)
    first = (size >= size.max(axis=1, keepdims=True) * (1 - 1e-6)).argmax(axis=1)
    signs = np.sign(axes[np.arange(len(axes)), first])
    return np.ascontiguousarray(axes * signs[:, None])


class Preparation(TransformerMixin, BaseEstimator):
    """Scale features, and reduce them by PCA, with numbers learned from the training part.

    Parameters
    ----------
    scale : {"zscore", "histogram", "none", "unit"}, default="zscore"
        - "zscore": each column minus its training mean, over its training deviation
          (constant columns are only centred).
        - "histogram": each row over its sum; non-negative data only.
        - "none": as they come.
        - "unit": each row over its Euclidean length.
    n_components : int or None, default=None
        Number of principal components kept, fitted after the scaling; None keeps the features.
    pca_first : bool, default=False
        Reduce first and z-score the components. This gives every component the same weight,
        which whitens the data: on ISOLET it triples the Euclidean 3-NN error.
    deviations : array-like of shape (d,), optional
        What to divide a column by in place of its training deviation, NaN where that is to be
        taken (``TableEncoder.deviations_``); for ``scale="zscore"`` before any PCA.

    Attributes
    ----------
    mean_, scale_ : ndarray
        Column moments (``scale="zscore"`` only).
    centre_ : ndarray of shape (d,)
    axes_ : ndarray of shape (n_components, d)
        The PCA (only when `n_components` is given).
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.data import Preparation
    >>> X = np.array([[0.0, 5.0], [2.0, 5.0]])
    >>> Preparation().fit_transform(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(
        self,
        scale: Scale = "zscore",
        n_components: int | None = None,
        *,
        pca_first: bool = False,
        deviations: AnyArray | None = None,
    ) -> None:
        self.scale = scale
        self.n_components = n_components
        self.pca_first = pca_first
        self.deviations = deviations

    def fit(self, X: AnyArray, y: AnyArray | None = None) -> Preparation:
        """Learn the scaling and the axes from the training rows; `y` is ignored."""
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {self.scale!r}.")
        refuse_disguises(X)
        checked = validate_data(self, X, dtype=list(FLOATS))
        for step in self._steps():
            checked = getattr(self, f"_fit_{step}")(checked)
        self.n_features_out_ = checked.shape[1]
        return self

    def transform(self, X: AnyArray) -> FloatArray:
        """Apply what was learned, in the precision of X."""
        check_is_fitted(self)
        checked = check_transform_input(self, X, accept_sparse=False)
        for step in self._steps():
            checked = getattr(self, f"_apply_{step}")(checked)
        return checked

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of the output: the input's names, or pca0, pca1, ..."""
        check_is_fitted(self)
        if self.n_components is not None:
            return np.array([f"pca{i}" for i in range(self.n_features_out_)], dtype=object)
        if input_features is None:
            default = [f"x{i}" for i in range(self.n_features_in_)]
            input_features = getattr(self, "feature_names_in_", default)
        if len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length {self.n_features_in_}, "
                f"got {len(input_features)}."
            )
        return np.asarray(input_features, dtype=object)

    def _steps(self) -> tuple[str, ...]:
        scaling = () if self.scale == "none" else (self.scale,)
        reduction = () if self.n_components is None else ("pca",)
        if self.pca_first and self.scale == "zscore":
            return (*reduction, *scaling)
        return (*scaling, *reduction)

    def _fit_zscore(self, X: FloatArray) -> FloatArray:
        self.mean_, self.scale_ = column_moments(X)
        if self.deviations is not None and not (self.pca_first and self.n_components):
            deviations = np.asarray(self.deviations, dtype=np.float64)
            if deviations.shape != self.scale_.shape:
                raise ValueError(
                    f"deviations has shape {deviations.shape} for {len(self.scale_)} features."
                )
            self.scale_ = np.where(np.isnan(deviations), self.scale_, deviations)
        return self._apply_zscore(X)

    def _apply_zscore(self, X: FloatArray) -> FloatArray:
        return zscore(X, self.mean_, self.scale_)

    def _fit_histogram(self, X: FloatArray) -> FloatArray:
        return normalize_histograms(X)

    _apply_histogram = _fit_histogram

    def _fit_unit(self, X: FloatArray) -> FloatArray:
        return normalize_rows(X)

    _apply_unit = _fit_unit

    def _fit_pca(self, X: FloatArray) -> FloatArray:
        assert self.n_components is not None
        self.centre_, self.axes_ = principal_axes(X, self.n_components)
        return self._apply_pca(X)

    def _apply_pca(self, X: FloatArray) -> FloatArray:
        return ((X - self.centre_) @ self.axes_.T).astype(X.dtype, copy=False)
