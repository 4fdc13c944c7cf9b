"""The source's algorithm against a plain loop over its formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles import inference, published

from vicinal import MLNG, ReliefF
from vicinal._kernels._published import walk_rows
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.metric.gerrymander._published_descent import PublishedDescent, Walk, published_start
from vicinal.rows import Classes, Rows

COSTS = 1 - np.eye(3)


def small_table(seed: int = 3, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [5, 4, 4])
    X = rng.normal(size=(13, d)) + 1.5 * np.eye(3, d)[y]
    return X - X.mean(axis=0), y


def rows_of(X: np.ndarray, y: np.ndarray) -> FramedRows:
    return frame_rows(Rows(X, Classes(np.unique(y), y)))


def readable_sets(distances, labels, target, k, costs):
    """Return the sets of the readable sweep over k', whose ties fall as the kernels' do."""
    star = inference.best_voting_set(distances, labels, target, k)
    hat = inference.most_violating_set(distances, labels, target, k, costs=costs)
    assert star is not None
    assert hat is not None
    return star.indices, hat.indices, hat.value + star.total


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("sets", ["exhaustive", "readable", "greedy"])
def test_every_step_is_that_of_the_text(k, sets):
    X, y = small_table()
    rng = np.random.default_rng(k)
    order = np.concatenate([rng.permutation(13) for _ in range(4)])
    # From zero all sets are equally near, and only the readable sweep falls as the kernels do.
    start = np.zeros((3, 3)) if sets == "readable" else np.diag([0.3, 0.1, 0.0])
    named = {
        "exhaustive": published.exhaustive_sets,
        "readable": readable_sets,
        "greedy": published.greedy_sets,
    }
    path, losses = published.descend(X, y, order, k, 0.02, start, costs=COSTS, sets=named[sets])
    mode = "greedy" if sets == "greedy" else "exact"
    rows = rows_of(X, y)
    how = Walk(k, COSTS, inference=mode, project_every=1)
    scale = float(rows.frame.scale[0])
    begin = start * scale**2
    descent = PublishedDescent(rows, how, 0.02, begin, 4, np.random.default_rng(0))
    for i, W, loss in zip(order, path, losses, strict=True):
        assert descent.walk(np.array([i])) == pytest.approx(loss, abs=1e-9)
        assert_allclose(descent.factor.T @ descent.factor / scale**2, W, atol=1e-9)


def test_lengths_follow_the_metric_between_projections():
    rows = rows_of(*small_table())
    how, rng = Walk(3, COSTS), np.random.default_rng(0)
    descent = PublishedDescent(rows, how, 0.5, np.zeros((3, 3)), 1, rng)
    walk_rows(
        rows.X, descent.labels, np.arange(13), 1, descent.V, descent.lengths, 1, descent.margin,
        COSTS, False, *descent._room,
    )  # fmt: skip
    assert_allclose(descent.lengths, np.einsum("ij,ij->i", rows.X @ descent.V, rows.X), atol=1e-9)


def test_kept_sets_are_those_of_the_first_of_the_steps():
    X, y = small_table()
    order = np.random.default_rng(1).permutation(13)[:4]
    rows = rows_of(X, y)
    how = Walk(3, COSTS, project_every=4, reuse=4)
    start = np.diag([0.3, 0.1, 0.2])
    descent = PublishedDescent(rows, how, 0.5, start, 1, np.random.default_rng(0))
    V, t, expected = start * descent.margin, 1, start * descent.margin
    for i in order:
        distances = published.distances_of(V / (t * descent.margin), rows.X, i)
        star, hat, loss = published.exhaustive_sets(distances, y, y[i], 3, COSTS)
        expected = expected - (loss > 0) * published.slope(rows.X, i, star, hat)
        t += 1
    descent.walk(order)
    assert_allclose(descent.V, published.project(expected), atol=1e-9)


def test_more_features_than_rows_are_the_same_descent_in_their_span():
    X, y = small_table(d=20)
    turn = np.linalg.svd(X, full_matrices=False)[2]
    wide = MLNG.as_published(3, C=0.01, init="zeros", max_iter=3, random_state=0).fit(X, y)
    narrow = MLNG.as_published(3, C=0.01, init="zeros", max_iter=3, random_state=0)
    narrow.fit(X @ turn.T, y)
    inside = turn @ wide.get_mahalanobis_matrix() @ turn.T
    assert_allclose(inside, narrow.get_mahalanobis_matrix(), atol=1e-8)


def test_a_unit_of_the_features_scales_c_by_its_fourth_power():
    X, y = small_table()
    one = MLNG.as_published(3, C=0.01, init="zeros", max_iter=3, random_state=0).fit(X, y)
    ten = MLNG.as_published(3, C=0.01 / 10**4, init="zeros", max_iter=3, random_state=0)
    ten.fit(10 * X, y)
    assert_allclose(ten.get_mahalanobis_matrix() * 100, one.get_mahalanobis_matrix(), atol=1e-9)
    assert pytest.approx(0.01) == one.C_


def test_it_ends_when_the_loss_of_an_epoch_stops_falling_but_not_before_ten_epochs():
    X, y = (np.tile(part, (6, 1) if part.ndim > 1 else 6) for part in small_table())
    X = X + np.random.default_rng(0).normal(size=X.shape)
    model = MLNG.as_published(3, C=1e-4, init="zeros", max_iter=50, random_state=0).fit(X, y)
    assert 10 < model.n_iter_ < 50
    assert model.loss_curve_[-1] > 0.99 * model.loss_curve_[-2]
    falls = np.array(model.loss_curve_[10:-1])
    assert np.all(falls[1:] <= 0.99 * falls[:-1])


def two_classes(informative: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 8)) * ([1] + [3] * 7 if informative else [1] * 8)
    X[:, 0] += 3 * y
    return X, y


def test_the_start_is_relieff_where_its_distance_is_better_than_that_of_the_features():
    X, y = two_classes(informative=True)
    model = MLNG.as_published(3, max_iter=2, random_state=0).fit(X, y)
    assert model.init_ == "relieff"
    chosen = [row for row in model.settings_ if row["chosen"]]
    assert len(model.settings_) == 3
    assert {row["init"] for row in model.settings_} == {"relieff"}
    assert len(chosen) == 1
    assert chosen[0]["C"] == model.C_
    assert chosen[0]["score"] == min(row["score"] for row in model.settings_)
    # Thirty rows judge: votes count in thirtieths, wrong neighbours in quarters of ninetieths.
    scores = 360 * np.array([row["score"] for row in model.settings_])
    assert_allclose(scores, np.round(scores), atol=1e-9)


def test_the_relieff_start_is_the_diagonal_it_learns():
    X, y = two_classes(informative=True)
    rows, frame = Rows(X, Classes(np.unique(y), y)), rows_of(X, y).frame
    weights = ReliefF().fit(X, y).feature_weights_
    outside = published_start("relieff", rows, frame) / frame.scale[0] ** 2
    assert_allclose(outside, np.diag(np.maximum(weights, 0)))
    assert_allclose(published_start("identity", rows, frame), np.eye(8) * frame.scale[0] ** 2)


def test_nothing_is_chosen_where_too_few_rows_could_be_held_out():
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 1])
    model = MLNG.as_published(1, max_iter=1, random_state=0).fit(X, y)
    assert model.init_ == "zeros"
    assert len(model.settings_) == 1


def test_progress_is_told_in_a_line_an_epoch(capsys):
    X, y = small_table()
    MLNG.as_published(3, C=0.01, init="zeros", max_iter=2, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[PublishedMLNG] fit, zeros, C 0.01: epoch 1 of 2")


@pytest.mark.parametrize(
    "wrong", [{"inference": "fast"}, {"reuse": 0}, {"project_every": 0}, {"C": -1}, {"init": "pca"}]
)
def test_what_makes_no_sense_is_refused(wrong):
    X, y = small_table()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MLNG.as_published(3, **wrong).fit(X, y)


def test_the_same_seed_gives_the_same_metric():
    X, y = small_table()
    first, second = (
        MLNG.as_published(3, max_iter=2, random_state=4).fit(X, y).components_ for _ in range(2)
    )
    assert_array_equal(first, second)
