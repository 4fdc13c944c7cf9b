"""A folder of tables, all methods on each: errors, ranks and paired differences over tables.

    folder ─▶ plan_benchmark ─▶ cells ─▶ (runs) ─▶ records ─▶ summarize_benchmark ─▶ Benchmark

Rows of one table are no sample of tables: means, standard errors and ranks here count tables, one
value each, so that a large table weighs no more than a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, studentized_range

from vicinal._types import FloatArray, Task
from vicinal._validation import check_whole
from vicinal.comparison._plan import Question, plan_comparison
from vicinal.comparison._rows import FoldKeeper
from vicinal.comparison._sources import find_source
from vicinal.data import Roles
from vicinal.methods import Method, choose_methods, get_method, refuse_missing
from vicinal.rows import USUAL_NEIGHBORS
from vicinal.runs import CHOSEN, LEARNED, Cell, Neighbors, Record, Setting, Source

N_FOLDS, LEVEL = 5, 0.05
AUTO = "auto"
# How many folds are enough, below how many rows.
ENOUGH_FOLDS = ((5, 1500), (3, 6000))
# Files of a folder that hold tables; others are left alone.
ENDINGS = (".csv", ".tsv", ".npz", ".parquet", ".arff", ".feather", ".xlsx", ".jsonl")
TASKS: tuple[Task, ...] = ("classification", "regression")


@dataclass(frozen=True)
class Benchmark:
    """What methods came to on the tables of one task.

    Attributes
    ----------
    task : {"classification", "regression"}
    tables : tuple of str of length T
        Those that every method has a result of.
    methods : tuple of str of length M
        By their mean rank, the lowest first.
    scores : dict of str to ndarray of shape (T, M)
        Means over folds by name: "error" (or nMSE) first, and what else records hold; NaN for a
        method that has none of it.
    cpu_seconds : ndarray of shape (T, M)
        Of a fit, the mean over folds.
    left_out : tuple of (method, table, reason)
        What failed. A table that some method failed on is in no mean.
    """

    task: Task
    tables: tuple[str, ...]
    methods: tuple[str, ...]
    scores: dict[str, FloatArray]
    cpu_seconds: FloatArray
    left_out: tuple[tuple[str, str, str], ...]

    @property
    def errors(self) -> FloatArray:
        """The error of each method on each table, (T, M)."""
        return self.scores["error"]

    @property
    def mean_ranks(self) -> FloatArray:
        """The mean over tables of each method's rank by error, (M,); ties share theirs."""
        return mean_ranks(self.errors)

    @property
    def critical_difference(self) -> float:
        """How far mean ranks of two methods may lie apart by chance (Nemenyi, 5 %)."""
        return critical_difference(len(self.methods), len(self.tables))

    def differences(self) -> tuple[FloatArray, FloatArray]:
        """Return mean difference of each method's error to the first's, and its standard error.

        Of classes points of a hundred, paired by table; of numbers the logarithm of the ratio, for
        a table on which all err much would else outweigh the others.
        """
        values = 100 * self.errors if self.task == "classification" else np.log(self.errors)
        gaps = values - values[:, :1]
        n = len(gaps)
        noise = gaps.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(gaps.shape[1], np.nan)
        return gaps.mean(axis=0), noise


def mean_ranks(errors: FloatArray) -> FloatArray:
    """Return the mean rank (M,) of columns of errors (T, M), 1 the least."""
    ranks: FloatArray = np.mean([rankdata(row) for row in errors], axis=0)
    return ranks


def critical_difference(n_methods: int, n_tables: int, level: float = LEVEL) -> float:
    """Return q √(M (M + 1) / 6T), Nemenyi's difference of mean ranks [demsar2006]."""
    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tables)))


