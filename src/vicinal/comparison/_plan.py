"""What is asked of a comparison, and the plan that answers it: all checked before the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal import __version__
from vicinal._types import Dataset, Fold, Task
from vicinal.methods import Method, choose_methods, get_method
from vicinal.runs import RUNS, Cell, Setting, Source, digest_of, record_from_json

if TYPE_CHECKING:
    from vicinal.comparison._rows import FoldKeeper

N_FOLDS, N_REPEATS = 5, 10
# Values a round of boosting may read, so that a hundred rounds are a few seconds of a core: what
# the dearer of the metrics compared by default take.
CHEAP_VALUES = 2_000_000
# Multiplications of a decomposition, rows times features squared, that take milliseconds.
INSTANT = 20_000_000


@dataclass(frozen=True)
class Question:
    """What a user asks, as plain values; ``methods`` None is all that suit the task."""

    source: Source
    methods: tuple[str, ...] | None = None
    ks: tuple[int, ...] = (3, 7)
    scale: str = "auto"
    n_components: int | None = None
    protocol: str = "auto"
    n_folds: int | None = None
    n_repeats: int | None = None
    seed: int = 0
    references: bool | None = None
    score: str | None = None


@dataclass(frozen=True)
class Facts:
    """What is known of the rows once they are read."""

    name: str
    task: Task
    n_rows: int
    n_features: int
    n_classes: int
    classes: tuple[str, ...] = ()
    target: str = ""
    unit: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComparisonPlan:
    """A comparison that has been checked and only needs to be run."""

    setting: Setting
    methods: tuple[Method, ...]
    ks: tuple[int, ...]
    n_folds: int
    facts: Facts
    loss: str = "error"

    @property
    def cells(self) -> list[Cell]:
        """Everything to be measured, fold by fold, so that a stopped run compares already."""
        return plan_cells(self.setting, self.methods, self.ks, self.n_folds)

    @property
    def configuration(self) -> dict[str, Any]:
        """What the results depend on, as JSON values."""
        return {
            "version": __version__,
            **self.setting.identify(),
            "methods": [method.name for method in self.methods],
            "ks": list(self.ks),
        }

    @property
    def default_folder(self) -> Path:
        """Where the results go unless told otherwise: the same plan, the same place."""
        stem = Path(self.setting.source.name).stem
        return RUNS / f"{stem}-{digest_of(self.configuration)[:8]}"

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values; of methods their names, as estimators may be objects."""
        bare = asdict(replace(self, methods=()))
        return bare | {"methods": [method.name for method in self.methods]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], own: Mapping[str, Method]) -> ComparisonPlan:
        """Return the plan :meth:`to_json` wrote; ``own`` are methods that no table knows."""
        plan = record_from_json(cls, {**value, "methods": []})
        return replace(plan, methods=tuple(find_method(m, own) for m in value["methods"]))


def find_method(name: str, own: Mapping[str, Method]) -> Method:
    """Return one of the user's own methods, or one of the table."""
    return own.get(name) or get_method(name)


def plan_cells(
    setting: Setting, methods: Iterable[Method], ks: tuple[int, ...], n_folds: int
) -> list[Cell]:
    """Return the cells of some methods: one a fit."""
    methods = tuple(methods)
    return [
        Cell(setting, fold, method.name, group)
        for fold in range(n_folds)
        for method in methods
        for group in _fits(method, ks)
    ]


def _fits(method: Method, ks: tuple[int, ...]) -> list[tuple[int | None, ...]]:
    """The k that each fit of a method serves."""
    if method.reference:
        return [(None,)]
    return [(k,) for k in ks] if method.depends_on_k else [ks]


def plan_comparison(
    question: Question, keeper: FoldKeeper | None = None, own: Mapping[str, Method] | None = None
) -> ComparisonPlan:
    """Read the rows and check everything that can be checked before the work starts.

    Parameters
    ----------
    question : Question
    keeper : FoldKeeper, optional
        Keeps the rows for those who measure.
    own : mapping of str to Method
        Methods that no table knows.

    Raises
    ------
    ValueError
        For anything that would fail on every fold.
    """
    # Where rows are, not where they are asked of.
    from vicinal.comparison._rows import FoldKeeper, choose_scale
    from vicinal.comparison._scoring import choose_loss

    keeper = keeper or FoldKeeper()
    if question.seed < 0:
        raise ValueError(f"the seed must not be negative, got {question.seed}.")
    setting = Setting(
        question.source,
        preparation={"scale": question.scale, "n_components": question.n_components},
        seed=question.seed,
    )
    dataset = keeper.rows(setting)
    scale, note = choose_scale(question.scale, dataset.X)
    prepared = {"scale": scale, "n_components": question.n_components}
    setting = replace(setting, preparation=prepared, **_choose_protocol(question, dataset))
    folds = keeper.folds(setting)
    loss = choose_loss(question.score, dataset.task)
    ks = check_ks(question.ks, min(len(fold.train) for fold in folds))
    keeper.get(setting, 0)  # what the preparation refuses, it refuses here
    named = None if question.methods is None else [(own or {}).get(m, m) for m in question.methods]
    unasked = named is None and question.references is None and boosting_is_cheap(dataset)
    chosen = choose_methods(
        named, dataset.task, references=bool(question.references), unasked=unasked
    )
    n_judged = count_judged(question, setting, dataset, folds, loss)
    if n_judged > 1 and "n_rounds" in setting.folds:
        n_judged = setting.folds["n_folds"] * count_rounds(question, chosen, dataset)
    facts = _facts(dataset)
    facts = replace(facts, notes=(*facts.notes, *note))
    if n_judged == 1 < len(folds):
        more = phrase_judged(setting.protocol, len(folds), len(folds[0].test), dataset.task)
        facts = replace(facts, notes=(*facts.notes, more))
    return ComparisonPlan(setting, chosen, ks, n_judged, facts, loss)


