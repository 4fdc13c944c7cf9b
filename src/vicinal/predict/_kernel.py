"""Kernel machines in a learned metric: every row has a say, by a kernel of its distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_choice, check_positive, check_whole
from vicinal.metric.learner import maps_of
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._kernel_ridge import (
    KERNELS,
    KernelFit,
    KernelSettings,
    choose_settings,
    solve_kernel,
)
from vicinal.predict._training_targets import NeighborsClassifier, NeighborsRegressor

# Seeds which rows are landmarks.
_SEED = 0


class _KernelMachine(NeighborsPredictor):
    def __init__(
        self,
        metric: Any = None,
        *,
        kernel: str = "auto",
        bandwidth: float | None = None,
        ridge: float | None = None,
        n_landmarks: int = 1000,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.n_landmarks = n_landmarks
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    def _check_settings(self, n_rows: int) -> None:
        check_choice("kernel", self.kernel, ("auto", *KERNELS))
        for name in ("bandwidth", "ridge"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        check_whole("n_landmarks", self.n_landmarks)

    def _searches_only(self) -> bool:
        return False  # rows are multiplied

    def _takes_sparse_rows(self) -> bool:
        return self.metric is not None

    def _finish_fit(self) -> None:
        if maps_of(self.metric_).space == "hamming":
            raise ValueError(
                "a metric that encodes into bits has no kernel; use k-NN predictors with it."
            )
        kernels = KERNELS if self.kernel == "auto" else (self.kernel,)
        rng = np.random.default_rng(_SEED)
        rows, columns, weights = self._mapped()
        candidates = (kernels, self.bandwidth, self.ridge)
        settings = choose_settings(rows, columns, weights, candidates, rng)
        self.kernel_ = settings.kernel
        self.bandwidth_, self.ridge_ = float(settings.bandwidth), float(settings.ridge)
        self._rows_changed()

    def _rows_changed(self) -> None:
        settings = KernelSettings(self.kernel_, self.bandwidth_, self.ridge_)
        rng = np.random.default_rng(_SEED)
        fit = solve_kernel(*self._mapped(), settings, self.n_landmarks, rng)
        self._solved = (fit.landmarks, fit.factor, fit.coefficients, fit.mean)

    def _mapped(self) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return the indexed rows as mapped (n, p), what is said of them (n, C), and weights."""
        rows = np.asarray(self._index.vectors, np.float64)  # type: ignore[union-attr]
        return rows, self._said(), self._of_indexed(self._weights)

    def _said(self) -> FloatArray:
        raise NotImplementedError

    def _values(self, X: AnyArray) -> FloatArray:
        """Return f at each row, (m, C)."""
        check_is_fitted(self)
        settings = KernelSettings(self.kernel_, self.bandwidth_, self.ridge_)
        queries = np.asarray(self._map_queries(X), np.float64)
        return KernelFit(settings, *self._solved).predict(queries)


class KernelClassifier(NeighborsClassifier, _KernelMachine):
    """Classify by kernel ridge regression under a learned metric.

    One regression a class on the indicator of its rows, with K(u, u') = exp(−‖u − u'‖² / 2h²) or
    exp(−‖u − u'‖ / h) of mapped rows: every row has a say, where neighbours leave off after k.
    Kernel, h and the ridge λ are those of least squared error of each row without itself.

    Parameters
    ----------
    metric : metric learner or transformer, name of a method, default=None
        As for :class:`KNNClassifier`; one that encodes into bits is refused.
    kernel : {"auto", "gaussian", "laplace"}, default="auto"
    bandwidth : float or None
        h, in the learned space; None chooses.
    ridge : float or None
        λ, in units of a row; None chooses.
    n_landmarks : int, default=1000
        Where rows are more, f is made of so many of them (Nyström), and fitted to all.
    class_weight : dict, "balanced" or None, default=None
        As for :class:`KNNClassifier`.
    index : str, default="exact"
        Of ``kneighbors``, as for :class:`KNNClassifier`.
    block_size : int, default=None
    n_jobs : int, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_, bandwidth_, ridge_
        As used.
    metric_ : the fitted metric, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Notes
    -----
    Time O(n m (p + m) + m³) for m landmarks and p learned directions, memory O(m²). Departures from
    kernel machines over a learned metric (Radhakrishnan et al. 2024): the metric is not estimated
    again from the kernel's own gradients, as :class:`EJOP` with ``estimator="kernel-ridge"`` is.

    References
    ----------
    radhakrishnan2024, williams2001

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from vicinal import LDA, KernelClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelClassifier(LDA()).fit(scale(X)[::2], y[::2])
    >>> bool(model.score(scale(X)[1::2], y[1::2]) > 0.95)
    True
    """

    def __init__(
        self,
        metric: Any = None,
        *,
        kernel: str = "auto",
        bandwidth: float | None = None,
        ridge: float | None = None,
        n_landmarks: int = 1000,
        class_weight: Any = None,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            metric, kernel=kernel, bandwidth=bandwidth, ridge=ridge, n_landmarks=n_landmarks,
            index=index, block_size=block_size, n_jobs=n_jobs,
        )  # fmt: skip
        self.class_weight = class_weight

    def _said(self) -> FloatArray:
        return np.eye(len(self.classes_))[self._of_indexed(self._codes)]

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the class of the largest regression at each row, of shape (m,)."""
        values = self._values(X)
        classes: AnyArray = self.classes_[values.argmax(axis=1)]
        return classes

    def predict_proba(self, X: AnyArray) -> FloatArray:
        """Return the regressions, 1 / (n + 1) at least and divided by their sum, (m, n_classes)."""
        values = self._values(X)
        return as_shares(values, self._n_indexed)


class KernelRegressor(NeighborsRegressor, _KernelMachine):
    """Predict numbers by kernel ridge regression under a learned metric.

    Parameters
    ----------
    metric : metric learner or transformer, name of a method, default=None
        As for :class:`KernelClassifier`.
    kernel : {"auto", "gaussian", "laplace"}, default="auto"
    bandwidth : float or None
        As for :class:`KernelClassifier`.
    ridge : float or None
        As for :class:`KernelClassifier`.
    n_landmarks : int, default=1000
        As for :class:`KernelClassifier`.
    index : str, default="exact"
        Of ``kneighbors``, as for :class:`KNNClassifier`.
    block_size : int, default=None
    n_jobs : int, default=None

    Attributes
    ----------
    kernel_, bandwidth_, ridge_
        As used.
    metric_ : the fitted metric, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import KernelRegressor
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> model = KernelRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.01)
    True
    """

    def _said(self) -> FloatArray:
        targets: FloatArray = self._of_indexed(self._targets)
        return targets.reshape(len(targets), -1)

    def predict(self, X: AnyArray) -> FloatArray:
        """Return f at each row, of shape (m,) or (m, n_outputs)."""
        values = self._values(X)
        return values[:, 0] if self._targets.ndim == 1 else values


def as_shares(values: FloatArray, n_rows: int) -> FloatArray:
    """Return values as shares that sum to 1, none less than about 1 / (n + 1)."""
    positive = np.maximum(values, 1 / (n_rows + 1))
    # No two classes change places, not even where several values are below the least share.
    order = np.take_along_axis(positive, values.argmax(axis=1)[:, None], axis=1)
    tied = (positive >= order).sum(axis=1) > 1
    shares: FloatArray = positive / positive.sum(axis=1, keepdims=True)
    rows = np.flatnonzero(tied)
    winners = values[rows].argmax(axis=1)
    shares[rows, winners] = np.nextafter(shares[rows].max(axis=1), 2)
    return shares
