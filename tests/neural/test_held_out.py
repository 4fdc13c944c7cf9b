"""Held-out votes: the sum over neighbours written out, and what is chosen by them."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neural import _held_out
from vicinal.neural._held_out import Neighborhoods, choose, losses, neighborhoods
from vicinal.rows import Classes, Numbers


def places(seed=0, E=2, n=40, p=3):
    return np.random.default_rng(seed).normal(size=(E, n, p)).astype(np.float32)


def soft_vote(query, rows, targets, temperature, weights):
    louder = weights * np.exp(-np.linalg.norm(rows - query, axis=1) / temperature)
    return louder @ targets / louder.sum()


def test_each_row_is_asked_by_a_member_that_is_blind_to_it_and_answered_by_other_folds():
    z, fold = places(), np.arange(40) % 2
    fold[7] = -1  # in no fold: it votes and is not asked
    codes, weights = np.arange(40) % 3, np.linspace(0.5, 1.5, 40)
    target = Classes(np.arange(3), codes)
    near = neighborhoods(z, np.array([0, 1]), fold, None, cap=1000)
    votes = near.votes(target, 0.7, weights)
    own = near.answers(target, 0.7, weights)
    assert_allclose(own, votes[np.arange(len(own)), codes[near.rows]], rtol=1e-5)
    assert sorted(near.rows) == sorted(set(range(40)) - {7})
    for row, vote in zip(near.rows, votes, strict=True):
        member, others = fold[row], fold != fold[row]
        expected = soft_vote(
            z[member, row], z[member][others], np.eye(3)[codes[others]], 0.7, weights[others]
        )
        assert_allclose(vote, expected, rtol=1e-4)


def test_numbers_are_the_head_corrected_by_the_neighbours():
    z, fold = places(), np.arange(40) % 2
    y, heads = np.random.default_rng(1).normal(size=40), z[..., 0] * 2
    near = neighborhoods(z, np.array([0, 1]), fold, heads, cap=1000)
    votes = near.votes(Numbers(y), 1.3, None)
    for row, vote in zip(near.rows, votes[:, 0], strict=True):
        member, others = fold[row], fold != fold[row]
        gaps = (y - heads[member])[others]
        mean = soft_vote(z[member, row], z[member][others], gaps, 1.3, np.ones(others.sum()))
        assert_allclose(vote, heads[member, row] + mean, rtol=1e-4)


def test_no_more_rows_are_asked_than_the_cap_says():
    near = neighborhoods(places(), np.array([0, 1]), np.arange(40) % 2, None, cap=10)
    assert len(near.rows) == 10


def half(right):
    """Return a half that votes with such shares of the own class on 200 rows of two classes."""
    codes = np.arange(200) % 2
    near = np.where(
        np.random.default_rng(0).random((200, 20)) < right, codes[:, None], 1 - codes[:, None]
    )
    return Neighborhoods(np.arange(200), np.ones((200, 20)), near)


def test_both_halves_count_unless_one_is_better_by_more_than_noise():
    target = Classes(np.arange(2), np.arange(200) % 2)
    assert choose([half(0.8), half(0.8)], target, None).halves == (0, 1)
    assert choose([half(0.95), half(0.3)], target, None).halves == (0,)
    assert choose([half(0.3), half(0.95)], target, None).halves == (1,)
    assert choose([half(0.8)], target, None).halves == (0,)


def test_the_temperature_is_the_one_whose_votes_lose_least():
    target = Classes(np.arange(2), np.arange(200) % 2)
    near, far = np.arange(200) % 2, 1 - np.arange(200) % 2
    sure = Neighborhoods(np.arange(200), np.tile([0.0, 3.0], (200, 1)), np.c_[near, far])
    wrong = Neighborhoods(np.arange(200), np.tile([0.0, 3.0], (200, 1)), np.c_[far, near])
    assert choose([sure], target, None).temperature == min(_held_out.TEMPERATURES)
    assert choose([wrong], target, None).temperature == max(_held_out.TEMPERATURES)


def test_losses_are_surprise_and_squared_error():
    surprise = losses(np.array([0.75, 0.1]), Classes(np.arange(2), np.array([1, 1])), np.arange(2))
    assert_allclose(surprise, -np.log(np.array([0.75, 0.1]) + 1e-4))
    errors = losses(np.array([2.0, 0.5]), Numbers(np.array([1.0, 9.0, 1.0])), np.array([0, 2]))
    assert_array_equal(errors, [1.0, 0.25])
