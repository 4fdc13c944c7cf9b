"""The main job: does a learned metric help on these data?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vicinal._types import Dataset, Task
from vicinal.comparison._describe import describe_comparison
from vicinal.comparison._plan import ComparisonPlan, Question
from vicinal.comparison._sources import check_task, fetch_rows, find_source
from vicinal.data import SAMPLE, Roles, TableError, is_large_text
from vicinal.methods import Method, own_method
from vicinal.report import Comparison
from vicinal.runs import (
    MEASURER,
    Listener,
    RunFolder,
    ThisProcess,
    WorkerPool,
    Workers,
    ask,
    run_cells,
    unmeasured,
)


def compare(
    X: Any, y: Any = None, *, methods: str | Iterable[Any] | Mapping[str, Any] | None = None,
    k: int | Iterable[int] = (3, 7), groups: Any = None, task: Task | None = None,
    references: bool | None = None, protocol: str = "auto", n_folds: int | None = None,
    n_repeats: int | None = None, scale: str = "auto", n_components: int | None = None,
    impute: bool = False, limit: int | None = None, score: str | None = None, random_state: int = 0,
    n_jobs: int | None = None, out: str | os.PathLike[str] | bool | None = None,
    fresh: bool = False, listener: Listener | None = None, **roles: Any,
) -> Comparison:  # fmt: skip
    """Compare learned metrics with the Euclidean distance, on the same folds.

    Parameters
    ----------
    X : array-like of shape (n, d), DataFrame, or str
        Features; or the name of a known data set, or the path of a table.
    y : array-like of shape (n,), or str
        Targets; or the name of the column to predict, for a frame or a table.
    methods : sequence of names and metric learners, or mapping of titles to them, optional
        Names are those of ``vicinal compare``, or "module:Class"; a learner is cloned for each
        fold. By default all that suit the task. Euclidean is always among them.
    k : int or sequence of int
        Numbers of neighbours.
    groups : array-like of shape (n,), or str
        Rows of one group stay together in every fold; or the name of a column, or "copies".
    task : "classification" or "regression", optional
        By default what the targets look like.
    references : bool, optional
        Measure models that ask no neighbours too: boosting, a forest, an SVM, a linear model. By
        default boosting and a linear model, where no methods are named and they cost less than
        the metrics.
    protocol : {"auto", "official", "kfold", "repeated", "grouped", "time"}
        Which rows test; "auto" is the data set's own: by groups where there are any, by time where
        the rows come in the order of a date and their targets follow one another.
    n_folds, n_repeats : int, optional
        Folds of "kfold", "grouped" and "time", random splits of "repeated": by default 5 and 10.
        Of a table where the first one alone tests 1,250 rows or more, only that one is judged.
        ``n_repeats`` cuts folds of "kfold" and "grouped" so many times: ten times by default
        where all methods are solved in closed form, and once where a descent takes its time.
    scale : {"auto", "zscore", "histogram", "unit", "none"}
        How features are scaled, by numbers of the training part; "auto" is "none" for rows of unit
        length, as embeddings are, and else "zscore".
    n_components : int, optional
        Keep so many principal components.
    impute : bool
        Fill in missing values from each training part, rather than refuse them.
    limit : int, optional
        Take a random sample of so many rows; of a text of more than 100 MB by default 20,000.
    score : {"error", "balanced", "nmse", "r2", "rmse", "mae"}, optional
        What is ranked and tested; by default the share of wrong predictions, or nMSE.
    random_state : int
        Seed of folds, samples and learners.
    n_jobs : int, optional
        Work in so many processes of their own, where a crash of a learner costs one
        measurement. None works in this process.
    out : path, True or None
        A run folder that keeps every result as it comes: the same call goes on where it was
        stopped. True takes ``vicinal-runs/<data>-<digest>``; None keeps nothing on disk.
    fresh : bool
        Forget what the folder holds.
    listener : callable, optional
        Called with a :class:`vicinal.runs.RunProgress` when a measurement starts or ends; one with
        a method ``announce`` is first given the lines on how the rows were read.
    **roles
        Columns of a frame or a table by name: ``drop``, ``features`` (only these), ``keep``
        (although it would be left out), ``categories`` (codes, even where they are numbers),
        ``id`` (names the rows), ``weights`` (what each counts).

    Returns
    -------
    Comparison
        With ``to_frame()``, ``plot()``, ``report("page.html")``; it shows itself in a notebook.

    Raises
    ------
    ValueError
        For anything that would fail on every fold.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import vicinal
    >>> X, y = load_wine(return_X_y=True)
    >>> found = vicinal.compare(X, y, methods=["lda"], k=3)
    >>> found.to_frame()[["method", "k", "n_train"]].values.tolist()
    [['euclidean', 3, 142], ['lda', 3, 142]]
    """
    named, own = _split_methods(methods)
    named_columns = Roles(**roles)
    options = {"groups": groups, "task": task, "impute": impute, "limit": limit}
    rows = _find_rows(X, y, roles=named_columns, **options)
    question = Question(
        rows.source, named, (k,) if isinstance(k, int) else tuple(k), scale, n_components,
        protocol, n_folds, n_repeats, random_state, references, score,
    )  # fmt: skip
    if n_jobs is not None and own:
        raise ValueError(
            "metric learners given as objects are compared in this process: leave n_jobs out, or "
            "name the learner as 'module:Class'."
        )
    with _staffed(question, rows.held, own, n_jobs) as (workers, question):
        plan = ask_plan(workers, question, {method.name: method for method in own})
        announce: Any = getattr(listener, "announce", None)
        if announce is not None:
            announce(plan.facts.notes)
        with _opened(plan, out, fresh) as folder:
            warm_up(workers, plan, folder, listener)
            records = run_cells(plan.cells, folder, pool=workers, listener=listener, exhibits=True)
            comparison = describe_comparison(plan, records, folder.path)
            return comparison if not out else replace(comparison, folder=folder.path)


@dataclass(frozen=True)
class _Asked:
    """Where rows come from, and the rows themselves where they are the caller's own."""

    source: Any
    held: Dataset | None = None