def find_tables(
    folder: Path, target: str | None, limit: int | None, *, impute: bool = False
) -> list[Source]:
    """Return the tables of a folder by name.

    Raises
    ------
    ValueError
        Where it is no folder, or holds none.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of tables.")
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in ENDINGS)
    if not files:
        raise ValueError(f"{folder} holds no tables ({', '.join(ENDINGS)}).")
    options: dict[str, Any] = {"target": target, "limit": limit, "impute": impute}
    return [find_source(str(file), **options, **_declared(file)) for file in files]


def _declared(file: Path) -> dict[str, Any]:
    """Return what an NPZ file says of itself: what y is, and which columns hold codes.

    Its array ``task`` is one of "classification" and "regression", or "cls" and "reg", and
    ``categorical`` is true (d,) for codes. Two values are one column as they are.
    """
    if file.suffix.lower() != ".npz":
        return {}
    declared: dict[str, Any] = {}
    with np.load(file, allow_pickle=False) as arrays:
        if "task" in arrays.files:
            word = str(arrays["task"])
            declared["task"] = {"cls": TASKS[0], "reg": TASKS[1]}.get(word, word)
        if "categorical" in arrays.files:
            X, coded = arrays["X"], np.flatnonzero(arrays["categorical"])
            places = [j for j in coded if len(np.unique(X[:, j])) > 2]
            named = arrays["feature_names"] if "feature_names" in arrays.files else None
            names = tuple(str(named[j]) if named is not None else f"x{j}" for j in places)
            declared["roles"] = Roles(categories=names) if names else None
    return declared


def plan_benchmark(
    sources: Sequence[Source], methods: Sequence[str] | None, *, ks: Sequence[Neighbors] = (5,),
    folds: int | str = 1, seed: int = 0, fold_seed: int | None = None,
) -> list[Cell]:  # fmt: skip
    """Return the cells of all methods on all tables, table by table.

    Parameters
    ----------
    sources : sequence of Source
    methods : sequence of str or None
        None is what ``compare`` takes, the neural map, the chosen metric and the references. Of
        those named each runs on the tables of its tasks.
    ks : sequence of int, "learned" and "auto"
        The votes of each metric, each with a fit of its own: so many neighbours, the soft vote at a
        learned temperature, or whatever held-out rows choose for k, weights and heads.
    folds : int or "auto"
        How many of five folds are measured. "auto" is five of tables below 1,500 rows, three below
        6,000 and one of others: rows that test are then at least 1,000 where there are as many.
    seed : int
        Of learners.
    fold_seed : int or None
        Of folds and samples; None is ``seed``.

    Raises
    ------
    ValueError
        For a method nobody knows, or a table that cannot be read.
    """
    named = None if methods is None else [get_method(name) for name in methods]
    refuse_missing(named or ())
    cells: list[Cell] = []
    for source in sources:
        keeper = FoldKeeper()
        rows = keeper.rows(Setting(source, seed=seed))
        task, n_folds = rows.task, count_folds(folds, len(rows.y))
        if named is None:
            usual = [m.name for m in choose_methods(None, task, references=True)]
            chosen = [*usual, "neural", "auto"]
        else:
            chosen = [method.name for method in named if task in method.tasks]
        numbers = tuple(k for k in ks if isinstance(k, int)) or (USUAL_NEIGHBORS,)
        question = Question(
            source, tuple(chosen), numbers, protocol="kfold", n_folds=N_FOLDS, seed=seed
        )
        setting = plan_comparison(question, keeper).setting
        if fold_seed is not None:
            setting = replace(setting, folds={**setting.folds, "seed": fold_seed})
        cells += [
            Cell(setting, fold, method.name, (k,))
            for fold in range(n_folds)
            for method in choose_methods(chosen, task)
            for k in _votes_of(method, ks)
        ]
    return cells


def count_folds(folds: int | str, n_rows: int) -> int:
    """Return how many of five folds of a table are measured."""
    if folds != AUTO:
        return check_whole("folds", folds, most=N_FOLDS)
    return next((n for n, most in ENOUGH_FOLDS if n_rows < most), 1)


def _votes_of(method: Method, ks: Sequence[Neighbors]) -> tuple[Neighbors | None, ...]:
    """Return the votes a method is measured with: of a model without neighbours none."""
    if method.reference:
        return (None,)
    return (CHOSEN,) if method.chooses_vote else tuple(dict.fromkeys(ks))


def summarize_benchmark(records: Iterable[Record]) -> list[Benchmark]:
    """Return what records come to, for classes and for numbers where there are any."""
    by_task: dict[Task, list[Record]] = {task: [] for task in TASKS}
    records = list(records)
    numbers = {r["dataset"] for r in records if r["status"] == "ok" and "rmse" in r["scores"]}
    for record in records:
        by_task["regression" if record["dataset"] in numbers else "classification"].append(record)
    return [_summary(task, part) for task, part in by_task.items() if part]


def _summary(task: Task, records: list[Record]) -> Benchmark:
    named = _names_of(records)
    methods = list(dict.fromkeys(named(record) for record in records))
    tables = list(dict.fromkeys(record["dataset"] for record in records))
    failed = [r for r in records if r["status"] != "ok"]
    spoilt = {record["dataset"] for record in failed}
    whole = [table for table in tables if table not in spoilt]
    cells: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        cells.setdefault((record["dataset"], named(record)), []).append(record)

    def means(read: Callable[[Record], float]) -> FloatArray:
        rows = [[np.mean([read(r) for r in cells[t, m]]) for m in methods] for t in whole]
        return np.array(rows, float).reshape(len(whole), len(methods))

    names = _scores_of([cells[t, m][0] for t in whole for m in methods])
    scores = {name: means(partial(_score, name)) for name in names}
    seconds = means(lambda r: r["fit_cpu_seconds"])
    order = np.arange(len(methods))
    if whole:
        order = np.argsort(mean_ranks(scores["error"]), kind="stable")
    return Benchmark(
        task,
        tuple(whole),
        tuple(methods[i] for i in order),
        {name: values[:, order] for name, values in scores.items()},
        seconds[:, order],
        tuple((named(r), r["dataset"], r["message"]) for r in failed),
    )


def _names_of(records: Sequence[Record]) -> Callable[[Record], str]:
    """Return what tells a record's method: its name, with the vote where it is told of several."""
    votes: dict[str, set[Any]] = {}
    for record in records:
        votes.setdefault(record["method"], set()).add(record["k"])

    def named(record: Record) -> str:
        method, k = record["method"], record["k"]
        return method if len(votes[method]) == 1 else f"{method}, {phrase_vote(k)}"

    return named


def phrase_vote(k: Neighbors) -> str:
    """Return what a vote is called."""
    return {LEARNED: "learned vote", CHOSEN: "chosen vote"}.get(str(k), f"vote of {k}")


def _score(name: str, record: Record) -> float:
    return float(_scores_in(record).get(name, np.nan))


def _scores_in(record: Record) -> dict[str, float]:
    """Return the scores of a record, and how often its sets or intervals hold the truth."""
    more = {name: record[name] for name in ("coverage", "size") if name in record}
    return {**record["scores"], **more}


def _scores_of(records: Sequence[Record]) -> list[str]:
    """Return the scores that any record holds, the error first."""
    names = {name for record in records for name in _scores_in(record)}
    return ["error", *sorted(names - {"error"})]
