"""What objectives over signed pairs share: the gradient that pulls and pushes, and the weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.gerrymander._objective import factored_regularizer, force_gradient
from vicinal.metric.inference import SignedPairs


class PairedObjective:
    """mean_i w_i L_i + λ reg of one map or of two, L_i a sum of signed squared distances of pairs.

    A subclass has rows ``X`` (n, d), ``weights`` (n,) of mean 1 or None, ``regularization`` λ and
    ``options`` with the name of the ``regularizer``; it says how sets are inferred.
    """

    X: AnyArray
    options: Any
    weights: FloatArray | None
    regularization: float

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return int(self.X.shape[0])

    @cached_property
    def _local(self) -> IntArray:
        return np.full(self.n_rows + 1, -1, np.int32)

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
