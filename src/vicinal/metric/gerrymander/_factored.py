"""The gerrymandering objective of a factor L (W = LᵀL), over candidate lists."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.candidates import (
    ClassOrder,
    choose_refresh,
    find_candidates,
    squared_distances_to,
)
from vicinal.metric.gerrymander._objective import factored_regularizer, force_gradient
from vicinal.metric.gerrymander._options import Options
from vicinal.metric.inference import SignedPairs, infer_all, infer_pairs

# Rows of other classes a list holds beside 2k + 3 of the own: several times what a set can use.
OTHERS = 40


@dataclass
class FactoredObjective:
    """mean_i w_i L_i(LᵀL) + λ reg(LᵀL), with inference over candidate lists or over all rows.

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
    _local: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._local = np.full(self.n_rows + 1, -1, np.int32)

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return int(self.X.shape[0])

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew every few epochs."""
        options = self.options
        n_own, n_other = min(2 * options.n_neighbors + 3, self.n_rows), min(OTHERS, self.n_rows)
        if options.search == "all" or n_own + n_other >= self.n_rows:
            return
        due = epoch % choose_refresh(options.search) == 0 and epoch != self.searched
        if self.candidates is None or due:
            self.candidates = find_candidates(
                options.search, self.X @ parameters.T, self.classes, n_own, n_other,
                previous=self.candidates, seed=(options.seed, epoch), n_threads=options.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        k, costs, codes = self.options.n_neighbors, self.options.costs, self.classes.codes
        lists = self.candidates
        if lists is None:
            mapped = self.X @ parameters.T
            return infer_all(mapped, codes, rows, k, costs, n_threads=self.options.n_threads)
        if 2 * len(rows) * lists.shape[1] < self.n_rows:
            squared_distances, labels = self._distances_of_few(parameters, rows)
        else:
            mapped = np.ascontiguousarray(self.X @ parameters.T)
            squared_distances, labels = squared_distances_to(mapped, mapped, rows, lists, codes)
        return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)

    def _distances_of_few(
        self, parameters: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Map only the rows that occur, where they are few among all."""
        assert self.candidates is not None
        lists = self.candidates[rows]
        present = self._number(np.append(lists.ravel(), rows.astype(np.int32)))
        mapped = np.ascontiguousarray(self.X[present] @ parameters.T)
        queries = mapped[self._local[rows]]
        return squared_distances_to(
            queries, mapped, np.arange(len(rows)), self._local[lists], self.classes.codes[present]
        )

    def _number(self, named: IntArray) -> IntArray:
        """Return the distinct rows among those named, and number them in ``_local``."""
        # Sorting so few numbers is several times as fast as hashing them in numpy.unique.
        named = np.sort(named)
        present = named[np.append(named[1:] != named[:-1], True) & (named >= 0)]
        self._local[present] = np.arange(len(present), dtype=np.int32)
        return present

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the part and the gradient of its mean loss."""
        queries, points, signs = sets.pairs(part)
        weights, total = self.weigh(sets, part, queries, signs)
        present = self._number(np.append(queries, points))
        gradient = force_gradient(
            parameters, self.X[present], self._local[queries], self._local[points], weights
        )
        if self.options.regularizer is not None:
            value, extra = factored_regularizer(self.options.regularizer, parameters)
            total += (part.stop - part.start) * self.regularization * value
            gradient = gradient + parameters.dtype.type(self.regularization) * extra
        return total, gradient

    def weigh(
        self, sets: SignedPairs, part: slice, queries: IntArray, signs: IntArray
    ) -> tuple[FloatArray, float]:
        """Return the signed weight of every pair, and the part's summed loss."""
        weights = signs.astype(self.X.dtype) / self.X.dtype.type(part.stop - part.start)
        loss = sets.loss[part]
        if self.weights is not None:
            loss = loss * self.weights[sets.rows[part]]
            weights *= self.weights[queries].astype(self.X.dtype)
        return weights, float(loss.sum())

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are: a factor is always a metric."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters, which are the map."""
        return parameters
