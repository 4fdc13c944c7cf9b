"""A plane through all mapped rows and the vote on what it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from vicinal import KNNRegressor, load_model, save_model
from vicinal.predict._ballots import NumberBallots
from vicinal.predict._slope import RIDGES, fit_slope

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 3)) * [3.0, 1.0, 0.1]
Y = Z @ [1.0, -2.0, 0.5] + np.sin(2 * Z[:, 0]) + 0.1 * RNG.normal(size=60)
WEIGHTS = RNG.uniform(0.2, 2, 60)
X = RNG.normal(size=(400, 4))
LINE = X @ [3.0, -2.0, 1.0, 0.0] + 0.05 * RNG.normal(size=400)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighed"])
def test_the_plane_is_that_of_ridge_regression(weights: Any) -> None:
    slope = fit_slope(Z, NumberBallots(Y, weights), ridge=0.3)
    assert_allclose(slope.slope, Ridge(0.3).fit(Z, Y, weights).coef_, rtol=1e-9)
    both = fit_slope(Z, NumberBallots(np.c_[Y, -Y], weights), ridge=0.3)
    assert_allclose(both.height(Z), np.c_[slope.height(Z), -slope.height(Z)])


def test_the_ridge_is_that_of_least_error_of_each_row_without_itself() -> None:
    middle = Z.mean(axis=0)
    grid = RIDGES * np.linalg.eigvalsh((Z - middle).T @ (Z - middle))[-1]
    rough = Y + 5 * RNG.normal(size=60)

    def loss(ridge: float) -> float:
        errors = []
        for i in range(60):
            others = np.arange(60) != i
            centred = np.c_[Z - middle, np.ones(60)]
            A = centred[others].T @ centred[others] + np.diag([ridge] * 3 + [0.0])
            slope = np.linalg.solve(A, centred[others].T @ (rough - rough.mean())[others])
            errors.append((centred[i] @ slope + rough.mean() - rough[i]) ** 2)
        return float(np.sum(errors))

    assert fit_slope(Z, NumberBallots(rough)).ridge == pytest.approx(min(grid, key=loss))


def test_rows_that_are_all_alike_have_no_slope() -> None:
    assert_allclose(fit_slope(np.ones((4, 2)), NumberBallots(np.arange(4.0))).slope, 0.0)


@pytest.fixture
def sloped() -> KNNRegressor:
    """A regressor that predicts by the slope alone, whatever its held-out rows say."""
    model = KNNRegressor("auto", weights="auto").fit(X[:300], LINE[:300])
    model.heads_, model._fitted_heads, model.temperature_ = ("slope",), [], 0.5
    slope = fit_slope(X[:300], NumberBallots(LINE[:300]))
    model._slope = (slope.slope, slope.ridge)
    return model


def test_what_the_plane_leaves_is_voted_on(sloped: KNNRegressor) -> None:
    plane = Ridge(sloped._slope[1]).fit(X[:300], LINE[:300])
    for x, said in zip(X[300:306], sloped.predict(X[300:306]), strict=True):
        d = np.linalg.norm(X[:300] - x, axis=1)
        near = np.argsort(d)[: sloped.n_neighbors_]
        w = np.exp(-d[near] / sloped.temperature_)
        left = LINE[near] - plane.predict(X[near])
        assert said == pytest.approx(plane.predict(x[None])[0] + w @ left / w.sum(), abs=1e-3)


def test_a_regressor_hears_it_where_the_truth_is_a_slope() -> None:
    model = KNNRegressor("auto", weights="auto").fit(X[:300], LINE[:300])
    assert model.head_losses_["slope"] < 0.1 * model.head_losses_["vote"]
    assert "vote" not in model.heads_
    assert np.mean((model.predict(X[300:]) - LINE[300:]) ** 2) < 0.01


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_slope", (np.zeros(3), 0.1), "slope are not 4"),
        ("_slope", (np.zeros(4), -1.0), "ridge of its plane is -1"),
        ("_parts", ((0, 2, 9), (1.0, 1.0)), "its parts end at"),
        ("_parts", ((0, 2, 4), (1.0, 0.0)), "temperatures of its parts"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(sloped, name, value, message, tmp_path) -> None:
    setattr(sloped, name, value)
    save_model(sloped, tmp_path / "model")
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "model")


def test_it_is_stored_and_follows_rows_that_come_and_go(sloped: KNNRegressor, tmp_path) -> None:
    save_model(sloped, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_allclose(again.predict(X[300:]), sloped.predict(X[300:]))
    sloped.remove_rows([0, 1]).add_rows(X[:2], LINE[:2])
    assert_allclose(sloped.predict(X[300:]), again.predict(X[300:]), rtol=1e-9)
    again.relabel(np.arange(300), LINE[:300] + 7)
    assert_allclose(again.predict(X[300:]), sloped.predict(X[300:]) + 7, rtol=1e-9)
