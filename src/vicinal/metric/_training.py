"""From rows and options to a learned map: choose settings on inner splits, then fit all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data._protocols import inner_split
from vicinal.metric._candidates import order_by_class
from vicinal.metric._factored import FactoredObjective
from vicinal.metric._initialisation import (
    Scatter,
    Start,
    discriminant_start,
    principal_start,
    relief_start,
    scale_start,
    scatter_of,
    whitening_start,
)
from vicinal.metric._optimiser import Adam, Descent
from vicinal.metric._projected import ProjectedGradient, ProjectedObjective
from vicinal.metric._selection import Judge, Trial, successive_halving, vote_score

# Rates relative to the root mean square entry of the start, or to the unit of W.
RATES = {"factored": (0.03, 0.1, 0.01), "psd": (1.0, 3.0, 0.3)}
# Weights λ of a regulariser to choose from.
AMOUNTS = (0.001, 0.01, 0.1)


@dataclass(frozen=True)
class Options:
    """Everything the learner was told, checked."""

    n_neighbors: int
    n_components: int | None
    solver: str
    init: Any
    warm: bool
    costs: FloatArray
    learning_rate: float | None
    max_iter: int
    batch_size: int | None
    n_other: int | None
    refresh: int
    reuse: int
    tol: float
    validation_fraction: float
    regularizer: str | None
    regularization: float | None
    n_threads: int
    seed: int
    selection_rows: int = 6000


@dataclass(frozen=True)
class Setting:
    """What the inner split chooses: a start, a rate, a weight λ, and when to stop."""

    start: Start
    rate: float
    regularization: float = 0.0
    n_epochs: int = 0


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each epoch.

    ``stage`` is "settings" or "fit"; ``inner_error`` is None where no rows are held out;
    ``seconds_left`` an estimate for the stage.
    """

    stage: str
    setting: str
    epoch: int
    n_epochs: int
    loss: float
    inner_error: float | None
    seconds_left: float


Watch = Callable[[Progress], bool]


@dataclass(frozen=True)
class Learned:
    """The map in the frame's coordinates and how it was found."""

    components: FloatArray
    setting: Setting
    losses: tuple[float, ...]
    scores: tuple[float, ...]
    start_scale: float


@dataclass(frozen=True)
class Rows:
    """Training rows in the frame's coordinates, with their second moments when needed."""

    X: AnyArray
    codes: IntArray
    n_features: int
    weights: FloatArray | None = None

    def take(self, rows: IntArray) -> Rows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], codes=self.codes[rows], weights=weights)


def learn(rows: Rows, options: Options, watch: Watch) -> Learned:
    """Choose what was left open on inner splits, then fit all rows."""
    settings = open_settings(rows, options)
    scores: tuple[float, ...] = ()
    if len(settings) > 1 and can_split(rows, options):
        setting, scores = choose_setting(rows, options, settings, watch)
    else:
        setting = replace(settings[0], n_epochs=options.max_iter)
    return fit_setting(rows, options, setting, scores, watch)


def can_split(rows: Rows, options: Options) -> bool:
    """Say whether enough rows are left, on both sides of a split, to judge by."""
    n_held = int(len(rows.codes) * options.validation_fraction)
    return n_held >= 1 and len(rows.codes) - n_held > max(options.n_neighbors, 2)


def open_settings(rows: Rows, options: Options) -> list[Setting]:
    """Return every combination of the settings that were left open."""
    starts = open_starts(rows, options)
    rates = RATES[options.solver] if options.learning_rate is None else (options.learning_rate,)
    amounts: tuple[float, ...] = (0.0,)
    if options.regularizer is not None:
        amounts = AMOUNTS if options.regularization is None else (options.regularization,)
    return [
        Setting(start, rate, amount) for start in starts for rate in rates for amount in amounts
    ]


