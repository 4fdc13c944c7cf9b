"""The search for settings: starts first, then rates, then when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from vicinal._types import FloatArray, IntArray
from vicinal.data._protocols import inner_split
from vicinal.metric.descent._stochastic import Descent
from vicinal.metric.gerrymander._averaging import mean_map
from vicinal.metric.gerrymander._descents import begin_descent, factored_objective
from vicinal.metric.gerrymander._factored import FactoredObjective
from vicinal.metric.gerrymander._initialisation import Start, scatter_of
from vicinal.metric.gerrymander._records import (
    FEW_ROWS,
    PARTED_ROWS,
    Options,
    Progress,
    Rows,
    Setting,
    Watch,
)
from vicinal.metric.gerrymander._starts import is_wide, make_start, open_starts, other_start
from vicinal.metric.selection._trials import Judge, Trial, thin, vote_score

# Inner splits of few rows.
N_SPLITS = 4
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


@dataclass(frozen=True)
class Choice:
    """The settings with the lowest inner errors, best first, each with the epoch to stop at.

    ``scores`` are the inner scores of the best; ``companion`` is a setting of another kind, whose
    metric counts as much as those of all the others together; ``learned`` is the map the best has
    found by its epoch, where rows are many enough to go on from there.
    """

    settings: tuple[Setting, ...]
    scores: tuple[float, ...]
    companion: Setting | None = None
    learned: FloatArray | None = None


def choose_settings(
    rows: Rows, options: Options, settings: Sequence[Setting], watch: Watch
) -> Choice:
    """Return the settings with the lowest inner errors.

    All starts walk a quarter of the epochs at the middle rate; the best start walks them at the
    other rates too. Of many rows the best trial then goes on to the end. Fewer leave it open
    which setting is the best: several trials go on, and all of them stay that are within a standard
    error of the best. A companion from another kind of start joins them where the mean metric is
    not clearly worse for it.
    """
    if goes_on(len(rows.codes), options):
        options = part_options(len(rows.codes), options)
    search = Search(rows, options, watch)
    quarter = max(1, options.max_iter // 4)
    first = settings[0]
    middle = [
        s for s in settings if s.rate == first.rate and s.regularization == first.regularization
    ]
    trials = search.begin(middle)
    leader = search.thin(trials, quarter, 1)[0]
    others = [s for s in settings if s.start == leader.setting.start and s != leader.setting]
    n_finalists = count_finalists(len(rows.codes), options)
    trials = search.thin([*trials, *search.begin(others)], quarter, n_finalists)
    trials = search.thin(trials, options.max_iter, n_finalists)
    if len(rows.codes) > PARTED_ROWS[0]:
        return search.choose_one(trials[0])
    choice = search.choose_several(trials)
    apart = companion_setting(rows, options, trials[0].setting)
    if apart is None:
        return choice
    companion = search.thin(search.begin([apart]), options.max_iter, 1)[0]
    return search.join(choice, trials, companion)


def goes_on(n_rows: int, options: Options) -> bool:
    """Say whether what parts of the rows have taught is gone on from.

    Not where the start was given as an array, since what the rows do not span of it is kept as it
    was, and not by steps on W, which would have to begin at zero.
    """
    parted = PARTED_ROWS[0] < n_rows <= PARTED_ROWS[1]
    return parted and options.solver == "factored" and isinstance(options.init, str)


def count_finalists(n_rows: int, options: Options) -> int:
    """Return how many trials go on to the end: those that may share in the metric.

    Four of few rows. Two where settings are chosen on a sample: fits of all rows cost more than
    trials, and means of three or four metrics erred no less. One where parts share in the metric.
    """
    if n_rows <= options.selection_rows:
        return 4
    return 1 if PARTED_ROWS[0] < n_rows <= PARTED_ROWS[1] else 2


def companion_setting(rows: Rows, options: Options, leader: Setting) -> Setting | None:
    """Return a setting whose metric errs elsewhere than those of the leader's kind of start.

    The mean of the two metrics erred less than each. Where features are many, discriminants and
    the weights of a logistic regression go together; where rows are, ReliefF's diagonal, which
    knows features, and the other starts' scatter directions. None where a feature has hundreds of
    rows to learn from, or settings are chosen on a sample: another fit of all rows costs too much.
    """
    asked = isinstance(options.init, str) and options.init == "auto"
    n_rows, width = rows.X.shape
    full = options.n_components is None or options.n_components >= width
    if not (asked and full and options.solver == "factored") or sparse.issparse(rows.X):
        return None
    if n_rows > options.selection_rows:
        return None
    if is_wide(rows):
        return replace(leader, start=other_start(leader.start, len(options.costs), width))
    if FEW_ROWS <= n_rows <= 100 * width:
        return replace(leader, start=Start("relieff"))
    return None


class Search:
    """Trials of settings on inner splits that are made once."""

    def __init__(self, rows: Rows, options: Options, watch: Watch) -> None:
        self.options, self.watch, self.n_rows = options, watch, len(rows.codes)
        self.wide = is_wide(rows)
        self.splits = list(make_splits(rows, options))
        self.judges = [make_judge(train, held, options) for train, held in self.splits]
        self.scatters = [
            None if sparse.issparse(rows.X) else scatter_of(train.X, train.codes, rows.n_features)
            for train, _ in self.splits
        ]
        # Where splits are averaged, rows are few and over-fit from one epoch to the next.
        self.every = 1 if len(self.splits) > 1 else max(1, options.max_iter // 4)
        self.beginnings: dict[tuple[Start, int], tuple[FactoredObjective, FloatArray]] = {}

    def begin(self, settings: Sequence[Setting]) -> list[Trial]:
        """Return a trial of each setting, one descent a split."""
        return [Trial(setting, self._descents(setting)) for setting in settings]

    def thin(self, trials: Sequence[Trial], until: int, keep: int) -> list[Trial]:
        """Walk the trials to an epoch and keep the best."""
        for trial in trials:
            trial.run(self.judges, until, self.every)
            self._report(trial)
        return thin(trials, keep)

    def choose_several(self, trials: Sequence[Trial]) -> Choice:
        """Return the settings that cannot be told from the best, each with its epoch to stop at."""
        good = self._good(trials)
        return Choice(tuple(self._stop(trial)[0] for trial in good), tuple(trials[0].scores))

    def join(self, choice: Choice, trials: Sequence[Trial], companion: Trial) -> Choice:
        """Return the choice, with the companion unless the mean metric is clearly worse for it."""
        good = self._good(trials)
        slack = 0.5 * self.standard_error(trials[0])
        if self._score_mean(good, companion) > self._score_mean(good) + slack:
            return choice
        return replace(choice, companion=self._stop(companion)[0])

    def _good(self, trials: Sequence[Trial]) -> list[Trial]:
        best = trials[0]
        if best.setting.start.name == "array":
            return [best]  # of a start that was given, what the rows do not span is kept as it was
        limit = best.best_score + self.standard_error(best)
        return [trial for trial in trials if trial.best_score <= limit]

    def _score_mean(self, trials: Sequence[Trial], companion: Trial | None = None) -> float:
        """Return the score of the mean of the trials' metrics, each at its epoch to stop at."""
        scores = []
        for split, judge in enumerate(self.judges):
            mean = mean_map([self._stop(trial)[1][split] for trial in trials])
            if companion is not None:
                mean = mean_map([mean, self._stop(companion)[1][split]])
            scores.append(judge(mean))
        return float(np.mean(scores))

    def choose_one(self, trial: Trial) -> Choice:
        """Return a trial's setting, and what it has learned where that is to go on from."""
        setting, maps = self._stop(trial)
        choice = Choice((setting,), tuple(trial.scores))
        kept = goes_on(self.n_rows, self.options) and setting.n_epochs > 0
        return replace(choice, learned=maps[0]) if kept else choice

    def _stop(self, trial: Trial) -> tuple[Setting, list[FloatArray]]:
        """Return a trial's setting with the epoch to stop at, and its maps there.

        Few rows over-fit within a few epochs, and several splits agree on when. Neither one split
        nor splits of wide rows tell epochs within half a standard error apart: in doubt the last
        of them stands, the rate having fallen by then, but of wide rows the first, since so many
        directions over-fit.
        """
        half = 0.5 * self.standard_error(trial)
        if self.wide:
            place = trial.good_places(half)[0]
        else:
            place = trial.good_places(half if len(self.splits) == 1 else 0.0)[-1]
        return replace(trial.setting, n_epochs=trial.epochs[place]), trial.maps[place]

    def standard_error(self, trial: Trial) -> float:
        """Return the standard error of the lowest held-out error."""
        error = min(trial.best_score, 0.5)
        n_held = sum(len(held.codes) for _, held in self.splits)
        return float(np.sqrt(error * (1 - error) / n_held))

    def _descents(self, setting: Setting) -> list[Descent]:
        made = [self._beginning(setting.start, split) for split in range(len(self.splits))]
        return [
            begin_descent(objective, self.options, setting, start, (self.options.seed, split))
            for split, (objective, start) in enumerate(made)
        ]

    def _beginning(self, start: Start, split: int) -> tuple[FactoredObjective, FloatArray]:
        """Return what all trials of a start share: the map, and the objective with its lists."""
        if (start, split) not in self.beginnings:
            rng = np.random.default_rng([self.options.seed, split])
            train, scatter = self.splits[split][0], self.scatters[split]
            components = make_start(start, train, self.options, scatter, rng)
            objective = factored_objective(train, self.options)
            objective.begin_epoch(components, 0)
            self.beginnings[start, split] = objective, components
        return self.beginnings[start, split]

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
    n_splits = N_SPLITS if len(rows.codes) < FEW_ROWS else 1
    sample = rows
    if len(rows.codes) > options.selection_rows:
        sample = rows.take(np.sort(draw_order(rows, options)[: options.selection_rows]))
    for s in range(n_splits):
        seed = options.seed + s
        fold = inner_split(sample.codes, test_size=options.validation_fraction, seed=seed)
        yield sample.take(fold.train), sample.take(fold.test)


