"""LFDA: its scatters against sums over all pairs, its solution against the eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from vicinal import LFDA, KNNClassifier
from vicinal.rivals._lfda import discriminants, local_scatters


def scatters(X, y, m):
    """The two scatters as loops over pairs."""
    n = len(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    sizes = np.bincount(y)
    scale = [np.sort(np.sqrt(squared[i, y == y[i]]))[min(m, sizes[y[i]] - 1)] for i in range(n)]
    within, between = np.zeros((2, X.shape[1], X.shape[1]))
    for i in range(n):
        for j in range(n):
            outer = np.outer(X[i] - X[j], X[i] - X[j]) / 2
            if y[i] == y[j]:
                near = np.exp(-squared[i, j] / (scale[i] * scale[j]))
                within += near / sizes[y[i]] * outer
                between += near * (1 / n - 1 / sizes[y[i]]) * outer
            else:
                between += outer / n
    return within, between


def test_scatters_are_the_sums_over_pairs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 3)), rng.integers(0, 3, 24)
    for ours, loops in zip(local_scatters(X, y, 3), scatters(X, y, 3), strict=True):
        assert_allclose(ours, loops, rtol=1e-8, atol=1e-10)


def test_solutions_are_those_of_the_generalised_eigenproblem():
    rng = np.random.default_rng(0)
    within, between = (m.T @ m for m in rng.normal(size=(2, 8, 4)))
    rows, values = discriminants(between, within)
    assert_allclose(between @ rows.T, within @ rows.T * values, atol=1e-8)
    assert_allclose(rows @ within @ rows.T, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("kind", ["weighted", "plain", "orthonormalized"])
def test_embeddings_span_the_same_directions(kind):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    rows = LFDA(2, embedding_type=kind).fit(X, y).components_
    plain = LFDA(2, embedding_type="plain").fit(X, y).components_
    assert np.linalg.matrix_rank(np.concatenate([rows, plain]), tol=1e-8) == 2
    if kind == "orthonormalized":
        assert_allclose(rows @ rows.T, np.eye(2), atol=1e-10)


def test_copies_of_rows_do_no_harm():
    X, y = load_iris(return_X_y=True)
    X = np.repeat(X, 10, axis=0)
    labels = np.repeat(y, 10)
    Z = LFDA().fit(X, labels).transform(X)
    means = np.stack([Z[labels == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(Z[:, None] - means, axis=2).argmin(axis=1)
    assert np.mean(nearest == labels) > 0.9


def test_fewer_votes_are_wrong_than_under_the_plain_distance():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(150, 8))])
    scores = [
        KNNClassifier(3, metric=metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for metric in (None, LFDA())
    ]
    assert scores[1] > scores[0] + 0.03


def test_an_unknown_embedding_is_refused():
    with pytest.raises(ValueError, match="embedding_type must be one of 'weighted'"):
        LFDA(embedding_type="linear").fit(*load_iris(return_X_y=True))
