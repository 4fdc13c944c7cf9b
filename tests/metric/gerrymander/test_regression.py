"""Metrics for numeric targets: gradient, bound, choice, and the surface of a learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal import KNNRegressor, LocalLinearRegressor, RegressionMLNG, load_model, save_model
from vicinal.metric.descent import frame_rows
from vicinal.metric.gerrymander import _regression_problem as module
from vicinal.metric.gerrymander._regression_problem import (
    RegressionObjective,
    RegressionOptions,
    RegressionProblem,
    standard_targets,
)
from vicinal.metric.inference import TARGET_SETS
from vicinal.metric.means import near_squared_distance
from vicinal.metric.selection import plan_fit
from vicinal.metric.selection._learning import FINAL, walk
from vicinal.rows import Numbers, Rows


def made_up(n=240, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.normal(size=n)


def quick(**parameters):
    chosen = {"init": "identity", "set_size": 5, "max_iter": 8, "random_state": 0, **parameters}
    return RegressionMLNG(5, **chosen)


def open_options(**told):
    options = RegressionOptions(
        n_neighbors=3, set_size=3, n_components=None, asymmetric=False, sets="bound", gamma=None,
        epsilon=0.5, init="auto", learning_rate=None, batch_size=0, max_iter=1, tol=0.0,
        n_threads=1, seed=0,
    )  # fmt: skip
    return replace(options, **told)


def a_problem(X, y):
    rows = frame_rows(Rows(X, Numbers(standard_targets(y))))
    return RegressionProblem(rows, open_options())


def objective(X, y, sets="bound"):
    found = RegressionObjective(X, y, open_options(sets=sets), 3, 0.4)
    found.look(np.eye(X.shape[1]), 0)
    return found


@pytest.mark.parametrize("n_maps", [1, 2])
@pytest.mark.parametrize("sets", TARGET_SETS)
def test_the_gradient_is_that_of_finite_differences(sets, n_maps):
    X, y = made_up(30, 3)
    problem = objective(X, y, sets)
    rng = np.random.default_rng(1)
    maps = np.eye(3) + 0.3 * rng.normal(size=(n_maps, 3, 3))
    maps = maps[0] if n_maps == 1 else maps
    rows = np.arange(30)

    def mean_loss(parameters):
        return problem.infer(parameters, rows).loss.mean()

    _, gradient = problem.gradient(maps, problem.infer(maps, rows), slice(0, 30))
    direction = rng.normal(size=maps.shape)
    step = 1e-6
    slope = (mean_loss(maps + step * direction) - mean_loss(maps - step * direction)) / (2 * step)
    assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_blocks_of_rows_give_the_same_pairs(monkeypatch):
    X, y = made_up(60, 3)
    problem = objective(X, y)
    whole = problem.infer(np.eye(3), np.arange(60))
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 500)
    parts = problem.infer(np.eye(3), np.arange(60))
    for name in ("rows", "starts", "points", "signs", "feasible"):
        assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert_allclose(parts.loss, whole.loss)


def test_many_rows_take_neighbours_from_a_sample(monkeypatch):
    monkeypatch.setattr(module, "REFERENCES", 20)
    X, y = made_up(60, 3)
    problem = objective(X, y)
    assert len(problem.references) == 20
    found = problem.infer(np.eye(3), np.arange(60))
    assert np.isin(found.points, problem.references).all()
    queries, points, _ = found.pairs(slice(0, 60))
    assert (queries != points).all()


@pytest.mark.parametrize("asymmetric", [False, True])
def test_it_errs_less_than_the_features(asymmetric):
    X, y = made_up()
    metric = quick(asymmetric=asymmetric)
    plain = KNNRegressor(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    learned = KNNRegressor(5, metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert learned > plain + 0.1


@pytest.mark.parametrize("sets", TARGET_SETS)
def test_every_kind_of_sets_learns(sets):
    X, y = made_up(120, 4)
    metric = quick(sets=sets, epsilon=1.0, max_iter=4).fit(X, y)
    assert metric.loss_curve_[-1] < metric.loss_curve_[0]


def test_defaults_choose_a_start_and_the_size_of_sets():
    X, y = made_up(160)
    metric = RegressionMLNG(5, max_iter=4, random_state=0).fit(X, y)
    tried = {(entry["init"], entry["set_size"]) for entry in metric.settings_}
    assert {size for _, size in tried} == {5, 20}
    assert len({init for init, _ in tried}) == 4
    assert metric.set_size_ in (5, 20)
    assert sum(entry["chosen"] for entry in metric.settings_) == 1


def test_starts_that_noise_does_not_tell_apart_are_averaged():
    """Of noise no start says more than another; maps of two sides are not averaged."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    problem = replace(a_problem(X, y), options=open_options())
    plan = plan_fit(problem, 0, lambda progress: False)
    settings = [(plan.choice.setting, plan.choice.n_epochs), *plan.choice.level]
    assert len(settings) > 1
    maps = [walk(problem, setting, until, (0, FINAL)) for setting, until in settings]
    rows = problem.rows.X
    metrics = [each.T @ each / near_squared_distance(rows, each) for each in maps]
    learned = plan.learn().components
    assert_allclose(learned.T @ learned, np.mean(metrics, axis=0), rtol=1e-6, atol=1e-9)
    for options in (open_options(asymmetric=True), open_options(n_components=2)):
        plan = plan_fit(replace(problem, options=options), 0, lambda progress: False)
        assert plan.choice.level == ()


