"""The soft vote: the sum written out, finite differences, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.soft_neighbors import soft_vote_of_row

from vicinal.losses import soft_vote


def rows(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 1.0, 3.0]), st.booleans(), st.booleans())
def test_the_vote_is_the_sum_over_references_written_out(seed, temperature, several, biased):
    queries, references = rows(seed, 2, 4, 3), rows(seed + 1, 2, 6, 3)
    targets = rows(seed + 2, *((2, 6, 2) if several else (6, 2)))
    bias = rows(seed + 3, 2, 1, 6) if biased else None
    votes = soft_vote(queries, references, targets, temperature=temperature, bias=bias)
    for e in range(2):
        own = (targets[e] if several else targets).numpy()
        more = np.zeros(6) if bias is None else bias[e, 0].numpy()
        for i in range(4):
            expected = soft_vote_of_row(
                queries[e, i].numpy(), references[e].numpy(), own, temperature, more
            )
            np.testing.assert_allclose(votes[e, i].numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("temperature", [0.4, 1.0])
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_are_those_of_finite_differences(temperature, shared):
    sides = [rows(0, 2, 3, 2), rows(1, 2, 5, 2), rows(2, *(() if shared else (2,)), 5, 3)]
    bias = torch.zeros(2, 3, 5, dtype=torch.float64)
    bias[0, :, 2] = -torch.inf
    inputs = tuple(side.requires_grad_() for side in sides)
    assert torch.autograd.gradcheck(
        lambda q, r, y: soft_vote(q, r, y, temperature=temperature, bias=bias), inputs
    )


def test_a_batch_that_votes_on_itself_has_the_gradient_of_both_sides():
    places, classes = rows(3, 6, 2).requires_grad_(), torch.eye(3, dtype=torch.float64).repeat(2, 1)
    own = torch.zeros(6, 6, dtype=torch.float64).fill_diagonal_(-torch.inf)
    assert torch.autograd.gradcheck(lambda z: soft_vote(z, z, classes, bias=own), (places,))


def test_a_weight_counts_as_so_many_references():
    queries, references, targets = rows(0, 4, 3), rows(1, 5, 3), rows(2, 5, 2)
    counts = torch.tensor([1, 3, 2, 1, 4])
    repeated = [part.repeat_interleave(counts, 0) for part in (references, targets)]
    weighed = soft_vote(queries, references, targets, bias=counts.double().log())
    torch.testing.assert_close(weighed, soft_vote(queries, *repeated))


def test_a_query_whose_references_are_all_barred_gets_zeros_and_moves_nothing():
    places, classes = rows(4, 2, 2).requires_grad_(), torch.eye(2, dtype=torch.float64)
    bias = torch.tensor([[-torch.inf, -torch.inf], [0.0, -torch.inf]], dtype=torch.float64)
    votes = soft_vote(places, places, classes, bias=bias)
    votes.square().sum().backward()
    assert votes.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert torch.isfinite(places.grad).all()


def test_places_that_are_not_numbers_give_no_number():
    places = torch.tensor([[0.0], [torch.nan], [1.0]])
    assert soft_vote(places, places, torch.eye(3)).isnan().any()


def test_far_from_the_origin_single_floats_lose_no_more_than_their_place_does():
    queries, references, targets = rows(0, 4, 3), rows(1, 6, 3), rows(2, 6, 2)
    exact = soft_vote(queries, references, targets)
    moved = soft_vote((queries + 100).float(), (references + 100).float(), targets.float())
    torch.testing.assert_close(moved.double(), exact, rtol=1e-3, atol=1e-4)


def test_half_floats_are_computed_in_single_ones():
    queries, references = (1000 * rows(seed, 3, 2).half() for seed in (0, 1))
    votes = soft_vote(queries, references, torch.eye(3), temperature=300.0)
    assert votes.dtype == torch.float32
    torch.testing.assert_close(votes.sum(1), torch.ones(3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z, y: (z[0], z, y), "queries must be a tensor of rows"),
        (lambda z, y: (z, z.long(), y), "references must hold floats"),
        (lambda z, y: (z[:, :1], z, y), "agree in all but the number of rows"),
        (lambda z, y: (z, z, y[:-1]), r"targets must have shape \(4, C\)"),
        (lambda z, y: (z, z[:0], y[:0]), "no references"),
        (lambda z, y: (z, z, [1, 2]), "targets must be a tensor"),
    ],
)
def test_bad_calls_are_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        soft_vote(*call(rows(0, 4, 2), torch.eye(4)))


def test_a_bias_or_temperature_that_does_not_fit_is_refused():
    places, classes = rows(0, 4, 2), torch.eye(4)
    with pytest.raises(ValueError, match="bias must broadcast"):
        soft_vote(places, places, classes, bias=torch.zeros(3))
    with pytest.raises(ValueError, match="temperature must be a number above zero"):
        soft_vote(places, places, classes, temperature=0.0)
