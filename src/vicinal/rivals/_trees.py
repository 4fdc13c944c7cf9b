"""Regression trees of one depth as arrays: what a boosted map is made of and stored as.

A tree of depth D has 2^D − 1 questions "is feature f at most t?" in order of level, and 2^D leaves
of p numbers. The children of question a are 2a + 1 (yes) and 2a + 2 (no); where a fitted tree ends
early, the rest of its questions are answered yes (t = ∞) and lead to its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor


@dataclass(frozen=True)
class Forest:
    """Trees to be summed: ``features`` and ``thresholds`` (T, 2^D − 1), ``leaves`` (T, 2^D, p)."""

    features: IntArray
    thresholds: FloatArray
    leaves: FloatArray

    def __len__(self) -> int:
        return len(self.features)

    def add_to(self, mapped: FloatArray, X: FloatArray) -> None:
        """Add the sum of all trees at rows X (n, d), float32, to ``mapped`` (n, p)."""
        for features, thresholds, leaves in zip(
            self.features, self.thresholds, self.leaves, strict=True
        ):
            mapped += leaves[leaf_of(features, thresholds, X)].astype(mapped.dtype, copy=False)


def leaf_of(features: IntArray, thresholds: FloatArray, X: FloatArray) -> IntArray:
    """Return the leaf (n,) each row of X falls into."""
    rows = np.arange(len(X))
    place = np.zeros(len(X), np.int64)
    while len(place) and place[0] < len(features):
        yes = X[rows, features[place]] <= thresholds[place]
        place = 2 * place + 1 + ~yes
    return place - len(features)


def no_trees(depth: int, n_outputs: int) -> Forest:
    """Return a forest without trees."""
    inner = 2**depth - 1
    return Forest(
        np.zeros((0, inner), np.int64),
        np.zeros((0, inner), np.float64),
        np.zeros((0, inner + 1, n_outputs)),
    )


def append_tree(forest: Forest, tree: Any, factor: float) -> Forest:
    """Return a forest with one tree more: of scikit-learn's, its leaves multiplied."""
    features, thresholds, leaves = complete_tree(tree, forest.leaves.shape[1])
    return Forest(
        np.concatenate([forest.features, features[None]]),
        np.concatenate([forest.thresholds, thresholds[None]]),
        np.concatenate([forest.leaves, factor * leaves[None]]),
    )


def complete_tree(
    tree: DecisionTreeRegressor, n_leaves: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return features, thresholds and leaves of a fitted tree, filled up to a complete one."""
    inner, nodes = tree.tree_, np.zeros(2 * n_leaves - 1, np.int64)
    features = np.zeros(n_leaves - 1, np.int64)
    thresholds = np.full(n_leaves - 1, np.inf)
    for place in range(n_leaves - 1):
        node = nodes[place]
        left, right = inner.children_left[node], inner.children_right[node]
        if left < 0:  # a leaf above the last level: all questions below it lead to it
            nodes[2 * place + 1] = nodes[2 * place + 2] = node
            continue
        features[place], thresholds[place] = inner.feature[node], inner.threshold[node]
        nodes[2 * place + 1], nodes[2 * place + 2] = left, right
    return features, thresholds, inner.value[nodes[n_leaves - 1 :], :, 0]
