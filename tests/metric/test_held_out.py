"""What a fit learns without some rows: as a fit of the others alone, at the settings it chose."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import scale

from vicinal import EJOP, LDA, MLNG, Covariance, MeanMetric, RegressionMLNG
from vicinal.metric.held_out import HeldOut, look
from vicinal.metric.maps import PLAIN
from vicinal.rows import Rows, inner_folds, inner_splits, read_target


def wine(task="classification"):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    return Rows(X, read_target(y if task == "classification" else X[:, 0] ** 2 + y, task))


def test_folds_are_the_splits_by_row_number():
    rows = wine()
    for fold, (train, held) in zip(inner_folds(rows, 3), inner_splits(rows, 3), strict=True):
        assert_array_equal(rows.X[fold.train], train.X)
        assert_array_equal(rows.X[fold.test], held.X)
        assert not set(fold.train) & set(fold.test)


def test_many_rows_are_sampled_and_numbered_as_they_were():
    rows = Rows(np.arange(6000.0)[:, None], read_target(np.arange(6000) % 2))
    (fold,) = inner_folds(rows, 0)
    assert len(fold.train) + len(fold.test) == 5000
    assert max(fold.train.max(), fold.test.max()) > 5000


@pytest.mark.parametrize(
    ("learner", "task"),
    [
        (MLNG(random_state=0, max_iter=3), "classification"),
        (MLNG(init="lda", learning_rate=0.1, random_state=0, max_iter=2), "classification"),
        (RegressionMLNG(random_state=0, max_iter=3), "regression"),
        (EJOP(random_state=0), "classification"),
        (LDA(), "classification"),
        (Covariance(), "classification"),
        (MeanMetric(LDA(), n_starts=2, random_state=0), "classification"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_finishing_a_cross_fit_is_a_fit_and_its_folds_predict(learner, task):
    rows = wine(task)
    folds = inner_folds(rows, 0)
    begun = learner.cross_fit(rows, folds)
    maps = [begun.without(fold) for fold in folds]
    fitted = begun.finish()
    assert_allclose(fitted.transform(rows.X), fitted.maps_.database(rows.X))
    assert len({maps[0].queries(rows.X).tobytes(), maps[1].queries(rows.X).tobytes()}) == (
        1 if learner._task is None else 2
    )
    if task == "classification":
        held = HeldOut.pool([look(each, rows.X, f, 5) for each, f in zip(maps, folds, strict=True)])
        votes = rows.codes[held.near]
        wrong = np.mean([np.bincount(v).argmax() for v in votes] != rows.codes[held.rows])
        assert wrong < 0.2
        assert_array_equal(np.sort(held.rows), np.arange(rows.n_rows))


def test_labels_of_a_fold_do_not_reach_its_map():
    """A learner of settings given: the map without a fold is that of a fit to the other rows."""
    rows = wine()
    folds = inner_folds(rows, 0)
    other = rows.target.codes.copy()
    other[folds[0].test] = (other[folds[0].test] + 1) % 3
    changed = Rows(rows.X, read_target(other))
    for learner in (
        LDA(),
        EJOP("analytic", bandwidth=3.0, random_state=0),
        MLNG(init="lda", learning_rate=0.1, random_state=0, max_iter=2),
    ):
        first, second = (
            learner.cross_fit(each, folds).without(folds[0]).A for each in (rows, changed)
        )
        assert_allclose(first, second)


def test_maps_of_trials_are_those_that_were_judged():
    """What MLNG's choice scored on a fold is the score of the map it gives for that fold."""
    rows = wine()
    folds = inner_folds(rows, 0)
    metric = MLNG(5, n_components=13, init="identity", random_state=0, max_iter=4)
    begun = metric.cross_fit(rows, folds)
    held = HeldOut.pool([look(begun.without(f), rows.X, f, 5) for f in folds])
    wrong = rows.codes[held.near] != rows.codes[held.rows][:, None]
    metric = begun.finish()
    (chosen,) = (tried for tried in metric.settings_ if tried["chosen"])
    votes = wrong.sum(axis=1) >= 3
    expected = chosen["scores"][chosen["n_epochs"]]
    assert abs(votes.mean() + wrong.mean() / 4 - expected) < 0.03


def test_neighbours_of_held_out_rows_are_those_of_the_training_part():
    rows = wine()
    fold = inner_folds(rows, 1)[0]
    held = look(PLAIN, rows.X, fold, 4)
    oracle = NearestNeighbors(n_neighbors=4).fit(rows.X[fold.train])
    distances, near = oracle.kneighbors(rows.X[fold.test])
    assert_array_equal(held.near, fold.train[near])
    assert_allclose(held.distances, distances)
    assert look(PLAIN, rows.X, fold, 10**6).near.shape[1] == len(fold.train)
