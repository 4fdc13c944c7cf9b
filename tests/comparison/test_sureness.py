"""How sure a comparison's answers are: log-loss, Brier score, calibration, the row that chooses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

import vicinal
from vicinal import KNNClassifier
from vicinal.comparison._scoring import calibrate, score_shares, shares_from
from vicinal.methods import get_method
from vicinal.report._drawings import calibration_curve


def test_scores_of_shares_are_scikit_learns():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    shares = rng.dirichlet(np.ones(3), size=200)
    weights = rng.random(200)
    told = score_shares(shares, truth, weights)
    assert told["log-loss"] == pytest.approx(log_loss(truth, shares, sample_weight=weights))
    squares = ((shares - np.eye(3)[truth]) ** 2).sum(axis=1)
    assert told["brier"] == pytest.approx(np.average(squares, weights=weights))


def test_a_class_that_was_never_seen_costs_much_and_not_everything():
    told = score_shares(np.array([[1.0, 0.0]]), np.array([2]))
    assert 30 < told["log-loss"] < 40
    assert told["brier"] == 2


def test_shares_of_a_search_are_those_of_a_vote_with_one_row_for_the_prior():
    y = np.array([0, 0, 1, 2])
    shares = shares_from(np.array([[0, 1, 2]]), y, 2)
    expected = (4 * np.array([1.0, 0, 0]) + np.array([0.5, 0.25, 0.25])) / 5
    np.testing.assert_allclose(shares[0], expected)


def test_bins_count_rows_sureness_and_hits():
    shares = np.array([[0.95, 0.05], [0.92, 0.08], [0.45, 0.55], [1.0, 0.0]])
    bins = np.array(calibrate(shares, np.array([0, 1, 1, 0])))
    np.testing.assert_allclose(bins[9], [3, 0.95 + 0.92 + 1.0, 2])
    np.testing.assert_allclose(bins[5], [1, 0.55, 1])
    assert bins[:, 0].sum() == 4
    sure, hits, off = calibration_curve(bins.tolist())
    np.testing.assert_allclose(hits, [1, 2 / 3])
    assert off == pytest.approx((0.45 + 3 * abs(sure[1] - 2 / 3)) / 4)


def test_compare_shows_how_sure_each_method_is_and_the_row_that_chooses(tmp_path):
    assert get_method("auto").chooses_vote
    X, y = load_wine(return_X_y=True)
    told = vicinal.compare(X, y, methods=["auto"], k=[3, 5], references=True, n_folds=2,
                           out=tmp_path)  # fmt: skip
    rows = {(row.method, row.k): row for row in told.rows}
    auto, plain = rows["auto", 3], rows["euclidean", 3]
    assert auto.errors == rows["auto", 5].errors
    for row in (auto, plain, rows["forest", None]):
        assert 0 < row.scores["log-loss"] < 2
        assert 0 < row.scores["brier"] < 1
        assert sum(each[0] for each in row.calibration) == len(y)
    assert "log-loss" not in rows["svm", None].scores
    assert auto.scores["log-loss"] < plain.scores["log-loss"] + 0.1
    page = told.report(tmp_path / "page.html").read_text()
    assert "How sure the answers are" in page
    assert "Log-loss" in page


def test_the_metric_of_that_name_chooses_in_a_predictor():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = KNNClassifier(metric="auto", n_neighbors="auto", weights="auto").fit(X[::2], y[::2])
    assert model.metric_.best_
    assert model.score(X[1::2], y[1::2]) > 0.95
