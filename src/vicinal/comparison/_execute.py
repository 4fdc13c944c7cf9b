"""One cell, measured: fit on the training part, search, vote for every k, count the errors."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import AnyArray, IntArray, Task
from vicinal.comparison._packing import pack_bits
from vicinal.comparison._portrait import make_portrait
from vicinal.comparison._rows import FoldKeeper, PreparedFold
from vicinal.methods._table import EUCLIDEAN, get_method, make_metric
from vicinal.predict import KNNClassifier, KNNRegressor
from vicinal.runs._cells import Cell
from vicinal.runs._journal import Record
from vicinal.runs._meter import Elapsed, PeakMemory, Stopwatch
from vicinal.runs._records import fail_cell, fail_record, record_head

LONGEST_MESSAGE = 300
MOST_NOTES = 5


@dataclass(frozen=True)
class Searched:
    """A fitted model, the neighbours it found, and what that cost."""

    model: Any
    distances: AnyArray
    neighbors: IntArray
    fit: Elapsed
    search: Elapsed


class Executor:
    """Runs cells one after another, keeping what the next may need.

    Each method first runs once on a small made-up sample, off the clock, so that compilation
    and lazy imports are charged to nobody.
    """

    def __init__(self) -> None:
        self.folds = FoldKeeper()
        self._warm: set[tuple[str, str, str]] = set()

    def run(self, cell: Cell, *, portrait: bool = False) -> list[Record]:
        """Return one record for each k; failures are records too.

        With ``portrait`` the first says what the fitted metric looks at.
        """
        try:
            prepared = self.folds.get(cell.setting, cell.fold)
            self._warm_up(cell, prepared)
            return self._measure(cell, prepared, portrait)
        except Exception as error:
            return fail_cell(cell, describe_error(error))

    def _measure(self, cell: Cell, prepared: PreparedFold, portrait: bool) -> list[Record]:
        if not cell.tuned:
            return measure_cell(cell, prepared, portrait=portrait)
        # Here, since that module is built on this one.
        from vicinal.comparison._tuned import measure_tuned

        return measure_tuned(cell, prepared)

    def _warm_up(self, cell: Cell, prepared: PreparedFold) -> None:
        task, dtype = prepared.dataset.task, prepared.X_train.dtype
        if (cell.method, task, dtype.str) not in self._warm:
            self._warm.add((cell.method, task, dtype.str))
            warm_up(cell, task, dtype)


def warm_up(cell: Cell, task: Task, dtype: Any) -> None:
    """Fit and search once on a made-up sample of 60 rows; whatever goes wrong shows up later."""
    made_up = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (made_up.normal(size=(60, 8)) + y[:, None]).astype(dtype)
    target = y if task == "classification" else X[:, 0].astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = fit_and_search(cell, task, X, target, X[:5], 3)
            predict_from(found.neighbors, target, 3, task)
        except Exception:  # the method's own parameters may not suit 60 rows
            return


def measure_cell(cell: Cell, prepared: PreparedFold, *, portrait: bool = False) -> list[Record]:
    """Return the records of a cell, one a k.

    The fit and the search serve all k and are charged to each of them in full; a ``portrait`` of
    the metric, which the first record then holds, is made off the clock.
    """
    task, n_train = prepared.dataset.task, len(prepared.y_train)
    ks = tuple(int(k) for k in cell.ks)
    within = tuple(k for k in ks if k <= n_train)
    beyond = [fail_record(cell, k, _too_many(k, n_train)) for k in ks if k > n_train]
    if not within:
        return beyond
    seed_everything(cell.setting.seed)
    memory = PeakMemory()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit_and_search(
            cell, task, prepared.X_train, prepared.y_train, prepared.X_test, max(within)
        )
        voted = {k: _timed_prediction(found, prepared, k) for k in within}
    shared = {"peak_mb": memory.read(), "notes": collect_notes(caught)}
    records = [_ok_record(cell, k, prepared, found, *voted[k], shared) for k in within]
    if portrait and cell.method != EUCLIDEAN:
        records[0]["portrait"] = _portrait(found.model.metric_, prepared, cell.setting.seed)
    return records + beyond


def _portrait(metric: Any, prepared: PreparedFold, seed: int) -> Record | None:
    """What the metric looks at; a measurement stands whether or not that can be told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make_portrait(metric, prepared, seed)
        except Exception as error:
            return {"error": describe_error(error)}


