"""What learners of codes share: bits packed for search, and queries that are not yet bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_transform_input, check_whole
from vicinal.metric._base import MetricLearner

# The mean size of a query's projection before tanh: the published value, to which the order of
# neighbours is not sensitive.
TYPICAL = 0.4


class BinaryEncoder(MetricLearner):
    """Base of learners of codes: bits are the signs of projections of a row.

    Database rows become b in {−1, 1}^c, packed by :meth:`encode`. A query is compared with them by
    its own bits first and, among the nearest, by the asymmetric Hamming distance
    ¼‖b − tanh(s ∘ u)‖² of its projection u: what is nearly no bit counts little. :meth:`transform`
    gives b/2 and :meth:`transform_queries` tanh(s ∘ u)/2, whose squared Euclidean distance that is.

    Subclasses have ``_project`` and, where queries are projected otherwise, ``_project_queries``;
    they set ``query_scale_`` (s) and ``n_bits_`` in ``fit``.
    """

    n_bits_: int
    query_scale_: FloatArray

    def _project(self, X: AnyArray) -> FloatArray:
        raise NotImplementedError

    def _project_queries(self, X: AnyArray) -> FloatArray:
        return self._project(X)

    def encode(self, X: AnyArray) -> Any:
        """Return the codes of database rows, packed by 8: uint8 of shape (n, n_bits / 8)."""
        check_is_fitted(self, "query_scale_")
        return np.packbits(
            self._project(check_transform_input(self, X, accept_sparse=False)) > 0, axis=1
        )

    def encode_queries(self, X: AnyArray) -> Any:
        """Return the codes of queries, packed by 8; those of :meth:`encode` where symmetric."""
        check_is_fitted(self, "query_scale_")
        return np.packbits(
            self._project_queries(check_transform_input(self, X, accept_sparse=False)) > 0, axis=1
        )

    def soften_queries(self, X: AnyArray) -> FloatArray:
        """Return tanh(s ∘ u) / 2 of queries, (n, n_bits), of which the signs are the codes."""
        check_is_fitted(self, "query_scale_")
        projected = self._project_queries(check_transform_input(self, X, accept_sparse=False))
        return np.tanh(projected * self.query_scale_).astype(projected.dtype) / 2

    def transform(self, X: AnyArray) -> FloatArray:
        """Return the codes of database rows as −½ and ½, of shape (n, n_bits)."""
        check_is_fitted(self, "query_scale_")
        projected = self._project(check_transform_input(self, X, accept_sparse=False))
        return np.where(projected > 0, 0.5, -0.5).astype(projected.dtype)

    def transform_queries(self, X: AnyArray) -> FloatArray:
        """Return :meth:`soften_queries`."""
        return self.soften_queries(X)

    def get_metric(self) -> Callable[[AnyArray, AnyArray], float]:
        """Return the root of the asymmetric Hamming distance as a function of two vectors."""
        check_is_fitted(self, "query_scale_")

        def distance(query: AnyArray, point: AnyArray) -> float:
            rows = (np.asarray(side)[None] for side in (query, point))
            gap = np.subtract(self.soften_queries(next(rows)), self.transform(next(rows)))
            return float(np.sqrt(np.vdot(gap, gap)))

        return distance

    @property
    def _n_features_out(self) -> int:
        return self.n_bits_


def check_bits(n_bits: Any) -> int:
    """Return the number of bits; refuse one that does not fill bytes."""
    bits = check_whole("n_bits", n_bits)
    if bits % 8:
        raise ValueError(
            f"n_bits must be a multiple of 8, for codes are packed in bytes; got {bits}. "
            f"{-(-bits // 8) * 8} is the next."
        )
    return bits


def query_scale(projected: FloatArray) -> FloatArray:
    """Return s (c,) such that the mean |s ∘ u| of projections (n, c) is 0.4 in every bit."""
    sizes = np.mean(np.abs(projected), axis=0, dtype=np.float64)
    scale: FloatArray = (TYPICAL / np.where(sizes > 0, sizes, 1.0)).astype(projected.dtype)
    return scale
