"""MLNG: what a user may rely on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, load_wine

from vicinal import MLNG, KNNClassifier


def scaled_digits():
    X, y = load_digits(return_X_y=True)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), y


def two_clouds(n=60, d=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] = 0.3 * X[:, 0] + y
    X[:, 1:] *= 5
    return X.astype(dtype), y


def test_the_learned_metric_votes_better_than_the_plain_one():
    X, y = scaled_digits()
    X, y, new_X, new_y = X[::3], y[::3], X[1::3], y[1::3]
    plain = KNNClassifier(n_neighbors=3).fit(X, y).score(new_X, new_y)
    metric = MLNG(n_neighbors=3, max_iter=6, random_state=0)
    learned = KNNClassifier(n_neighbors=3, metric=metric).fit(X, y).score(new_X, new_y)
    assert learned > plain


def test_noise_features_lose_their_say():
    X, y = two_clouds(200)
    metric = MLNG(random_state=0).fit(X / X.std(axis=0), y)
    assert metric.feature_relevance_[0] > 0.6


@pytest.mark.parametrize("solver", ["factored", "psd"])
def test_the_same_seed_gives_the_same_metric_whatever_the_threads(solver):
    X, y = scaled_digits()
    maps = [
        MLNG(solver=solver, init="identity", max_iter=2, random_state=3, n_jobs=n_jobs)
        .fit(X[:300], y[:300])
        .components_
        for n_jobs in (1, 2, 2)
    ]
    assert_array_equal(maps[0], maps[1])
    assert_array_equal(maps[1], maps[2])


@pytest.mark.parametrize("solver", ["factored", "psd"])
def test_float32_stays_float32(solver):
    X, y = two_clouds(dtype=np.float32)
    metric = MLNG(solver=solver, init="identity", random_state=0).fit(X, y)
    assert metric.components_.dtype == np.float32
    assert metric.transform(X).dtype == np.float32


def test_sparse_rows_give_a_working_metric_without_becoming_dense():
    X, y = load_digits(return_X_y=True)
    rows = sparse.csr_array(X[:800])
    model = MLNG(n_components=20, random_state=0, max_iter=2).fit(rows, y[:800])
    neighbours = KNNClassifier(n_neighbors=3).fit(model.transform(rows), y[:800])
    assert neighbours.score(model.transform(sparse.csr_array(X[800:])), y[800:]) > 0.9


def test_sparse_rows_serve_the_cone_solver_too():
    X, y = two_clouds(60)
    X = np.where(np.abs(X) > 0.5, X, 0) / X.std(axis=0)
    options = {"solver": "psd", "init": "identity", "learning_rate": 1.0, "max_iter": 3}
    metric = MLNG(**options, random_state=0).fit(sparse.csr_array(X), y)
    dense = MLNG(**options, random_state=0).fit(X, y)
    assert metric.components_.shape[1] == dense.components_.shape[1]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        MLNG().fit(np.ones((5, 2)), np.zeros(5))


def test_rows_of_classes_too_small_are_counted_with_one_warning():
    X, y = two_clouds(40)
    y = y.copy()
    y[:2] = 7
    with pytest.warns(UserWarning, match="2 of 40 rows") as caught:
        metric = MLNG(n_neighbors=5, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert metric.n_skipped_ == 2


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
    one = MLNG(costs=costs, random_state=0, max_iter=3).fit(X, y)
    ten = MLNG(costs=10 * costs, random_state=0, max_iter=3).fit(X, y)
    assert_allclose(one.components_, ten.components_)


@pytest.mark.parametrize("n_neighbors", [2, 4, 9])
def test_even_and_large_numbers_of_neighbours_work(n_neighbors):
    X, y = two_clouds(24)
    metric = MLNG(n_neighbors=n_neighbors, random_state=0).fit(X, y)
    assert np.isfinite(metric.components_).all()


def test_labels_may_be_words():
    X, y = two_clouds()
    words = np.array(["no", "yes"])[y]
    numbers = MLNG(random_state=0).fit(X, y)
    assert_array_equal(MLNG(random_state=0).fit(X, words).components_, numbers.components_)
    assert list(MLNG(random_state=0).fit(X, words).classes_) == ["no", "yes"]


def test_constant_columns_and_equal_rows_are_harmless():
    X, y = two_clouds()
    X[:, 2] = 7.0
    assert np.isfinite(MLNG(random_state=0).fit(X, y).components_).all()
    assert np.isfinite(MLNG(random_state=0).fit(np.ones_like(X), y).components_).all()


def test_more_features_than_rows_work():
    X, y = two_clouds(30, d=100)
    metric = MLNG(random_state=0).fit(X, y)
    assert metric.components_.shape[1] == 100
    assert np.isfinite(metric.transform(X)).all()


@pytest.mark.parametrize("init", ["identity", "whitening", "pca", "lda", "logistic", "relieff"])
def test_every_start_learns(init):
    X, y = load_wine(return_X_y=True)
    metric = MLNG(init=init, random_state=0).fit(X, y)
    assert metric.init_.startswith(init)
    assert np.isfinite(metric.loss_curve_).all()


def test_more_components_than_a_logistic_start_has_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"at most 2 rows for 3 classes.*n_components=5"):
        MLNG(init="logistic", n_components=5).fit(X, y)


def test_zeros_start_the_cone_solver_only():
    X, y = two_clouds()
    with pytest.raises(ValueError, match="psd"):
        MLNG(init="zeros").fit(X, y)
    metric = MLNG(init="zeros", solver="psd", random_state=0).fit(X / X.std(axis=0), y)
    assert metric.feature_relevance_[0] > 0.5


def test_n_components_is_the_number_of_rows_of_the_map():
    X, y = load_wine(return_X_y=True)
    for init in ("auto", "pca", "lda", "whitening"):
        metric = MLNG(n_components=2, init=init, random_state=0).fit(X, y)
        assert metric.components_.shape == (2, 13)


def test_a_warm_start_goes_on_from_where_it_was():
    X, y = scaled_digits()
    X, y = X[:500], y[:500]
    metric = MLNG(init="identity", learning_rate=0.03, max_iter=3, warm_start=True, random_state=0)
    first = metric.fit(X, y).loss_curve_[0]
    assert metric.fit(X, y).loss_curve_[0] < first


def test_partial_fit_learns_from_new_rows():
    X, y = scaled_digits()
    metric = MLNG(init="identity", learning_rate=0.03, max_iter=2, random_state=0)
    metric.fit(X[:300], y[:300])
    before, n_iter = metric.components_.copy(), metric.n_iter_
    metric.partial_fit(X[300:600], y[300:600])
    assert metric.n_iter_ == n_iter + 1
    assert not np.array_equal(before, metric.components_)
    with pytest.raises(ValueError, match="features"):
        metric.partial_fit(X[:50, :5], y[:50])


def test_weights_tell_which_rows_matter():
    X, y = two_clouds(120, d=2)
    # Half of the rows are labelled by the second feature instead of the first.
    odd = np.arange(120) >= 60
    X = X / X.std(axis=0)
    y = np.where(odd, X[:, 1] > 0, y).astype(int)
    light = MLNG(random_state=0).fit(X, y, sample_weight=np.where(odd, 0.01, 1))
    heavy = MLNG(random_state=0).fit(X, y, sample_weight=np.where(odd, 1, 0.01))
    assert light.feature_relevance_[0] > heavy.feature_relevance_[0]
    with pytest.raises(ValueError, match="sample_weight"):
        MLNG().fit(X, y, sample_weight=-np.ones(120))


def test_the_callback_sees_every_epoch_and_can_stop():
    X, y = two_clouds()
    seen = []

    def stop_at_two(progress):
        seen.append(progress)
        return progress.stage == "fit" and progress.epoch == 2

    metric = MLNG(init="identity", learning_rate=0.01, callback=stop_at_two, random_state=0)
    metric.fit(X, y)
    assert metric.n_iter_ == 2
    assert [p.epoch for p in seen] == [1, 2]
    assert seen[-1].seconds_left >= 0


def test_a_verbose_fit_says_how_far_it_is(capsys):
    X, y = two_clouds(80)
    MLNG(max_iter=3, random_state=0, verbose=2).fit(X, y)
    assert "inner error" in capsys.readouterr().out
    MLNG(max_iter=3, init="identity", learning_rate=0.03, tol=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert any("[MLNG] fit" in line and "loss" in line and "s left" in line for line in lines)