def _too_many(k: int, n_train: int) -> str:
    return f"k = {k} is more than the {n_train} rows of the training part."


def seed_everything(seed: int) -> None:
    """Fix the global generators, for learners that draw from them."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - it is the global one that needs fixing


def fit_and_search(
    cell: Cell, task: Task, X: AnyArray, y: AnyArray, queries: AnyArray, k: int
) -> Searched:
    """Fit the cell's metric and find k neighbours of each query.

    Raises
    ------
    ValueError
        Where the learned map leaves the finite numbers.
    """
    metric = make_metric(get_method(cell.method), cell.parameters, k, cell.setting.seed)
    predictor = KNNClassifier if task == "classification" else KNNRegressor
    watch = Stopwatch()
    model = predictor(n_neighbors=k, metric=metric).fit(X, y)
    fit = watch.read()
    watch = Stopwatch()
    distances, neighbors = model.kneighbors(queries)
    search = watch.read()
    if not np.isfinite(distances).all():
        raise ValueError("the learned map gives distances that are not finite.")
    return Searched(model, distances, neighbors, fit, search)


def predict_from(neighbors: IntArray, y_train: AnyArray, k: int, task: Task) -> AnyArray:
    """Return the vote (or the mean) of each query's first k neighbours, of shape (m,)."""
    targets = y_train[neighbors[:, :k]]
    if task == "regression":
        return np.asarray(targets.mean(axis=1))
    labels = np.ascontiguousarray(targets, dtype=np.int64)
    return np.asarray(majority_vote(labels, int(y_train.max()) + 1))


def _timed_prediction(found: Searched, prepared: PreparedFold, k: int) -> tuple[AnyArray, Elapsed]:
    watch = Stopwatch()
    predicted = predict_from(found.neighbors, prepared.y_train, k, prepared.dataset.task)
    return predicted, watch.read()


def score(predicted: AnyArray, y_test: AnyArray, task: Task) -> tuple[float, str | None]:
    """Return the error, and for classification the wrong rows packed as text.

    The error is the share of wrong votes, or the mean squared error over the variance of the
    test targets.
    """
    if task == "classification":
        wrong = predicted != y_test
        return float(np.mean(wrong)), pack_bits(wrong)
    variance = float(np.var(y_test))
    if variance == 0:
        raise ValueError("the test part's target is constant, so nMSE is not defined.")
    error = float(np.mean((predicted - y_test) ** 2)) / variance
    if not np.isfinite(error):
        raise ValueError("the predictions are too large for an error to be computed.")
    return error, None


def collect_notes(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the distinct warnings in one line each: what a reader of the result should know."""
    notes = [one_line(str(warning.message)) for warning in caught]
    return list(dict.fromkeys(notes))[:MOST_NOTES]


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


def _ok_record(
    cell: Cell,
    k: int,
    prepared: PreparedFold,
    found: Searched,
    predicted: AnyArray,
    vote: Elapsed,
    shared: Mapping[str, Any],
) -> Record:
    error, wrong = score(predicted, prepared.y_test, prepared.dataset.task)
    predict = found.search + vote
    return {
        **record_head(cell, k),
        "status": "ok",
        "error": error,
        "wrong": wrong,
        "n_train": len(prepared.y_train),
        "n_test": len(prepared.y_test),
        "fit_seconds": found.fit.wall,
        "fit_cpu_seconds": found.fit.cpu,
        "predict_seconds": predict.wall,
        "predict_cpu_seconds": predict.cpu,
        **shared,
    }
