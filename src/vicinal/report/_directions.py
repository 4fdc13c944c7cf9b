"""The leading directions of a linear metric: where they point, and where rows lie along them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from ._numbers import MINUS, shorten

_TOLERANCE = 1e-3


def weighs_features_alone(components: FloatArray) -> bool:
    """Say whether AᵀA is diagonal because no row or column of A has two entries, as of weights."""
    entries = np.asarray(components) != 0
    return bool(entries.sum(axis=0).max() <= 1 and entries.sum(axis=1).max() <= 1)


def spectrum_of(components: FloatArray) -> FloatArray:
    """Return the eigenvalues of M = AᵀA, descending; weights are never decomposed as a matrix."""
    A = np.asarray(components, np.float64)
    if weighs_features_alone(A):
        return np.sort(np.einsum("ij,ij->j", A, A))[::-1][: min(A.shape)]
    values: FloatArray = np.linalg.svd(A, compute_uv=False) ** 2
    return values


def leading_directions(components: FloatArray, n_directions: int) -> FloatArray:
    """Return the leading eigenvectors of M = AᵀA as rows, (r, d), of length 1.

    r is ``n_directions``, or less where M has fewer eigenvalues above zero. The entry of largest
    size of each is positive.
    """
    A = np.asarray(components, np.float64)
    if weighs_features_alone(A):
        weights = np.einsum("ij,ij->j", A, A)
        first = np.argsort(-weights, kind="stable")[:n_directions]
        features = first[np.sqrt(weights[first]) > 1e-7 * np.sqrt(weights.max())]
        return np.equal.outer(features, np.arange(A.shape[1])).astype(np.float64)
    _, values, vectors = np.linalg.svd(A, full_matrices=False)
    n_known = int(np.sum(values > 1e-7 * values[:1].sum()))
    leading = vectors[: min(n_directions, n_known)]
    largest = leading[np.arange(len(leading)), np.abs(leading).argmax(axis=1)]
    return leading * np.where(largest < 0, -1.0, 1.0)[:, None]


def maps_linearly(metric: Any, X: AnyArray) -> bool:
    """Whether a metric maps rows as its ``components_`` say, up to a shift; tried on a few."""
    components = getattr(metric, "components_", None)
    if components is None or np.ndim(components) != 2 or len(X) < 2:
        return False
    few = np.asarray(X[:16])
    mapped = map_rows(metric, few)
    expected = (few[1:] - few[0]) @ np.asarray(components).T
    if mapped.shape != (len(few), len(components)) or mapped.dtype.kind != "f":
        return False
    scale = float(np.abs(expected).max(initial=0.0))
    return bool(np.abs(mapped[1:] - mapped[0] - expected).max(initial=0.0) <= _TOLERANCE * scale)


def map_rows(metric: Any, rows: FloatArray) -> AnyArray:
    """Return what a metric maps checked rows to, without a word on names they no longer have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return np.asarray(metric.transform(rows))


def top_loadings(direction: FloatArray, n: int = 3) -> IntArray:
    """Return the features that weigh most in a direction; those below a tenth of the first not."""
    sizes = np.abs(direction)
    order = np.argsort(-sizes, kind="stable")[:n]
    return order[sizes[order] >= 0.1 * sizes[order[0]]]


def phrase_direction(loadings: Sequence[tuple[str, float]], *, more: bool) -> str:
    """ "0.81 bmi + 0.43 s5 − 0.21 sex + …": a direction by the features that weigh most."""
    if len(loadings) == 1 and not more:
        return shorten(loadings[0][0], 24)
    words = []
    for i, (name, weight) in enumerate(loadings):
        sign = MINUS if weight < 0 else "+"
        lead = sign if i == 0 and weight < 0 else "" if i == 0 else f" {sign} "
        words.append(f"{lead}{abs(weight):.2f} {shorten(name, 16)}")
    return "".join(words) + (" + …" if more else "")


def describe_direction(direction: FloatArray, names: Sequence[str]) -> str:
    """Return a direction in words, by the features that weigh most in it."""
    top = top_loadings(direction)
    loadings = [(names[i], float(direction[i])) for i in top]
    rest = np.delete(direction, top)
    return phrase_direction(loadings, more=bool(np.abs(rest).max(initial=0.0) > 0.005))


def sample_rows(n: int, most: int, seed: int = 0) -> IntArray:
    """Return at most so many of n rows, drawn without replacement, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
