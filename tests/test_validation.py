"""Checks that all estimators share: one rule for each kind of wrong value, which is named."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import vicinal
from vicinal._validation import check_components, check_costs, check_neighbors, check_whole
from vicinal.rows import feature_spread

INF = float("inf")


# Whole numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1.0, "3", None, True, np.float64(2)])
def test_what_is_not_whole_is_refused_with_its_value(value):
    with pytest.raises(ValueError, match="size must be a whole number, got "):
        check_whole("size", value)
    with pytest.raises(ValueError, match="n_neighbors must be a whole number, got "):
        check_neighbors(value, 9)


def test_whole_numbers_are_held_to_their_bounds():
    assert check_whole("size", np.int16(3), least=3, most=3) == 3
    with pytest.raises(ValueError, match=r"size must be at least 2, got 1\."):
        check_whole("size", 1, least=2)
    with pytest.raises(ValueError, match=r"size must be at least 1 and at most 4, got 5\."):
        check_whole("size", 5, most=4)
    with pytest.raises(ValueError, match="n_neighbors=4 is more than the n_samples=3"):
        check_neighbors(4, 3)


def test_as_many_components_as_there_are_may_be_asked_for():
    assert check_components(None, 3) is None
    assert check_components(3, 3) == 3
    with pytest.raises(ValueError, match=r"n_components=4 is more than the 3 axes; .* at most 3"):
        check_components(4, 3, "axes")


@pytest.mark.parametrize(
    "learner", [vicinal.LDA(2), vicinal.NCA(3), vicinal.ReliefF(n_components=3)], ids=repr
)
def test_learners_refuse_more_components_than_they_have(learner):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=rf"n_components={learner.n_components} is more than the"):
        learner.fit(X, y)


# Costs ------------------------------------------------------------------------------------------


def test_costs_are_zero_and_one_unless_given():
    assert check_costs(None, 2).tolist() == [[0, 1], [1, 0]]
    assert check_costs([[0, 3], [1, 0]], 2).tolist() == [[0, 3], [1, 0]]
    assert check_costs(np.zeros((3, 3)), 2, spare=True).shape == (3, 3)


BAD_COSTS: dict[str, Any] = {
    r"square matrix, got shape \(2,\)": [0.0, 1.0],
    r"square matrix, got shape \(1, 2\)": [[0.0, 1.0]],
    r"has 1 rows but there are 2 classes; its shape must be \(2, 2\)": [[0.0]],
    "has 3 rows but there are 2 classes": 1 - np.eye(3),
    "one entry is -1": [[0.0, -1.0], [1.0, 0.0]],
    "one entry is inf": [[0.0, INF], [1.0, 0.0]],
    "one entry is nan": [[0.0, 1.0], [np.nan, 0.0]],
    r"costs\[1, 1\] is 2": [[0.0, 1.0], [1.0, 2.0]],
}


@pytest.mark.parametrize("message", BAD_COSTS)
def test_what_is_no_matrix_of_costs_is_refused_with_its_reason(message):
    with pytest.raises(ValueError, match=message):
        check_costs(BAD_COSTS[message], 2)


# Dask -------------------------------------------------------------------------------------------

IN_PARTITIONS = [
    vicinal.KNNClassifier(),
    vicinal.KNNRegressor(),
    vicinal.RadiusClassifier(),
    vicinal.RadiusRegressor(),
]
LOCAL = [
    vicinal.LocalLinearRegressor(),
    vicinal.KernelClassifier(),
    vicinal.LDA(),
    vicinal.LMNN(),
    vicinal.MLNG(),
    vicinal.NCA(),
    vicinal.ReliefF(),
    vicinal.GradientDiffusionMap(),
]
DISTRIBUTED = [vicinal.EGOP(), vicinal.EJOP(), vicinal.GradientWeights()]


def no_rows(_):
    raise AssertionError("a chunk was loaded")


@pytest.mark.parametrize("estimator", LOCAL + DISTRIBUTED, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kind", ["array", "frame", "target"])
def test_a_dask_collection_is_refused_unread(estimator, kind):
    X, y = np.zeros((20, 2)), np.arange(20) % 2
    name, given = "X", (da.zeros((20, 2), chunks=(5, 2)).map_blocks(no_rows, dtype=float), y)
    if kind == "frame":
        given = (dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=2), y)
    elif kind == "target":
        name, given = "y", (X, da.from_array(y))
    with pytest.raises(ValueError, match=f"{name} is a dask collection") as caught:
        estimator.fit(*given)
    assert f"pass {name}.compute()" in str(caught.value)
    assert ("fit_distributed" in str(caught.value)) == (estimator in DISTRIBUTED)


@pytest.mark.parametrize("estimator", IN_PARTITIONS, ids=lambda e: type(e).__name__)
def test_predictors_leave_a_dask_array_where_it_is_until_they_are_asked(estimator):
    X, y = da.zeros((20, 2), chunks=(5, 2)).map_blocks(no_rows, dtype=float), np.arange(20) % 2
    estimator.fit(X, y)
    with pytest.raises(AssertionError, match="a chunk was loaded"):
        estimator.predict(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="y is a dask collection"):
        estimator.fit(np.zeros((20, 2)), da.from_array(y))
    frame = dd.from_pandas(pd.DataFrame({"a": y}), npartitions=2)
    with pytest.raises(ValueError, match=r"to_dask_array\(lengths=True\)"):
        estimator.fit(frame, y)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_how_much_features_vary_is_known_at_any_scale(size):
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[:, 2] = 1
    np.testing.assert_allclose(
        feature_spread(X * size) / size, X.std(axis=0), rtol=1e-9, atol=1e-12
    )
