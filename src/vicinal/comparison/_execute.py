"""One cell, measured: fit on the training part, predict the test part, count the errors."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from vicinal._types import AnyArray, FloatArray, IntArray, Task
from vicinal.comparison._packing import pack_bits, pack_floats
from vicinal.comparison._rows import PreparedFold
from vicinal.comparison._scoring import (
    calibrate,
    count_confusions,
    majority_prediction,
    predict_from,
    score_prediction,
    score_shares,
    shares_from,
)
from vicinal.data import are_unit_vectors
from vicinal.methods import Method, make_learner
from vicinal.predict import KNNClassifier, KNNRegressor
from vicinal.rows import usual_neighbors
from vicinal.runs import (
    CHOSEN,
    LEARNED,
    Cell,
    Elapsed,
    Neighbors,
    PeakMemory,
    Record,
    Stopwatch,
    fail_record,
    record_head,
)

LONGEST_MESSAGE = 300
MOST_NOTES = 5
# The share of rows that sets and intervals are to miss.
ALPHA = 0.1


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, the neighbours it found (m, k), and what that cost."""

    model: Any
    distances: FloatArray
    neighbors: IntArray
    fit: Elapsed
    search: Elapsed


@dataclass(frozen=True)
class Prediction:
    """What was predicted for the test part (m,), and what that cost; ``more`` goes on record.

    ``shares`` (m, R) are of classes, None where a model has none.
    """

    predicted: AnyArray
    fit: Elapsed
    predict: Elapsed
    more: Mapping[str, Any] = field(default_factory=dict)
    shares: FloatArray | None = None


def measure_cell(
    cell: Cell, method: Method, prepared: PreparedFold
) -> tuple[list[Record], FittedModel | None]:
    """Return the records of a cell, one a k, and the fit that they were measured on.

    The fit and the search serve all k and are charged to each of them in full.
    """
    n_train = len(prepared.y_train)
    beyond = [k for k in cell.ks if isinstance(k, int) and k > n_train]
    failed = [fail_record(cell, k, _too_many(k, n_train)) for k in beyond]
    within = tuple(k for k in cell.ks if k not in beyond)
    if not within:
        return failed, None
    with fixed_seeds(cell.setting.seed), noted() as notes:
        memory = PeakMemory()
        predictions, fitted = _predict(cell, method, prepared, within)
        peak = memory.read()
    shared = {"peak_mb": peak, "notes": notes}
    records = [
        {**record_head(cell, k), **_figures(prediction, prepared), **shared}
        for k, prediction in predictions.items()
    ]
    return records + failed, fitted


def _predict(
    cell: Cell, method: Method, prepared: PreparedFold, ks: tuple[Neighbors | None, ...]
) -> tuple[Mapping[Any, Prediction], FittedModel | None]:
    if method.reference:
        return {None: _predict_reference(cell, method, prepared)}, None
    if cell.tuned:
        from vicinal.comparison._tuned import predict_tuned  # built on this module

        return predict_tuned(cell, method, prepared), None
    numbers = [int(k) for k in ks if isinstance(k, int)]
    task, y = prepared.dataset.task, prepared.y_train
    weights, k_most = prepared.train_weights, max(numbers, default=usual_neighbors(None, len(y)))
    rows = prepared.X_train, y, prepared.X_test
    _say_unused_weights(method, task, weights)
    fitted = fit_and_search(cell, method, task, *rows, k_most, weights)
    if chooses_vote(cell, method):
        chosen = _predict_by_choice(fitted, prepared)
        return dict.fromkeys(ks, chosen), fitted
    return {k: _timed_vote(fitted, y, k, task, weights) for k in numbers}, fitted


def chooses_vote(cell: Cell, method: Method) -> bool:
    """Return whether held-out rows choose k, weights and head: the method's way, or the cell's."""
    return method.chooses_vote or CHOSEN in cell.ks or LEARNED in cell.ks


