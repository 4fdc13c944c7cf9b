"""The problem of numeric targets: sets whose mean is right, scored by the error of the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Self

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.descent import LEAST_ROWS, STEPS, Adam, Descent, FramedRows
from vicinal.metric.gerrymander._objective import PairedObjective, part, sides
from vicinal.metric.inference import SignedPairs, sets_difference, target_sets
from vicinal.metric.means import mean_metric
from vicinal.metric.selection import prediction_losses
from vicinal.metric.starts import Start, diagonal_map, rrelieff_weights, start_map
from vicinal.pairs import nearest_rows, pair_distances

# γ/k to choose from: what an error of one deviation of the target counts, in units of the squared
# distance to the k-th neighbour at the start.
UNITS = (0.1,)
RATES = (0.1,)
# Weights λ of a regulariser to choose from.
AMOUNTS = (0.001, 0.01, 0.1)
# Sets hold as many rows as the mean is of, or so many times as many: less noise, less detail.
SIZES = (1, 4)
BATCHES = (16, 64, 256)
# Targets are cut into so many slices of equal size where a start asks for classes.
SLICES = 10
# Directions of a start that looks at few: with noise in all of them fewer are better.
FEW = 2
# Rows an epoch takes neighbours from at most, drawn anew each time: an epoch is linear in the rows.
REFERENCES = 5000
# Rows whose neighbours tell the size of a start, and entries of a block of distances.
PROBES, BLOCK_ENTRIES = 256, 1 << 20


@dataclass(frozen=True)
class RegressionOptions:
    """What the learner was told; None is what it chooses on inner splits.

    ``batch_size`` 0 stands for a sixteenth of the rows.
    """

    n_neighbors: int
    set_size: int | None
    n_components: int | None
    asymmetric: bool
    sets: Any
    gamma: float | None
    epsilon: float
    init: Any
    learning_rate: float | None
    batch_size: int | None
    max_iter: int
    tol: float
    n_threads: int
    seed: int
    regularizer: str | None = None
    regularization: float | None = None


@dataclass(frozen=True)
class RegressionSetting:
    """What inner splits choose: a start, a rate, the size of sets, γ, and the rows of a step."""

    start: Start
    rate: float
    set_size: int
    gamma: float
    batch_size: int
    regularization: float = 0.0

    def label(self) -> str:
        """Return a short description for progress lines."""
        rows = f", {self.batch_size} rows a step" if self.batch_size else ""
        sets = f"sets of {self.set_size}, γ {self.gamma:g}"
        amount = f", λ {self.regularization:g}" if self.regularization else ""
        return f"{self.start.label()}, rate {self.rate:g}, {sets}{rows}{amount}"

    def describe(self) -> dict[str, Any]:
        """Return its values by the names users know."""
        return {
            "init": self.start.label(),
            "learning_rate": self.rate,
            "set_size": self.set_size,
            "gamma": self.gamma,
            "batch_size": self.batch_size,
            "regularization": self.regularization,
        }


@dataclass
class RegressionObjective(PairedObjective):
    """mean_i w_i L_i over rows X (n, d) with targets ``y`` (n,), of one map or of two stacked ones.

    Neighbours are sought among ``references``, all rows or the sample of the epoch.
    """

    X: AnyArray
    y: FloatArray
    options: RegressionOptions
    set_size: int
    unit: float
    weights: FloatArray | None = None
    regularization: float = 0.0
    references: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Draw the rows of an epoch that may be neighbours."""
        n = self.n_rows
        if n <= REFERENCES:
            self.references = np.arange(n)
            return
        rng = np.random.default_rng([self.options.seed, epoch])
        self.references = np.sort(rng.choice(n, REFERENCES, replace=False))

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows, their sets sought among all references."""
        maps = sides(parameters)
        points = np.ascontiguousarray(self.X[self.references] @ maps[-1].T)
        centre = points.mean(axis=0)
        points -= centre
        size = max(1, BLOCK_ENTRIES // len(points))
        blocks = [
            self._infer_block(parameters, rows[first : first + size], points, centre)
            for first in range(0, len(rows), size)
        ]
        return blocks[0] if len(blocks) == 1 else join(blocks)

    def _infer_block(
        self,
        parameters: FloatArray,
        rows: IntArray,
        points: FloatArray,
        centre: FloatArray,
    ) -> SignedPairs:
        queries = self.X[rows] @ sides(parameters)[0].T - centre
        squared_distances = pair_distances(queries, points, rows, self.references)
        options = self.options
        targets = self.y[self.references]
        sets = target_sets(
            squared_distances, self.y[rows], targets, self.set_size, self.unit,
            sets=options.sets, epsilon=options.epsilon, seed=options.seed,
        )  # fmt: skip
        pairs = sets_difference(sets, rows)
        numbers = self.references[pairs.points].astype(np.int32)
        return replace(pairs, points=numbers)


def join(parts: Sequence[SignedPairs]) -> SignedPairs:
    """Return the pairs of several blocks of rows as those of one."""
    offsets = np.cumsum([0, *(part.starts[-1] for part in parts)])
    starts = [part.starts[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    names = ("rows", "points", "signs", "loss", "feasible")
    fields = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return SignedPairs(starts=np.append(np.concatenate(starts), offsets[-1]), **fields)


@dataclass(frozen=True)
class RegressionProblem:
    """Rows (n, r) in a frame, their targets in deviations, and what was asked of them."""

    rows: FramedRows
    options: RegressionOptions
    _begun: dict[Start, FloatArray] = field(default_factory=dict)

    def on(self, rows: FramedRows) -> Self:
        """Return the problem of other rows."""
        k = min(self.options.n_neighbors, max(1, rows.n_rows - 1))
        options = replace(self.options, n_neighbors=k)
        return replace(self, rows=rows, options=options, _begun={})

    def settings(self) -> list[RegressionSetting]:
        """Return every combination of the settings that were left open."""
        options = self.options
        rates = RATES if options.learning_rate is None else (options.learning_rate,)
        most = max(options.n_neighbors, self.rows.n_rows // 2)
        sizes = sorted({min(times * options.n_neighbors, most) for times in SIZES})
        if options.set_size is not None:
            sizes = [options.set_size]
        batches = BATCHES if options.batch_size is None else (options.batch_size,)
        amounts: tuple[float, ...] = (0.0,)
        if options.regularizer is not None:
            amounts = AMOUNTS if options.regularization is None else (options.regularization,)
        return [
            RegressionSetting(start, rate, size, gamma, batch, amount)
            for start, size, rate, batch, amount in product(
                self.starts(), sizes, rates, batches, amounts
            )
            for gamma in ([u * size for u in UNITS] if options.gamma is None else [options.gamma])
        ]

    def starts(self) -> list[Start]:
        """Return the starts to try: the one asked for, or those that know different things.

        The features as they are, those that ReliefF finds to matter, and the directions along
        which the mean of the rows moves with the target (sliced inverse regression), all of them
        or the first two alone.
        """
        init, rank = self.options.init, self.options.n_components
        if not isinstance(init, str):
            return [Start("array", init.shape[-2])]
        if init != "auto":
            return [Start(init, rank)]
        starts = [Start("identity", rank), Start("relieff", rank), Start("lda", rank)]
        return (
            [*starts, Start("lda", FEW)] if rank is None and self.rows.X.shape[1] > FEW else starts
        )

    def begin(self, setting: Any, seed: Sequence[int]) -> Descent:
        """Return a descent at the setting's start."""
        start = self._start(setting.start, seed)
        size = min(setting.set_size, max(1, min(self.rows.n_rows, REFERENCES) - 1))
        unit = setting.gamma / setting.set_size
        objective = RegressionObjective(
            self.rows.X, self.rows.values, self.options, size, unit, self.rows.weights,
            setting.regularization,
        )  # fmt: skip
        rate = setting.rate * float(np.sqrt(np.mean(start**2)))
        rng = np.random.default_rng(seed)
        n_steps = -(-self.rows.n_rows // setting.batch_size) if setting.batch_size else STEPS
        descent = Descent(
            objective, Adam(rate), start, self.options.max_iter, rng, tol=self.options.tol,
            n_steps=n_steps, least_rows=setting.batch_size or LEAST_ROWS,
        )  # fmt: skip
        return part(descent) if self.options.asymmetric else descent

    def _start(self, start: Start, seed: Sequence[int]) -> FloatArray:
        if start not in self._begun:
            self._begun[start] = self.make_start(start, np.random.default_rng(seed))
        return self._begun[start]

    def make_start(self, start: Start, rng: np.random.Generator) -> FloatArray:
        """Return the map, or both, where a start puts them; an array keeps its scale."""
        rows, dtype, width = self.rows, self.rows.X.dtype, self.rows.X.shape[1]
        if start.name == "array":
            array = np.ascontiguousarray(self.rows.frame.unfold(self.options.init), dtype=dtype)
            return np.stack([array, array]) if self.options.asymmetric else array
        if start.name == "relieff":
            weights = rrelieff_weights(
                rows.X, rows.values, np.arange(rows.n_rows), np.ones(min(10, rows.n_rows - 1)),
                np.zeros(width, bool), n_jobs=self.options.n_threads,
            )  # fmt: skip
            components = diagonal_map(weights, start.n_components)
        else:
            components = start_map(
                start, self.rows.X, slices(self.rows.values), self.rows.frame, rng
            )
        scaled = scale_to_neighbors(
            components.astype(dtype), self.rows.X, self.options.n_neighbors, rng
        )
        return np.stack([scaled, scaled]) if self.options.asymmetric else scaled

    @property
    def has_mean(self) -> bool:
        """Whether maps are averaged: no pairs, and not where so many components are asked for."""
        return self.options.n_components is None and not self.options.asymmetric

    def mean(self, maps: Sequence[FloatArray]) -> FloatArray:
        """Return the map of the mean of several metrics, near rows being their unit."""
        return mean_metric(self.rows.X, maps)

    def score(self, components: FloatArray, held: FramedRows) -> FloatArray:
        """Return the squared error of each held-out row's mean of neighbours."""
        maps, target, truth = sides(components), self.rows.target, held.target
        assert target is not None
        assert truth is not None
        return prediction_losses(
            self.rows.X @ maps[-1].T, held.X @ maps[0].T, target, truth,
            self.options.n_neighbors, n_threads=self.options.n_threads,
        )  # fmt: skip


def standard_targets(numbers: FloatArray) -> FloatArray:
    """Return numbers about their mean in deviations; refuse a constant."""
    centred = numbers - numbers.mean()
    deviation = float(np.sqrt(np.mean(centred**2)))
    if deviation <= 8 * np.finfo(np.float64).eps * np.abs(numbers).max(initial=0.0):
        raise ValueError(
            f"y is constant ({numbers[0]:g}), so that no row is nearer to the truth than another; "
            "check the target column."
        )
    standard: FloatArray = centred / deviation
    return standard


def slices(y: FloatArray) -> IntArray:
    """Return the slice of equal size each target lies in, 0..R−1 without gaps."""
    bounds = np.quantile(y, np.linspace(0, 1, SLICES + 1)[1:-1])
    return np.unique(np.searchsorted(bounds, y), return_inverse=True)[1]


def scale_to_neighbors(
    components: FloatArray, X: AnyArray, k: int, rng: np.random.Generator
) -> FloatArray:
    """Scale L so that the median squared distance of a row to its k-th neighbour is 1."""
    mapped = np.ascontiguousarray(X @ components.T)
    probes = rng.permutation(len(mapped))[:PROBES]
    near = nearest_rows(mapped, mapped[probes], min(k + 1, len(mapped)))
    gaps = mapped[probes] - mapped[near[:, -1]]
    sizes = np.einsum("ij,ij->i", gaps, gaps)
    positive = sizes[sizes > 0]
    if not len(positive):
        return components
    return (components / np.sqrt(np.median(positive))).astype(components.dtype)
