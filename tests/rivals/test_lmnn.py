"""LMNN: what it does for k-NN, that it repeats, and what it says of bad input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons

from vicinal import LMNN, KNNClassifier


def error(X, y, metric, k=3):
    """Share of the odd rows the even ones vote wrongly on."""
    model = KNNClassifier(n_neighbors=k, metric=metric).fit(X[::2], y[::2])
    return 1 - model.score(X[1::2], y[1::2])


def mean_error(X, y, metric):
    """The same over four orders: on one, a vote or two that rounding turns would decide."""
    orders = [np.random.default_rng(seed).permutation(len(X)) for seed in range(4)]
    return np.mean([error(X[order], y[order], metric) for order in orders])


def noisy_moons(seed=0):
    """Two moons with four more features that are noise."""
    X, y = make_moons(400, noise=0.1, random_state=seed)
    return np.column_stack([X, np.random.default_rng(seed).normal(size=(400, 4))]), y


def noisy_iris():
    X, y = load_iris(return_X_y=True)
    return np.column_stack([X, 2 * np.random.default_rng(0).normal(size=(150, 3))]), y


@pytest.mark.parametrize(
    ("X", "y", "share"),
    [(*noisy_moons(), 0.7), (*noisy_iris(), 0.6), (*load_digits(return_X_y=True), 0.95)],
    ids=["moons", "iris", "digits"],
)
def test_fewer_votes_are_wrong_than_under_the_plain_distance(X, y, share):
    assert mean_error(X, y, LMNN(random_state=0)) < share * mean_error(X, y, None)


def test_the_loss_falls_and_the_curve_says_so():
    X, y = noisy_moons()
    learner = LMNN().fit(X, y)
    curve = np.array(learner.loss_curve_)
    assert len(curve) == learner.n_iter_ + 1
    assert curve[-1] < 0.9 * curve[0]
    assert (np.diff(curve) <= 1e-9).all()


def test_the_scale_and_the_offset_of_the_data_do_not_matter():
    X, y = noisy_moons()
    plain = LMNN(tol=1e-4, random_state=0).fit(X, y).get_mahalanobis_matrix()
    for factor, offset in ((1e-6, 0.0), (1e6, 3e7), (1e30, 0.0)):
        moved = LMNN(tol=1e-4, random_state=0).fit(factor * X + offset, y)
        back = factor * moved.components_
        assert_allclose(back.T @ back, plain, rtol=1e-3, atol=1e-3 * plain.max())


def test_the_same_input_gives_the_same_map_on_any_number_of_threads():
    X, y = load_digits(return_X_y=True)
    maps = [LMNN(max_iter=5, random_state=0, n_jobs=n).fit(X, y).components_ for n in (1, 1, 2)]
    assert_array_equal(maps[0], maps[1])
    assert_array_equal(maps[0], maps[2])


def test_the_order_of_the_rows_does_not_matter():
    X, y = noisy_moons()
    order = np.random.default_rng(0).permutation(len(X))
    learner = LMNN(max_iter=10, init="identity", early_stopping=False)
    plain, mixed = clone(learner).fit(X, y), clone(learner).fit(X[order], y[order])
    assert_allclose(mixed.components_, plain.components_, rtol=1e-5, atol=1e-7)


def test_float32_rows_give_a_float32_map():
    X, y = load_iris(return_X_y=True)
    learner = LMNN(max_iter=5).fit(X.astype(np.float32), y)
    assert learner.components_.dtype == np.float32


@pytest.mark.parametrize("init", ["auto", "identity", "pca", "lda"])
@pytest.mark.parametrize("n_components", [None, 2])
def test_every_start_learns_a_map_of_the_size_asked_for(init, n_components):
    X, y = noisy_iris()
    learner = LMNN(init=init, n_components=n_components, random_state=0).fit(X, y)
    assert learner.components_.shape == (n_components or 7, 7)
    assert mean_error(X, y, learner) < mean_error(X, y, None)


def test_a_given_map_chooses_the_targets_anew():
    X, y = noisy_moons()
    first = LMNN(init="identity", early_stopping=False).fit(X, y)
    second = LMNN(init=first.components_, early_stopping=False).fit(X, y)
    assert second.loss_curve_[-1] < first.loss_curve_[-1]


def test_a_given_map_with_other_rows_than_components_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="init has 3 rows and n_components=2"):
        LMNN(init=np.eye(3, 4), n_components=2).fit(X, y)


def test_more_weight_on_the_push_leaves_fewer_margins_broken():
    X, y = noisy_moons()

    def broken(weight):
        mapped = LMNN(regularization=weight).fit(X, y).transform(X)
        squared = ((mapped[:, None] - mapped[None]) ** 2).sum(axis=2)
        unlike = y[:, None] != y[None]
        third = np.sort(np.where(unlike, np.inf, squared), axis=1)[:, 3]
        return np.sum(unlike & (squared < 1 + third[:, None]))

    assert broken(0.9) < broken(0.1)


def test_more_features_than_rows_stop_early_and_map_only_what_the_rows_span():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 200)) + 0.8 * rng.normal(size=(3, 200))[y]
    learner = LMNN(random_state=0).fit(X, y)
    assert learner.components_.shape == (59, 200)
    assert learner.n_iter_ <= 1 + int(np.argmin(learner.settings_[learner.init_]))
    patient = LMNN(init="identity", early_stopping=False).fit(X, y)
    assert patient.n_iter_ > LMNN(init="identity", random_state=0).fit(X, y).n_iter_
    assert error(X, y, LMNN(random_state=0)) <= error(X, y, None)


def test_the_start_is_chosen_by_held_out_votes():
    X, y = noisy_moons()
    learner = LMNN(random_state=0).fit(X, y)
    assert set(learner.settings_) == {"identity, 6 components", "lda, 6 components"}
    best = min(learner.settings_, key=lambda start: min(learner.settings_[start]))
    assert learner.init_ == best
    assert LMNN(init="lda", early_stopping=False).fit(X, y).settings_ == {}


def test_rows_that_are_all_equal_keep_the_plain_distance():
    learner = LMNN(init="identity").fit(np.ones((30, 3)), np.arange(30) % 2)
    assert_allclose(learner.components_ / learner.components_[0, 0], np.eye(3))


def test_rows_alone_in_their_class_are_counted_and_said():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0], y[1] = 7, 8
    with pytest.warns(UserWarning, match="2 of 150 rows are alone"):
        assert LMNN(max_iter=3).fit(X, y).n_skipped_ == 2


def test_progress_is_printed_for_every_iteration(capsys):
    X, y = load_iris(return_X_y=True)
    LMNN(max_iter=3, verbose=1, early_stopping=False).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("[LMNN] iteration 3 of 3, loss ")
    assert "margins broken" in lines[2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"n_neighbors": 150}, "n_neighbors=150 is more than the n_samples=149"),
        ({"n_components": 5}, "n_components=5 is more than the 4 features"),
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"init": "random"}, "init must be one of 'auto', .*; got 'random'"),
        ({"init": np.eye(3)}, r"shape \(n_components, 4\), got shape \(3, 3\)"),
        ({"regularization": 1.0}, "regularization must lie between 0 and 1, got 1.0"),
        ({"regularization": -1}, "regularization must be a number above zero, got -1"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
        ({"tol": -1e-3}, "tol must be a number zero or more, got -0.001"),
        ({"early_stopping": "yes"}, "early_stopping must be one of .*; got 'yes'"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
    ],
)
def test_a_bad_setting_is_refused_with_its_value(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        LMNN(**parameters).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        LMNN(n_neighbors=1).fit([[1.0], [2.0]], [1, 1])


def test_classes_of_one_row_each_are_refused():
    with pytest.raises(ValueError, match="every class has a single row"):
        LMNN(n_neighbors=1).fit([[1.0], [2.0], [3.0]], [0, 1, 2])