def _say_unused_weights(method: Method, task: Task, weights: FloatArray | None) -> None:
    """Say that a learner takes no weights, where rows have them."""
    learner = None if weights is None else make_learner(method, task, k=1, seed=0)
    if learner is not None and not has_fit_parameter(learner, "sample_weight"):
        warnings.warn(
            "weights count in votes and errors; this metric is learned without them.",
            stacklevel=2,
        )


def _predict_by_choice(fitted: FittedModel, prepared: PreparedFold) -> Prediction:
    """Return the prediction by the vote, or head, that the fit chose, whatever k is."""
    watch = Stopwatch()
    shares = None
    if prepared.dataset.task == "classification":
        shares = _shares_of(fitted.model, prepared)
        predicted = shares.argmax(axis=1)
    else:
        predicted = fitted.model.predict(prepared.X_test)
    spent = watch.read()
    return Prediction(predicted, fitted.fit, spent, _coverage(fitted.model, prepared), shares)


def _coverage(model: Any, prepared: PreparedFold) -> dict[str, float]:
    """Return how often sets, or intervals, that are to miss one in ten hold the truth, and size.

    The size of a set is how many classes it holds, that of an interval its length in deviations of
    the target.
    """
    if not len(model.held_out_rows_):
        return {}
    X, y = prepared.X_test, prepared.y_test
    if prepared.dataset.task == "classification":
        within = model.predict_set(X, ALPHA)
        held = (within & (model.classes_ == y[:, None])).any(axis=1)
        return {"coverage": float(held.mean()), "size": float(within.sum(axis=1).mean())}
    low, high = model.predict_interval(X, ALPHA).T
    held = (low <= y) & (y <= high)
    size = float(np.mean(high - low) / np.std(y))
    return {"coverage": float(held.mean())} | ({"size": size} if np.isfinite(size) else {})


def _shares_of(model: Any, prepared: PreparedFold) -> FloatArray:
    """Return a model's shares in columns by the number of the class."""
    proba = model.predict_proba(prepared.X_test)
    shares = np.zeros((len(proba), int(max(prepared.dataset.y.max(), model.classes_.max())) + 1))
    shares[:, model.classes_] = proba
    return shares


def _predict_reference(cell: Cell, method: Method, prepared: PreparedFold) -> Prediction:
    task, seed = prepared.dataset.task, cell.setting.seed
    model = make_learner(method, task, seed=seed, parameters=cell.parameters)
    watch = Stopwatch()
    model.fit(prepared.X_train, prepared.y_train)
    fit = watch.read()
    watch = Stopwatch()
    predicted = np.reshape(model.predict(prepared.X_test), -1)  # CatBoost's classes are a column
    spent = watch.read()
    sure = task == "classification" and hasattr(model, "predict_proba")
    return Prediction(predicted, fit, spent, shares=_shares_of(model, prepared) if sure else None)


def fit_and_search(
    cell: Cell,
    method: Method,
    task: Task,
    X: AnyArray,
    y: AnyArray,
    queries: AnyArray,
    k: int,
    weights: FloatArray | None = None,
) -> FittedModel:
    """Fit the cell's metric and find k neighbours of each query.

    Raises
    ------
    ValueError
        Where the learned map leaves the finite numbers.
    """
    unit = cell.setting.preparation.get("scale") == "none" and are_unit_vectors(X)
    seed, parameters = cell.setting.seed, cell.parameters
    metric = make_learner(method, task, k=k, seed=seed, parameters=parameters, unit=unit)
    predictor = KNNClassifier if task == "classification" else KNNRegressor
    watch = Stopwatch()
    chosen = {"n_neighbors": "auto", "weights": LEARNED if LEARNED in cell.ks else CHOSEN}
    vote: dict[str, Any] = chosen if chooses_vote(cell, method) else {"n_neighbors": k}
    model = predictor(metric=metric, **vote).fit(X, y, sample_weight=weights)
    fit = watch.read()
    watch = Stopwatch()
    distances, neighbors = model.kneighbors(queries, k)
    search = watch.read()
    if not np.isfinite(distances).all():
        raise ValueError("the learned map gives distances that are not finite.")
    return FittedModel(model, distances, neighbors, fit, search)