def _find_rows(
    X: Any, y: Any, *, groups: Any, task: Task | None, impute: bool, limit: int | None, roles: Roles
) -> _Asked:
    if isinstance(X, str | os.PathLike):
        if groups is not None:
            if not isinstance(groups, str):
                raise ValueError(
                    f"groups as values are for arrays and frames; for {os.fspath(X)!r} give the "
                    f"name of a column, got a {type(groups).__name__}."
                )
            roles = replace(roles, groups=groups)
        options: dict[str, Any] = {"task": task, "impute": impute, "limit": limit}
        source = find_source(os.fspath(X), target=y, roles=roles, **options)
        fetch_rows(source)
        if limit is None and source.path is not None and is_large_text(Path(source.path)):
            source = replace(source, limit=SAMPLE)
        return _Asked(source)
    if y is None:
        raise ValueError("say what to predict (y): targets, or the name of a column of X.")
    from vicinal.comparison._held import hold_rows, source_of

    check_task(task)
    held = hold_rows(X, y, groups=groups, task=task, impute=impute, roles=roles)
    return _Asked(source_of(held, limit), held)


def _split_methods(methods: Any) -> tuple[tuple[str, ...] | None, list[Method]]:
    """Return the names of all methods, and those that are objects."""
    if methods is None:
        return None, []
    if isinstance(methods, str):
        methods = [methods]
    pairs = methods.items() if isinstance(methods, Mapping) else [("", m) for m in methods]
    chosen = [m if isinstance(m, str) else own_method(m, title) for title, m in pairs]
    names = tuple(m if isinstance(m, str) else m.name for m in chosen)
    return names, [m for m in chosen if isinstance(m, Method)]


@contextmanager
def _staffed(
    question: Question, held: Dataset | None, own: Sequence[Method], n_jobs: int | None
) -> Iterator[tuple[Workers, Question]]:
    """Whoever does the work: this process, or others, which find held rows in a file."""
    if n_jobs is None:
        from vicinal.comparison._measurer import Measurer  # with all that learns and searches

        with ThisProcess(Measurer(held, own).answer) as workers:
            yield workers, question
        return
    if n_jobs < 1:
        raise ValueError(f"there must be at least one process (n_jobs), got {n_jobs}.")
    with TemporaryDirectory(prefix="vicinal-") as place, WorkerPool(n_jobs) as workers:
        if held is not None:
            from vicinal.comparison._held import write_held

            path = Path(place) / "rows.npz"
            write_held(held, path)
            question = replace(question, source=replace(question.source, path=str(path)))
        yield workers, question


def ask_plan(workers: Workers, question: Question, own: Mapping[str, Method]) -> ComparisonPlan:
    """Have a question checked where its rows will be needed.

    Raises
    ------
    ValueError
        Where it is refused.
    """
    request = {"job": MEASURER, "do": "plan", "question": asdict(question)}
    reply = ask(workers, request)
    if "refused" in reply:
        raise TableError(reply["refused"], **reply.get("remedy", {}))
    return ComparisonPlan.from_json(reply["plan"], own)


def warm_up(
    workers: Workers, plan: ComparisonPlan, folder: RunFolder, listener: Listener | None = None
) -> None:
    """Have one of several workers compile what the methods need, so that no other has to.

    Learners of the user's own are left alone: what goes wrong in them belongs to a cell.
    """
    left = [cell for cell in unmeasured(plan.cells, folder) if ":" not in cell.method]
    first = {cell.method: asdict(cell) for cell in reversed(left)}
    if workers.n_workers > 1 and len(first) > 1:
        say: Any = getattr(listener, "say", None)
        if say is not None:
            say("warming up; the first run ever compiles")
        with suppress(RuntimeError):  # a crash is told of the cell in which it comes again
            ask(workers, {"job": MEASURER, "do": "warm up", "cells": list(first.values())[::-1]})


@contextmanager
def _opened(
    plan: ComparisonPlan, out: str | os.PathLike[str] | bool | None, fresh: bool
) -> Iterator[RunFolder]:
    """The run folder asked for, or one that is gone at the end."""
    if out is None or out is False:
        with TemporaryDirectory(prefix="vicinal-") as place, RunFolder(Path(place)) as folder:
            yield folder
        return
    path = plan.default_folder if out is True else Path(out)
    with RunFolder(path, plan.configuration, fresh=fresh) as folder:
        yield folder
