"""MLNG's problem: parts of the rows, settings, starts, descents and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_wine

from vicinal import MLNG, KNNClassifier
from vicinal.metric.descent import enter_frame, make_frame
from vicinal.metric.gerrymander._options import check_options, count_infeasible
from vicinal.metric.gerrymander._problem import LinearProblem, LinearSetting
from vicinal.metric.starts import Start
from vicinal.rows import Rows, read_target


def wine_problem(n_neighbors=3, *, weights=None, groups=None, thin=False, **told: Any):
    X, y = load_wine(return_X_y=True)
    rows: Any = sparse.csr_array(X) if thin else X
    learner = MLNG(n_neighbors, random_state=0, **told)
    options = check_options(learner, rows, 1.0 - np.eye(3), None)
    given = Rows(rows, read_target(y), weights, groups)
    return LinearProblem(enter_frame(given, make_frame(rows)), options)


def part_of(problem, numbers):
    return problem.on(problem.rows.take(numbers))


def test_few_rows_are_learned_from_with_fewer_neighbours():
    problem = wine_problem()
    part = part_of(problem, np.array([5, 100, 3]))
    assert part.rows.frame is problem.rows.frame
    assert part.options.n_neighbors == 2
    assert problem.options.n_neighbors == 3


def test_only_what_was_left_open_is_tried():
    told = {"init": "lda", "learning_rate": 0.05}
    assert wine_problem(**told).settings() == [LinearSetting(Start("lda"), 0.05)]
    with_ridge = wine_problem(**told, regularizer="trace", regularization=0.2).settings()
    assert with_ridge == [LinearSetting(Start("lda"), 0.05, 0.2)]
    amounts = {s.regularization for s in wine_problem(**told, regularizer="trace").settings()}
    assert len(amounts) > 1
    rates = {s.rate for s in wine_problem(init="lda").settings()}
    assert len(rates) > 1


def test_open_starts_know_different_things():
    names = {start.label() for start in wine_problem().starts()}
    zeros = {"zeros, strength 0.3", "zeros, strength 3"}
    assert names == {"dann", "identity", "standardised", "relieff", "lda, 2 components", *zeros}
    assert wine_problem(n_components=4).starts() == [Start("lda", 4), Start("pca", 4)]
    assert wine_problem(thin=True).starts() == [Start("pca", 13)]
    assert Start("zeros") in wine_problem(solver="psd").starts()
    assert wine_problem(init=np.eye(3, 13)).starts() == [Start("array", 3)]


def test_features_without_weight_take_no_part_in_a_start_and_change_nothing(monkeypatch):
    weights = np.where(np.arange(13) % 2, 0.0, np.arange(1.0, 14.0))
    monkeypatch.setattr("vicinal.metric.starts._maps.relieff_weights", lambda *_, **__: weights)
    problem, setting = wine_problem(init="relieff"), LinearSetting(Start("relieff"), 0.1)
    begun = problem.begin(setting, (0,))
    assert begun.components.shape == (7, 13)
    whole = problem.begin(setting, (0,))
    whole.parameters = np.zeros((13, 13), begun.parameters.dtype)
    whole.parameters[::2] = begun.parameters
    # A step is relative to the size of all entries: more rows of zeros, smaller ones.
    whole.rule.rate *= np.sqrt(7 / 13)
    for _ in range(2):
        assert begun.advance() == pytest.approx(whole.advance(), rel=1e-6)
    assert not whole.parameters[1::2].any()
    assert_allclose(whole.parameters[::2], begun.parameters, atol=1e-5)


def test_settings_have_different_labels():
    settings = wine_problem(regularizer="trace").settings()
    assert len({setting.label() for setting in settings}) == len(settings)
    assert settings[0].describe().keys() == {"init", "learning_rate", "regularization"}


def test_scores_are_the_errors_of_a_classifier_and_a_quarter_of_wrong_neighbours():
    problem = wine_problem(5)
    train, held = (problem.rows.take(np.arange(first, 178, 2)) for first in (0, 1))
    components = np.random.default_rng(0).normal(size=(3, 13))
    losses = problem.on(train).score(components, held)
    mapped = train.X @ components.T, held.X @ components.T
    classifier = KNNClassifier(5).fit(mapped[0], train.codes)
    neighbours = train.codes[classifier.kneighbors(mapped[1], return_distance=False)]
    errors = classifier.predict(mapped[1]) != held.codes
    shares = np.mean(neighbours != held.codes[:, None], axis=1)
    assert_allclose(losses, errors + 0.25 * shares)


def test_few_held_out_rows_are_voted_on_by_as_many_neighbours():
    problem = wine_problem(5)
    train, held = part_of(problem, np.arange(0, 178, 2)), problem.rows.take(np.arange(1, 178, 2))
    weak = np.eye(1, 13)
    pairs = [held.take(np.arange(first, first + 2)) for first in range(0, 40, 2)]
    alone = np.concatenate([train.score(weak, pair) for pair in pairs])
    assert_array_equal(alone, train.score(weak, held)[:40])


@pytest.mark.parametrize("solver", ["factored", "psd"])
def test_a_descent_begins_at_its_start_and_lowers_the_loss(solver):
    problem = wine_problem(solver=solver, init="identity")
    setting = LinearSetting(Start("identity"), problem.settings()[0].rate)
    descent = problem.begin(setting, (0, 1))
    _, start = problem._begin_at(Start("identity"), (0, 1))
    assert_allclose(descent.components.T @ descent.components, start.T @ start, atol=1e-8)
    for _ in range(4):
        descent.advance()
    assert descent.losses[-1] < descent.losses[0]


def test_trials_from_one_start_do_not_disturb_each_other():
    settings = [LinearSetting(Start("lda"), rate) for rate in (0.1, 0.01)]
    together, alone = wine_problem(), wine_problem()
    descents = [together.begin(setting, (0, 0)) for setting in settings]
    for descent in descents:
        descent.advance()
    single = alone.begin(settings[1], (0, 0))
    single.advance()
    assert_array_equal(descents[1].components, single.components)


def test_a_zero_start_is_zero_and_learns():
    problem = wine_problem(solver="psd", init="zeros")
    descent = problem.begin(LinearSetting(Start("zeros"), 10.0), (0, 0))
    assert_array_equal(descent.components, 0)
    descent.advance()
    assert np.any(descent.components)


def test_an_array_start_keeps_its_scale():
    given = 7 * np.eye(2, 13)
    problem = wine_problem(init=given)
    start = problem.make_start(Start("array", 2), np.random.default_rng(0))
    assert_allclose(problem.rows.frame.fold(start), given)


def test_rows_are_weighted_as_they_were_given_though_they_are_put_in_order_of_class():
    X, y = load_wine(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(178)
    weights = np.linspace(0.1, 1.9, 178)
    options = {"init": "lda", "learning_rate": 0.03, "max_iter": 1, "random_state": 0}
    told = check_options(MLNG(3, **options), X, 1.0 - np.eye(3), None)
    rows = Rows(X[shuffled], read_target(y[shuffled]), weights)
    problem = LinearProblem(enter_frame(rows, make_frame(X)), told)
    objective: Any = problem.begin(problem.settings()[0], (0, 0)).objective
    place = int(np.flatnonzero(objective.classes.order == 17)[0])
    assert objective.weights[place] == weights[17]
    assert_array_equal(objective.X[place], problem.rows.X[17])


@pytest.mark.parametrize(
    ("counts", "k", "infeasible"),
    [
        ([10, 10], 3, 0),
        ([10, 2], 3, 2),
        ([10, 1], 1, 1),
        ([2, 2, 2, 2], 3, 8),
        ([3, 3, 3], 3, 0),
        ([3, 3], 4, 6),
        ([5, 3], 5, 3),
    ],
)
def test_rows_without_a_winning_set_are_counted(counts, k, infeasible):
    codes = np.repeat(np.arange(len(counts)), counts)
    assert count_infeasible(codes, k) == infeasible
