"""What held-out rows lose when mapped rows predict them, by the search that predicts."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.maps import Maps
from vicinal.metric.search import nearest_under
from vicinal.metric.selection._race import Score
from vicinal.pairs import nearest_rows
from vicinal.rows import Classes, Rows, Target

# How much the share of wrong neighbours counts beside the cost of the vote. It moves with every
# single neighbour and so tells maps with equal errors apart; below a half it does not outvote them.
SHARE = 0.25


def judge_maps(
    maps: Maps, train: Rows, held: Rows, n_neighbors: int, *, n_threads: int = 1
) -> Score:
    """Return the score of held-out rows predicted from training rows under some maps."""
    assert train.target is not None
    assert held.target is not None
    k = min(n_neighbors, train.n_rows)
    near = nearest_under(maps, train.X, held.X, k, n_threads=n_threads)
    return Score(losses_of(near, train.target, held.target), held.weights)


def prediction_losses(
    database: AnyArray,
    queries: AnyArray,
    target: Target,
    truth: Target,
    n_neighbors: int,
    *,
    costs: FloatArray | None = None,
    n_threads: int = 1,
) -> FloatArray:
    """Return the loss (m,) of each query, predicted from mapped rows."""
    k = min(n_neighbors, len(database))
    rows = np.ascontiguousarray(database), np.ascontiguousarray(queries)
    return losses_of(nearest_rows(*rows, k, n_threads=n_threads), target, truth, costs)


def losses_of(
    near: IntArray, target: Target, truth: Target, costs: FloatArray | None = None
) -> FloatArray:
    """Return the loss (m,) of queries by their neighbours (m, k): as for votes, or squared."""
    if isinstance(target, Classes) and isinstance(truth, Classes):
        costs = 1.0 - np.eye(len(target.names)) if costs is None else costs
        return vote_losses(target.codes[near], truth.codes, costs)
    gaps = target.given[near].mean(axis=1) - truth.given
    errors: FloatArray = np.square(gaps).reshape(len(gaps), -1).sum(axis=1)
    return errors


def vote_losses(labels: IntArray, own: IntArray, costs: FloatArray) -> FloatArray:
    """Return the cost of each query's vote plus a quarter of its share of wrong neighbours, (m,).

    ``labels`` (m, k) are the neighbours', nearest first, ``own`` (m,) the queries'. The
    share counts the mean cost of a wrong vote.
    """
    labels = labels.astype(np.int64)
    voted = majority_vote(labels, len(costs))
    wrong = np.mean(labels != own[:, None], axis=1)
    typical = costs.sum() / max(1, costs.size - len(costs))
    losses: FloatArray = costs[own, voted] + SHARE * typical * wrong
    return losses
