"""From checked rows to what an adapter keeps: choose, learn from all, and tell what was gained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.rows import FOLDS, USUAL_NEIGHBORS, VOTES, Rows, inner_splits, kfold
from vicinal.search._choice import AdapterChoice, AdapterTask, choose
from vicinal.search._descent import descend
from vicinal.search._inputs import SearchRows
from vicinal.search._losses import make_loss
from vicinal.search._moves import QuerySums, sum_queries
from vicinal.search._negatives import MOST_PAIRS, choose_negatives
from vicinal.search._objective import AdapterObjective, map_queries
from vicinal.search._relevance import Relevance, SameClassRelevance
from vicinal.search._report import HeldOutLists, hold_out, report_rows
from vicinal.search._setting import IDENTITY, LOSSES, RIDGES, WEIGHTS, AdapterSetting
from vicinal.search._splits import Split, split_documents, split_queries
from vicinal.search._tasks import LabelTask, SearchOptions, SearchTask

# A set of more documents than this votes as it does.
_MOST_VOTES = 9
# Queries whose relevant documents are counted.
_SEEN = 256


@dataclass(frozen=True)
class Wanted:
    """What an adapter was asked for, its parameters checked."""

    maps: str
    loss: str
    regularization: float | None
    split: str
    negatives: str
    unjudged: str
    n_neighbors: int | None
    n_components: int | None
    offset: bool
    max_iter: int
    seed: int
    say: Callable[[str], None]

    @property
    def ridges(self) -> Sequence[float]:
        """The ridges to try, descending."""
        return RIDGES if self.regularization is None else (self.regularization,)

    def path(self, setting: AdapterSetting) -> list[AdapterSetting]:
        """Return the settings that lead to one, of falling ridge."""
        if setting.loss is None:
            return [setting]
        return [replace(setting, ridge=r) for r in self.ridges if r >= setting.ridge]

    def n_steps(self, setting: AdapterSetting) -> int:
        """Return how many steps lead to a setting at most."""
        return self.max_iter * len(self.path(setting))


@dataclass(frozen=True)
class Adapted:
    """A map laid flat (None: the identity), how it was chosen, and what it gained."""

    flat: FloatArray | None
    choice: AdapterChoice
    n_queries: int
    n_iter: int
    notes: tuple[str, ...] = ()
    report: list[dict[str, Any]] = field(default_factory=list)
    places: IntArray | None = None
    sums: QuerySums | None = None


def adapt_to_judgements(rows: SearchRows, wanted: Wanted) -> Adapted:
    """Return what is learned from queries and the documents that answer them."""
    X, Z, judgements = rows.queries, rows.documents, rows.judgements
    everyone = np.arange(len(X))
    n_relevant = int(np.median(np.diff(judgements.grades.indptr)))
    negatives = choose_negatives(
        wanted.negatives, judgements, len(X), len(Z), X.shape[1], wanted.unjudged, wanted.seed
    )
    k = wanted.n_neighbors or min(_MOST_VOTES, 2 * n_relevant - 1)
    options = SearchOptions(
        negatives.mine(X, Z), k, wanted.offset, wanted.n_components, wanted.max_iter, wanted.seed,
        rows.is_pool,
    )  # fmt: skip
    splits = {
        "queries": split_queries(judgements, wanted.seed),
        "documents": split_documents(judgements, wanted.seed),
    }
    used, notes = _used_splits(splits, wanted.split)
    task = SearchTask(X, Z, judgements, options, used)
    choice, more = _choose_both(task, wanted, n_relevant)
    flat = _learn_all(task, everyone, wanted.path(choice.setting))
    every = [split for parts in splits.values() for split in parts]
    results = hold_out(task, every, wanted.path(choice.setting))
    moves = choice.setting.weight is not None
    return Adapted(
        flat, choice, len(X), wanted.n_steps(choice.setting), (*notes, *more),
        report_rows(results),
        _places(results, rows.numbers), sum_queries(X, judgements, everyone) if moves else None,
    )  # fmt: skip


def adapt_to_labels(rows: Rows, vectors: FloatArray, wanted: Wanted) -> Adapted:
    """Return what is learned from labelled rows, each of which looks for rows of its class."""
    target, everyone = rows.classes, np.arange(len(vectors))
    relevance, n = SameClassRelevance(target.codes), len(vectors)
    kind = wanted.negatives
    if kind == "auto":
        kind = "all" if n * n <= MOST_PAIRS else "batch"
    negatives = choose_negatives(kind, relevance, n, n, vectors.shape[1], "ignore", wanted.seed)
    # A set needs a majority of the rows its class has beside itself.
    k = min(USUAL_NEIGHBORS, 2 * int(np.median(np.bincount(target.codes))) - 3)
    options = SearchOptions(
        negatives.mine(vectors, vectors), wanted.n_neighbors or max(1, k), wanted.offset, None,
        wanted.max_iter, wanted.seed,
    )  # fmt: skip
    splits = _class_splits(replace(rows, X=everyone[:, None]), wanted.seed)
    task = LabelTask(vectors, target, options, splits)
    names = LOSSES if wanted.loss == "auto" else (wanted.loss,)
    choice, notes = _choose(task, wanted, [AdapterSetting(name) for name in names])
    flat = _learn_all(task, everyone, wanted.path(choice.setting))
    return Adapted(flat, choice, n, wanted.n_steps(choice.setting), notes)


def _class_splits(numbers: Rows, seed: int) -> list[Split]:
    """Return inner splits of rows whose one feature is their number.

    Of no more folds than a class has rows: each then loses as many to every fold, and none is
    judged with fewer rows left than its rivals have.
    """
    usual = int(np.median(np.bincount(numbers.codes)))
    if not 1 < usual < FOLDS:
        parts = inner_splits(numbers, seed)
        return [Split("queries", train.X[:, 0], held.X[:, 0]) for train, held in parts]
    folds = kfold(numbers.n_rows, usual, labels=numbers.codes, seed=seed)
    n_splits = -(-VOTES // max(1, numbers.n_rows // usual))
    return [Split("queries", fold.train, fold.test) for fold in folds[:n_splits]]


def adapt_further(
    queries: FloatArray, documents: FloatArray, relevance: Relevance, wanted: Wanted,
    anchor: FloatArray, loss: str, ridge: float, n_before: int,
) -> FloatArray:  # fmt: skip
    """Return the map learned from further queries, held near the one that so many others gave."""
    m, n = len(queries), len(documents)
    negatives = choose_negatives(
        wanted.negatives, relevance, m, n, queries.shape[1], wanted.unjudged, wanted.seed
    )
    anchor = anchor.astype(np.float64)
    mined = negatives.mine(map_queries(queries, anchor, wanted.offset), documents)
    n_relevant = int(np.median((relevance.block(np.arange(min(m, _SEEN)), np.arange(n)) > 0)
                               .sum(axis=1)))  # fmt: skip
    k = wanted.n_neighbors or max(1, min(_MOST_VOTES, 2 * n_relevant - 1))
    objective = AdapterObjective(
        queries, documents, relevance, mined.blocks(np.arange(m)), make_loss(loss, k), ridge,
        wanted.offset, anchor=anchor, hold=ridge * n_before / m,
    )  # fmt: skip
    return descend(objective, anchor, wanted.max_iter)


def _used_splits(
    splits: dict[str, list[Split]], wanted: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Return the splits to choose by, and what to say where one asked for cannot be made."""
    kinds = ("queries", "documents") if wanted == "both" else (wanted,)
    if "documents" in kinds and not splits["documents"]:
        return splits["queries"], (
            "too few documents are named to hold any out with their queries: settings were chosen "
            "by held-out queries, and nothing is known of new documents.",
        )
    return [split for kind in kinds for split in splits[kind]], ()


