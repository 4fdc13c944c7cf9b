"""Numbers no estimator may misread: right results or a ValueError, never a wrong number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import vicinal.compat.metric_learn as peers
from vicinal import EGOP, ITQ, LDA, MLNG, AutoMetric, GradientWeights
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
    "text": (pd.DataFrame(X).astype(object).where(X < 1, "NA"), "holds text"),
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


LONG = {
    "in a list": (np.round(100 * X).astype(np.int64) + 2**60).tolist(),
    "as objects": (np.round(100 * X).astype(np.int64) + 2**60).astype(object),
    "nullable": pd.DataFrame(X, columns=list("abc")).assign(n=pd.array(2**60 + y, dtype="Int64")),
}


@pytest.mark.parametrize("case", LONG)
def test_long_whole_numbers_are_seen_wherever_they_are(case):
    for model in (KNNClassifier(3), LDA(), peers.LFDA()):
        with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
            model.fit(LONG[case], y)
    with pytest.raises(ValueError, match=r"y holds whole numbers beyond 2\*\*53"):
        KNNRegressor(3).fit(X, 2**60 + np.arange(40))


LABELS = {
    "None": (np.array([None, *"ab" * 20], dtype=object)[:40], "y contains None, first in row 0"),
    "NaN": (np.array([*"ab" * 19, "a", np.nan], dtype=object), "y contains NaN, first in row 39"),
    "mixed": (np.array([1, *"ab" * 20], dtype=object)[:40], "y mixes numbers and text"),
}


@pytest.mark.parametrize("case", LABELS)
def test_no_learner_takes_strange_labels(case):
    for model in (LDA(), GradientWeights(), peers.NCA(), KNNClassifier(3)):
        with pytest.raises(ValueError, match=LABELS[case][1]):
            model.fit(X, LABELS[case][0])


WEIGHTS = {
    "complex": y + 1j,
    "masked": np.ma.masked_array(1.0 + y, mask=y > 0),
    "dates": (1 + y).astype("datetime64[s]"),
    "words": np.array(["a", "b"])[y],
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_are_no_numbers_are_refused(case):
    with pytest.raises(ValueError, match="sample_weight"):
        KNNRegressor(3).fit(X, target, sample_weight=WEIGHTS[case])


@pytest.mark.parametrize("unit", [2.0**-1050, 2.0**1010])
def test_weights_have_no_unit(unit):
    weights = 1.0 + np.arange(40) % 3
    plain, scaled = (KNNRegressor(3).fit(X, target, w) for w in (weights, unit * weights))
    np.testing.assert_allclose(scaled.predict(X + 0.1), plain.predict(X + 0.1))
    with pytest.raises(ValueError, match="sample_weight is up to"):
        EGOP(random_state=0).fit(X, target, unit * weights)


@pytest.mark.parametrize("exponent", [-60, 60])
@pytest.mark.parametrize("learner", [MLNG(3, max_iter=2, init="lda"), ITQ(16), AutoMetric([LDA()])])
def test_a_learned_metric_has_no_unit(learner, exponent):
    unit = 2.0 ** int(exponent / np.log10(2))
    fits = [clone(learner).set_params(random_state=0) for _ in range(2)]
    maps = [fit.fit(rows, y).transform(rows) for fit, rows in zip(fits, (X, unit * X), strict=True)]
    nearest = [KNNClassifier(1).fit(m, y).kneighbors(None)[1] for m in maps]
    np.testing.assert_array_equal(*nearest)


def test_rows_in_single_precision_may_have_any_unit():
    for unit in (1e-30, 1e30):
        rows = (unit * X).astype(np.float32)
        accuracy = (KNNClassifier(3, metric=LDA()).fit(rows, y).predict(rows) == y).mean()
        assert accuracy > 0.8


def test_a_frame_and_an_array_of_the_same_numbers_teach_the_same():
    metric = MLNG(3, max_iter=2, random_state=0)
    maps = [clone(metric).fit(rows, y).components_ for rows in (X, np.asfortranarray(X))]
    np.testing.assert_array_equal(*maps)


def test_queries_beyond_any_map_are_refused():
    with pytest.raises(ValueError, match="leave the range of floats"):
        LDA().fit(X, y).transform(X * 1e200)


@pytest.mark.parametrize("exponent", [-250, 250])
def test_sparse_rows_have_their_neighbours_in_any_unit(exponent):
    scale = 2.0 ** int(exponent / np.log10(2))
    rows = csr_matrix(np.maximum(X, 0))
    plain, scaled = KNNClassifier(3).fit(rows, y), KNNClassifier(3).fit(scale * rows, y)
    np.testing.assert_array_equal(scaled.kneighbors(scale * rows)[1], plain.kneighbors(rows)[1])
    distances = scaled.kneighbors(scale * rows)[0] / scale
    np.testing.assert_allclose(distances, plain.kneighbors(rows)[0])
