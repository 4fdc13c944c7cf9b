"""The problem of codes: gerrymandering of relaxed bits among the rows of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from vicinal._kernels._forces import add_forces
from vicinal._kernels._targeted import infer_sets, new_inferred
from vicinal._types import FloatArray, IntArray
from vicinal.metric.descent import STEPS, Adam, Descent
from vicinal.metric.encoder import query_scale
from vicinal.metric.gerrymander._layers import Layers
from vicinal.metric.gerrymander._objective import part
from vicinal.metric.inference import SignedPairs, sets_difference
from vicinal.metric.selection import prediction_losses
from vicinal.pairs import rounded_squared_distances
from vicinal.rows import Rows

# Margins, as shares of the bits, and rates relative to the start, to choose from.
MARGINS, RATES = (0.03, 0.1), (0.05,)
# Rows of a step, which are each other's neighbours; of few rows fewer, for more steps.
BATCH, SMALL_BATCH = 1024, 128
# Rows of a set of a step at least, where k has so many: one row is no vote.
VOTERS = 5
# The norm of a typical row: weights of all layers are then of one size.
NORM = 16.0


@dataclass(frozen=True)
class HammingOptions:
    """What the learner was told; None is what it chooses on inner splits."""

    layers: Layers
    relaxation: str
    asymmetric: bool
    n_neighbors: int
    costs: FloatArray
    margin: float | None
    balance: float
    dropout: float
    learning_rate: float | None
    max_iter: int
    tol: float
    n_threads: int
    seed: int


@dataclass(frozen=True)
class HammingSetting:
    """What inner splits choose: a margin in bits and a rate."""

    margin: float
    rate: float
    start: ClassVar[str] = "random"

    def label(self) -> str:
        """Return a short description for progress lines."""
        return f"margin {self.margin:g} bits, rate {self.rate:g}"

    def describe(self) -> dict[str, Any]:
        """Return its values by the names users know."""
        return {"margin": self.margin, "learning_rate": self.rate}


@dataclass
class HammingObjective:
    """mean_i L_i of D = ¼‖a_i − b_j‖² between relaxed codes, and ½ β ‖mean code‖².

    Parameters are (1, P), or (2, P) for queries and database. The sets of a row are sought among
    the other rows of its step.
    """

    X: FloatArray
    codes: IntArray
    options: HammingOptions
    costs: FloatArray
    weights: FloatArray | None
    rng: np.random.Generator

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return len(self.X)

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Look at nothing: the rows of a step are each other's candidates."""

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows among themselves, as places in ``rows``."""
        relaxed = [self.relax(self._project(side, rows)[0]) / 2 for side in parameters]
        left, right = relaxed[0], relaxed[-1]
        squared_distances = rounded_squared_distances(left, right)
        np.fill_diagonal(squared_distances, np.inf)
        sets = new_inferred(len(rows), self.set_size(len(rows)))
        codes = self.codes[rows].astype(np.int32)
        labels = np.broadcast_to(codes, squared_distances.shape).copy()
        infer_sets(squared_distances, labels, codes, self.costs, sets)
        return replace(sets_difference(sets, np.arange(len(rows))), rows=rows)

    def set_size(self, n_rows: int) -> int:
        """Return how many rows vote among so many: the share of the k, but enough for a vote."""
        k = self.options.n_neighbors
        share = round(k * n_rows / self.n_rows)
        return max(1, min(max(share, min(k, VOTERS)), n_rows - 1))

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the step and the gradient of its mean."""
        rows = sets.rows
        n = len(rows)
        places = replace(sets, rows=np.arange(n))
        queries, points, signs = places.pairs(slice(0, n))
        weights = signs.astype(self.X.dtype) / self.X.dtype.type(2 * n)
        loss = sets.loss
        if self.weights is not None:
            weights *= self.weights[rows[queries]].astype(self.X.dtype)
            loss = loss * self.weights[rows]
        passes = [self._project(side, rows, drop=True) for side in parameters]
        relaxed = [self.relax(projected) for projected, _, _ in passes]
        forces = [np.zeros_like(code) for code in relaxed]
        add_forces(relaxed[0], relaxed[-1], queries, points, weights, forces[0], forces[-1])
        total, gradient = float(loss.sum()), np.empty_like(parameters)
        for number, (projected, inputs, masks) in enumerate(passes):
            mean = relaxed[number].mean(axis=0)
            balance = self.X.dtype.type(self.options.balance)
            total += n * 0.5 * float(balance * mean @ mean)
            outer = (forces[number] + balance * mean / n) * self.slope(projected)
            gradient[number] = self.options.layers.backward(
                parameters[number], inputs, outer, masks
            )
        return total, gradient

    def _project(self, side: FloatArray, rows: IntArray, drop: bool = False) -> Any:
        options, masks = self.options, None
        if drop and options.dropout and len(options.layers.widths) > 2:
            units = self.rng.random((len(rows), options.layers.widths[1])) >= options.dropout
            masks = (units / (1 - options.dropout)).astype(self.X.dtype)
        return *options.layers.forward(side, self.X[rows], masks), masks

    def relax(self, projected: FloatArray) -> FloatArray:
        """Return what stands for the sign while learning: tanh, or the identity within [−1, 1]."""
        if self.options.relaxation == "tanh":
            return np.tanh(projected)
        return np.clip(projected, -1, 1)

    def slope(self, projected: FloatArray) -> FloatArray:
        """Return the derivative of :meth:`relax`."""
        if self.options.relaxation == "tanh":
            slope: FloatArray = 1 - np.tanh(projected) ** 2
            return slope
        return (np.abs(projected) < 1).astype(projected.dtype)

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters, which are the maps."""
        return parameters


@dataclass(frozen=True)
class HammingProblem:
    """Rows (n, d) about their mean and of norm 16, their classes, and what was asked of them."""

    rows: Rows
    options: HammingOptions
    has_mean: ClassVar[bool] = False

    def on(self, rows: Rows) -> Self:
        """Return the problem of other rows."""
        k = min(self.options.n_neighbors, max(1, rows.n_rows - 1))
        return replace(self, rows=rows, options=replace(self.options, n_neighbors=k))

    def settings(self) -> list[HammingSetting]:
        """Return every combination of the settings that were left open."""
        options, bits = self.options, self.options.layers.widths[-1]
        margins = (
            [share * bits for share in MARGINS] if options.margin is None else [options.margin]
        )
        rates = RATES if options.learning_rate is None else (options.learning_rate,)
        return [HammingSetting(margin, rate) for margin, rate in product(margins, rates)]

    def begin(self, setting: Any, seed: Sequence[int]) -> Descent:
        """Return a descent at random weights."""
        rng = np.random.default_rng(seed)
        start = self.options.layers.draw(NORM, rng, self.rows.X.dtype.type)[None]
        rate = setting.rate * float(np.sqrt(np.mean(start**2)))
        if self.options.asymmetric:
            start = np.repeat(start, 2, axis=0)
        rows, n_rows = self.rows, self.rows.n_rows
        costs = setting.margin * self.options.costs
        objective = HammingObjective(rows.X, rows.codes, self.options, costs, rows.weights, rng)
        descent = Descent(
            objective, Adam(rate), start, self.options.max_iter, rng, tol=self.options.tol,
            n_steps=max(1, n_rows // BATCH, min(STEPS, n_rows // SMALL_BATCH)), strata=rows.codes,
        )  # fmt: skip
        return part(descent) if self.options.asymmetric else descent

    def mean(self, maps: Sequence[FloatArray]) -> FloatArray:
        """Never asked for: such maps have no mean."""
        return maps[0]

    def score(self, components: FloatArray, held: Rows) -> FloatArray:
        """Return the loss of each held-out row, voted on by these rows' codes."""
        layers = self.options.layers
        bits, _ = layers.forward(components[-1], self.rows.X)
        database = np.where(bits > 0, 0.5, -0.5).astype(self.rows.X.dtype)
        projected, _ = layers.forward(components[0], held.X)
        queries = np.tanh(projected * query_scale(projected)) / 2
        return prediction_losses(
            database, queries, self.rows.classes, held.classes, self.options.n_neighbors,
            costs=self.options.costs, n_threads=self.options.n_threads,
        )  # fmt: skip
