"""What learners of codes share: bits packed for search, and queries that are not yet bits."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_whole
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import CodeMaps

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

    @property
    def maps_(self) -> CodeMaps:
        """Codes of database rows, and queries before they are bits."""
        check_is_fitted(self, "query_scale_")
        sides = (vars(self).get(name) for name in ("components_", "query_components_"))
        weights = tuple(side for side in sides if side is not None)
        return CodeMaps(self._project, self.query_scale_, self._project_queries, weights)

    def encode(self, X: AnyArray) -> Any:
        """Return the codes of database rows, packed by 8: uint8 of shape (n, n_bits / 8)."""
        return self.maps_.database(self._check_rows(X))

    def encode_queries(self, X: AnyArray) -> Any:
        """Return the codes of queries, packed by 8; those of :meth:`encode` where symmetric."""
        return self.maps_.query_codes(self._check_rows(X))

    def soften_queries(self, X: AnyArray) -> FloatArray:
        """Return tanh(s ∘ u) / 2 of queries, (n, n_bits), of which the signs are the codes."""
        return self.maps_.queries(self._check_rows(X))

    def transform(self, X: AnyArray) -> FloatArray:
        """Return the codes of database rows as −½ and ½, of shape (n, n_bits)."""
        rows = self._check_rows(X)
        bits = np.unpackbits(self.maps_.database(rows), axis=1)
        return bits.astype(rows.dtype) - rows.dtype.type(0.5)

    def get_metric(self) -> Callable[..., float]:
        """Return the root of the asymmetric Hamming distance as a function of two vectors."""
        fixed = deepcopy(self)

        def distance(query: AnyArray, point: AnyArray, squared: bool = False) -> float:
            rows = (np.asarray(side)[None] for side in (query, point))
            gap = np.subtract(fixed.soften_queries(next(rows)), fixed.transform(next(rows)))
            return float(np.vdot(gap, gap) if squared else np.sqrt(np.vdot(gap, gap)))

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
