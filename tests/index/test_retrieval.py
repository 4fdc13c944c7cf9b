"""Measures of ranked lists: worked examples, and loops over the definitions."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal.index import rank_by_distance, score_lists


def scores_of(*relevant, **given):
    return score_lists(np.array(relevant, bool), **given)


def test_a_list_worked_out_by_hand():
    """Relevant at places 1, 3 and 6 of 8, three of them in all."""
    found = scores_of([1, 0, 1, 0, 0, 1, 0, 0], n_returned=[4])
    assert found.nearest == 1
    assert found.first_tier == pytest.approx(2 / 3)
    assert found.second_tier == 1
    assert found.e_measure == pytest.approx(2 / (32 / 3 + 1))
    assert found.dcg == pytest.approx((1 + 1 / log2(3) + 1 / log2(6)) / (2 + 1 / log2(3)))
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert found.ndcg == pytest.approx((1 + 1 / 2 + 1 / log2(7)) / ideal)
    assert (found.precision, found.recall) == (2 / 4, pytest.approx(2 / 3))
    assert found.f1 == pytest.approx(2 / (2 + 3 / 2))


def test_the_best_list_has_full_marks_and_the_worst_none_at_its_head():
    best = scores_of([1, 1, 1, 0, 0, 0, 0])
    assert [best.nearest, best.first_tier, best.second_tier, best.dcg] == [1, 1, 1, 1]
    assert [best.average_precision, best.ndcg, best.precision, best.f1] == [1, 1, 1, 1]
    worst = scores_of([0, 0, 0, 0, 1, 1, 1])
    assert [worst.nearest, worst.first_tier, worst.precision, worst.f1] == [0, 0, 0, 0]
    assert worst.second_tier == pytest.approx(2 / 3)


def by_definition(hits):
    """Return the measures of one list, loop by loop."""
    C = sum(hits)
    average, dcg, ndcg = 0.0, 0.0, 0.0
    for place, hit in enumerate(hits, 1):
        if hit:
            average += sum(hits[:place]) / place / C
            dcg += 1 if place == 1 else 1 / log2(place)
            ndcg += 1 / log2(place + 1)
    precision, recall = sum(hits[:32]) / 32, sum(hits[:32]) / C
    return {
        "first_tier": sum(hits[:C]) / C,
        "second_tier": sum(hits[: 2 * C]) / C,
        "average_precision": average,
        "dcg": dcg / (1 + sum(1 / log2(i) for i in range(2, C + 1))),
        "ndcg": ndcg / sum(1 / log2(i + 1) for i in range(1, C + 1)),
        "e_measure": 0 if not precision else 2 / (1 / precision + 1 / recall),
        "recall": sum(hits[:C]) / C,
    }


@given(st.lists(st.lists(st.booleans(), min_size=40, max_size=40), min_size=1, max_size=5))
def test_means_are_those_of_the_definitions(lists):
    counted = [by_definition(hits) for hits in lists if any(hits)]
    if not counted:
        with pytest.raises(ValueError, match="anything relevant"):
            scores_of(*lists)
        return
    found = scores_of(*lists).record()
    assert found["n_left_out"] == len(lists) - len(counted)
    for name in counted[0]:
        assert found[name] == pytest.approx(np.mean([one[name] for one in counted]))


def test_rows_are_ranked_among_each_other_without_themselves():
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    vectors[7] = vectors[3]
    gaps = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :-1]
    assert_array_equal(rank_by_distance(vectors, labels), labels[order] == labels[:, None])


@pytest.mark.parametrize(
    ("relevant", "n_returned", "words"),
    [
        ([[1.0, 0.0]], None, "truth values"),
        (np.zeros((2, 0), bool), None, "shape"),
        (np.ones(3, bool), None, "shape"),
        (np.ones((1, 3), bool), [4], "from 0 to 3"),
        (np.ones((2, 3), bool), [1], "each of the 2"),
    ],
)
def test_what_is_no_ranking_is_refused(relevant, n_returned, words):
    with pytest.raises(ValueError, match=words):
        score_lists(relevant, n_returned)
