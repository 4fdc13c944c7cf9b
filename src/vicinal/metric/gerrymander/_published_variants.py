"""The source's algorithms for two maps and for numbers, for reproduction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from vicinal._kernels._targeted import infer_sets, new_inferred
from vicinal._threads import one_blas_thread
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_auto, check_choice, check_costs, check_positive, check_whole
from vicinal.metric.descent import (
    FramedRows,
    Progress,
    enter_frame,
    frame_rows,
    project_to_cone,
    watch_of,
)
from vicinal.metric.gerrymander._published_descent import published_start
from vicinal.metric.gerrymander._published_maps import STRENGTHS, Infer, MapDescent, step_unit
from vicinal.metric.gerrymander._regression_problem import standard_targets
from vicinal.metric.inference import SignedPairs, sets_difference, target_sets
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import prediction_losses
from vicinal.metric.starts import rrelieff_weights
from vicinal.rows import Numbers, Rows, inner_splits, usual_neighbors

# What the source's grids hold.
BATCHES = (1, 3, 5, 11)
GAMMAS = tuple(10.0**power for power in range(-5, 3))


@dataclass(frozen=True)
class MapSetting:
    """What one split chooses: C, γ of numbers, and the rows of a step.

    C is ``strength`` units (:func:`step_unit`), or where a user says so a number.
    """

    strength: float = 1.0
    C: float | None = None
    gamma: float = 1.0
    batch_size: int = 1
    score: float = np.nan

    def label(self) -> str:
        """Return a short description for progress lines."""
        weight = f"C {self.strength:g} units" if self.C is None else f"C {self.C:g}"
        return f"{weight}, γ {self.gamma:g}, {self.batch_size} rows a step"


class _PublishedMaps(MetricLearner):
    """What both learners share: a choice on one split, a descent, its maps."""

    _least_rows: ClassVar[int] = 2
    C: Any
    max_iter: int
    random_state: Any
    verbose: int
    costs: Any = None

    def _settings(self, rows: Rows) -> list[MapSetting]:
        """Return the settings left open."""
        raise NotImplementedError

    def _start(self, rows: Rows, framed: FramedRows) -> FloatArray:
        """Return the maps (1 or 2, p, r) to begin at."""
        raise NotImplementedError

    def _inference(self, rows: FramedRows, setting: MapSetting) -> Infer:
        """Return how sets of the rows are inferred."""
        raise NotImplementedError

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the maps the published descent leads to."""
        check_whole("max_iter", self.max_iter)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():  # products are small, and the result must not depend on threads
            trials = self._choose(rows, self._settings(rows), seed)
            best = min(trials, key=lambda each: each.score)
            framed = plain_rows(rows)
            descent = self._descend(rows, framed, best, seed)
            setting = best
            while not descent.is_finite and setting.C is None:
                setting = replace(setting, strength=setting.strength / 3)
                descent = self._descend(rows, framed, setting, seed)
        if not descent.is_finite:
            raise ValueError(f"C={self.C!r} is so large that the descent diverges; use less.")
        self.C_ = descent.C
        self.gamma_, self.batch_size_ = best.gamma, best.batch_size
        self.settings_ = [{**vars(each), "chosen": each is best} for each in trials]
        self.loss_curve_, self.n_iter_ = descent.losses, descent.epoch
        return framed.frame.maps(one_or_two(descent.maps).astype(rows.X.dtype, copy=False))

    def _weights(self) -> list[MapSetting]:
        """Return the settings of C that are left open."""
        C = check_auto("C", self.C, check_positive)
        return [MapSetting(C=C)] if C is not None else [MapSetting(each) for each in STRENGTHS]

    def _choose(self, rows: Rows, settings: list[MapSetting], seed: int) -> list[MapSetting]:
        """Return the settings with their scores on one split; one where none is open."""
        splits = inner_splits(rows, seed)[:1] if len(settings) > 1 else []
        if not splits:
            return [settings[len(settings) // 2]]
        ((train, held),) = splits
        framed, k = plain_rows(train), usual_neighbors(self.n_neighbors, train.n_rows)
        costs = None if self.costs is None else check_costs(self.costs, len(rows.classes.names))
        target, truth = train.target, held.target
        assert target is not None
        assert truth is not None

        def judge(setting: MapSetting) -> MapSetting:
            descent = self._descend(train, framed, setting, seed, "settings")
            maps = framed.frame.maps(one_or_two(descent.maps))
            if not descent.is_finite:
                return replace(setting, score=np.inf)
            mapped = maps.database(train.X), maps.queries(held.X)
            losses = prediction_losses(*mapped, target, truth, k, costs=costs)
            return replace(setting, score=float(losses.mean()))

        return [judge(setting) for setting in settings]

    def _descend(
        self, rows: Rows, framed: FramedRows, setting: MapSetting, seed: int, stage: str = "fit"
    ) -> MapDescent:
        """Return the descent of some rows at its end, or where it leaves the numbers."""
        rng, maps = np.random.default_rng(seed), self._start(rows, framed)
        infer = self._inference(framed, setting)
        C = setting.C
        if C is None:
            C = setting.strength * step_unit(framed.X, maps, infer, rng)
        descent = MapDescent(framed.X, infer, maps, C, self.max_iter, rng, setting.batch_size)
        watch = watch_of(self)
        with np.errstate(over="ignore", invalid="ignore"):  # a C that is too large is seen below
            while not descent.is_done and descent.is_finite:
                loss = descent.advance()
                watch(Progress(stage, setting.label(), descent.epoch, self.max_iter, loss))
        return descent


def plain_rows(rows: Rows) -> FramedRows:
    """Return rows about their mean in the features' own units, no wider than there are rows."""
    frame = frame_rows(rows).frame
    plain = replace(frame, scale=np.ones_like(frame.scale))
    return enter_frame(replace(rows, X=rows.X.astype(np.float64, copy=False)), plain)


def one_or_two(maps: FloatArray) -> FloatArray:
    """Return one map (p, r) as such, two as they are stacked."""
    return maps if len(maps) == 2 else maps[0]


class PublishedAsymmetricMLNG(_PublishedMaps):
    """Two maps by the algorithm of their source; made by :meth:`AsymmetricMLNG.as_published`.

    Minimises ½‖W‖²_F + C Σ_i L_i over the maps U of queries and V of the database, W being
    [UᵀU, −UᵀV; −VᵀU, VᵀV], by stochastic subgradient steps of rate 1/t, a row a step. Both start at
    the square root of the ReliefF diagonal; h* and ĥ of a row are inferred over all rows afresh
    at its step.

    Parameters
    ----------
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    C : float or "auto"
        "auto" chooses on one split of 75 and 25 % of the rows.
    costs : array of shape (R, R) or None
    max_iter : int, default=50
        Epochs at most.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_, query_components_ : ndarray of shape (n_components, n_features)
        V and U.
    query_offset_ : ndarray of shape (n_components,)
    C_ : float
    n_iter_ : int
    loss_curve_ : list of float
    settings_ : list of dict
        Every C tried on the split, with its score, and which was chosen.

    Notes
    -----
    Time O(n d²) a step. Departures: the gradients of ½‖W‖²_F are 2(UUᵀ + VVᵀ)U and 2(UUᵀ + VVᵀ)V,
    where 4 is printed for one of the terms; 1/(t + 1); rows drawn without replacement.

    References
    ----------
    trivedi2018, neyshabur2013
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        C: Any = "auto",
        costs: Any = None,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.costs = costs
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, rows: Rows) -> list[MapSetting]:
        return self._weights()

    def _start(self, rows: Rows, framed: FramedRows) -> FloatArray:
        root = project_to_cone(published_start("relieff", rows, framed.frame))[1]
        if not root.any():  # no weight is above zero
            root = project_to_cone(published_start("identity", rows, framed.frame))[1]
        return np.stack([root, root])

    def _inference(self, rows: FramedRows, setting: MapSetting) -> Infer:
        costs = check_costs(self.costs, len(rows.classes.names)).astype(np.float64)
        k, codes = usual_neighbors(self.n_neighbors, rows.n_rows - 1), rows.codes.astype(np.int32)

        def infer(squared_distances: FloatArray, queries: IntArray) -> SignedPairs:
            sets = new_inferred(len(queries), k)
            labels = np.broadcast_to(codes, squared_distances.shape).copy()
            infer_sets(squared_distances, labels, codes[queries], costs, sets)
            return sets_difference(sets, queries)

        return infer


class PublishedRegressionMLNG(_PublishedMaps):
    """A metric for k-NN means by its source's algorithm: :meth:`RegressionMLNG.as_published`.

    Minimises ‖W‖_F + C Σ_i L_i, with L_i the loss of :class:`RegressionMLNG` by the bound, over
    L of W = LᵀL from L = I, or over two maps from the square root of the ReliefF weights, scaled
    to [0, 1], with ½‖W‖²_F of both. Steps have the rate 1/t; sets are inferred over all rows anew.

    Parameters
    ----------
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    asymmetric : bool, default=False
    C : float or "auto"
    gamma : float or "auto"
        γ, in squared deviations of the target; "auto" tries 0.00001 to 100 by powers of ten.
    batch_size : int or "auto"
        Rows a step; "auto" tries 1, 3, 5 and 11.
    max_iter : int, default=50
        Epochs at most.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_, query_components_, query_offset_ : ndarray
        As of :class:`RegressionMLNG`.
    C_, gamma_, batch_size_ : float, float, int
    n_iter_, loss_curve_, settings_
        As of :class:`PublishedAsymmetricMLNG`.

    Notes
    -----
    What is left open is chosen on one split of 75 and 25 % of the rows, every combination walked to
    its end, where the source has five folds. k is the predictor's.

    References
    ----------
    trivedi2018
    """

    _task: ClassVar[str | None] = "regression"

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        asymmetric: bool = False,
        C: Any = "auto",
        gamma: Any = "auto",
        batch_size: Any = 11,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.asymmetric = asymmetric
        self.C = C
        self.gamma = gamma
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the maps the published descent leads to."""
        check_choice("asymmetric", self.asymmetric, (True, False))
        return super().learn(replace(rows, target=Numbers(standard_targets(rows.values))))

    def _settings(self, rows: Rows) -> list[MapSetting]:
        gamma = check_auto("gamma", self.gamma, check_positive)
        batch = check_auto("batch_size", self.batch_size, check_whole)
        return [
            replace(weight, gamma=each, batch_size=size)
            for each in (GAMMAS if gamma is None else (gamma,))
            for size in (BATCHES if batch is None else (batch,))
            for weight in self._weights()
        ]

    def _start(self, rows: Rows, framed: FramedRows) -> FloatArray:
        frame = framed.frame
        if not self.asymmetric:
            return project_to_cone(published_start("identity", rows, frame))[1][None]
        n, d = rows.X.shape
        ranks, discrete = np.ones(min(10, n - 1)), np.zeros(d, bool)
        weights = np.maximum(
            rrelieff_weights(rows.X, rows.values, np.arange(n), ranks, discrete, n_jobs=1), 0.0
        )
        scaled = weights / weights.max() if weights.any() else np.ones(d)
        root = frame.unfold(np.diag(np.sqrt(scaled)))
        root = project_to_cone(root.T @ root)[1]
        return np.stack([root, root])

    def _inference(self, rows: FramedRows, setting: MapSetting) -> Infer:
        k, y = usual_neighbors(self.n_neighbors, rows.n_rows - 1), rows.values

        def infer(squared_distances: FloatArray, queries: IntArray) -> SignedPairs:
            sets = target_sets(squared_distances, y[queries], y, k, setting.gamma / k)
            return sets_difference(sets, queries)

        return infer
