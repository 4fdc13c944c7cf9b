"""The gerrymandering objective of a factor L (W = LᵀL), over candidate lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.candidates import (
    ClassOrder,
    choose_refresh,
    find_candidates,
    squared_distances_to,
)
from vicinal.metric.gerrymander._objective import sides
from vicinal.metric.gerrymander._options import Options
from vicinal.metric.gerrymander._paired import PairedObjective
from vicinal.metric.inference import SignedPairs, infer_all, infer_pairs

# Rows of other classes a list holds beside 2k + 3 of the own: several times what a set can use.
OTHERS = 40


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
        due = epoch % choose_refresh(options.search) == 0 and epoch != self.searched
        if self.candidates is None or due:
            queries, points = self._map(self.X, parameters)
            self.candidates = find_candidates(
                options.search, points, self.classes, n_own, n_other, queries=queries,
                previous=self.candidates, seed=(options.seed, epoch), n_threads=options.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        k, costs, codes = self.options.n_neighbors, self.options.costs, self.classes.codes
        lists = self.candidates
        if lists is None:
            queries, points = self._map(self.X, parameters)
            return infer_all(
                points, codes, rows, k, costs, queries=queries, n_threads=self.options.n_threads
            )
        if 2 * len(rows) * lists.shape[1] < self.n_rows:
            squared_distances, labels = self._distances_of_few(parameters, rows)
        else:
            queries, points = self._map(self.X, parameters)
            squared_distances, labels = squared_distances_to(queries, points, rows, lists, codes)
        return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)

    def _distances_of_few(
        self, parameters: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Map only the rows that occur, where they are few among all."""
        assert self.candidates is not None
        lists = self.candidates[rows]
        present = self._number(np.append(lists.ravel(), rows.astype(np.int32)))
        queries, points = self._map(self.X[present], parameters)
        queries = queries[self._local[rows]]
        return squared_distances_to(
            queries, points, np.arange(len(rows)), self._local[lists], self.classes.codes[present]
        )

    @staticmethod
    def _map(X: AnyArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows where the maps put queries and points; one array where there is one map."""
        mapped = [np.ascontiguousarray(X @ side.T) for side in sides(parameters)]
        return mapped[0], mapped[-1]