def open_starts(rows: Rows, options: Options) -> list[Start]:
    """Return the starts to try: the one asked for, or those worth trying on such rows."""
    width, n_classes = rows.X.shape[1], len(options.costs)
    asked = options.n_components
    if not isinstance(options.init, str):
        return [Start("array")]
    if options.init != "auto":
        shrinkage = 0.1 if options.init in ("lda", "whitening") else 0.0
        return [Start(options.init, asked, shrinkage)]
    if options.solver == "psd":
        return [Start("zeros"), Start("identity"), Start("relieff")]
    if sparse.issparse(rows.X):
        return [Start("pca", asked or min(50, width))]
    if asked is not None and asked < width:
        return [Start("pca", asked), Start("lda", asked, 0.1), Start("lda", asked, 0.5)]
    starts = [Start("identity"), Start("lda", None, 0.1 if width <= 64 else 0.5)]
    if n_classes - 1 < width:
        starts += [Start("lda", n_classes - 1, shrinkage) for shrinkage in (0.1, 0.5, 0.9)]
    return starts


def make_start(
    start: Start, rows: Rows, options: Options, scatter: Scatter | None, rng: np.random.Generator
) -> FloatArray:
    """Return the map a start names, scaled to the margin; a warm start keeps its scale."""
    width, dtype = rows.X.shape[1], rows.X.dtype
    p = min(start.n_components or width, width)
    if start.name == "array":
        components = np.asarray(options.init)
    elif start.name in ("identity", "zeros"):
        components = np.eye(p, width)
    elif start.name == "pca":
        components = principal_start(rows.X, p, rng)
    elif start.name == "whitening":
        components = whitening_start(rows.X, p, start.shrinkage)
    elif start.name == "relieff":
        components = relief_start(rows.X, rows.codes, rng)
    else:
        scatter = scatter or scatter_of(rows.X, rows.codes, rows.n_features)
        components = discriminant_start(scatter, p, start.shrinkage)
    components = components.astype(dtype)
    if not options.warm:
        components = scale_start(components, rows.X, rows.codes, options.n_neighbors, rng)
    return np.ascontiguousarray(components, dtype=dtype)


def begin_descent(
    rows: Rows, options: Options, setting: Setting, start: FloatArray, seed: Sequence[int]
) -> Descent:
    """Return a descent on the rows from the start, ready to walk."""
    objective = factored_objective(rows, options, setting)
    batch = options.batch_size or (256 if objective.n_rows >= 2000 else 64)
    rng = np.random.default_rng(seed)
    walk = (options.max_iter, batch, options.reuse, rng)
    if options.solver == "factored":
        rate = setting.rate * float(np.sqrt(np.mean(start**2)))
        return Descent(objective, Adam(rate), start, *walk)
    # The unit of W: the identity scaled to the margin, wherever the descent starts.
    unit = float(np.mean(np.square(start).sum(axis=0)))
    rule = ProjectedGradient(setting.rate * unit**2)
    metric = start.T @ start * (0 if setting.start.name == "zeros" else 1)
    projected = ProjectedObjective(objective, rule, first_look=start)
    return Descent(projected, rule, rule.settle(metric), *walk)


def factored_objective(rows: Rows, options: Options, setting: Setting) -> FactoredObjective:
    """Return the objective on rows put in order of class."""
    n, k = len(rows.codes), options.n_neighbors
    classes = order_by_class(rows.codes)
    n_other = 40 if options.n_other is None else options.n_other
    return FactoredObjective(
        X=rows.X[classes.order],
        classes=classes,
        n_neighbors=k,
        costs=options.costs,
        n_own=min(2 * k + 3, n),
        n_other=min(n_other, n),
        refresh=options.refresh,
        weights=None if rows.weights is None else rows.weights[classes.order],
        regularizer=options.regularizer,
        regularization=setting.regularization,
        n_threads=options.n_threads,
    )


def learned_map(descent: Descent) -> FloatArray:
    """Return the descent's map: its parameters, or the factor of its W."""
    rule = descent.rule
    return rule.factor if isinstance(rule, ProjectedGradient) else descent.parameters


