"""The gerrymandering objective of one map or two, over candidate lists or over all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.candidates import (
    REFRESH,
    SEARCHES,
    ClassOrder,
    order_by_class,
    squared_distances_to,
)
from vicinal.metric.gerrymander._objective import PairedObjective, sides
from vicinal.metric.gerrymander._options import Options
from vicinal.metric.inference import SignedPairs, infer_all, infer_pairs
from vicinal.rows import Rows

# Rows of other classes a list holds beside 2k + 3 of the own: several times what a set can use.
OTHERS = 40
# Rows whose gaps tell the size of a start.
PROBES = 256


@dataclass
class FactoredObjective(PairedObjective):
    """mean_i w_i L_i(LᵀL) + λ reg(LᵀL), with inference over candidate lists or over all rows.

    Parameters are L (p, d), or U and V (2, p, d) for queries and for the database.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows in order of class.
    classes : ClassOrder
    options : Options
    weights : ndarray of shape (n,) or None
        Row weights of mean 1.
    regularization : float
        λ.
    candidates : int32 ndarray of shape (n, c) or None
        The present lists; None where all rows are looked at.
    searched : int
        The epoch they were found before; −1: none yet.
    """

    X: AnyArray
    classes: ClassOrder
    options: Options
    weights: FloatArray | None = None
    regularization: float = 0.0
    candidates: IntArray | None = None
    searched: int = -1

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew every few epochs."""
        options = self.options
        n_own, n_other = min(2 * options.n_neighbors + 3, self.n_rows), min(OTHERS, self.n_rows)
        if options.search == "all" or n_own + n_other >= self.n_rows:
            return
        due = epoch % REFRESH[options.search] == 0 and epoch != self.searched
        if self.candidates is None or due:
            queries, points = self._map(parameters)
            self.candidates = SEARCHES[options.search](
                points, self.classes, n_own, n_other, queries=queries,
                previous=self.candidates, seed=(options.seed, epoch), n_threads=options.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(
        self, parameters: FloatArray, rows: IntArray, costs: FloatArray | None = None
    ) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        k, codes, lists = self.options.n_neighbors, self.classes.codes, self.candidates
        costs = self.options.costs if costs is None else costs
        queries, points = self._map(parameters)
        if lists is None:
            n_threads = self.options.n_threads
            return infer_all(points, codes, rows, k, costs, queries=queries, n_threads=n_threads)
        squared_distances, labels = squared_distances_to(queries, points, rows, lists, codes)
        return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)

    def _map(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows where the maps put queries and points; one array where there is one map."""
        mapped = [np.ascontiguousarray(self.X @ side.T) for side in sides(parameters)]
        return mapped[0], mapped[-1]

    def scale_to_margin(self, start: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Scale a start so that about half of the rows have something to teach.

        Then the median row's gap, by which its nearest wrong vote is farther than its nearest right
        one, is 1, the size of the margin Δ. A start that parts its own rows too well (discriminants
        of few rows do) would otherwise satisfy every margin and learn nothing.
        """
        largest = max(float(np.square(side).sum(axis=1).max()) for side in self._map(start))
        # A cost that no distance outweighs: the most violating set is then the nearest wrong one.
        cost = 1 + 8.0 * self.options.n_neighbors * largest
        probes = rng.permutation(self.n_rows)[:PROBES]
        sets = self.infer(start, probes, cost * (1 - np.eye(len(self.options.costs))))
        # Without a wrong vote, or a right one, there is no gap.
        sizes = np.abs(cost - sets.loss[sets.loss > cost / 2])
        known = sizes[sizes > 0]
        # In float64 the quotient would have all epochs that begin here walked in float64.
        return (start / np.sqrt(np.median(known))).astype(start.dtype) if len(known) else start


def make_objective(rows: Rows, options: Options) -> FactoredObjective:
    """Return the objective of rows and their classes, in any order."""
    classes = order_by_class(rows.codes)
    ordered = rows.take(classes.order)
    return FactoredObjective(ordered.X, classes, options, ordered.weights)
