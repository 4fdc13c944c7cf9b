"""MLNG: what a user may rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from threadpoolctl import threadpool_limits

from vicinal import MLNG, KNNClassifier

# Nothing left open: one start, one rate, few epochs.
QUICK: dict[str, Any] = {"init": "identity", "learning_rate": 0.03, "max_iter": 2}
SOLVERS: dict[str, dict[str, Any]] = {
    "factored": {**QUICK, "random_state": 0},
    "psd": {**QUICK, "solver": "psd", "learning_rate": 1.0, "random_state": 0},
}


def scaled_digits(n_rows=1797):
    X, y = load_digits(return_X_y=True)
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1))[:n_rows], y[:n_rows]


def two_clouds(n=60, d=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] = 0.3 * X[:, 0] + y
    X[:, 1:] *= 5
    return X.astype(dtype), y


def score(metric, X, y, new_X, new_y):
    model = KNNClassifier(3).fit(metric.transform(X), y)
    return model.score(metric.transform(new_X), new_y)


# What is learned ---------------------------------------------------------------------------------


def test_the_learned_metric_votes_better_than_the_plain_one():
    X, y = scaled_digits()
    X, y, new_X, new_y = X[::3], y[::3], X[1::3], y[1::3]
    plain = KNNClassifier(n_neighbors=3).fit(X, y).score(new_X, new_y)
    assert score(MLNG(max_iter=4, random_state=0).fit(X, y), X, y, new_X, new_y) > plain


def test_noise_features_lose_their_say():
    X, y = two_clouds(200)
    metric = MLNG(3, random_state=0, max_iter=6).fit(X, y)
    assert metric.feature_relevance_[0] > 0.9


def test_no_number_of_neighbours_is_five_as_of_predictors():
    X, y = two_clouds()
    none, three, five = (MLNG(k, **SOLVERS["factored"]).fit(X, y) for k in (None, 3, 5))
    assert_array_equal(none.components_, five.components_)
    assert not np.array_equal(none.components_, three.components_)


@pytest.mark.parametrize("n_neighbors", [1, 2, 4, 9])
def test_even_and_large_numbers_of_neighbours_lower_the_loss(n_neighbors):
    X, y = two_clouds(40)
    metric = MLNG(n_neighbors, init="standardised", learning_rate=0.1, tol=0, random_state=0)
    losses = metric.fit(X, y).loss_curve_
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_seed_gives_the_same_metric_whatever_the_threads(solver):
    X, y = scaled_digits(300)
    maps = [MLNG(**SOLVERS[solver], n_jobs=n_jobs).fit(X, y).components_ for n_jobs in (1, 2, 2)]
    assert_array_equal(maps[0], maps[1])
    assert_array_equal(maps[1], maps[2])


def test_wide_rows_give_the_same_metric_whatever_the_threads_of_linear_algebra():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 400)), np.arange(120) % 3
    maps = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            maps.append(MLNG(max_iter=1, random_state=0).fit(X, y).components_)
    assert_array_equal(*maps)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_stays_float32(solver):
    X, y = two_clouds(dtype=np.float32)
    metric = MLNG(**SOLVERS[solver]).fit(X, y)
    assert metric.components_.dtype == np.float32
    assert metric.transform(X).dtype == np.float32
    assert metric.partial_fit(X, y).components_.dtype == np.float32


def test_labels_may_be_words():
    X, y = two_clouds()
    words = np.array(["no", "yes"])[y]
    numbers = MLNG(**SOLVERS["factored"]).fit(X, y)
    named = MLNG(**SOLVERS["factored"]).fit(X, words)
    assert_array_equal(named.components_, numbers.components_)
    assert list(named.classes_) == ["no", "yes"]


# Odd rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_constant_column_gets_no_huge_weight(container):
    X, y = two_clouds(1200)
    X[:, 2] = 0.1
    metric = MLNG(init="standardised", learning_rate=0.03, max_iter=1, random_state=0)
    components = metric.fit(container(X), y).components_
    assert np.abs(components[:, 2]).max() < 10 * np.abs(components[:, :2]).max()


def test_rows_that_are_all_equal_are_harmless():
    X, y = two_clouds()
    metric = MLNG(random_state=0, max_iter=1).fit(np.ones_like(X), y).get_mahalanobis_matrix()
    # There is nothing to learn, so that no direction counts more than another.
    assert metric[0, 0] > 0
    assert_allclose(metric, metric[0, 0] * np.eye(X.shape[1]), atol=1e-9)


def test_more_features_than_rows_are_learned_from_in_their_span():
    X, y = two_clouds(30, d=100)
    metric = MLNG(random_state=0, max_iter=3).fit(X, y)
    assert metric.components_.shape[1] == 100
    spread = X.std(axis=0)
    outside = np.linalg.svd((X - X.mean(axis=0)) / spread)[2][29:]  # of 30 centred rows
    assert_allclose(metric.components_ * spread @ outside.T, 0, atol=1e-8)
    assert score(metric, X, y, X, y) > 0.9


def test_sparse_rows_give_a_working_metric_without_becoming_dense():
    X, y = load_digits(return_X_y=True)
    rows, rest = sparse.csr_array(X[:800]), sparse.csr_array(X[800:])
    metric = MLNG(n_components=20, random_state=0, max_iter=2).fit(rows, y[:800])
    assert metric.components_.shape == (20, 64)
    assert score(metric, rows, y[:800], rest, y[800:]) > 0.9


@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_rows_are_learned_from_as_dense_ones_are(solver):
    X, y = two_clouds(60)
    X = np.where(np.abs(X) > 0.5, X, 0)
    thin = MLNG(**SOLVERS[solver]).fit(sparse.csr_array(X), y)
    dense = MLNG(**SOLVERS[solver]).fit(X, y)
    assert_allclose(
        thin.get_mahalanobis_matrix(), dense.get_mahalanobis_matrix(), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("init", ["lda", "whitening", "relieff"])
def test_starts_that_would_make_sparse_rows_dense_are_refused(init, monkeypatch):
    monkeypatch.setattr("vicinal.metric.gerrymander._mlng.MOST_DENSE", 0)
    X, y = two_clouds()
    with pytest.raises(ValueError, match=f"init='{init}' needs dense rows"):
        MLNG(init=init).fit(sparse.csr_array(X), y)


@pytest.mark.parametrize(
    ("told", "way_out"),
    [
        ({"init": "identity"}, "fewer rows by n_components"),
        ({"init": "pca", "n_components": 5, "solver": "psd"}, "use solver='factored'"),
    ],
)
def test_a_map_too_large_to_learn_is_refused_before_it_is_made(told, way_out, monkeypatch):
    monkeypatch.setattr("vicinal.metric.gerrymander._mlng.MOST_DENSE", 0)
    X = sparse.random_array((20, 50_000), density=0.001, rng=np.random.default_rng(0), format="csr")
    with pytest.raises(ValueError, match=rf"50,000 × 50,000 entries are too many.*{way_out}"):
        MLNG(3, learning_rate=1.0, **told).fit(X, np.arange(20) % 2)


def test_dask_rows_are_refused_rather_than_gathered():
    array = pytest.importorskip("dask.array")
    X, y = two_clouds()
    with pytest.raises(ValueError, match=r"dask collection.*MLNG.*compute\(\)"):
        MLNG().fit(array.from_array(X), y)
    metric = MLNG(**SOLVERS["factored"]).fit(X, y)
    with pytest.raises(ValueError, match="dask collection"):
        metric.partial_fit(array.from_array(X), y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        MLNG().fit(np.ones((5, 2)), np.zeros(5))


def test_rows_of_classes_too_small_are_counted_with_one_warning():
    X, y = two_clouds(40)
    y = y.copy()
    y[:2] = 7
    with pytest.warns(UserWarning, match="2 of 40 rows") as caught:
        metric = MLNG(5, **SOLVERS["factored"]).fit(X, y)
    assert len(caught) == 1
    assert metric.n_skipped_ == 2
    assert MLNG(1, **SOLVERS["factored"]).fit(X, y).n_skipped_ == 0


# Costs and weights -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (np.array([[0, -1], [1, 0]]), "not negative"),
        (np.array([[1, 1], [1, 0]]), "diagonal"),
        (np.ones((3, 3)), "shape"),
        (np.zeros((2, 2)), "all zero"),
    ],
)
def test_senseless_costs_are_refused(costs, said):
    X, y = two_clouds()
    with pytest.raises(ValueError, match=said):
        MLNG(costs=costs).fit(X, y)


def test_only_the_ratios_of_costs_count():
    X, y = load_wine(return_X_y=True)
    costs = np.array([[0, 1, 4], [1, 0, 1], [2, 1, 0]])
    one, ten, even = (
        MLNG(costs=matrix, **SOLVERS["factored"]).fit(X, y).components_
        for matrix in (costs, 10 * costs, None)
    )
    assert_allclose(one, ten)
    assert not np.allclose(one, even)


def two_tasks(n=160):
    """Rows whose class is told by the first feature, and rows whose class the second tells."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    odd = np.arange(n) >= n // 2
    return X, np.where(odd, X[:, 1] > 0, X[:, 0] > 0).astype(int), odd


