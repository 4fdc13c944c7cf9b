"""Sums of feature differences over nearest hits and misses: the loops of ReliefF and RReliefF.

Points are sorted by class; a query is one of them. Its city-block distances to all points come in
float32 first, 64 at a time; whatever may be among the k nearest of a class is measured again in
float64, feature after feature, so that neighbours do not depend on the filter's rounding. A
difference is |a − b| of a continuous feature scaled to [0, 1], or a ≠ b of a discrete one.

A filter entry is off its exact distance v by at most u (3d + (d + 1) v), u = 2⁻²⁴: each coordinate
is rounded, each difference, and each of d additions. Twice that and more covers the k-th entry
and the candidate's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vicinal._kernels._kbest import (
    LARGEST,
    ZERO,
    Scratch,
    columns_at_most,
    kth_bound,
)
from vicinal._kernels._lanes import LANES, add_gaps, add_unequal
from vicinal._kernels._order import inner
from vicinal._kernels._targeted import KBest, add_point
from vicinal._types import FloatArray, IntArray


class Features(NamedTuple):
    """n points sorted by class, with d continuous and e discrete features, in LANES to a block.

    ``continuous`` and ``discrete`` float32, flattened from (blocks, d, LANES), (blocks, e, LANES);
    ``scaled`` (n, d) and ``codes`` (n, e) float64, the same exactly; ``starts`` (R+1,) int64;
    ``classes`` (n,) int32.
    """

    continuous: FloatArray
    discrete: FloatArray
    scaled: FloatArray
    codes: FloatArray
    starts: IntArray
    classes: IntArray


@inner
def city_block_row(query: int, features: Features, row: FloatArray) -> None:
    """Write the query's rounded distances to all points, and inf to itself."""
    d, e = features.scaled.shape[1], features.codes.shape[1]
    for block in range(row.shape[0] // LANES):
        offset = block * LANES
        for lane in range(LANES):
            row[offset + lane] = 0.0
        for f in range(d):
            value = np.float32(features.scaled[query, f])
            add_gaps(row, offset, features.continuous, (block * d + f) * LANES, value)
        for f in range(e):
            value = np.float32(features.codes[query, f])
            add_unequal(row, offset, features.discrete, (block * e + f) * LANES, value)
    row[query] = np.inf


@inner
def measure_gaps(features: Features, query: int, rows: IntArray, n: int, out: FloatArray) -> None:
    """Write the query's exact distances to n points, the continuous features summed first.

    Four points side by side, since one sum alone waits on its own additions.
    """
    scaled, codes = features.scaled, features.codes
    for p in range(0, n, 4):
        a, b = rows[p], rows[min(p + 1, n - 1)]
        c, d = rows[min(p + 2, n - 1)], rows[min(p + 3, n - 1)]
        sum_a = sum_b = sum_c = sum_d = 0.0
        for f in range(scaled.shape[1]):
            x = scaled[query, f]
            sum_a += abs(x - scaled[a, f])
            sum_b += abs(x - scaled[b, f])
            sum_c += abs(x - scaled[c, f])
            sum_d += abs(x - scaled[d, f])
        for f in range(codes.shape[1]):
            x = codes[query, f]
            sum_a += np.float64(x != codes[a, f])
            sum_b += np.float64(x != codes[b, f])
            sum_c += np.float64(x != codes[c, f])
            sum_d += np.float64(x != codes[d, f])
        out[p], out[p + 1], out[p + 2], out[p + 3] = sum_a, sum_b, sum_c, sum_d


@inner
def nearest_of_each_class(
    query: int, features: Features, row: FloatArray, scratch: Scratch, table: KBest
) -> int:
    """Fill the table with the query's k nearest of each class; return how many classes occur."""
    city_block_row(query, features, row)
    starts, rows, measured = features.starts, scratch.rows, scratch.values
    k, d = table.best.shape[1], features.scaled.shape[1] + features.codes.shape[1]
    n_present = ZERO
    for r in range(starts.shape[0] - 1):
        first, last = starts[r], starts[r + 1]
        bound = np.float64(kth_bound(row, first, last, k, scratch.lows))
        limit = bound + 2.0**-22 * (3 * d + (d + 1) * bound)
        rounded = LARGEST if limit > LARGEST else np.float32(limit)
        n_hits = columns_at_most(row, first, last, rounded, first, row.shape[0], rows)
        measure_gaps(features, query, rows, n_hits, measured)
        for p in range(n_hits):
            n_present = add_point(table, n_present, np.int32(r), measured[p], np.int32(rows[p]))
    return n_present


@inner
def add_differences(
    features: Features, query: int, point: int, weight: float, out: FloatArray, line: int
) -> None:
    """Add weight × difference of every feature to one line of ``out``."""
    scaled, codes = features.scaled, features.codes
    d = scaled.shape[1]
    for f in range(d):
        out[line, f] += weight * abs(scaled[query, f] - scaled[point, f])
    for f in range(codes.shape[1]):
        if codes[query, f] != codes[point, f]:
            out[line, d + f] += weight


@njit(cache=True, nogil=True)
def sum_hits_and_misses(
    queries: IntArray,
    features: Features,
    priors: FloatArray,
    rank_weights: FloatArray,
    row: FloatArray,
    scratch: Scratch,
    table: KBest,
    out: FloatArray,
) -> None:
    """Add the queries' steps of ReliefF to ``out`` (1, d+e).

    −Σ_hits w_j diff_j + Σ_{C ≠ y} P(C)/(1−P(y)) Σ_{misses of C} w_j diff_j, where the w_j fall with
    rank as ``rank_weights`` (k,) and sum to 1 over the neighbours there are. ``row`` has whole
    blocks; ``table`` is empty, and is so again at the end.
    """
    for i in range(queries.shape[0]):
        query = queries[i]
        y = features.classes[query]
        n_present = nearest_of_each_class(query, features, row, scratch, table)
        for p in range(n_present):
            r = table.present[p]
            share = -1.0 if r == y else priors[r] / (1.0 - priors[y])
            total = 0.0
            for q in range(table.filled[r]):
                total += rank_weights[q]
            for q in range(table.filled[r]):
                weight = share * rank_weights[q] / total
                add_differences(features, query, table.which[r, q], weight, out, ZERO)
            table.filled[r] = 0


@njit(cache=True, nogil=True)
def sum_joint_differences(
    queries: IntArray,
    features: Features,
    response: FloatArray,
    rank_weights: FloatArray,
    row: FloatArray,
    scratch: Scratch,
    table: KBest,
    out: FloatArray,
) -> None:
    """Add the queries' steps of RReliefF to ``out`` (3, d+e), all points being of one class.

    Line 0: N_dA, the features' differences; line 1: N_dC&dA, those times the difference of the
    response, which is scaled to [0, 1]; line 2, first entry: N_dC, the response's alone.
    """
    for i in range(queries.shape[0]):
        query = queries[i]
        nearest_of_each_class(query, features, row, scratch, table)
        total = 0.0
        for q in range(table.filled[0]):
            total += rank_weights[q]
        for q in range(table.filled[0]):
            point, weight = table.which[0, q], rank_weights[q] / total
            joint = weight * abs(response[query] - response[point])
            add_differences(features, query, point, weight, out, np.int64(0))
            add_differences(features, query, point, joint, out, np.int64(1))
            out[2, 0] += joint
        table.filled[0] = 0
