"""Learners of pairs, triplets, quadruplets and chunks under metric-learn's names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from vicinal import rivals
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import read_numbers
from vicinal.compat.metric_learn._base import (
    MahalanobisMixin,
    PointsLearner,
    _PairsClassifierMixin,
    _QuadrupletsClassifierMixin,
    _TripletsClassifierMixin,
)
from vicinal.compat.metric_learn._input import check_pair_signs, read_points, read_tuples
from vicinal.compat.metric_learn._starts import (
    check_n_components,
    components_from_metric,
    prior_metric,
)
from vicinal.compat.metric_learn._table import from_table
from vicinal.pairs import rounded_squared_distances
from vicinal.rows import refuse_long_whole_numbers


def _points(tuples: FloatArray) -> FloatArray:
    return tuples.reshape(-1, tuples.shape[2])


class _PairsLearner(_PairsClassifierMixin, MahalanobisMixin):
    """A learner of pairs that calibrates its threshold on the pairs it has learned from."""

    def _fit_pairs(self, pairs: Any, y: Any, calibration: dict[str, Any] | None = None) -> Any:
        settings = {} if calibration is None else dict(calibration)
        self._validate_calibration_params(**settings)
        formed, labels = read_tuples(self, pairs, y, size=2, reset=True)
        if labels is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but y is None.")
        check_pair_signs(labels)
        self._learn(formed, labels)
        self.calibrate_threshold(formed, labels, **settings)
        return self

    def _learn(self, pairs: FloatArray, y: AnyArray) -> None:
        raise NotImplementedError


class _BaseITML(MahalanobisMixin):
    """Information-theoretic metric learning over pairs."""

    def _learn_itml(self, pairs: FloatArray, y: AnyArray, bounds: Any) -> None:
        points = _points(pairs)
        prior = prior_metric(points, self.prior, self.random_state)
        self.bounds_ = _distance_bounds(points, bounds)
        differ = (pairs[:, 0] != pairs[:, 1]).any(axis=1)  # no metric can move equal points
        learner = rivals.ITML(
            prior=prior,
            gamma=float(self.gamma),
            bounds=(float(self.bounds_[0]) ** 2, float(self.bounds_[1]) ** 2),
            max_iter=self.max_iter,
            tol=self.tol,
        ).fit_pairs(pairs[differ], y[differ])
        self.n_iter_ = learner.n_iter_
        self.components_ = components_from_metric(learner.get_mahalanobis_matrix())


def _distance_bounds(points: FloatArray, bounds: Any) -> FloatArray:
    """Return the bounds given, or percentiles of the distances among points; none is zero."""
    if bounds is None:
        distinct = np.unique(points, axis=0)[:2000]
        squared = rounded_squared_distances(distinct, distinct)
        above = np.sqrt(squared[np.triu_indices(len(distinct), 1)])
        bounds = np.percentile(above, (5, 95)) if len(above) else (1.0, 1.0)
    checked: FloatArray = check_array(
        np.asarray(bounds, float), ensure_2d=False, ensure_min_samples=0, ensure_min_features=0
    )
    if checked.shape != (2,):
        raise ValueError("bounds are two numbers, the lower one first.")
    if checked[0] > checked[1]:
        raise ValueError("the first of the two bounds is larger than the second; swap them.")
    checked = checked.copy()
    checked[checked == 0] = 1e-9
    return checked


@from_table
class ITML(_BaseITML, _PairsLearner):
    """Information-theoretic metric learning: :class:`vicinal.ITML` on pairs."""

    def fit(self, pairs: Any, y: Any, bounds: Any = None, calibration_params: Any = None) -> ITML:
        """Learn from pairs (n, 2, d), or (n, 2) of indicators, and labels +1 and −1."""
        self._bounds = bounds
        self._fit_pairs(pairs, y, calibration_params)
        del self._bounds
        return self

    def _learn(self, pairs: FloatArray, y: AnyArray) -> None:
        self._learn_itml(pairs, y, self._bounds)


class _BaseMMC(MahalanobisMixin):
    """Mahalanobis metric for clustering over pairs."""

    def _learn_mmc(self, pairs: FloatArray, y: AnyArray) -> None:
        prior_metric(_points(pairs), self.init, self.random_state, name="init", strict=False)
        if not ((y == 1).any() and (y == -1).any()):
            raise ValueError("MMC needs pairs of both kinds, similar (1) and dissimilar (-1).")
        learner = rivals.MMC(
            diagonal=bool(self.diagonal), shrinkage=0.0, max_iter=self.max_iter, tol=self.tol
        ).fit_pairs(pairs, y)
        self.n_iter_ = learner.n_iter_
        metric = learner.get_mahalanobis_matrix()
        self.A_ = metric
        self.components_ = components_from_metric(metric)


@from_table
class MMC(_BaseMMC, _PairsLearner):
    """Mahalanobis metric for clustering: :class:`vicinal.MMC` on pairs."""

    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> MMC:
        """Learn from pairs (n, 2, d), or (n, 2) of indicators, and labels +1 and −1."""
        self._fit_pairs(pairs, y, calibration_params)
        return self

    def _learn(self, pairs: FloatArray, y: AnyArray) -> None:
        self._learn_mmc(pairs, y)


class _BaseSDML(MahalanobisMixin):
    """Sparse distance metric learning over pairs."""

    def _learn_sdml(self, pairs: FloatArray, y: AnyArray) -> None:
        prior = prior_metric(_points(pairs), self.prior, self.random_state)
        gaps = (pairs[:, 0] - pairs[:, 1]).astype(np.float64)
        bent = np.linalg.inv(prior) + self.balance_param * (gaps * y[:, None]).T @ gaps
        bent = (bent + bent.T) / 2
        if np.linalg.eigvalsh(bent)[0] < 0:
            warnings.warn(
                "the matrix that SDML gives to the graphical lasso is not positive semidefinite, "
                "so the algorithm may diverge; lower balance_param, or set prior='covariance'.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.components_ = components_from_metric(self._solve(bent))

    def _solve(self, bent: FloatArray) -> FloatArray:
        advice = (
            "there was a problem in SDML when using scikit-learn's graphical lasso solver. Lower "
            "balance_param, raise sparsity_param, or set prior='covariance'."
        )
        if len(bent) == 1:
            metric = 1 / bent
            if not metric[0, 0] > 0:
                raise RuntimeError(advice)
            return metric
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                metric = graphical_lasso(bent, alpha=self.sparsity_param, verbose=self.verbose)[1]
        except (FloatingPointError, np.linalg.LinAlgError, ValueError) as error:
            raise RuntimeError(f"{advice} The solver said: {error}") from error
        if not np.isfinite(metric).all() or np.linalg.eigvalsh((metric + metric.T) / 2)[0] < -1e-9:
            raise RuntimeError(advice)
        return np.asarray(metric)


@from_table
class SDML(_BaseSDML, _PairsLearner):
    """Sparse distance metric learning: the objective of :class:`vicinal.SDML` on pairs."""

    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> SDML:
        """Learn from pairs (n, 2, d), or (n, 2) of indicators, and labels +1 and −1."""
        self._fit_pairs(pairs, y, calibration_params)
        return self

    def _learn(self, pairs: FloatArray, y: AnyArray) -> None:
        self._learn_sdml(pairs, y)


class _BaseLSML(MahalanobisMixin):
    """Least squared-residual metric learning over quadruplets."""

    def _learn_lsml(self, quadruplets: FloatArray, weights: Any) -> None:
        prior = prior_metric(_points(quadruplets), self.prior, self.random_state)
        gaps = (quadruplets[:, [0, 2]] - quadruplets[:, [1, 3]]).astype(np.float64)
        # Residuals are of the distances as they are, while vicinal's are of a mean square of 1.
        size = np.einsum("nti,ij,ntj->nt", gaps, prior, gaps).mean() or 1.0
        learner = rivals.LSML(
            prior=prior, regularization=1 / size, max_iter=self.max_iter, tol=min(self.tol, 1e-6)
        ).fit_quadruplets(quadruplets, sample_weight=weights)
        self.n_iter_ = learner.n_iter_
        self.components_ = components_from_metric(learner.get_mahalanobis_matrix())


@from_table
class LSML(_BaseLSML, _QuadrupletsClassifierMixin):
    """Least squared-residual metric learning: :class:`vicinal.LSML` on quadruplets."""

    def fit(self, quadruplets: Any, weights: Any = None) -> LSML:
        """Learn from quadruplets (n, 4, d), or (n, 4) of indicators."""
        formed, _ = read_tuples(self, quadruplets, size=4, reset=True)
        self._learn_lsml(formed, weights)
        return self


class _BaseSCML(MahalanobisMixin):
    """Sparse compositional metric learning over triplets."""

    _bases = ("triplet_diffs",)

    def _check_scml(self, n_features: int) -> FloatArray | None:
        """Return the basis given as an array, checked, or None for a named one."""
        for name in ("gamma", "beta"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
                raise ValueError(f"{name} takes a number, got {value!r}.")
        if not isinstance(self.max_iter, (int, np.integer)):
            raise ValueError(f"max_iter takes a whole number, got {self.max_iter!r}.")
        if not isinstance(self.output_iter, (int, np.integer)):
            raise ValueError(f"output_iter takes a whole number, got {self.output_iter!r}.")
        if self.output_iter > self.max_iter:
            raise ValueError("output_iter is larger than max_iter, so nothing would be told.")
        if self.n_basis is not None and not isinstance(self.n_basis, (int, np.integer)):
            raise ValueError(f"n_basis takes a whole number, got {self.n_basis!r}.")
        if isinstance(self.basis, str):
            if self.basis not in self._bases:
                raise ValueError(
                    f"basis={self.basis!r} is unknown; use {', '.join(map(repr, self._bases))} or "
                    "directions of shape (n_basis, n_features)."
                )
            return None
        basis: FloatArray = check_array(self.basis, dtype=np.float64)
        if basis.shape[1] != n_features:
            raise ValueError(
                f"basis has directions of {basis.shape[1]} features, and the points {n_features}."
            )
        if self.n_basis is not None and self.n_basis != len(basis):
            raise ValueError(f"n_basis={self.n_basis}, but basis has {len(basis)} directions.")
        return basis

    def _learn_scml(self, triplets: FloatArray, basis: FloatArray | None) -> None:
        d = triplets.shape[2]
        n_basis = self.n_basis or d * 80
        if basis is None and len(triplets) < d:
            raise ValueError(
                f"the number of triplets ({len(triplets)}) must be at least that of features ({d})."
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        learner = rivals.SCML(
            n_basis if basis is None else len(basis),
            basis=basis,
            regularization=float(self.beta),
            max_iter=max(1, self.max_iter // 5),
            random_state=int(seed),
        ).fit_triplets(triplets)
        self.n_iter_ = learner.n_iter_
        self.components_ = components_from_metric(learner.get_mahalanobis_matrix())


@from_table
class SCML(_BaseSCML, _TripletsClassifierMixin):
    """Sparse compositional metric learning: :class:`vicinal.SCML` on triplets."""

    def fit(self, triplets: Any) -> SCML:
        """Learn from triplets (n, 3, d), or (n, 3) of indicators."""
        formed, _ = read_tuples(self, triplets, size=3, reset=True)
        self._learn_scml(formed, self._check_scml(formed.shape[2]))
        return self


@from_table
class RCA(PointsLearner):
    """Relevant components analysis: :class:`vicinal.RCA` on chunks, not shrunk."""

    def fit(self, X: Any, chunks: Any) -> RCA:
        """Learn from points (n, d) and the chunk of each (n,), −1 for none."""
        refuse_long_whole_numbers(chunks, "chunks")
        X, chunks = read_points(self, X, read_numbers("chunks", chunks), reset=True, labels=True)
        self._learn_rca(X, chunks)
        return self

    def _learn_rca(self, X: FloatArray, chunks: AnyArray) -> None:
        n_components = check_n_components(X.shape[1], self.n_components)
        learner = rivals.RCA(n_components, shrinkage=0.0).fit_chunks(X, chunks.astype(int))
        self.components_ = learner.components_