def test_weights_tell_which_rows_matter():
    X, y, odd = two_tasks()
    options = {"init": "identity", "learning_rate": 0.1, "random_state": 0}
    light = MLNG(**options).fit(X, y, sample_weight=np.where(odd, 0.01, 1))
    heavy = MLNG(**options).fit(X, y, sample_weight=np.where(odd, 1, 0.01))
    assert light.feature_relevance_[0] > 0.6
    assert heavy.feature_relevance_[1] > 0.6
    with pytest.raises(ValueError, match="sample_weight"):
        MLNG().fit(X, y, sample_weight=-np.ones(len(y)))


def test_weights_reach_the_inner_scores():
    X, y, odd = two_tasks()
    weighed = MLNG(init="identity", max_iter=1, random_state=0)
    weighed.fit(X, y, sample_weight=odd.astype(float))
    # Labels of rows without weight are noise to the others, and to no score.
    plain = MLNG(init="identity", max_iter=1, random_state=0).fit(X, y)
    assert [s["score"] for s in weighed.settings_] != [s["score"] for s in plain.settings_]


def test_a_row_of_weight_zero_is_a_row_left_out():
    X, y = two_clouds()
    weights = np.ones(60)
    weights[::7] = 0
    rows = weights > 0
    metric = MLNG(3, max_iter=2, random_state=0)
    weighed = clone(metric).fit(X, y, sample_weight=weights).components_
    assert_array_equal(weighed, clone(metric).fit(X[rows], y[rows]).components_)
    with pytest.raises(ValueError, match="one class"):
        metric.fit(X, y, sample_weight=np.eye(60)[0])


