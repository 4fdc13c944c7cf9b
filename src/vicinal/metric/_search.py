"""The search for settings: starts first, then rates, then when to stop."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from vicinal._types import FloatArray
from vicinal.data._protocols import inner_split
from vicinal.metric._descents import begin_descent, learned_map
from vicinal.metric._initialisation import Start, scatter_of
from vicinal.metric._optimiser import Descent
from vicinal.metric._records import Options, Progress, Rows, Setting, Watch
from vicinal.metric._selection import Judge, Trial, thin, vote_score
from vicinal.metric._starts import make_start, open_starts

# Rates relative to the root mean square entry of the start, or to the unit of W.
RATES = {"factored": (0.03, 0.1, 0.01), "psd": (10.0, 3.0, 30.0)}
# Weights λ of a regulariser to choose from.
AMOUNTS = (0.001, 0.01, 0.1)


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


def choose_setting(
    rows: Rows, options: Options, settings: Sequence[Setting], watch: Watch
) -> tuple[Setting, tuple[float, ...]]:
    """Return the setting with the lowest inner error, with the epoch to stop at.

    All starts walk a quarter of the epochs at the middle rate; the best start walks them at the
    other rates too; the best two go on to the end.
    """
    search = Search(rows, options, watch)
    quarter = max(1, options.max_iter // 4)
    first = settings[0]
    middle = [
        s for s in settings if s.rate == first.rate and s.regularization == first.regularization
    ]
    leader = search.thin(search.begin(middle), quarter, 1)[0]
    others = [s for s in settings if s.start == leader.setting.start and s != leader.setting]
    finalists = search.thin([leader, *search.begin(others)], quarter, 2)
    best = search.thin(finalists, options.max_iter, 1)[0]
    epoch = best.last_good_epoch(search.tolerance(best))
    return replace(best.setting, n_epochs=epoch), tuple(best.scores)


class Search:
    """Trials of settings on inner splits that are made once."""

    def __init__(self, rows: Rows, options: Options, watch: Watch) -> None:
        self.options, self.watch = options, watch
        self.splits = list(make_splits(rows, options))
        self.judges = [make_judge(train, held, options) for train, held in self.splits]
        self.scatters = [
            None if sparse.issparse(rows.X) else scatter_of(train.X, train.codes, rows.n_features)
            for train, _ in self.splits
        ]
        # Where splits are averaged, rows are few and over-fit from one epoch to the next.
        self.every = 1 if len(self.splits) > 1 else max(1, options.max_iter // 4)
        self.starts: dict[tuple[Start, int], FloatArray] = {}
        self.began = time.monotonic()

    def begin(self, settings: Sequence[Setting]) -> list[Trial]:
        """Return a trial of each setting, one descent a split."""
        return [Trial(setting, self._descents(setting)) for setting in settings]

    def thin(self, trials: Sequence[Trial], until: int, keep: int) -> list[Trial]:
        """Walk the trials to an epoch and keep the best."""
        for trial in trials:
            trial.run(self.judges, until, self.every)
            self._report(trial)
        return thin(trials, keep)

    def tolerance(self, trial: Trial) -> float:
        """Return half a standard error of the held-out error; none where splits are averaged.

        Few rows over-fit within a few epochs, and several splits agree on when.
        """
        if len(self.splits) > 1:
            return 0.0
        error = min(trial.best_score, 0.5)
        n_held = sum(len(held.codes) for _, held in self.splits)
        return 0.5 * float(np.sqrt(error * (1 - error) / n_held))

    def _descents(self, setting: Setting) -> list[Descent]:
        options = self.options
        return [
            begin_descent(
                train, options, setting, self._start(setting.start, split), (options.seed, split)
            )
            for split, (train, _) in enumerate(self.splits)
        ]

    def _start(self, start: Start, split: int) -> FloatArray:
        if (start, split) not in self.starts:
            rng = np.random.default_rng([self.options.seed, split])
            train = self.splits[split][0]
            self.starts[start, split] = make_start(
                start, train, self.options, self.scatters[split], rng
            )
        return self.starts[start, split]

    def _report(self, trial: Trial) -> None:
        losses = trial.descents[0].losses or [float("nan")]
        self.watch(
            Progress(
                stage="settings",
                setting=trial.setting.label(),
                epoch=trial.epoch,
                n_epochs=self.options.max_iter,
                loss=losses[-1],
                inner_error=trial.best_score,
                seconds_left=None,
            )
        )


def make_splits(rows: Rows, options: Options) -> Iterator[tuple[Rows, Rows]]:
    """Yield (training, held-out) rows: one split of many rows, several of few."""
    n = len(rows.codes)
    n_splits = 4 if n < 1500 else 1
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