def _timed_vote(
    fitted: FittedModel, y_train: AnyArray, k: int, task: Task, weights: FloatArray | None
) -> Prediction:
    watch = Stopwatch()
    predicted = predict_from(fitted.neighbors, y_train, k, task, weights)
    spent = fitted.search + watch.read()
    shares = None
    if task == "classification":
        shares = shares_from(fitted.neighbors, y_train, k, weights)
    return Prediction(predicted, fitted.fit, spent, shares=shares)


def _figures(prediction: Prediction, prepared: PreparedFold) -> Record:
    task, y = prepared.dataset.task, prepared.y_test
    weights, wrong, confusion, residuals = prepared.test_weights, None, None, None
    calibration = None
    scores = score_prediction(prediction.predicted, y, task, weights)
    if task == "classification":
        wrong = pack_bits(prediction.predicted != y)
        n_classes = max(len(prepared.dataset.classes), int(prepared.dataset.y.max()) + 1)
        confusion = count_confusions(prediction.predicted, y, n_classes)
        if prediction.shares is not None:
            scores |= score_shares(prediction.shares, y, weights)
            calibration = calibrate(prediction.shares, y)
    elif weights is None:
        # In units of the target's spread, which any test of differences leaves out anyway.
        residuals = pack_floats((prediction.predicted - y) / np.std(y))
    blind = majority_prediction(prepared.y_train, len(y), task, prepared.train_weights)
    return {
        "status": "ok",
        "error": scores["error"],
        "scores": scores,
        "majority": score_prediction(blind, y, task, weights),
        "confusion": confusion,
        "calibration": calibration,
        "wrong": wrong if weights is None else None,
        "residuals": residuals,
        "n_train": len(prepared.y_train),
        "n_test": len(y),
        "fit_seconds": prediction.fit.wall,
        "fit_cpu_seconds": prediction.fit.cpu,
        "predict_seconds": prediction.predict.wall,
        "predict_cpu_seconds": prediction.predict.cpu,
        **prediction.more,
    }


def _too_many(k: int, n_train: int) -> str:
    return f"k = {k} is more than the {n_train} rows of the training part."


def warm_up(cell: Cell, method: Method, task: Task, dtype: Any) -> None:
    """Fit and search once on a made-up sample of 30 rows; whatever goes wrong shows up later."""
    if method.reference:
        return  # nothing of it is compiled here
    made_up = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = (made_up.normal(size=(30, 8)) + y[:, None]).astype(dtype)
    target = y if task == "classification" else X[:, 0].astype(np.float64)
    with quiet(), fixed_seeds(0):
        try:
            side = fit_and_search(cell, method, task, X, target, X[:5], 3)
            predict_from(side.neighbors, target, 3, task)
        except Exception:  # the method's own parameters may not suit 30 rows
            return


@contextmanager
def fixed_seeds(seed: int) -> Iterator[None]:
    """Fix the global generators, for learners that draw from them, and put them back after."""
    # The old interface on purpose: it is the global generator that needs fixing.
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


@contextmanager
def quiet() -> Iterator[None]:
    """Leave warnings unsaid: they were heard where the same work was measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def noted() -> Iterator[list[str]]:
    """Collect the distinct warnings in one line each: what a reader of the result should know."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    lines = dict.fromkeys(one_line(str(warning.message)) for warning in caught)
    notes += list(lines)[:MOST_NOTES]


def describe_error(error: BaseException) -> str:
    """Return an exception in one line; the kind of a ValueError goes without saying."""
    if isinstance(error, MemoryError):
        return one_line(f"not enough memory. {error}")
    text = one_line(str(error))
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def one_line(text: str) -> str:
    """Return text without line breaks, cut where it would fill a screen."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