def test_groups_change_what_is_chosen():
    """Many columns name the group; they tell the class of its other rows, and no new group's."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = np.repeat(rng.integers(0, 2, 40), 5)
    names = rng.normal(size=(40, 6))[groups]
    hint = rng.normal(size=(200, 1)) + 1.5 * y[:, None]
    X = np.hstack([10 * names, hint])
    starts = {}
    for told in (None, groups):
        metric = MLNG(max_iter=1, learning_rate=0.001, random_state=0).fit(X, y, groups=told)
        scores = {s["init"]: s["score"] for s in metric.settings_}
        starts[told is None] = metric.init_
        assert metric.init_ == min(scores, key=scores.__getitem__)
    assert starts[True] != starts[False]
    with pytest.raises(ValueError, match="groups must have shape"):
        MLNG().fit(X, y, groups=groups[:5])


# Starts and components ---------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["identity", "standardised", "whitening", "pca", "lda", "relieff"])
@pytest.mark.parametrize("n_components", [None, 2])
def test_every_start_lowers_the_loss_with_the_components_asked_for(init, n_components):
    X, y = load_wine(return_X_y=True)
    metric = MLNG(init=init, n_components=n_components, learning_rate=0.05, random_state=0, tol=0)
    metric.fit(X, y)
    assert metric.components_.shape == (n_components or 13, 13)
    assert metric.init_.startswith(init)
    assert min(metric.loss_curve_) < metric.loss_curve_[0]


@pytest.mark.parametrize("solver", ["factored", "psd"])
def test_the_objective_can_be_followed_from_zero(solver):
    X, y = two_clouds(200)
    metric = MLNG(3, init="zeros", solver=solver, random_state=0).fit(X, y)
    assert metric.feature_relevance_.argmax() == 0


def metric_of(X, y, **told):
    matrix = MLNG(3, random_state=0, **told).fit(X, y).get_mahalanobis_matrix()
    return matrix / np.trace(matrix)


@pytest.mark.parametrize("init", ["auto", "lda", "dann", "identity", "relieff", "zeros"])
def test_the_metric_does_not_hang_on_the_last_bit(init):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 4)) + 1.5 * y[:, None] * np.linspace(1, 0, 4)
    plain = metric_of(X, y, init=init)
    assert_allclose(metric_of(X + 1, y, init=init), plain, atol=1e-6)
    noise = 1e-12 * rng.normal(size=X.shape)
    assert_allclose(metric_of(X + noise, y, init=init), plain, atol=1e-6)
    order = [2, 0, 3, 1]
    assert_allclose(metric_of(X[:, order], y, init=init), plain[np.ix_(order, order)], atol=1e-6)
    assert_allclose(metric_of(sparse.csr_array(X), y, init=init), plain, atol=1e-6)


def test_few_of_many_columns_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = (X[:, 3] * X[:, 7] > 0).astype(int)
    relevance = MLNG(5, random_state=0).fit(X, y).feature_relevance_
    assert set(relevance.argsort()[-2:]) == {3, 7}


@pytest.mark.parametrize("init", ["auto", "zeros", "relieff", "lda", "array"])
def test_the_cone_solver_keeps_to_the_components_asked_for(init):
    X, y = load_wine(return_X_y=True)
    start: Any = np.eye(2, 13) if init == "array" else init
    metric = MLNG(3, solver="psd", init=start, n_components=2, max_iter=2, random_state=0)
    metric.fit(X[::2], y[::2])
    assert metric.components_.shape == (2, 13)
    assert score(metric, X[::2], y[::2], X[1::2], y[1::2]) > 0.8


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_array_is_where_the_walk_begins(solver):
    X, y = scaled_digits(300)
    options = {**SOLVERS[solver], "learning_rate": 1e-12}
    start = np.random.default_rng(0).normal(size=(5, 64)) / 20
    metric = MLNG(**{**options, "init": start}).fit(X, y)
    varies = X.std(axis=0) > 0
    assert_allclose(
        metric.get_mahalanobis_matrix()[np.ix_(varies, varies)],
        (start.T @ start)[np.ix_(varies, varies)],
        atol=1e-6,
    )


def test_an_array_with_other_rows_than_components_is_refused():
    X, y = two_clouds()
    with pytest.raises(ValueError, match="init has 3 rows and n_components=2"):
        MLNG(init=np.eye(3, 4), n_components=2).fit(X, y)
    with pytest.raises(ValueError, match=r"shape \(n_components, 4\), got shape \(3, 5\)"):
        MLNG(init=np.eye(3, 5)).fit(X, y)


def test_more_components_than_features_are_refused():
    X, y = two_clouds()
    with pytest.raises(ValueError, match=r"n_components=5 is more than the 4 features"):
        MLNG(n_components=5).fit(X, y)


# Going on ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_warm_start_goes_on_from_where_it_was(solver):
    X, y = scaled_digits(500)
    metric = MLNG(**SOLVERS[solver], warm_start=True).fit(X, y)
    first = metric.loss_curve_[0]
    assert metric.fit(X, y).loss_curve_[0] < 0.8 * first


def test_a_warm_start_of_other_features_is_refused():
    X, y = two_clouds()
    metric = MLNG(**SOLVERS["factored"], warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="map of 4 features, and X has 3"):
        metric.fit(X[:, :3], y)


def test_a_warm_start_with_fewer_components_than_before_is_refused():
    X, y = two_clouds()
    metric = MLNG(**SOLVERS["factored"], warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="present map has 4 rows and n_components=2"):
        metric.set_params(n_components=2).fit(X, y)


@pytest.mark.parametrize("n_components", [None, 8])
@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_walks_one_epoch_on_from_the_present_map(solver, n_components):
    X, y = scaled_digits(600)
    metric = MLNG(3, **SOLVERS[solver], n_components=n_components).fit(X[:300], y[:300])
    before, losses = metric.components_.copy(), list(metric.loss_curve_)
    fresh = MLNG(3, **SOLVERS[solver], n_components=n_components).fit(X[300:], y[300:])
    for times in (1, 2):
        metric.partial_fit(X[300:], y[300:])
        assert metric.n_iter_ == len(metric.loss_curve_) == len(losses) + times
    assert metric.loss_curve_[: len(losses)] == losses
    assert metric.loss_curve_[len(losses)] < fresh.loss_curve_[0]
    assert metric.components_.shape[1] == 64
    assert not np.array_equal(before, metric.components_)
    with pytest.raises(ValueError, match="features"):
        metric.partial_fit(X[:50, :5], y[:50])


def test_the_first_partial_fit_is_a_fit():
    X, y = two_clouds()
    one, other = (MLNG(**SOLVERS["factored"]) for _ in range(2))
    assert_array_equal(one.partial_fit(X, y).components_, other.fit(X, y).components_)


def test_small_batches_keep_the_frame_of_the_first_fit_and_what_it_taught():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    X, y, new_X, new_y = X[:1500], y[:1500], X[1500:], y[1500:]
    plain = KNNClassifier(3).fit(X, y).score(new_X, new_y)
    metric = MLNG(init="identity", learning_rate=0.01, random_state=0)
    for first in range(0, 1500, 300):
        metric.partial_fit(X[first : first + 300], y[first : first + 300])
    assert score(metric, X, y, new_X, new_y) >= plain - 0.004
    centre, scale, _ = metric._frame
    assert_allclose(centre, X[:300].mean(axis=0))
    assert_allclose(scale[centre > 1], X[:300].std(axis=0)[centre > 1])


def test_sparse_rows_go_on_from_a_fit_of_wide_dense_ones():
    X, y = two_clouds(24, d=60)
    dense, thin = (MLNG(**SOLVERS["factored"]).fit(X, y) for _ in range(2))
    dense.partial_fit(X, y)
    thin.partial_fit(sparse.csr_array(X), y)
    assert_allclose(thin.components_, dense.components_, atol=1e-6)


def test_partial_fit_takes_the_costs_of_the_classes_it_is_given():
    X, y = load_wine(return_X_y=True)
    costs = np.array([[0, 1, 9], [1, 0, 1], [9, 1, 0]])
    metric = MLNG(costs=costs, **SOLVERS["factored"]).fit(X, y)
    kept = metric.components_.copy()
    some = y != 1
    metric.partial_fit(X[some], y[some])
    assert metric.classes_.tolist() == [0, 1, 2]
    # The two classes' costs are alike: the walk is the one without any.
    even = MLNG(**SOLVERS["factored"]).fit(X, y)
    even.components_ = kept
    even.partial_fit(X[some], y[some])
    assert_allclose(metric.components_, even.components_)


def test_a_new_class_is_welcome_unless_costs_do_not_know_it():
    X, y = load_wine(return_X_y=True)
    two = y < 2
    metric = MLNG(**SOLVERS["factored"]).fit(X[two], y[two]).partial_fit(X, y)
    assert metric.classes_.tolist() == [0, 1, 2]
    with_costs = MLNG(costs=[[0, 1], [2, 0]], **SOLVERS["factored"]).fit(X[two], y[two])
    with pytest.raises(ValueError, match=r"class .*2.* is not among those of the first fit"):
        with_costs.partial_fit(X, y)


# What is told ------------------------------------------------------------------------------------


def test_what_was_tried_and_chosen_is_told():
    X, y = load_wine(return_X_y=True)
    metric = MLNG(max_iter=3, random_state=0, regularizer="trace").fit(X, y)
    (chosen,) = [setting for setting in metric.settings_ if setting["chosen"]]
    assert chosen["init"] == metric.init_
    assert chosen["learning_rate"] == metric.learning_rate_
    assert chosen["regularization"] == metric.regularization_ > 0
    assert chosen["n_epochs"] == len(metric.loss_curve_)
    assert metric.n_iter_ == max(1, len(metric.loss_curve_))
    assert chosen["score"] == min(setting["score"] for setting in metric.settings_)
    tried = {(s["init"], s["learning_rate"], s["regularization"]) for s in metric.settings_}
    assert len(tried) == len(metric.settings_) > 4


def test_what_was_not_left_open_is_told_too():
    X, y = two_clouds()
    metric = MLNG(**SOLVERS["factored"], regularizer="trace", regularization=0.2).fit(X, y)
    (only,) = metric.settings_
    assert only == {
        "init": "identity", "learning_rate": 0.03, "regularization": 0.2, "n_epochs": 2,
        "chosen": True,
    }  # fmt: skip
    assert (metric.init_, metric.learning_rate_) == ("identity", 0.03)
    assert metric.regularization_ == 0.2
    assert MLNG(**SOLVERS["factored"]).fit(X, y).regularization_ == 0


def test_losses_are_those_the_callback_is_told():
    X, y = two_clouds()
    seen: list[Any] = []
    told = {"init": "identity", "learning_rate": 0.1, "max_iter": 3, "tol": 0}
    metric = MLNG(random_state=0, callback=seen.append, **told).fit(X, y)
    fit = [p for p in seen if p.stage == "fit"]
    assert metric.loss_curve_ == [p.loss for p in fit]
    assert [p.epoch for p in fit] == list(range(1, metric.n_iter_ + 1))
    assert fit[-1].seconds_left == 0


def test_a_callback_ends_the_fit():
    X, y = two_clouds()

    def stop_at_two(progress):
        return progress.stage == "fit" and progress.epoch == 2

    metric = MLNG(init="identity", learning_rate=0.01, callback=stop_at_two, random_state=0)
    assert metric.fit(X, y).n_iter_ == 2


def test_a_callback_ends_the_choice_of_settings():
    X, y = two_clouds()
    seen: list[str] = []

    def stop(progress):
        seen.append(progress.stage)
        return progress.stage == "settings"

    metric = MLNG(callback=stop, random_state=0).fit(X, y)
    assert seen[0] == "settings"
    assert seen[1:] in ([], ["fit"])
    assert metric.n_iter_ == len(metric.settings_) == 1
    assert metric.settings_[0]["chosen"]


def test_a_fit_without_anything_left_to_learn_ends():
    X, y = two_clouds(40)
    X[:, 0] += 50 * y
    options = {"init": "lda", "learning_rate": 0.03, "random_state": 0}
    metric = MLNG(**options, tol=10.0).fit(X, y)
    assert metric.n_iter_ == 1
    assert MLNG(**options, tol=0, max_iter=3).fit(X, y).n_iter_ == 3


def test_a_verbose_fit_says_how_far_it_is(capsys):
    X, y = two_clouds(80)
    MLNG(max_iter=2, random_state=0, verbose=2).fit(X, y)
    assert "inner error" in capsys.readouterr().out
    MLNG(**SOLVERS["factored"], tol=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all("[MLNG] fit" in line and "loss" in line and "s left" in line for line in lines)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"n_neighbors": 60}, "n_neighbors=60 is more than"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"solver": "some"}, "solver must be one of"),
        ({"init": "some"}, "init must be one of"),
        ({"regularizer": "some"}, "regularizer must be one of"),
        ({"regularization": -1}, "regularization must be a number above zero"),
        ({"learning_rate": 0}, "learning_rate must be a number above zero"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"tol": -1}, "tol must be a number zero or more"),
        ({"candidates": "some"}, "candidates must be one of"),
        ({"n_components": 1.5}, "n_components must be a whole number"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_a_bad_setting_is_refused_with_its_value(told, said):
    X, y = two_clouds()
    with pytest.raises(ValueError, match=said):
        MLNG(**told).fit(X, y)


def test_rows_in_another_order_are_another_draw_of_batches_and_nothing_else():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    # Steps so small that the map stays where it starts: what is left is all but the batches.
    metric = MLNG(3, init="lda", learning_rate=1e-12, max_iter=2, random_state=0)
    plain, moved = clone(metric).fit(X, y), clone(metric).fit(X[order], y[order])
    np.testing.assert_allclose(moved.loss_curve_, plain.loss_curve_, rtol=1e-9)
    distances = [m.get_mahalanobis_matrix() for m in (plain, moved)]
    np.testing.assert_allclose(distances[1], distances[0], rtol=0, atol=1e-9 * distances[0].max())
