"""Nearest packed bit codes: how many bits differ, counted 64 at a time.

Codes are word-major, (words, n): one word of many codes lies side by side, so that the compiler
can count the bits of several codes at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._order import grown, merge_sorted
from vicinal._types import AnyArray


@njit(cache=True, nogil=True)
def hamming_distances(query: AnyArray, words: AnyArray, out: AnyArray) -> None:
    """Write the number of differing bits, Σ_w popcount(query_w xor words_{w, i}), for every i."""
    out[:] = 0
    for w in range(words.shape[0]):
        word, others = query[w], words[w]
        for i in range(others.shape[0]):
            out[i] += np.int32(_popcount(word ^ others[i]))


@njit(cache=True, nogil=True)
def merge_nearest_codes(
    words: AnyArray, first_row: int, queries: AnyArray, nearest: AnyArray, indices: AnyArray
) -> None:
    """Merge one block of codes into each query's k nearest so far.

    Parameters
    ----------
    words : uint64 ndarray of shape (w, b)
        The block's codes, word-major.
    first_row : int
        The block's place in the database. Blocks must come in ascending order.
    queries : uint64 ndarray of shape (m, w)
    nearest : int32 ndarray of shape (m, k)
        Distances so far, ascending, more than 64 w where none; updated in place.
    indices : int64 ndarray of shape (m, k)
        Their rows; updated in place.

    Notes
    -----
    Time O(m b w), and a counting sort of O(b + 64 w) where a block holds something nearer.
    """
    b, k = words.shape[1], nearest.shape[1]
    distances, values, rows = np.empty(b, np.int32), np.empty(b, np.int32), np.empty(b, np.int64)
    places = np.empty(64 * words.shape[0] + 2, np.int64)
    for q in range(queries.shape[0]):
        hamming_distances(queries[q], words, distances)
        n_hits = _counting_sort_below(distances, nearest[q, k - 1], places, values, rows)
        if n_hits > 0:
            merge_sorted(nearest[q], indices[q], values[:n_hits], rows[:n_hits], first_row)


@njit(cache=True, nogil=True)
def codes_within(words: AnyArray, first_row: int, queries: AnyArray, radius: int) -> Any:
    """Return (query numbers, rows, distances) of all pairs in a block that differ in few bits.

    At most ``radius`` bits, that is. One entry a pair, ascending in query, then row.
    """
    b, total = words.shape[1], 0
    distances = np.empty(b, np.int32)
    pair_queries, pair_rows = np.empty(b, np.int64), np.empty(b, np.int64)
    pair_values = np.empty(b, np.int64)
    for q in range(queries.shape[0]):
        hamming_distances(queries[q], words, distances)
        if total + b > pair_rows.shape[0]:
            size = 2 * (total + b)
            pair_queries, pair_rows = grown(pair_queries, size), grown(pair_rows, size)
            pair_values = grown(pair_values, size)
        for i in range(b):
            if distances[i] <= radius:
                pair_queries[total], pair_rows[total] = q, first_row + i
                pair_values[total] = distances[i]
                total += 1
    return pair_queries[:total], pair_rows[:total], pair_values[:total]


@njit(cache=True, nogil=True)
def _counting_sort_below(
    distances: AnyArray, limit: int, places: AnyArray, values: AnyArray, rows: AnyArray
) -> int:
    """Write the distances below ``limit`` ascending, equal ones by row; return how many."""
    hits = np.int32(0)
    for i in range(distances.shape[0]):
        hits += np.int32(distances[i] < limit)
    if hits == 0:
        return 0
    places[: limit + 1] = 0
    for i in range(distances.shape[0]):
        if distances[i] < limit:
            places[distances[i] + 1] += 1
    for value in range(limit):
        places[value + 1] += places[value]
    for i in range(distances.shape[0]):
        if distances[i] < limit:
            place = places[distances[i]]
            values[place], rows[place] = distances[i], i
            places[distances[i]] += 1
    return int(hits)


@njit(cache=True, nogil=True, inline="always")
def _popcount(word: Any) -> Any:
    """Return the number of set bits, by sums over 2, 4, 8 and then all 64 of them."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
