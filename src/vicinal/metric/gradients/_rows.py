"""Rows before anything is estimated from them: equal ones as one, and in the plane they span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

from ._targets import Targets

# Numbers that are looked at together.
_CHUNK_ENTRIES = 2**22


def distinct_rows(
    X: AnyArray, targets: Targets, weights: FloatArray
) -> tuple[AnyArray, Targets, FloatArray]:
    """Return rows with weight, of equal ones with equal targets the first, weights summed.

    Whatever is estimated from these cannot tell a row given twice from a row weighed twice.
    Time O(n d).
    """
    codes = _fingerprints(X, targets)
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    sums: FloatArray = np.bincount(places, weights).astype(np.float64)
    order = np.argsort(first)[sums[np.argsort(first)] > 0]
    rows: IntArray = first[order]
    if len(rows) == len(X):
        return X, targets, weights
    return X[rows], targets.take(rows), sums[order]


def _fingerprints(X: AnyArray, targets: Targets) -> IntArray:
    """Return a number of 64 bits a row: equal rows have equal ones, others but for 1 in 10¹⁹.

    A sum of bit patterns times fixed odd numbers, modulo 2⁶⁴, so that no order of summation counts.
    """
    factors = np.random.RandomState(0).randint(0, 2**63, X.shape[1] + 2, dtype=np.uint64) * 2 + 1
    sums = targets.codes.astype(np.uint64) * factors[-1] + _bits(targets.values) * factors[-2]
    chunk = max(1, _CHUNK_ENTRIES // X.shape[1])
    for start in range(0, len(X), chunk):
        part = _bits(X[start : start + chunk])
        # Mixed, or rows that trade two entries' bits could meet.
        part ^= part >> np.uint64(31)
        part *= np.uint64(0x9E3779B97F4A7C15)
        part ^= part >> np.uint64(29)
        sums[start : start + chunk] += part @ factors[:-2]
    return sums


def _bits(values: AnyArray) -> IntArray:
    """Return the bit patterns of numbers as unsigned integers; 0 and −0 are the same."""
    wide: IntArray = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    return wide


@dataclass(frozen=True)
class Span:
    """The plane through some rows: x ↦ B (x − centre), with B (r, d) orthonormal.

    Distances between the rows, and so all estimates from them, are the same within it.
    """

    centre: FloatArray
    basis: FloatArray

    def enter(self, X: AnyArray) -> FloatArray:
        """Return rows (n, d) as (n, r); of rows outside, what is nearest to them in the plane."""
        entered: FloatArray = (np.asarray(X, np.float64) - self.centre) @ self.basis.T
        return entered

    def lift(self, components: FloatArray | None) -> FloatArray:
        """Return a map (p, r) of the plane, None the identity, as a map (p, d)."""
        return self.basis if components is None else components @ self.basis


def span_of(X: AnyArray) -> Span:
    """Return the plane through the rows, of at most n − 1 dimensions. Time O(n² d)."""
    centre = X.mean(axis=0, dtype=np.float64)
    _, sizes, basis = np.linalg.svd(X - centre, full_matrices=False)
    return Span(centre, basis[sizes > len(X) * np.finfo(X.dtype).eps * sizes[0]])
