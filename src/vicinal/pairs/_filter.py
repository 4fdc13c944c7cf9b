"""The rounded side of a search: centred copies, and how far rounding may mislead.

Let u be half a unit in the last place of the filter's precision, s = ‖q‖ and r = ‖y‖ about the
centre. The filter works with s² + r² − 2 q·y. It errs by

- rounding q and y: 2 u (s + r)²;
- the product, whatever the order of its d terms: d u · 2 s r ≤ (d / 2) u (s + r)²;
- r², two additions, the bound itself and the limit it is held against: 6 u (s + r)².

That makes (d / 2 + 8) u (s + r)². In float64 the squared norms and the direct sum that defines the
distance err by another d u (s + r)² each; next to float32's u they vanish.

Where r² is folded into the product, that has d + 1 terms whose absolute values add up to at most
(s + r)²: it errs by (d + 1) u (s + r)², and rounding q, y and r² adds 3 u (s + r)². Both, doubled
for what is done with the values, make 2 (d + 4) u (s + r)².
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._types import FloatArray

Float = type[np.float32] | type[np.float64]

# Norms whose squares and products stay well inside float32; beyond, the filter uses float64.
_LARGEST_FLOAT32_NORM = 1e15
_CENTRE_ROWS = 4096


class RowSide(NamedTuple):
    """Rows y about the centre with r² and r, all in the filter's precision."""

    rows: FloatArray
    squared_norms: FloatArray
    norms: FloatArray


class QuerySide(NamedTuple):
    """−2 q about the centre in the filter's precision, the queries as given, s, and the slacks."""

    negated: FloatArray
    queries: FloatArray
    norms: FloatArray
    slack: np.floating[Any]
    floor: float


def choose_centre(vectors: FloatArray) -> FloatArray:
    """Return the mean of at most 4,096 evenly spaced rows, in float64.

    Any centre gives the same neighbours; one amid the data keeps norms small and the bound tight.
    """
    step = -(-len(vectors) // _CENTRE_ROWS)
    centre: FloatArray = vectors[::step].mean(axis=0, dtype=np.float64)
    return centre


def fits_float32(norms: FloatArray) -> bool:
    """Return whether rows of these norms can be multiplied and summed in float32."""
    return bool(norms.max(initial=0.0) < _LARGEST_FLOAT32_NORM)


@np.errstate(over="ignore")  # infinite norms tell of it
def row_side(vectors: FloatArray, centre: FloatArray, dtype: Float) -> RowSide:
    """Return database rows, and their norms, as the filter sees them."""
    rows, squared_norms = _round(vectors, centre, dtype)
    return RowSide(rows, squared_norms.astype(dtype), np.sqrt(squared_norms).astype(dtype))


@np.errstate(over="ignore")  # infinite norms tell of it
def query_side(queries: FloatArray, centre: FloatArray, dtype: Float) -> QuerySide:
    """Return float64 queries, their norms and the bounds' slacks as the filter needs them."""
    rows, squared_norms = _round(queries, centre, dtype)
    d = queries.shape[1]
    slack, floor = dtype(relative_slack(d, dtype)), absolute_slack(d, dtype)
    return QuerySide(-2 * rows, queries, np.sqrt(squared_norms), slack, floor)


def _round(vectors: FloatArray, centre: FloatArray, dtype: Float) -> tuple[FloatArray, FloatArray]:
    rows: FloatArray = (vectors - centre).astype(dtype)
    wide = rows.astype(np.float64)
    return rows, np.einsum("ij,ij->i", wide, wide)


def relative_slack(n_features: int, dtype: Float) -> float:
    """Return the factor of (s + r)² that bounds the filter's error, rounded up generously."""
    unit = np.finfo(dtype).eps / 2
    terms = 0.55 * n_features if dtype == np.float32 else 2.6 * n_features
    return float((terms + 10) * unit)


def folded_slack(n_features: int, dtype: Float) -> float:
    """Return the factor of (s + r)² that bounds the error of r² − 2 q·y made by one product."""
    return float((n_features + 4) * np.finfo(dtype).eps)


def absolute_slack(n_features: int, dtype: Float) -> float:
    """Return what underflow may hide of a product and of its bound."""
    return float(4 * (n_features + 4) * np.finfo(dtype).tiny)
