"""A plane through all mapped rows and the vote on what it leaves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from vicinal import KNNRegressor, load_model, save_model
from vicinal.predict._slope import RIDGES, SlopedVote

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 3)) * [3.0, 1.0, 0.1]
Y = Z @ [1.0, -2.0, 0.5] + np.sin(2 * Z[:, 0]) + 0.1 * RNG.normal(size=60)
WEIGHTS = RNG.uniform(0.2, 2, 60)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighed"])
def test_it_is_the_formula_written_out(weights: np.ndarray | None) -> None:
    head = SlopedVote(7, 0.6, ridge=0.3).fit(Z, Y, weights)
    plane = Ridge(0.3).fit(Z, Y, weights)
    new = RNG.normal(size=(9, 3))
    for z, said in zip(new, head.predict(new), strict=True):
        d = np.linalg.norm(Z - z, axis=1)
        near = np.argsort(d)[:7]
        w = np.exp(-d[near] / 0.6) * (1 if weights is None else weights[near])
        left = Y[near] - plane.predict(Z[near])
        assert said == pytest.approx(plane.predict(z[None])[0] + w @ left / w.sum(), rel=1e-9)


def test_the_ridge_is_that_of_least_error_of_each_row_without_itself() -> None:
    grid = RIDGES * np.linalg.eigvalsh((Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)))[-1]
    rough = Y + 5 * RNG.normal(size=60)

    def loss(ridge: float) -> float:
        errors = []
        for i in range(60):
            others = np.arange(60) != i
            # The same penalty on the plane of all rows' middle, as the closed form has it.
            middle, level = Z.mean(axis=0), rough.mean()
            centred = np.c_[Z - middle, np.ones(60)]
            penalty = np.diag([ridge] * 3 + [0.0])
            A = centred[others].T @ centred[others] + penalty
            slope = np.linalg.solve(A, centred[others].T @ (rough - level)[others])
            errors.append((centred[i] @ slope + level - rough[i]) ** 2)
        return float(np.sum(errors))

    assert SlopedVote().fit(Z, rough).ridge_ == pytest.approx(min(grid, key=loss))


def test_several_columns_are_each_as_alone() -> None:
    both = SlopedVote(5, 0.5, ridge=1.0).fit(Z, np.c_[Y, -Y]).predict(Z[:4])
    alone = SlopedVote(5, 0.5, ridge=1.0).fit(Z, Y).predict(Z[:4])
    assert_allclose(both, np.c_[alone, -alone])


def test_rows_that_are_all_alike_give_the_mean() -> None:
    head = SlopedVote(4, 1.0).fit(np.ones((4, 2)), np.array([1.0, 2.0, 3.0, 6.0]))
    assert_allclose(head.predict(np.ones((1, 2))), 3.0)


def test_a_regressor_takes_it_where_the_truth_is_a_slope_and_stores_it(tmp_path) -> None:
    X = RNG.normal(size=(400, 4))
    y = X @ [3.0, -2.0, 1.0, 0.0] + 0.05 * RNG.normal(size=400)
    model = KNNRegressor("auto", weights="auto").fit(X[:300], y[:300])
    assert "vote" not in model.heads_
    only = KNNRegressor("auto", weights="learned").fit(X[:300], y[:300])
    losses = [np.mean((m.predict(X[300:]) - y[300:]) ** 2) for m in (model, only)]
    assert losses[0] < 0.1 * losses[1]
    model._fitted_heads = [SlopedVote(model.n_neighbors_, model.temperature_).fit(X[:300], y[:300])]
    model.heads_ = ("slope",)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_allclose(again.predict(X[300:]), model.predict(X[300:]))
    model.remove_rows([0, 1]).add_rows(X[:2], y[:2])
    assert_allclose(model.predict(X[300:]), again.predict(X[300:]))
