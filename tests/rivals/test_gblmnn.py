"""GBLMNN: trees as arrays, a loss that falls, and curved borders that LMNN cannot learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_circles
from sklearn.tree import DecisionTreeRegressor
from tests.oracles import differences, large_margin

from vicinal import GBLMNN, LMNN, KNNClassifier, load_model, save_model
from vicinal.rivals._gblmnn import Boosting
from vicinal.rivals._trees import append_tree, no_trees


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_a_complete_tree_predicts_what_the_tree_does(depth):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)).astype(np.float32), rng.normal(size=(60, 2))
    tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=5, random_state=0).fit(X, Y)
    mapped = np.zeros((60, 2))
    append_tree(no_trees(depth, 2), tree, 0.5).add_to(mapped, X)
    assert_allclose(mapped, 0.5 * tree.predict(X))


def test_loss_and_forces_are_those_of_lmnn_over_the_images():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(20, 2)), np.sort(rng.integers(0, 2, 20))
    boosting = Boosting(Z.astype(np.float32), Z.copy(), y, GBLMNN(2), 0)
    loss, forces = boosting.look()
    chosen = large_margin.targets(np.eye(2), Z, y, 2)
    assert_allclose(loss, large_margin.loss(np.eye(2), Z, y, chosen, 0.5), rtol=1e-10)
    slopes = differences.gradient(
        lambda at: large_margin.loss(np.eye(2), at, y, chosen, 0.5), Z.copy()
    )
    assert_allclose(2 * forces / 20, slopes, atol=1e-5)


def test_pairs_of_some_rows_count_for_those_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(300, 2)), np.sort(rng.integers(0, 2, 300))

    def look(seed):
        return Boosting(Z.astype(np.float32), Z.copy(), y, GBLMNN(2), seed).look()

    whole, forces = look(0)
    monkeypatch.setattr("vicinal.rivals._gblmnn.MOST_PAIRS", 8_000)
    parts = [look(seed) for seed in range(40)]
    losses = [part[0] for part in parts]
    assert np.std(losses) > 0
    assert_allclose(np.mean(losses), whole, rtol=0.03)
    mean_forces = np.mean([part[1] for part in parts], axis=0)
    assert np.linalg.norm(mean_forces - forces) < 0.3 * np.linalg.norm(forces)


def noisy_circles():
    X, y = make_circles(400, noise=0.1, factor=0.6, random_state=0)
    return np.column_stack([X, np.random.default_rng(0).normal(size=(400, 3))]), y


def test_trees_bend_what_a_matrix_cannot():
    X, y = noisy_circles()
    scores = [
        KNNClassifier(3, metric=metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for metric in (LMNN(random_state=0), GBLMNN(random_state=0, n_trees=30))
    ]
    assert scores[1] > scores[0] + 0.05


def test_the_loss_falls_with_every_tree():
    X, y = noisy_circles()
    learner = GBLMNN(n_trees=8, early_stopping=False, random_state=0).fit(X, y)
    assert learner.n_iter_ == len(learner.tree_features_) == 8
    assert (np.diff(learner.loss_curve_) < 0).all()


def test_a_model_file_keeps_the_trees(tmp_path):
    X, y = noisy_circles()
    model = KNNClassifier(3, metric=GBLMNN(n_trees=3, early_stopping=False)).fit(X, y)
    save_model(model, tmp_path / "model.vicinal")
    assert_array_equal(load_model(tmp_path / "model.vicinal").predict(X), model.predict(X))


def test_the_metric_as_a_function_is_the_distance_of_images():
    X, y = noisy_circles()
    learner = GBLMNN(n_trees=3, early_stopping=False).fit(X, y)
    ends = learner.transform(X[:2])
    assert_allclose(learner.get_metric()(X[0], X[1]), np.linalg.norm(ends[0] - ends[1]))
    assert_allclose(learner.pair_distance(X[None, :2]), np.linalg.norm(ends[0] - ends[1]))


def test_bad_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="max_depth must be at least 1 and at most 12"):
        GBLMNN(max_depth=20).fit(*load_iris(return_X_y=True))
