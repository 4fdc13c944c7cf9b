"""Pairs, triplets and chunks drawn from labels, of which some may be unknown."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.compat.metric_learn._starts import renamed

# How often as many pairs as asked for are drawn before fewer are returned.
_TRIES = 10


class Constraints:
    """Draw constraints from labels.

    Parameters
    ----------
    partial_labels : int array-like of shape (n,)
        Negative where the label is not known.
    """

    def __init__(self, partial_labels: Any) -> None:
        self.partial_labels = np.asarray(partial_labels, dtype=int)
        self.known_label_idx = np.flatnonzero(self.partial_labels >= 0)
        self.known_labels = self.partial_labels[self.known_label_idx]

    def positive_negative_pairs(
        self,
        n_constraints: int | None = None,
        same_length: bool = False,
        random_state: Any = None,
        num_constraints: Any = "deprecated",
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return rows (a, b) of pairs of one label and (c, d) of pairs of two.

        Parameters
        ----------
        n_constraints : int
            Distinct pairs of each kind, at most.
        same_length : bool
            Whether to cut the longer kind to the length of the other.
        random_state : int, RandomState or None
        """
        count = renamed(n_constraints, "num_constraints", num_constraints, "n_constraints")
        random = check_random_state(random_state)
        a, b = self._draw(count, random, same=True)
        c, d = self._draw(count, random, same=False)
        if same_length:
            n = min(len(a), len(c))
            a, b, c, d = a[:n], b[:n], c[:n], d[:n]
        return a, b, c, d

    def _draw(self, wanted: int, random: Any, *, same: bool) -> tuple[IntArray, IntArray]:
        found: dict[tuple[int, int], None] = {}
        n = len(self.known_labels)
        for _ in range(_TRIES):
            if n < 2 or len(found) >= wanted:
                break
            first = random.randint(n, size=wanted)
            second = random.randint(n, size=wanted)
            alike = self.known_labels[first] == self.known_labels[second]
            right = (alike == same) & (first != second)
            for i, j in zip(first[right].tolist(), second[right].tolist(), strict=True):
                found[(i, j)] = None
        if len(found) < wanted:
            kind = "positive" if same else "negative"
            warnings.warn(
                f"there are {len(found)} {kind} pairs to draw, fewer than the {wanted} asked for.",
                UserWarning,
                stacklevel=4,
            )
        pairs = np.array(list(found)[:wanted], dtype=int).reshape(-1, 2)
        return self.known_label_idx[pairs[:, 0]], self.known_label_idx[pairs[:, 1]]

    def generate_knntriplets(self, X: AnyArray, k_genuine: int, k_impostor: int) -> IntArray:
        """Return triplets (t, 3) of rows: each, a near one of its label, a near one of others.

        Where a label has too few rows, all of them are taken, with a warning.
        """
        X = np.asarray(X)[self.known_label_idx]
        triplets = []
        for label in np.unique(self.known_labels):
            own = np.flatnonzero(self.known_labels == label)
            other = np.flatnonzero(self.known_labels != label)
            n_own = self._enough(k_genuine, len(own) - 1, label, "genuine")
            n_other = self._enough(k_impostor, len(other), label, "impostor")
            if n_own < 1 or n_other < 1:
                continue
            near = _neighbours(X[own], None, n_own)
            far = _neighbours(X[other], X[own], n_other)
            for place, row in enumerate(own):
                b, c = np.meshgrid(own[near[place]], other[far[place]], indexing="ij")
                triplets.append(np.column_stack([np.full(b.size, row), b.ravel(), c.ravel()]))
        rows = np.concatenate(triplets) if triplets else np.empty((0, 3), int)
        return self.known_label_idx[rows]

    def _enough(self, wanted: int, there: int, label: Any, kind: str) -> int:
        if wanted > there:
            warnings.warn(
                f"points of class {label} have {there} {kind} neighbors, fewer than the k_{kind}="
                f"{wanted} asked for; all of them are taken.",
                UserWarning,
                stacklevel=4,
            )
        return min(wanted, there)

    def chunks(
        self,
        n_chunks: int = 100,
        chunk_size: int = 2,
        random_state: Any = None,
        num_chunks: Any = "deprecated",
    ) -> IntArray:
        """Return the chunk of each row (n,), −1 for none; rows of a chunk share their label.

        Raises
        ------
        ValueError
            Where the labels do not suffice for so many chunks of that size.
        """
        n_chunks = renamed(n_chunks, "num_chunks", num_chunks, "n_chunks")
        random = check_random_state(random_state)
        chunks = np.full(len(self.partial_labels), -1)
        groups = [np.flatnonzero(self.partial_labels == c) for c in np.unique(self.known_labels)]
        groups = [random.permutation(group) for group in groups]
        possible = sum(len(group) // chunk_size for group in groups)
        if possible < n_chunks:
            raise ValueError(
                f"the classes hold {possible} chunks of {chunk_size} points, not {n_chunks}; ask "
                "for fewer or smaller ones."
            )
        used = [0] * len(groups)
        for chunk in range(n_chunks):
            left = [g for g, group in enumerate(groups) if used[g] + chunk_size <= len(group)]
            g = left[random.randint(len(left))]
            chunks[groups[g][used[g] : used[g] + chunk_size]] = chunk
            used[g] += chunk_size
        return chunks


def wrap_pairs(
    X: AnyArray, constraints: tuple[IntArray, IntArray, IntArray, IntArray]
) -> tuple[AnyArray, IntArray]:
    """Return pairs of rows (n, 2, ...) and labels +1, −1 of what was drawn as (a, b, c, d)."""
    a, b, c, d = (np.asarray(rows) for rows in constraints)
    X = np.asarray(X)
    pairs = np.concatenate([np.stack([X[a], X[b]], axis=1), np.stack([X[c], X[d]], axis=1)])
    return pairs, np.repeat([1, -1], [len(a), len(c)])


def _neighbours(database: FloatArray, queries: FloatArray | None, k: int) -> IntArray:
    found: IntArray = (
        NearestNeighbors(n_neighbors=k).fit(database).kneighbors(queries, return_distance=False)
    )
    return found
