"""NCA: scikit-learn's on all pairs, as good on drawn ones, and what it says of bad input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from vicinal import NCA, KNNClassifier
from vicinal.rivals._nca import SameClass, neighbour_shares
from vicinal.rivals._soft_neighbors import AllPairs


def test_on_all_pairs_value_and_gradient_are_scikit_learns():
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    theirs = NeighborhoodComponentsAnalysis()
    theirs.n_iter_ = 1
    same = y[:, None] == y
    A = np.random.default_rng(0).normal(size=(2, 4))
    value, gradient = theirs._loss_grad_lbfgs(A.ravel(), X, same, 1.0)
    loss, slopes = AllPairs(X, SameClass(y))(A)
    assert_allclose(1 - loss, value / 150, rtol=1e-8)
    assert_allclose(-slopes, gradient.reshape(2, 4) / 150, rtol=1e-6, atol=1e-10)


def test_on_all_pairs_the_chance_of_a_right_neighbour_rises_to_that_of_scikit_learn():
    X, y = make_classification(150, n_informative=3, flip_y=0.2, random_state=0)
    start = np.eye(2, 20)
    theirs = NeighborhoodComponentsAnalysis(2, init=start, max_iter=200).fit(X, y)
    ours = NCA(2, init=start, max_iter=200, tol=1e-8, early_stopping=False).fit(X, y)
    rows = X - X.mean(axis=0)
    reached = AllPairs(rows, SameClass(y))(theirs.components_)[0]
    assert ours.loss_curve_[-1] < reached + 0.05


def test_drawn_pairs_do_what_all_pairs_do():
    X, y = load_digits(return_X_y=True)
    errors = {}
    for solver in ("full-batch", "mini-batch"):
        metric = NCA(
            10, init="pca", solver=solver, max_iter=10, n_references=300, early_stopping=False,
            random_state=0,
        )  # fmt: skip
        model = KNNClassifier(3, metric=metric).fit(X[:500], y[:500])
        errors[solver] = 1 - model.score(X[900:], y[900:])
    assert max(errors.values()) < 0.08
    assert abs(errors["full-batch"] - errors["mini-batch"]) < 0.02


def test_many_rows_are_learned_from_in_batches():
    X, y = make_classification(1200, random_state=0)
    learner = NCA(init="identity", max_iter=2, early_stopping=False, random_state=0).fit(X, y)
    assert (learner.solver_, len(learner.loss_curve_)) == ("mini-batch", learner.n_iter_)


def test_the_same_seed_gives_the_same_map():
    X, y = make_classification(300, random_state=0)
    learner = NCA(init="lda", solver="mini-batch", n_references=50, max_iter=2, random_state=3)
    first = learner.fit(X, y).components_
    assert_array_equal(first, learner.fit(X, y).components_)


@pytest.mark.parametrize(("n", "kept"), [(200, 100), (60, 59)])
def test_many_features_are_mapped_to_a_hundred_or_as_many_as_the_rows_span(n, kept):
    X, y = make_classification(n, n_features=150, random_state=0)
    assert NCA(max_iter=1).fit(X, y).components_.shape == (kept, 150)


def test_progress_is_told(capsys):
    X, y = load_iris(return_X_y=True)
    NCA(max_iter=2, verbose=1).fit(X, y)
    assert "[NCA] iteration 1 of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "sgd"}, "solver must be one of 'auto', 'full-batch'"),
        ({"init": "random"}, "init must be one of 'auto', 'identity'"),
        ({"init": np.eye(3)}, "init must be a name or a finite array"),
        ({"n_components": 9}, "n_components=9 is more than the 4 features"),
        ({"n_references": 0}, "n_references must be at least 1"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    with pytest.raises(ValueError, match=words):
        NCA(**settings).fit(*load_iris(return_X_y=True))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        NCA().fit([[1.0], [2.0]], [1, 1])


def test_rows_too_far_to_count_are_exactly_nothing():
    squared = np.array([[5.0, 6.0, 45.0, 70.0, 95.0, np.inf]], np.float32)
    shares = neighbour_shares(squared.copy())
    wanted = np.exp(5.0 - squared.astype(float))
    assert_allclose(shares, wanted / wanted.sum(), rtol=1e-6, atol=1e-18)
    assert not shares[0, 3:].any()
    assert not neighbour_shares(np.full((1, 3), np.inf)).any()
