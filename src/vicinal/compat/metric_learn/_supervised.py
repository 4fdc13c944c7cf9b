"""Learners of points and labels under metric-learn's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal import rivals
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.compat.metric_learn._base import PointsLearner, SupervisedLearner
from vicinal.compat.metric_learn._constraints import Constraints, wrap_pairs
from vicinal.compat.metric_learn._input import read_points
from vicinal.compat.metric_learn._starts import (
    check_n_components,
    components_from_metric,
    initial_map,
)
from vicinal.compat.metric_learn._table import from_table
from vicinal.compat.metric_learn._weak import (
    RCA,
    _BaseITML,
    _BaseLSML,
    _BaseMMC,
    _BaseSCML,
    _BaseSDML,
)


def _labels(y: AnyArray) -> AnyArray:
    """Return labels as whole numbers; negative ones are unknown, as in metric-learn."""
    if y.dtype.kind in "iub":
        return y.astype(int)
    if y.dtype.kind == "f" and np.array_equal(y, np.round(y)):
        return y.astype(int)
    return np.unique(y, return_inverse=True)[1].reshape(-1)


def _n_constraints(wanted: int | None, y: AnyArray) -> int:
    return 20 * len(np.unique(y)) ** 2 if wanted is None else int(wanted)


@from_table
class Covariance(PointsLearner):
    """The inverse covariance of the points: :class:`vicinal.Covariance`, not shrunk."""

    def fit(self, X: Any, y: Any = None) -> Covariance:
        """Compute the covariance of points (n, d)."""
        X = read_points(self, X, reset=True)
        if len(X) < 2:
            raise ValueError(f"Covariance needs two points; n_samples={len(X)}.")
        metric = rivals.Covariance(shrinkage=0.0).fit(X).get_mahalanobis_matrix()
        self.components_ = components_from_metric(metric)
        return self


@from_table
class LMNN(SupervisedLearner):
    """Large margin nearest neighbours: :class:`vicinal.LMNN` from a given start."""

    def fit(self, X: Any, y: Any) -> LMNN:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        n_components = check_n_components(X.shape[1], self.n_components)
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        start = initial_map(n_components, X, codes, self.init, self.random_state, classes=True)
        if counts.min() < self.n_neighbors:
            raise ValueError(
                f"a class has {counts.min()} points only, fewer than n_neighbors="
                f"{self.n_neighbors}; ask for fewer neighbors or leave the class out "
                f"(n_samples={len(X)}, n_features={X.shape[1]})."
            )
        if len(classes) < 2:
            self.components_, self.n_iter_ = start, 0
            return self
        learner = rivals.LMNN(
            self.n_neighbors,
            init=start,
            regularization=self.regularization,
            max_iter=max(1, self.max_iter),
            tol=min(1e-5, self.convergence_tol),
            early_stopping=False,
            verbose=int(self.verbose),
            random_state=0,
        ).fit(X, codes)
        self.n_iter_, self.components_ = learner.n_iter_, learner.components_
        return self


@from_table
class NCA(SupervisedLearner):
    """Neighbourhood components analysis: :class:`vicinal.NCA` on all pairs."""

    def fit(self, X: Any, y: Any) -> NCA:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        n_components = check_n_components(X.shape[1], self.n_components)
        classes, codes = np.unique(y, return_inverse=True)
        start = initial_map(n_components, X, codes, self.init, self.random_state, classes=True)
        if len(classes) < 2:
            self.components_, self.n_iter_ = start, 1
            return self
        learner = rivals.NCA(
            init=start,
            solver="full-batch",
            max_iter=self.max_iter,
            tol=1e-8 if self.tol is None else self.tol,
            early_stopping=False,
            verbose=int(self.verbose),
        ).fit(X, codes)
        self.n_iter_, self.components_ = learner.n_iter_, learner.components_
        return self


@from_table
class MLKR(SupervisedLearner):
    """Metric learning for kernel regression: :class:`vicinal.MLKR` on all pairs."""

    def fit(self, X: Any, y: Any) -> MLKR:
        """Learn from points (n, d) and targets (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True, numeric=True)
        n_components = check_n_components(X.shape[1], self.n_components)
        start = initial_map(n_components, X, y, self.init, self.random_state, classes=False)
        learner = rivals.MLKR(
            init=start,
            solver="full-batch",
            max_iter=self.max_iter,
            tol=1e-8 if self.tol is None else self.tol,
            early_stopping=False,
            verbose=int(self.verbose),
        ).fit(X, y)
        self.n_iter_, self.components_ = learner.n_iter_, learner.components_
        return self