def other_parts(rows: Rows, options: Options, n_parts: int) -> Iterator[Rows]:
    """Yield as many rows as a split trains on, several times, others where there are so many."""
    size = part_size(len(rows.codes), options)
    order = draw_order(rows, options)
    for end in range(len(order), len(order) - n_parts * size, -size):
        yield rows.take(np.sort(order[max(end - size, 0) : end]))


def part_size(n_rows: int, options: Options) -> int:
    """Return how many rows a split trains on."""
    return max(1, round((1 - options.validation_fraction) * min(n_rows, options.selection_rows)))


def part_options(n_rows: int, options: Options) -> Options:
    """Return the options for a part of the rows: fewer neighbours, which reach as far as k of all.

    A metric for the neighbourhoods of all rows is then learned from neighbourhoods of that size.
    """
    k = options.training_neighbors
    nearest = 2 * int(k * part_size(n_rows, options) / n_rows / 2) + 1
    return replace(options, training_neighbors=min(k, max(3, nearest)))


def draw_order(rows: Rows, options: Options) -> IntArray:
    """Return the order in which rows are drawn: settings are chosen on the first of them."""
    return np.random.default_rng([options.seed, 0]).permutation(len(rows.codes))


def make_judge(train: Rows, held: Rows, options: Options) -> Judge:
    """Return the function that scores a map by the held-out rows' votes."""

    def judge(components: FloatArray) -> float:
        error, share = vote_score(
            np.ascontiguousarray(train.X @ components.T),
            np.ascontiguousarray(held.X @ components.T),
            train.codes, held.codes, options.n_neighbors, options.costs,
            n_threads=options.n_threads,
        )  # fmt: skip
        return error + 0.25 * share

    return judge