def _choose_both(
    task: SearchTask, wanted: Wanted, n_relevant: int
) -> tuple[AdapterChoice, tuple[str, ...]]:
    """Return what held-out queries are answered best with: first the move, then the map."""
    weights: list[float | None] = [None]
    first = AdapterChoice(IDENTITY)
    if wanted.maps != "query":
        first, notes = _choose(task, wanted, [AdapterSetting(weight=weight) for weight in WEIGHTS])
        if wanted.maps == "document":
            return first, notes
        weights = list(dict.fromkeys([first.setting.weight, None]))
    losses = LOSSES[: 2 + (n_relevant > 1)] if wanted.loss == "auto" else (wanted.loss,)
    moved = [] if first.setting == IDENTITY else [first.setting]
    maps = [AdapterSetting(loss, weight=weight) for weight in weights for loss in losses]
    last, notes = _choose(task, wanted, moved + maps)
    seen = {row["name"] for row in last.leaderboard}
    more = tuple(row for row in first.leaderboard if row["name"] not in seen)
    return AdapterChoice(last.setting, last.leaderboard + more), notes


def _choose(
    task: AdapterTask, wanted: Wanted, settings: Sequence[AdapterSetting]
) -> tuple[AdapterChoice, tuple[str, ...]]:
    if not task.splits:
        return AdapterChoice(IDENTITY), ("too few queries to hold any out: nothing was learned.",)
    return choose(task, settings, wanted.ridges, wanted.say), ()


def _learn_all(
    task: SearchTask | LabelTask, everyone: IntArray, path: Sequence[AdapterSetting]
) -> FloatArray | None:
    """Return the map learned from all queries, mined again where it has moved."""
    flat: FloatArray | None = None
    for setting in path:
        flat = task.learn(everyone, setting, flat)
    options = task.options
    if flat is not None and isinstance(task, SearchTask) and options.negatives.kind == "mined":
        mapped = map_queries(task.queries, flat, options.offset)
        negatives = options.negatives.mine(mapped, task.documents)
        again = replace(task, options=replace(options, negatives=negatives))
        return again.learn(everyone, path[-1], flat)
    return flat


def _places(results: Sequence[HeldOutLists], numbers: IntArray) -> IntArray:
    """Return held-out queries as they were numbered, and their places before and after."""
    parts = [result.places() for result in results if result.kind == "queries"]
    places = parts[0].astype(np.int64) if parts else np.zeros((0, 3), np.int64)
    places[:, 0] = numbers[places[:, 0]]
    return places
