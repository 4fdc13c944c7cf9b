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

import numpy as np
from scipy.stats import rankdata, studentized_range

from vicinal._types import FloatArray, Task
from vicinal.comparison._plan import Question, plan_comparison
from vicinal.comparison._rows import FoldKeeper
from vicinal.comparison._sources import find_source
from vicinal.data import Roles
from vicinal.methods import choose_methods, get_method, refuse_missing
from vicinal.rows import USUAL_NEIGHBORS
from vicinal.runs import Cell, Neighbors, Record, Setting, Source

N_FOLDS, LEVEL = 5, 0.05
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


def find_tables(folder: Path, target: str | None, limit: int | None) -> list[Source]:
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
    return [
        find_source(str(file), target=target, limit=limit, roles=_declared_categories(file))
        for file in files
    ]


def _declared_categories(file: Path) -> Roles | None:
    """Return the columns that an NPZ file says hold codes: its array ``categorical`` (d,)."""
    if file.suffix.lower() != ".npz":
        return None
    with np.load(file, allow_pickle=False) as arrays:
        if "categorical" not in arrays.files:
            return None
        places = np.flatnonzero(arrays["categorical"])
        named = arrays["feature_names"] if "feature_names" in arrays.files else None
    names = tuple(str(named[j]) if named is not None else f"x{j}" for j in places)
    return Roles(categories=names) if names else None


def plan_benchmark(
    sources: Sequence[Source], methods: Sequence[str] | None, *, k: Neighbors = 5,
    all_folds: bool = False, seed: int = 0,
) -> list[Cell]:  # fmt: skip
    """Return the cells of all methods on all tables, table by table.

    Parameters
    ----------
    sources : sequence of Source
    methods : sequence of str or None
        None is what ``compare`` takes, the neural map, the chosen metric and the references. Of
        those named each runs on the tables of its tasks.
    k : int or "auto"
        Neighbours that vote; "auto" has held-out rows choose k, weights and heads for each metric.
    all_folds : bool
        Whether all five folds are measured, or the first alone.

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
        task = keeper.rows(Setting(source, seed=seed)).task
        if named is None:
            usual = [m.name for m in choose_methods(None, task, references=True)]
            chosen = [*usual, "neural", "auto"]
        else:
            chosen = [method.name for method in named if task in method.tasks]
        number = k if isinstance(k, int) else USUAL_NEIGHBORS
        question = Question(
            source, tuple(chosen), (number,), protocol="kfold", n_folds=N_FOLDS, seed=seed
        )
        plan = plan_comparison(question, keeper)
        cells += [_voting(cell, k) for cell in plan.cells if all_folds or cell.fold == 0]
    return cells


def _voting(cell: Cell, k: Neighbors) -> Cell:
    """Return the cell of a metric with the vote that was asked for."""
    return cell if cell.ks == (None,) else replace(cell, ks=(k,))


def summarize_benchmark(records: Iterable[Record]) -> list[Benchmark]:
    """Return what records come to, for classes and for numbers where there are any."""
    by_task: dict[Task, list[Record]] = {task: [] for task in TASKS}
    records = list(records)
    numbers = {r["dataset"] for r in records if r["status"] == "ok" and "rmse" in r["scores"]}
    for record in records:
        by_task["regression" if record["dataset"] in numbers else "classification"].append(record)
    return [_summary(task, part) for task, part in by_task.items() if part]


def _summary(task: Task, records: list[Record]) -> Benchmark:
    methods = list(dict.fromkeys(record["method"] for record in records))
    tables = list(dict.fromkeys(record["dataset"] for record in records))
    failed = [r for r in records if r["status"] != "ok"]
    spoilt = {record["dataset"] for record in failed}
    whole = [table for table in tables if table not in spoilt]
    cells: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        cells.setdefault((record["dataset"], record["method"]), []).append(record)

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
        tuple((r["method"], r["dataset"], r["message"]) for r in failed),
    )


def _score(name: str, record: Record) -> float:
    return float(record["scores"].get(name, np.nan))


def _scores_of(records: Sequence[Record]) -> list[str]:
    """Return the scores that any record holds, the error first."""
    names = {name for record in records for name in record["scores"]}
    return ["error", *sorted(names - {"error"})]
