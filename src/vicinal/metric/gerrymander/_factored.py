"""The gerrymandering objective of a factor L (W = LᵀL), over candidate lists."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.candidates._exact import ClassOrder, all_candidates, squared_distances_to
from vicinal.metric.candidates._search import find_candidates
from vicinal.metric.gerrymander._objective import (
    SignedPairs,
    factored_gradient,
    factored_regularizer,
    infer_pairs,
)


@dataclass
class FactoredObjective:
    """mean_i w_i L_i(LᵀL) + λ reg(LᵀL), with inference over candidate lists.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows in order of class.
    classes : ClassOrder
    n_neighbors : int
    costs : float64 ndarray of shape (R, R)
    n_own, n_other : int
        Length of the candidate lists; ``n_other`` ≥ n means all rows, exactly.
    refresh : int
        Epochs between looks at where the candidates lie.
    search : str
        How they are found: "exact", "approximate" or "faiss".
    seed : int
        Decides what an approximate search leaves to chance.
    weights : ndarray of shape (n,) or None
        Row weights of mean 1.
    regularizer : str or None
    regularization : float
        λ.
    n_threads : int
    candidates : int32 ndarray of shape (n, c) or None
        The present lists.
    searched : int
        The epoch they were found before; −1: none yet.
    """

    X: AnyArray
    classes: ClassOrder
    n_neighbors: int
    costs: FloatArray
    n_own: int
    n_other: int
    refresh: int = 4
    search: str = "exact"
    seed: int = 0
    weights: FloatArray | None = None
    regularizer: str | None = None
    regularization: float = 0.0
    n_threads: int = 1
    candidates: IntArray | None = None
    searched: int = -1
    _local: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._local = np.full(self.n_rows + 1, -1, np.int32)

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return int(self.X.shape[0])

    def begin_epoch(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew every ``refresh`` epochs."""
        if self.n_other >= self.n_rows:
            if self.candidates is None:
                self.candidates = all_candidates(self.classes.codes)
        elif self.candidates is None or (epoch % self.refresh == 0 and epoch != self.searched):
            mapped = self.X @ parameters.T
            self.candidates = find_candidates(
                self.search, mapped, self.classes, self.n_own, self.n_other,
                previous=self.candidates, seed=(self.seed, epoch), n_threads=self.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        assert self.candidates is not None
        if 2 * len(rows) * self.candidates.shape[1] < self.n_rows:
            squared_distances, labels = self._distances_of_few(parameters, rows)
        else:
            mapped = np.ascontiguousarray(self.X @ parameters.T)
            squared_distances, labels = squared_distances_to(
                mapped, mapped, rows, self.candidates, self.classes.codes
            )
        return infer_pairs(
            squared_distances, labels, rows, self.candidates, self.classes.codes,
            self.n_neighbors, self.costs,
        )  # fmt: skip

    def _distances_of_few(
        self, parameters: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Map only the rows that occur, where they are few among all."""
        assert self.candidates is not None
        lists = self.candidates[rows]
        # Sorting so few numbers is several times as fast as hashing them in numpy.unique.
        named = np.sort(np.append(lists.ravel(), rows.astype(np.int32)))
        present = named[np.append(named[1:] != named[:-1], True) & (named >= 0)]
        self._local[present] = np.arange(len(present), dtype=np.int32)
        mapped = np.ascontiguousarray(self.X[present] @ parameters.T)
        queries = mapped[self._local[rows]]
        return squared_distances_to(
            queries, mapped, np.arange(len(rows)), self._local[lists], self.classes.codes[present]
        )

    def weigh(self, sets: SignedPairs, part: slice) -> tuple[IntArray, FloatArray, float]:
        """Return the query and the signed weight of every pair, and the part's summed loss."""
        queries, _, signs = sets.queries(part)
        pair_weights = signs.astype(self.X.dtype) / self.X.dtype.type(part.stop - part.start)
        loss = sets.loss[part]
        if self.weights is not None:
            loss = loss * self.weights[sets.rows[part]]
            pair_weights *= self.weights[queries].astype(self.X.dtype)
        return queries, pair_weights, float(loss.sum())

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the part and the gradient of its mean loss."""
        queries, pair_weights, total = self.weigh(sets, part)
        points = sets.queries(part)[1]
        gradient = factored_gradient(parameters, differences(self.X, queries, points), pair_weights)
        if self.regularizer is not None:
            value, extra = factored_regularizer(self.regularizer, parameters)
            total += (part.stop - part.start) * self.regularization * value
            gradient = gradient + parameters.dtype.type(self.regularization) * extra
        return total, gradient


def differences(X: AnyArray, queries: IntArray, points: IntArray) -> AnyArray:
    """Return x_i − x_j for pairs of rows; sparse rows stay sparse."""
    if sparse.issparse(X):
        return X[queries] - X[points]
    return np.take(X, queries, axis=0) - np.take(X, points, axis=0)
