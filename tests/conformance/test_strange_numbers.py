"""Numbers no estimator may misread: right results or a ValueError, never a wrong number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from vicinal.methods import list_methods, make_learner
from vicinal.predict import KNNClassifier, KNNRegressor, LocalLinearRegressor, RadiusRegressor

RANDOM = np.random.default_rng(0)
y = np.arange(40) % 2
X = RANDOM.normal(size=(40, 3)) + 1.5 * y[:, None]
target = 2 * X[:, 0] + 0.1 * RANDOM.normal(size=40)

STRANGE: dict[str, tuple[Any, str]] = {
    "masked": (np.ma.masked_array(X, mask=X > 1), "masked array"),
    "dates": ((1e6 * X).astype("datetime64[s]"), "dates or durations"),
    "dates in a frame": (pd.DataFrame(X).assign(when=pd.Timestamp("2020-01-01")), "dates|DType"),
    "long whole numbers": (np.round(100 * X).astype(np.int64) + 2**60, r"beyond 2\*\*53"),
    "long numbers in a frame": (pd.DataFrame(X).assign(number=2**60 + y), r"beyond 2\*\*53"),
    "complex": (X + 1j, "[Cc]omplex"),
    "huge": (1e200 * X, "leave the range of floats"),
    "tiny": (1e-200 * X, "leave the range of floats"),
    "one huge column": (X * [1, 1, 1e200], r"in column 2"),
    "names twice": (pd.DataFrame(X, columns=list("aab")), "unique column names"),
    "text": (pd.DataFrame(X).astype(object).where(X < 1, "NA"), "could not convert"),
}
LEARNERS = [
    method
    for method in list_methods("classification")
    if method.factory_for("classification") and not method.reference
]


@pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)
def test_no_learner_takes_strange_rows_for_others(method):
    for rows, message in STRANGE.values():
        with pytest.raises(ValueError, match=message):
            make_learner(method, "classification", k=3).fit(rows, y)


@pytest.mark.parametrize("case", ["masked", "dates", "long whole numbers", "complex"])
def test_no_search_takes_strange_rows_for_others(case):
    rows, message = STRANGE[case]
    for predictor in (KNNClassifier(3), KNNRegressor(3), RadiusRegressor(1.0)):
        with pytest.raises(ValueError, match=message):
            predictor.fit(rows, y)
        with pytest.raises(ValueError, match=message):
            predictor.fit(X, y).predict(rows)


@pytest.mark.parametrize("exponent", [-250, -150, 150, 250])
def test_neighbours_do_not_depend_on_the_unit_of_the_rows(exponent):
    scale = 2.0 ** int(exponent / np.log10(2))
    plain, scaled = KNNClassifier(3).fit(X, y), KNNClassifier(3).fit(scale * X, y)
    distances, rows = scaled.kneighbors(scale * X)
    np.testing.assert_array_equal(rows, plain.kneighbors(X)[1])
    np.testing.assert_allclose(distances / scale, plain.kneighbors(X)[0])
    np.testing.assert_array_equal(scaled.predict(scale * X), plain.predict(X))


TARGETS = {
    "None": (np.array([None, *target[1:]], dtype=object), "y contains None, first in row 0"),
    "sparse": (csr_matrix(target[:, None]), "y is sparse"),
    "masked": (np.ma.masked_array(target, mask=target > 1), "y is a masked array"),
    "dates": ((1e6 * target).astype("datetime64[s]"), "y holds dates"),
    "infinite": (np.array([np.inf, *target[1:]]), "infinity"),
}


@pytest.mark.parametrize("case", TARGETS)
@pytest.mark.parametrize(
    "predictor",
    [KNNRegressor(3), RadiusRegressor(1.0), LocalLinearRegressor()],
    ids=lambda predictor: type(predictor).__name__,
)
def test_no_regressor_takes_strange_targets_for_numbers(predictor, case):
    with pytest.raises(ValueError, match=TARGETS[case][1]):
        predictor.fit(X, TARGETS[case][0])


def test_a_training_row_asked_as_a_query_is_at_distance_zero():
    rows = np.vstack([X, 1e8 + X, 1e-8 * X])
    for index in ("exact", "faiss"):
        if index == "faiss":
            pytest.importorskip("faiss", reason="needs the extra faiss")
        model = KNNClassifier(1, index=index).fit(rows, np.tile(y, 3))
        assert model.kneighbors(rows[:40])[0].max() == 0
