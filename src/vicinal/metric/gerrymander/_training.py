"""From rows and options to a learned map: choose settings on inner splits, then fit all rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric.gerrymander._averaging import mean_map
from vicinal.metric.gerrymander._descents import begin_descent, factored_objective, learned_map
from vicinal.metric.gerrymander._initialisation import Scatter, scale_start, scatter_of
from vicinal.metric.gerrymander._records import Learned, Options, Progress, Rows, Setting, Watch
from vicinal.metric.gerrymander._search import (
    Choice,
    choose_settings,
    open_settings,
    other_parts,
    part_options,
)
from vicinal.metric.gerrymander._starts import make_start

# Parts of the rows learned from beside the one settings are chosen on, and epochs over all rows
# that go on from what the parts have taught: enough for votes of few neighbours. Those of more
# neighbours gain from all epochs over all rows.
MORE_PARTS, LAST_EPOCHS, FEW_NEIGHBORS = 2, 3, 5


def learn(rows: Rows, options: Options, watch: Watch) -> Learned:
    """Choose what was left open on inner splits, then fit all rows."""
    settings = open_settings(rows, options)
    if len(settings) == 1 or not can_split(rows, options):
        return fit_setting(rows, options, replace(settings[0], n_epochs=options.max_iter), watch)
    choice = choose_settings(rows, options, settings, watch)
    if choice.learned is None:
        return fit_settings(rows, options, choice, watch)
    return go_on(rows, options, choice, choice.learned, watch)


def can_split(rows: Rows, options: Options) -> bool:
    """Say whether enough rows are left, on both sides of a split, to judge by."""
    n_held = int(len(rows.codes) * options.validation_fraction)
    return n_held >= 1 and len(rows.codes) - n_held > max(options.n_neighbors, 2)


def fit_setting(
    rows: Rows, options: Options, setting: Setting, watch: Watch, scatter: Scatter | None = None
) -> Learned:
    """Fit all rows with a setting, from its start; ``scatter`` is theirs, where it is known."""
    start = make_start(setting.start, rows, options, scatter, np.random.default_rng(options.seed))
    given = options.init if setting.start.name == "array" else start
    scale = float(np.linalg.norm(start) / max(np.linalg.norm(given), np.finfo(float).tiny))
    components, losses = walk(rows, options, setting, start, watch)
    return Learned(components, setting, losses, (), scale)


def fit_settings(rows: Rows, options: Options, choice: Choice, watch: Watch) -> Learned:
    """Fit all rows with each of the chosen settings and take the mean of the metrics.

    A companion counts as much as all the others together: it errs elsewhere.
    """
    stopped: list[bool] = []

    def watch_all(progress: Progress) -> bool:
        if watch(progress):
            stopped.append(True)
        return bool(stopped)

    discriminant = any(setting.start.name == "lda" for setting in choice.settings)
    scatter = scatter_of(rows.X, rows.codes, rows.n_features) if discriminant else None
    fitted = []
    for setting in choice.settings:
        fitted.append(fit_setting(rows, options, setting, watch_all, scatter))
        if stopped:
            break
    best = replace(fitted[0], scores=choice.scores)
    maps = [learned.components for learned in fitted]
    if choice.companion is not None and not stopped:
        companion = fit_setting(rows, options, choice.companion, watch_all)
        maps = [mean_map(maps), companion.components]
    if len(maps) == 1:
        return best
    return replace(best, components=mean_map(maps, options.n_components))


def go_on(
    rows: Rows, options: Options, choice: Choice, learned: FloatArray, watch: Watch
) -> Learned:
    """Learn from other parts of the rows too, then from all of them.

    Where few neighbours vote, a few epochs over all rows start from the mean of the parts' metrics;
    the result is the mean of all. Where more do, all rows are learned from as the parts were, from
    the start; the result is the mean of that metric and of the parts' mean.
    """
    setting = choice.settings[0]
    fewer = part_options(len(rows.codes), options)
    parts = other_parts(rows, options, MORE_PARTS)
    more = [fit_setting(part, fewer, setting, lambda progress: False) for part in parts]
    maps = [learned, *(fitted.components for fitted in more)]
    if options.n_neighbors > FEW_NEIGHBORS:
        whole = fit_setting(rows, options, setting, watch)
        mean = mean_map([whole.components, mean_map(maps)], options.n_components)
        return replace(whole, components=mean, scores=choice.scores)
    components, losses = walk_on(rows, options, setting, mean_map(maps, len(learned)), watch)
    mean = mean_map([components, *maps], options.n_components)
    return Learned(mean, setting, losses, choice.scores, 1.0)


def walk_on(
    rows: Rows, options: Options, setting: Setting, start: FloatArray, watch: Watch
) -> tuple[FloatArray, tuple[float, ...]]:
    """Walk the last epochs over all rows, from what parts of them have taught."""
    rng = np.random.default_rng(options.seed)
    start = scale_start(start, rows.X, rows.codes, options.training_neighbors, rng)
    last = min(LAST_EPOCHS, setting.n_epochs)
    shorter = replace(options, max_iter=last)
    return walk(rows, shorter, replace(setting, n_epochs=last), start, watch)


def walk(
    rows: Rows, options: Options, setting: Setting, start: FloatArray, watch: Watch
) -> tuple[FloatArray, tuple[float, ...]]:
    """Descend from a start on all rows; return the map and the epochs' losses."""
    objective = factored_objective(rows, options)
    descent = begin_descent(objective, options, setting, start, (options.seed, 1 << 20))
    began = time.monotonic()
    while descent.epoch < setting.n_epochs:
        loss = descent.advance()
        left = (time.monotonic() - began) / descent.epoch * (setting.n_epochs - descent.epoch)
        progress = Progress(
            "fit", setting.label(), descent.epoch, setting.n_epochs, loss, None, left
        )
        if watch(progress) or settled(descent.losses or [], options.tol):
            break
    return learned_map(descent), tuple(descent.losses or [])


def settled(losses: Sequence[float], tol: float) -> bool:
    """Say whether nothing is left to learn: the mean loss of an epoch is below ``tol``."""
    return losses[-1] <= tol
