"""What queries lose by the order of documents: values by hand, slopes by differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from tests.oracles import ranking_losses as oracle

from vicinal.search._losses import MARGIN, make_loss
from vicinal.search._moves import moved_documents, sum_queries, without_own
from vicinal.search._objective import AdapterObjective, RankedBlock, batch_blocks, shared_blocks
from vicinal.search._relevance import Judgements, SameClassRelevance

LOSSES = ("softmax", "hinge", "gerrymandering")


def scores_and_weights(seed: int, n_relevant: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = np.zeros((5, 7))
    for row in weights:
        row[rng.permutation(7)[:n_relevant]] = 1 / n_relevant
    return 2 * rng.normal(size=(5, 7)), weights


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_relevant", [1, 2, 3])
def test_losses_are_those_spelled_out(seed, n_relevant):
    scores, weights = scores_and_weights(seed, n_relevant)
    pairs = list(zip(scores.tolist(), weights.tolist(), strict=True))
    k = 2 * n_relevant - 1
    for name, expected in (
        ("softmax", sum(oracle.softmax(*pair) for pair in pairs)),
        ("hinge", sum(oracle.hinge(*pair, MARGIN) for pair in pairs)),
        ("gerrymandering", sum(oracle.vote(*pair, MARGIN, k) for pair in pairs)),
    ):
        assert_allclose(make_loss(name, k)(scores, weights)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_one_relevant_document_makes_the_vote_a_hinge(seed):
    scores, weights = scores_and_weights(seed, 1)
    vote, hinge = (make_loss(name, 1)(scores, weights) for name in ("gerrymandering", "hinge"))
    assert_allclose(vote[0], hinge[0])
    assert_allclose(vote[1], hinge[1])


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_of_losses_are_finite_differences(name):
    scores, weights = scores_and_weights(3)
    loss, step = make_loss(name, 3), 1e-6
    slopes = loss(scores, weights)[1]
    for place in np.ndindex(scores.shape):
        ends = []
        for sign in (1, -1):
            moved = scores.copy()
            moved[place] += sign * step
            ends.append(loss(moved, weights)[0])
        assert_allclose(slopes[place], (ends[0] - ends[1]) / (2 * step), atol=1e-6)


def problem(seed: int, *, labelled: bool = False) -> tuple:
    rng = np.random.default_rng(seed)
    queries, documents = rng.normal(size=(24, 4)), rng.normal(size=(9, 4))
    queries /= 4 * np.linalg.norm(queries, axis=1, keepdims=True)
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    if labelled:
        return queries, queries, SameClassRelevance(rng.integers(3, size=24))
    grades = sparse.csr_array((rng.random((24, 9)) < 0.3) + np.eye(24, 9))
    grades.data[:] = 1
    return queries, documents, Judgements(sparse.csr_array(
        sparse.vstack([grades[:9], sparse.csr_array(np.eye(9)[rng.integers(9, size=15)])])
    ))  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("how", ["few documents", "many documents", "batches", "labels", "moved"])
def test_the_gradient_is_that_of_finite_differences(name, how):
    queries, documents, relevance = problem(0, labelled=how == "labels")
    everyone = np.arange(len(queries))
    blocks, stand = shared_blocks(everyone, np.arange(len(documents))), None
    if how == "many documents":  # the other way round: queries are mapped, not documents
        blocks = [RankedBlock(everyone[i : i + 5], np.arange(9)) for i in range(0, 24, 5)]
    elif how == "batches":
        blocks = batch_blocks(everyone, relevance, 8, np.random.default_rng(0))
    elif how == "moved":
        sums = sum_queries(queries, relevance, everyone)
        stand = without_own(queries, documents, relevance, everyone, sums, 4.0)
        documents = moved_documents(documents, sums, 4.0)
    objective = AdapterObjective(
        queries, documents, relevance, blocks, make_loss(name, 3), 0.05, True, stand,
        anchor=np.full(20, 0.1), hold=0.2,
    )  # fmt: skip
    flat = np.random.default_rng(1).normal(size=objective.size) / 3
    gradient, step = objective(flat)[1], 1e-6
    for i in range(len(flat)):
        ends = [objective(flat + sign * step * np.eye(len(flat))[i])[0] for sign in (1, -1)]
        assert_allclose(gradient[i], (ends[0] - ends[1]) / (2 * step), atol=2e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_blocks_of_any_size_give_one_value(name):
    queries, documents, relevance = problem(1)
    everyone, loss = np.arange(len(queries)), make_loss(name, 3)
    flat = np.random.default_rng(0).normal(size=16)
    values = []
    for size in (1, 5, 24):
        blocks = [RankedBlock(everyone[i : i + size], np.arange(9)) for i in range(0, 24, size)]
        values.append(AdapterObjective(queries, documents, relevance, blocks, loss, 0.1)(flat))
    for value, gradient in values[1:]:
        assert_allclose(value, values[0][0])
        assert_allclose(gradient, values[0][1], atol=1e-12)


def test_a_query_stands_for_nothing_where_its_own_documents_stand():
    queries, documents, relevance = problem(2)
    everyone = np.arange(len(queries))
    sums = sum_queries(queries, relevance, everyone)
    stand = without_own(queries, documents, relevance, everyone, sums, 3.0)
    for row, column, vector in zip(stand.rows, stand.columns, stand.vectors, strict=True):
        others = np.setdiff1d(np.flatnonzero(relevance.grades.toarray()[:, column]), [row])
        direction = 3.0 * documents[column] + queries[others].sum(axis=0)
        assert_allclose(vector, direction / np.linalg.norm(direction), atol=1e-12)