def test_the_number_of_rows_a_step_can_be_chosen_too():
    X, y = made_up(120, 4)
    metric = quick(batch_size="auto", max_iter=4).fit(X, y)
    assert {entry["batch_size"] for entry in metric.settings_} == {16, 64, 256}


@pytest.mark.parametrize("size", [1, 3, 5, 11, 40])
def test_a_step_takes_as_many_rows_as_were_asked_for(size):
    X, y = made_up(60, 3)
    metric = quick(batch_size=size, max_iter=1)
    rows = metric.note_rows(metric._read(X, y))
    problem = module.RegressionProblem(frame_rows(rows), metric._options(rows))
    assert problem.begin(problem.settings()[0], (0,)).batch_size == size


@pytest.mark.parametrize(
    ("asymmetric", "names"),
    [(False, ("frobenius", "trace", "identity")), (True, ("joint", "metrics", "maps"))],
)
def test_a_regulariser_holds_the_map_back(asymmetric, names):
    X, y = made_up(80, 4)
    for name in names:
        free, held = (
            quick(asymmetric=asymmetric, regularizer=name, regularization=amount).fit(X, y)
            for amount in (1e-9, 30.0)
        )
        assert held.regularization_ == 30.0
        middle = np.diag(1 / X.var(axis=0)) if name == "identity" else np.zeros((4, 4))
        gaps = [np.linalg.norm(m.components_.T @ m.components_ - middle) for m in (free, held)]
        assert gaps[1] < gaps[0]


def test_the_weight_of_a_regulariser_is_chosen_too():
    X, y = made_up(80, 4)
    metric = quick(regularizer="frobenius", max_iter=2).fit(X, y)
    assert {entry["regularization"] for entry in metric.settings_} == {0.001, 0.01, 0.1}
    with pytest.raises(ValueError, match="regularizer"):
        quick(regularizer="joint").fit(X, y)


def test_units_of_target_and_features_do_not_matter():
    X, y = made_up(120, 4)
    one = quick(max_iter=3).fit(X, y)
    other = quick(max_iter=3).fit(X, 1000 * y + 7)
    assert_allclose(other.components_, one.components_, rtol=1e-6, atol=1e-8)


def test_the_local_linear_regressor_uses_it():
    X, y = made_up()
    model = LocalLinearRegressor(metric=quick()).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_it_follows_the_k_of_its_predictor():
    X, y = made_up(80, 3)
    model = KNNRegressor(4, RegressionMLNG(max_iter=1, init="identity", random_state=0)).fit(X, y)
    assert model.metric_.n_neighbors == 4


def test_a_model_file_keeps_an_asymmetric_metric(tmp_path):
    X, y = made_up(100, 4)
    model = KNNRegressor(5, quick(asymmetric=True, max_iter=2)).fit(X, y)
    save_model(model, tmp_path / "numbers.vicinal")
    assert_array_equal(load_model(tmp_path / "numbers.vicinal").predict(X), model.predict(X))


def test_a_symmetric_fit_forgets_an_asymmetric_one():
    X, y = made_up(80, 3)
    metric = quick(asymmetric=True, max_iter=1).fit(X, y)
    assert hasattr(metric, "query_components_")
    metric.set_params(asymmetric=False).fit(X, y)
    assert not hasattr(metric, "query_components_")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(60)}, "y is constant"),
        ({"y": np.full(60, np.nan)}, "NaN"),
        ({"y": np.array(["a"] * 60)}, "y must hold numbers"),
        ({"sets": "best"}, "sets must be one of"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"set_size": 60}, "set_size must be"),
        ({"n_neighbors": 60}, "n_neighbors=60"),
        ({"batch_size": 1.5}, "batch_size must be a whole number"),
        ({"init": "zeros"}, "zeros"),
    ],
)
def test_bad_input_is_refused_in_words(change, message):
    X, y = made_up(60, 3)
    parameters = dict(change)
    targets = parameters.pop("y", y)
    with pytest.raises(ValueError, match=message):
        quick(max_iter=1).set_params(**parameters).fit(X, targets)


def test_queries_of_another_width_are_refused():
    X, y = made_up(60, 3)
    with pytest.raises(ValueError, match="features"):
        quick(max_iter=1).fit(X, y).transform_queries(X[:, :2])