def choose_setting(
    rows: Rows,
    options: Options,
    settings: Sequence[Setting],
    watch: Watch,
) -> tuple[Setting, tuple[float, ...]]:
    """Return the setting with the lowest inner error, with the epoch to stop at."""
    splits = list(make_splits(rows, options))
    trials = [Trial(setting, [], []) for setting in settings]
    for s, (train, _) in enumerate(splits):
        scatter = (
            None if sparse.issparse(rows.X) else scatter_of(train.X, train.codes, rows.n_features)
        )
        starts: dict[Start, FloatArray] = {}
        for trial in trials:
            start = trial.setting.start
            if start not in starts:
                rng = np.random.default_rng([options.seed, s])
                starts[start] = make_start(start, train, options, scatter, rng)
            trial.descents.append(
                begin_descent(train, options, trial.setting, starts[start], (options.seed, s))
            )
    judges = [make_judge(train, held, options) for train, held in splits]
    rungs = sorted({max(1, options.max_iter // 6), max(1, options.max_iter // 3), options.max_iter})
    best = successive_halving(trials, judges, rungs, report=reporter(len(settings), rungs, watch))
    return replace(best.setting, n_epochs=best.best_epoch), tuple(best.scores)


def reporter(n_trials: int, rungs: Sequence[int], watch: Watch) -> Callable[[Trial], None]:
    """Return a function that tells ``watch`` how far a trial has come."""
    began = time.monotonic()

    def report(trial: Trial) -> None:
        descent = trial.descents[0]
        loss = descent.losses[-1] if descent.losses else float("nan")
        score = trial.scores[-1]
        spent = time.monotonic() - began
        label = f"{trial.setting.start.label()}, rate {trial.setting.rate:g}"
        watch(Progress("settings", label, trial.epoch, rungs[-1], loss, score, spent))

    return report


def make_splits(rows: Rows, options: Options) -> Iterator[tuple[Rows, Rows]]:
    """Yield (training, held-out) rows: one split of many rows, several of few."""
    n = len(rows.codes)
    n_splits = 3 if n < 1500 else 1
    for s in range(n_splits):
        part = rows
        if n > options.selection_rows:
            rng = np.random.default_rng([options.seed, s])
            part = rows.take(np.sort(rng.permutation(n)[: options.selection_rows]))
        fold = inner_split(part.codes, test_size=options.validation_fraction, seed=options.seed + s)
        yield part.take(fold.train), part.take(fold.test)


def make_judge(train: Rows, held: Rows, options: Options) -> Judge:
    """Return the function that scores a map by the held-out rows' votes."""

    def judge(descent: Descent) -> float:
        components = learned_map(descent)
        error, share = vote_score(
            np.ascontiguousarray(train.X @ components.T),
            np.ascontiguousarray(held.X @ components.T),
            train.codes, held.codes, options.n_neighbors, options.costs,
            n_jobs=options.n_threads,
        )  # fmt: skip
        return error + 0.25 * share

    return judge


def fit_setting(
    rows: Rows, options: Options, setting: Setting, scores: tuple[float, ...], watch: Watch
) -> Learned:
    """Fit all rows with a chosen setting."""
    start = make_start(setting.start, rows, options, None, np.random.default_rng(options.seed))
    descent = begin_descent(rows, options, setting, start, (options.seed, 1 << 20))
    label = f"{setting.start.label()}, rate {setting.rate:g}"
    began = time.monotonic()
    while descent.epoch < setting.n_epochs:
        loss = descent.advance()
        left = (time.monotonic() - began) / descent.epoch * (setting.n_epochs - descent.epoch)
        progress = Progress("fit", label, descent.epoch, setting.n_epochs, loss, None, left)
        if watch(progress) or settled(descent.losses or [], options.tol):
            break
    given = options.init if setting.start.name == "array" else start
    scale = float(np.linalg.norm(start) / max(np.linalg.norm(given), np.finfo(float).tiny))
    losses = tuple(descent.losses or [])
    return Learned(learned_map(descent), setting, losses, scores, scale)


def settled(losses: Sequence[float], tol: float) -> bool:
    """Say whether nothing is left to learn: the mean loss of an epoch is below ``tol``."""
    return losses[-1] <= tol
