"""One cell, measured: the predictor's own errors, and failures that are records."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression

from vicinal import LDA, KNNClassifier, KNNRegressor
from vicinal._types import Dataset
from vicinal.comparison import Measurer, prediction_error
from vicinal.comparison._execute import describe_error, fixed_seeds, measure_cell
from vicinal.comparison._held import source_of
from vicinal.comparison._packing import unpack_bits
from vicinal.comparison._rows import make_setting_folds, prepare_fold
from vicinal.comparison._scoring import predict_from
from vicinal.methods import get_method, make_learner
from vicinal.runs import Cell, Setting, Source

LEARNERS = "misbehaving"


def classes_of(n: int = 178) -> Dataset:
    X, y = load_wine(return_X_y=True)
    return Dataset("wine", X[:n], y[:n], "classification", classes=(0, 1, 2))


def numbers() -> Dataset:
    X, y = load_diabetes(return_X_y=True)
    return Dataset("diabetes", X, y, "regression")


def setting_of(dataset: Dataset, **more) -> Setting:
    return Setting(Source(dataset.name), {"scale": "zscore"}, "kfold", {"n_folds": 5}, **more)


def measure(dataset: Dataset, method: str, ks=(3,), fold=0, parameters=None, **more):
    setting = setting_of(dataset, **more)
    prepared = prepare_fold(dataset, make_setting_folds(dataset, setting)[fold], {})
    cell = Cell(setting, fold, method, tuple(ks), parameters or {})
    return measure_cell(cell, get_method(method), prepared)[0], prepared


@pytest.mark.parametrize(("method", "metric"), [("euclidean", None), ("lda", LDA())])
def test_the_errors_at_every_k_are_the_predictors_own(method, metric):
    records, fold = measure(classes_of(), method, ks=(1, 4, 9))
    for record in records:
        model = KNNClassifier(n_neighbors=record["k"], metric=metric)
        wrong = model.fit(fold.X_train, fold.y_train).predict(fold.X_test) != fold.y_test
        assert record["error"] == np.mean(wrong)
        assert np.array_equal(unpack_bits(record["wrong"], len(wrong)), wrong)


def test_the_error_of_a_regression_is_the_share_of_the_variance_left():
    (record,), fold = measure(numbers(), "euclidean", ks=(5,))
    predicted = KNNRegressor(n_neighbors=5).fit(fold.X_train, fold.y_train).predict(fold.X_test)
    expected = np.mean((predicted - fold.y_test) ** 2) / np.var(fold.y_test)
    assert record["error"] == pytest.approx(expected, rel=1e-12)
    assert record["wrong"] is None


def test_a_record_is_json_and_says_what_it_cost():
    (record,), fold = measure(classes_of(), "lda")
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["status"] == "ok"
    assert (record["n_train"], record["n_test"]) == (len(fold.y_train), len(fold.y_test))
    for name in ("fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds"):
        assert record[name] >= 0
    assert record["peak_mb"] >= 0


def test_memory_counts_what_the_work_added():
    (greedy,), _ = measure(classes_of(), f"{LEARNERS}:Greedy")
    (plain,), _ = measure(classes_of(), f"{LEARNERS}:Plain")
    assert 190 < greedy["peak_mb"] < 260
    assert plain["peak_mb"] < 50


def test_learners_that_draw_from_the_global_generator_repeat_themselves():
    (first,), _ = measure(classes_of(), f"{LEARNERS}:Random")
    np.random.normal(size=7)  # noqa: NPY002
    (second,), _ = measure(classes_of(), f"{LEARNERS}:Random")
    assert first["wrong"] == second["wrong"]
    errors = {measure(classes_of(), f"{LEARNERS}:Random", seed=s)[0][0]["wrong"] for s in range(5)}
    assert len(errors) > 1


def test_warnings_become_notes_told_once():
    (record,), _ = measure(classes_of(), f"{LEARNERS}:Chatty")
    assert record["notes"] == ["only a few rows were used"]


def test_the_note_of_a_sampled_mlr_reaches_the_record():
    parameters = {"max_samples": 50, "max_iter": 2, "C": 1.0}
    (record,), _ = measure(classes_of(), "mlr", parameters=parameters)
    assert any("random 50 of 142 rows" in note for note in record["notes"])


def test_a_k_beyond_the_training_part_fails_alone():
    records, _ = measure(classes_of(), "euclidean", ks=(3, 500))
    assert [r["status"] for r in records] == ["ok", "failed"]
    assert records[1]["message"] == "k = 500 is more than the 142 rows of the training part."
    (record,), _ = measure(classes_of(), "euclidean", ks=(500,))
    assert record["status"] == "failed"


def test_k_equal_to_the_training_part_takes_the_majority():
    (record,), fold = measure(classes_of(), "euclidean", ks=(142,))
    majority = np.bincount(fold.y_train).argmax()
    assert record["error"] == np.mean(fold.y_test != majority)


def run_in_process(dataset: Dataset, method: str, ks=(3,)):
    setting = replace(setting_of(dataset), source=source_of(dataset))
    return Measurer(dataset).measure(Cell(setting, 0, method, ks))


def test_an_exception_is_a_failed_record_with_one_line():
    (record,) = run_in_process(classes_of(), f"{LEARNERS}:Raising")
    assert record["status"] == "failed"
    assert record["message"] == "RuntimeError: the matrix is not what it was"


def test_a_map_that_is_not_finite_is_a_failure():
    (record,) = run_in_process(classes_of(), f"{LEARNERS}:Lost")
    assert record["status"] == "failed"


def test_an_unknown_method_is_a_failed_record_for_every_k():
    records = run_in_process(classes_of(), "nosuch", ks=(3, 5))
    assert [(r["k"], r["status"]) for r in records] == [(3, "failed"), (5, "failed")]


def test_a_constant_target_in_the_test_part_has_no_nmse():
    with pytest.raises(ValueError, match="same in all rows"):
        prediction_error(np.zeros(3), np.ones(3), "regression")


def test_votes_tie_to_the_nearest():
    neighbors = np.array([[0, 1, 2, 3]])
    assert predict_from(neighbors, np.array([1, 0, 0, 1]), 4, "classification") == [1]
    assert predict_from(neighbors, np.array([1, 0, 0, 1]), 3, "classification") == [0]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("what\n was wrong"), "what was wrong"),
        (ValueError(), "ValueError: "),
        (KeyError("x"), "KeyError: 'x'"),
        (MemoryError("Unable to allocate 8 GiB"), "not enough memory. Unable to allocate 8 GiB"),
    ],
)
def test_errors_are_told_in_one_line(error, text):
    assert describe_error(error) == text


def test_long_messages_are_cut():
    assert len(describe_error(ValueError("x" * 1000))) == 300


def test_the_global_generators_are_left_as_they_were():
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    with fixed_seeds(0):
        np.random.random(7)  # noqa: NPY002
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.parametrize("name", ["hgb", "forest", "svm", "logistic"])
def test_a_reference_is_measured_as_scikit_learn_predicts(name):
    (record,), fold = measure(classes_of(), name, ks=(None,))
    model = make_learner(get_method(name), "classification", seed=0)
    wrong = model.fit(fold.X_train, fold.y_train).predict(fold.X_test) != fold.y_test
    assert record["error"] == np.mean(wrong)
    assert record["k"] is None


class InAColumn(LogisticRegression):
    """Answers as CatBoost does where classes are more than two."""

    def predict(self, X):
        return super().predict(X)[:, None]


def test_a_reference_may_answer_in_a_column(monkeypatch):
    (plain,), _ = measure(classes_of(), "logistic", ks=(None,))
    monkeypatch.setattr("sklearn.linear_model.LogisticRegression", InAColumn)
    (column,), _ = measure(classes_of(), "logistic", ks=(None,))
    assert column["status"] == "ok"
    assert column["scores"] == plain["scores"]