@from_table
class LFDA(SupervisedLearner):
    """Local Fisher discriminant analysis: :class:`vicinal.LFDA`, not shrunk."""

    def fit(self, X: Any, y: Any) -> LFDA:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        n_components = check_n_components(X.shape[1], self.n_components)
        k = max(1, min(7, X.shape[1] - 1) if self.k is None else int(self.k))
        codes = np.unique(y, return_inverse=True)[1].reshape(-1)
        if codes.max() == 0:
            self.components_ = np.eye(n_components, X.shape[1])
            return self
        learner = rivals.LFDA(
            n_components, n_neighbors=k, embedding_type=self.embedding_type, shrinkage=0.0
        ).fit(X, codes)
        self.components_ = learner.components_
        return self


class _FromLabels(SupervisedLearner):
    """Learners that draw their constraints from labels."""

    def _draw(
        self, y: AnyArray, wanted: int | None, *, same_length: bool = False
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        return Constraints(_labels(y)).positive_negative_pairs(
            _n_constraints(wanted, y), same_length=same_length,
            random_state=self.random_state,
        )  # fmt: skip

    def _pairs_of(
        self, X: FloatArray, y: AnyArray, wanted: int | None
    ) -> tuple[FloatArray, AnyArray]:
        return wrap_pairs(X, self._draw(y, wanted))


@from_table
class ITML_Supervised(_BaseITML, _FromLabels):
    """:class:`ITML` on pairs drawn from labels."""

    def fit(self, X: Any, y: Any, bounds: Any = None) -> ITML_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        self._learn_itml(*self._pairs_of(X, y, self.n_constraints), bounds)
        return self


@from_table
class MMC_Supervised(_BaseMMC, _FromLabels):
    """:class:`MMC` on pairs drawn from labels."""

    def fit(self, X: Any, y: Any) -> MMC_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        self._learn_mmc(*self._pairs_of(X, y, self.n_constraints))
        return self


@from_table
class SDML_Supervised(_BaseSDML, _FromLabels):
    """:class:`SDML` on pairs drawn from labels."""

    def fit(self, X: Any, y: Any) -> SDML_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        self._learn_sdml(*self._pairs_of(X, y, self.n_constraints))
        return self


@from_table
class LSML_Supervised(_BaseLSML, _FromLabels):
    """:class:`LSML` on quadruplets drawn from labels."""

    def fit(self, X: Any, y: Any) -> LSML_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        rows = self._draw(y, self.n_constraints, same_length=True)
        self._learn_lsml(X[np.column_stack(rows)], self.weights)
        return self


@from_table
class SCML_Supervised(_BaseSCML, SupervisedLearner):
    """:class:`SCML` on triplets of near points, drawn from labels."""

    _bases = ("lda",)

    def fit(self, X: Any, y: Any) -> SCML_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        for name in ("k_genuine", "k_impostor"):
            if not isinstance(getattr(self, name), (int, np.integer)):
                raise ValueError(f"{name} takes a whole number, got {getattr(self, name)!r}.")
        basis = self._check_scml(X.shape[1])
        codes = _labels(y)
        triplets = Constraints(codes).generate_knntriplets(X, self.k_genuine, self.k_impostor)
        if basis is None:
            basis = rivals.local_discriminants(
                X, np.unique(codes, return_inverse=True)[1].reshape(-1),
                self.n_basis or 80 * X.shape[1], self.random_state,
            )  # fmt: skip
        self._learn_scml(X[triplets], basis)
        return self


@from_table
class RCA_Supervised(RCA, SupervisedLearner):
    """:class:`RCA` on chunks drawn from labels."""

    def fit(self, X: Any, y: Any) -> RCA_Supervised:
        """Learn from points (n, d) and labels (n,)."""
        X, y = read_points(self, X, y, reset=True, labels=True)
        chunks = Constraints(_labels(y)).chunks(self.n_chunks, self.chunk_size, self.random_state)
        self._learn_rca(X, chunks)
        return self
