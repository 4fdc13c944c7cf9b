"""Whoever answers the requests of a run: plans a comparison, measures its cells.

One of these lives in each worker process, and keeps what the next request may need.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from vicinal._types import Dataset
from vicinal.comparison._execute import (
    FittedModel,
    describe_error,
    fit_and_search,
    measure_cell,
    quiet,
    warm_up,
)
from vicinal.comparison._exhibit import Side, agreement_of, pick_examples, show_metric
from vicinal.comparison._exhibit_file import exhibit_path, write_exhibit
from vicinal.comparison._plan import Question, find_method, plan_comparison
from vicinal.comparison._rows import FoldKeeper, PreparedFold
from vicinal.comparison._scoring import predict_from
from vicinal.methods import EUCLIDEAN, Method, get_method
from vicinal.report import Exhibit
from vicinal.runs import Cell, Record, fail_cell, record_from_json, record_key


class Measurer:
    """Answers requests, one after another.

    Each method first runs once on a small made-up sample, off the clock, so that compilation
    and lazy imports are charged to nobody.

    Parameters
    ----------
    held : Dataset, optional
        The user's own rows, where they are in memory already.
    own : iterable of Method
        Methods that no table knows.
    """

    def __init__(self, held: Dataset | None = None, own: Iterable[Method] = ()) -> None:
        self.folds = FoldKeeper(held)
        self._own = {method.name: method for method in own}
        self._warm: set[tuple[str, str, str]] = set()
        self._plain: tuple[str, FittedModel] | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the ``records`` of a cell, or the ``plan`` of a comparison, or what is wrong."""
        if request["do"] == "plan":
            return self._plan(request)
        if request["do"] == "warm up":
            return self._warm_up_all(record_from_json(Cell, each) for each in request["cells"])
        place = request["exhibits"]
        cell = record_from_json(Cell, request["cell"])
        return {"records": self.measure(cell, None if place is None else Path(place))}

    def _plan(self, request: dict[str, Any]) -> dict[str, Any]:
        question = record_from_json(Question, request["question"])
        try:
            return {"plan": plan_comparison(question, self.folds, self._own).to_json()}
        except (ValueError, OSError) as error:  # bad input: the caller says so in its own name
            return {"refused": str(error), "remedy": getattr(error, "remedy", {})}

    def measure(self, cell: Cell, exhibits: Path | None = None) -> list[Record]:
        """Return one record for each k; failures are records too.

        What the metric learned is written to the folder ``exhibits``.
        """
        try:
            method = find_method(cell.method, self._own)
            prepared = self.folds.get(cell.setting, cell.fold)
            self._warm_up(cell, method, prepared)
            records, fitted = measure_cell(cell, method, prepared)
        except Exception as error:
            return fail_cell(cell, describe_error(error))
        if method.name == EUCLIDEAN and fitted is not None:
            self._keep_plain(cell, fitted)
        elif exhibits is not None and fitted is not None:
            failure = self._exhibit(cell, method, prepared, fitted, exhibits)
            records[0] |= {"exhibit_error": failure} if failure else {}
        return records

    def _warm_up_all(self, cells: Iterable[Cell]) -> dict[str, Any]:
        for cell in cells:
            with suppress(ValueError):  # the cell will say what is wrong
                method = find_method(cell.method, self._own)
                self._warm_up(cell, method, self.folds.get(cell.setting, cell.fold))
        return {}

    def _warm_up(self, cell: Cell, method: Method, prepared: PreparedFold) -> None:
        task, dtype = prepared.dataset.task, prepared.X_train.dtype
        if (cell.method, task, dtype.str) not in self._warm:
            self._warm.add((cell.method, task, dtype.str))
            warm_up(cell, method, task, dtype)

    def _exhibit(
        self, cell: Cell, method: Method, prepared: PreparedFold, fitted: FittedModel, folder: Path
    ) -> str:
        """Write what a fit learned, one file a k; a measurement stands whether or not it can."""
        try:
            with quiet():
                shown = show_metric(fitted.model.metric_, prepared, cell.setting.seed)
                plain = self._plain_neighbors(cell, prepared, fitted.neighbors.shape[1])
                for k in cell.ks:
                    assert isinstance(k, int)
                    before, after = (_side(each, prepared, k) for each in (plain, fitted))
                    relevance = shown.get("relevance", before.distances[0, :0])
                    examples = pick_examples(before, after, prepared, relevance)
                    shares = agreement_of(before, prepared), agreement_of(after, prepared)
                    exhibit = Exhibit(
                        method.name, method.title, k, **shown, agreement=shares, examples=examples
                    )
                    write_exhibit(exhibit, exhibit_path(folder, record_key(cell, k)))
        except Exception as error:
            return describe_error(error)
        return ""

    def _keep_plain(self, cell: Cell, fitted: FittedModel) -> None:
        # Its neighbours only: the model holds a copy of all training rows.
        self._plain = _fold_of(cell), replace(fitted, model=None)

    def _plain_neighbors(self, cell: Cell, prepared: PreparedFold, k: int) -> FittedModel:
        """The neighbours under the plain distance, of the fold's own measurement if it is known."""
        nearest = self._plain
        if nearest is None or nearest[0] != _fold_of(cell) or nearest[1].neighbors.shape[1] < k:
            task, rows = prepared.dataset.task, (prepared.X_train, prepared.y_train)
            plain = get_method(EUCLIDEAN)
            bare = replace(cell, parameters={})
            self._keep_plain(cell, fit_and_search(bare, plain, task, *rows, prepared.X_test, k))
        assert self._plain is not None
        return self._plain[1]


def _fold_of(cell: Cell) -> str:
    return repr((cell.setting, cell.fold))


def _side(fitted: FittedModel, prepared: PreparedFold, k: int) -> Side:
    predicted = predict_from(
        fitted.neighbors, prepared.y_train, k, prepared.dataset.task, prepared.train_weights
    )
    return Side(fitted.distances[:, :k], fitted.neighbors[:, :k], predicted)
