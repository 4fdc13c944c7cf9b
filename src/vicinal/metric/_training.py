"""From rows and options to a learned map: choose settings on inner splits, then fit all rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vicinal.metric._descents import begin_descent, learned_map
from vicinal.metric._records import Learned, Options, Progress, Rows, Setting, Watch
from vicinal.metric._search import choose_setting, open_settings
from vicinal.metric._starts import make_start


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


def fit_setting(
    rows: Rows, options: Options, setting: Setting, scores: tuple[float, ...], watch: Watch
) -> Learned:
    """Fit all rows with a chosen setting."""
    start = make_start(setting.start, rows, options, None, np.random.default_rng(options.seed))
    descent = begin_descent(rows, options, setting, start, (options.seed, 1 << 20))
    began = time.monotonic()
    while descent.epoch < setting.n_epochs:
        loss = descent.advance()
        left = (time.monotonic() - began) / descent.epoch * (setting.n_epochs - descent.epoch)
        progress = Progress(
            "fit", setting.label(), descent.epoch, setting.n_epochs, loss, None, left
        )
        if watch(progress) or settled(descent.losses or [], options.tol):
            break
    given = options.init if setting.start.name == "array" else start
    scale = float(np.linalg.norm(start) / max(np.linalg.norm(given), np.finfo(float).tiny))
    losses = tuple(descent.losses or [])
    return Learned(learned_map(descent), setting, losses, scores, scale)


def settled(losses: Sequence[float], tol: float) -> bool:
    """Say whether nothing is left to learn: the mean loss of an epoch is below ``tol``."""
    return losses[-1] <= tol