def boosting_is_cheap(dataset: Dataset) -> bool:
    """Return whether boosted trees take no longer than a metric is learned in.

    They read every value once a tree, and grow a tree a class.
    """
    n_trees = len(dataset.classes) if len(dataset.classes) > 2 else 1
    return dataset.X.shape[0] * dataset.X.shape[1] * n_trees <= CHEAP_VALUES


def _choose_protocol(question: Question, dataset: Dataset) -> dict[str, Any]:
    from vicinal.data import PROTOCOLS

    protocol = dataset.protocol if question.protocol == "auto" else question.protocol
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"no protocol is called {protocol!r}; choose auto, {', '.join(PROTOCOLS)}."
        )
    if question.n_repeats is not None and question.n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {question.n_repeats}.")
    if protocol in ("official", "time") and question.n_repeats is not None:
        raise ValueError(
            f"the protocol {protocol!r} cuts the rows in one way only: leave n_repeats out."
        )
    if protocol == "official":
        return {"protocol": protocol, "folds": {}}
    if protocol == "repeated":
        n_repeats = N_REPEATS if question.n_repeats is None else question.n_repeats
        return {"protocol": protocol, "folds": {"n_repeats": n_repeats}}
    n_folds = question.n_folds
    if n_folds is None:
        groups = dataset.groups if protocol == "grouped" else None
        n_folds = N_FOLDS if groups is None else min(N_FOLDS, max(2, len(np.unique(groups))))
    rounds = _rounds(question, protocol, len(dataset.y))
    return {"protocol": protocol, "folds": {"n_folds": n_folds, **rounds}}


def _rounds(question: Question, protocol: str, n_rows: int) -> dict[str, int]:
    """How often the rows may be cut into folds, so that who asks for more rounds goes on.

    A large table is judged by one fold, and whoever asks for folds by their number means those.
    """
    from vicinal.rows import VOTES

    if protocol == "time":
        return {}
    n_repeats = question.n_repeats or 1
    small = n_rows < N_FOLDS * VOTES and question.n_folds is None
    return {"n_rounds": max(n_repeats, N_REPEATS)} if small or n_repeats > 1 else {}


def count_rounds(question: Question, methods: Sequence[Method], dataset: Dataset) -> int:
    """Return how often rows are cut into folds: several times where a fit costs milliseconds.

    A test of five differences sees only large ones, and rounds that cost nothing make it fifty.
    """
    if question.n_repeats is not None:
        return question.n_repeats
    n, d = dataset.X.shape
    quick = [method.closed_form for method in methods]
    return N_REPEATS if len(quick) > 1 and all(quick) and n * d**2 <= INSTANT else 1


def count_judged(
    question: Question, setting: Setting, dataset: Dataset, folds: Sequence[Fold], loss: str
) -> int:
    """Return how many of the folds are judged: the first alone where its rows are enough.

    They are where an error has no greater standard error than learners choose their own settings
    by. Two to four folds are never judged, since their few differences prove nothing. All folds
    are where their number is asked for, on known data sets, and where the rows of one could not
    be tested: groups, stretches of time, weights, and scores that are no mean over rows.
    """
    from vicinal.rows import VOTES

    registered = question.source.path is None and not question.source.held
    numbers = [question.n_repeats]
    if setting.protocol != "repeated":
        numbers.append(question.n_folds)
    apart = setting.protocol in ("grouped", "time")
    untested = apart or dataset.weights is not None or loss == "balanced"
    enough = len(folds[0].test) >= VOTES
    unasked = all(each is None for each in numbers)
    return 1 if enough and unasked and not registered and not untested else len(folds)


def phrase_judged(protocol: str, n_folds: int, n_test: int, task: Task) -> str:
    """Say that one fold is judged, and how to have all of them judged."""
    repeated = protocol == "repeated"
    one = f"one of {n_folds} {'random splits' if repeated else 'folds'} is judged"
    points = f" tell an error to within {50 / n_test**0.5:.1f} points"
    enough = points if task == "classification" else " are enough"
    all_of_them = f"ask for {n_folds} ({'n_repeats' if repeated else 'n_folds'}) to judge all"
    return f"{one}: its {n_test:,} rows{enough}; {all_of_them}"


def _facts(dataset: Dataset) -> Facts:
    classes = len(dataset.classes)
    if dataset.task == "classification" and not classes:
        classes = len(np.unique(dataset.y))
    return Facts(
        dataset.name,
        dataset.task,
        len(dataset.y),
        dataset.X.shape[1],
        classes,
        tuple(str(name) for name in dataset.classes),
        dataset.target_name,
        dataset.unit,
        dataset.notes,
    )


def check_ks(ks: Iterable[int], smallest: int) -> tuple[int, ...]:
    """Return the k once each, ascending; refuse those the smallest training part cannot serve."""
    ks = tuple(sorted(set(ks)))
    if not ks or ks[0] < 1:
        raise ValueError(f"k must be at least 1, got {ks[0] if ks else 'none'}.")
    if ks[-1] > smallest:
        raise ValueError(
            f"k = {ks[-1]} is more than the {smallest:,} rows of the smallest training part; "
            f"use at most {smallest:,}."
        )
    return ks
