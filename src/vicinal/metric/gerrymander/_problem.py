"""MLNG's problem: rows and options on one side, a descent or a score on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from vicinal._types import FloatArray
from vicinal.metric.descent import Adam, Descent, FallingRate, FramedRows, Rule
from vicinal.metric.gerrymander._averaging import average_from_zero
from vicinal.metric.gerrymander._objective import (
    ConeObjective,
    FactoredObjective,
    make_objective,
    sides,
)
from vicinal.metric.gerrymander._options import MLNGOptions
from vicinal.metric.means import mean_metric
from vicinal.metric.selection import prediction_losses
from vicinal.metric.starts import Start, start_map

# Rates relative to the root mean square entry of the start, or to the unit of W.
RATES = {"factored": (0.03, 0.1), "psd": (10.0, 3.0, 30.0)}
# How far the objective is followed from zero: c of dual averaging.
STRENGTHS = (0.3, 3.0)
# Weights λ of a regulariser to choose from.
AMOUNTS = (0.001, 0.01, 0.1)
# Steps for which sets are kept where each inference needs a projection.
CONE_REUSE = 8
# Entries of the largest map that is learned: a gigabyte of them.
MOST_ENTRIES = 1 << 27
# Components of a start from rows that stay sparse, where none are asked for.
SPARSE_COMPONENTS = 50


@dataclass(frozen=True)
class LinearSetting:
    """What inner splits choose: a start, a rate, a weight λ."""

    start: Start
    rate: float
    regularization: float = 0.0

    def label(self) -> str:
        """Return a short description for progress lines."""
        amount = f", λ {self.regularization:g}" if self.regularization else ""
        return f"{self.start.label()}, rate {self.rate:g}{amount}"

    def describe(self) -> dict[str, Any]:
        """Return its values by the names users know."""
        return {
            "init": self.start.label(),
            "learning_rate": self.rate,
            "regularization": self.regularization,
        }


@dataclass(frozen=True)
class LinearProblem:
    """Rows (n, r) in a frame with their classes, and what was asked of them.

    Trials from one start share its map and first candidates: ``_begun``.
    """

    rows: FramedRows
    options: MLNGOptions
    _begun: dict[Start, tuple[FactoredObjective, FloatArray]] = field(default_factory=dict)

    def on(self, rows: FramedRows) -> Self:
        """Return the problem of other rows."""
        k = min(self.options.n_neighbors, max(1, rows.n_rows - 1))
        options = replace(self.options, n_neighbors=k)
        return replace(self, rows=rows, options=options, _begun={})

    def settings(self) -> list[LinearSetting]:
        """Return every combination of the settings that were left open."""
        options = self.options
        rates = RATES[options.solver] if options.learning_rate is None else (options.learning_rate,)
        amounts: tuple[float, ...] = (0.0,)
        if options.regularizer is not None:
            amounts = AMOUNTS if options.regularization is None else (options.regularization,)
        return [
            LinearSetting(start, rate, amount)
            for start in self.starts()
            for rate in rates
            for amount in amounts
        ]

    def starts(self) -> list[Start]:
        """Return the starts to try: the one asked for, or those that know different things.

        The objective itself followed from zero, the features as they are, standardised, weighed one
        by one by ReliefF, and whitened within the classes, with all directions, those that part
        the class means first, and with these alone.
        """
        options, rank, width = self.options, self.options.n_components, self.rows.X.shape[1]
        if not isinstance(options.init, str):
            return [Start("array", options.init.shape[-2])]
        if options.init == "zeros" and options.solver == "factored":
            return [Start("zeros", rank, strength) for strength in STRENGTHS]
        if options.init != "auto":
            return [Start(options.init, rank)]
        if sparse.issparse(self.rows.X):
            return [Start("pca", rank or min(SPARSE_COMPONENTS, width))]
        if options.solver == "psd":
            return [Start("zeros"), Start("identity"), Start("relieff")]
        if rank is not None and rank < width:
            return [Start("lda", rank), Start("pca", rank)]
        starts = [Start("dann"), Start("identity")]
        if not self.rows.frame.is_plain:
            starts.append(Start("standardised"))
        starts += [Start("zeros", strength=strength) for strength in STRENGTHS]
        if self.rows.frame.basis is None:  # else columns are no features to be weighed
            starts.append(Start("relieff"))
        few = len(options.costs) - 1
        return [*starts, Start("lda", few)] if few < width else starts

    def begin(self, setting: Any, seed: Sequence[int]) -> Descent:
        """Return a descent at the setting's start."""
        first, start = self._begin_at(setting.start, seed)
        objective = replace(first, regularization=setting.regularization)
        rng = np.random.default_rng(seed)
        if self.options.solver == "factored":
            rate = setting.rate * float(np.sqrt(np.mean(start**2)))
            rule: Rule = Adam(rate, by_column=True)
            return Descent(objective, rule, start, self.options.max_iter, rng, tol=self.options.tol)
        cone = ConeObjective(objective, first_look=start)
        metric = cone.settle(start.T @ start * (0 if setting.start.name == "zeros" else 1))
        rule = self.cone_rule(setting, self._metric_unit(seed))
        epochs, tol = self.options.max_iter, self.options.tol
        return Descent(cone, rule, metric, epochs, rng, reuse=CONE_REUSE, tol=tol)

    def cone_rule(self, setting: LinearSetting, unit: float) -> Rule:
        """Return how W steps, whose size is of the order of ``unit``."""
        return FallingRate(setting.rate * unit**2)

    def _begin_at(self, start: Start, seed: Sequence[int]) -> tuple[FactoredObjective, FloatArray]:
        """Return the objective with the candidates of a start, and its map scaled to the margin."""
        if start not in self._begun:
            rng = np.random.default_rng(seed)
            objective = make_objective(self.rows, self.options)
            components = self.make_start(start, rng)
            objective.look(components, 0)
            if start.strength is not None:
                plain = objective.scale_to_margin(components, rng)
                average = average_from_zero(objective, sides(plain)[0], start.strength, rng)
                average = average[: start.n_components]
                components = average if plain.ndim == 2 else np.stack([average, average])
                objective.look(components, 0)
            if start.name != "array":  # whose scale is kept
                components = objective.scale_to_margin(components, rng)
            self._begun[start] = objective, components
        return self._begun[start]

    def _metric_unit(self, seed: Sequence[int]) -> float:
        """Return the unit of W: the frame's identity scaled to the margin, whatever the start."""
        _, scaled = self._begin_at(Start("standardised"), seed)
        return float(np.mean(np.diagonal(scaled) ** 2))

    def make_start(self, start: Start, rng: np.random.Generator) -> FloatArray:
        """Return the map a start names, not scaled."""
        rows, dtype = self.rows, self.rows.X.dtype
        check_size(start.n_components, rows.X.shape[1], self.options.solver)
        if start.name == "array":
            components = rows.frame.unfold(self.options.init)
        else:
            components = start_map(start, rows.X, rows.codes, rows.frame, rng)
            if start.n_components is None:  # what is zero has no slope, and stays zero
                components = components[components.any(axis=1)]
        return np.ascontiguousarray(components, dtype=dtype)

    @property
    def has_mean(self) -> bool:
        """Whether maps are averaged: not where so many components are asked for."""
        return self.options.n_components is None and not sparse.issparse(self.rows.X)

    def mean(self, maps: Sequence[FloatArray]) -> FloatArray:
        """Return the map of the mean of several metrics, near rows being their unit."""
        return mean_metric(self.rows.X, maps)

    def score(self, components: FloatArray, held: FramedRows) -> FloatArray:
        """Return the loss of each held-out row, voted on by these rows."""
        maps = sides(components)  # of queries, and of the database
        return prediction_losses(
            self.rows.X @ maps[-1].T, held.X @ maps[0].T, self.rows.classes, held.classes,
            self.options.n_neighbors, costs=self.options.costs, n_threads=self.options.n_threads,
        )  # fmt: skip


def check_size(n_components: int | None, width: int, solver: str) -> None:
    """Refuse parameters too large to be learned: L, or W of which n_components keeps a part."""
    rows = width if solver == "psd" else min(n_components or width, width)
    if rows * width > MOST_ENTRIES:
        way_out = "use solver='factored' and" if solver == "psd" else "ask for fewer rows by"
        raise ValueError(
            f"{rows:,} × {width:,} entries are too many to learn; {way_out} n_components, for "
            "instance n_components=50."
        )
