"""The descent on the large-margin objective, and the choice of where it starts and stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vicinal._kernels._lmnn import target_squared_distances
from vicinal._types import FloatArray, IntArray
from vicinal.metric.candidates import order_by_class
from vicinal.metric.descent import Frame, Step, minimise
from vicinal.metric.selection import Score, inner_splits, vote_losses
from vicinal.metric.starts import Start, start_map
from vicinal.rivals._impostors import ImpostorSearch
from vicinal.rivals._large_margin import LargeMarginObjective, target_neighbors

# Pairs kept between evaluations, eight bytes each; beyond, every evaluation searches anew.
MOST_PAIRS = 2 * 10**7
# Iterations without a better held-out score after which the search for the best one ends.
PATIENCE = 8


@dataclass(frozen=True)
class MarginOptions:
    """What :class:`~vicinal.LMNN` was told, checked; ``init`` is a start or a map of the rows."""

    n_neighbors: int
    init: Start | FloatArray
    push_weight: float
    max_iter: int
    tol: float
    seed: int
    n_threads: int


@dataclass(frozen=True)
class MarginProblem:
    """Rows (n, r) in a frame about their mean, and their classes."""

    X: FloatArray
    labels: IntArray
    frame: Frame
    groups: None = None
    weights: None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    def take(self, rows: IntArray) -> MarginProblem:
        """Return the problem of some of the rows."""
        return replace(self, X=self.X[rows], labels=self.labels[rows])

    def learn(
        self, options: MarginOptions, watch: Callable[[Step, int], bool]
    ) -> tuple[FloatArray, list[float]]:
        """Return the map L (p, r) and the losses at the start and after each iteration.

        ``watch`` is told of every step and how many terms of the push are above zero.
        """
        classes = order_by_class(self.labels)
        rows = self.X[classes.order]
        k = min(options.n_neighbors, self.n_rows - 1)
        named = isinstance(options.init, Start)
        start = self._make_start(options)
        targets = target_neighbors(rows @ start.T, classes, k, options.n_threads)
        if named:
            start = scale_to_targets(start, rows, targets)
        search = ImpostorSearch(rows, classes, most_pairs=MOST_PAIRS, n_threads=options.n_threads)
        objective = LargeMarginObjective(rows, targets, search, options.push_weight)
        return minimise(
            objective,
            start,
            max_iter=options.max_iter,
            tol=options.tol,
            watch=lambda step: watch(step, objective.n_active),
        )

    def _make_start(self, options: MarginOptions) -> FloatArray:
        if not isinstance(options.init, Start):
            return options.init
        rng = np.random.default_rng(options.seed)
        return start_map(options.init, self.X, self.labels, self.frame, rng).astype(np.float64)

    def score(self, components: FloatArray, held: MarginProblem, options: MarginOptions) -> Score:
        """Return the score of held-out rows, voted on by these rows under a map."""
        costs = 1.0 - np.eye(int(max(self.labels.max(), held.labels.max())) + 1)
        database, queries = (np.ascontiguousarray(p.X @ components.T) for p in (self, held))
        losses = vote_losses(
            database, queries, self.labels, held.labels, costs, options.n_neighbors,
            n_threads=options.n_threads,
        )  # fmt: skip
        return Score(losses)


@dataclass(frozen=True)
class MarginChoice:
    """The start and the number of iterations held-out rows are voted on best with.

    ``tried`` maps each start's label to its scores after every iteration.
    """

    init: Start | FloatArray
    max_iter: int
    tried: dict[str, list[float]]


def choose_margins(
    problem: MarginProblem, options: MarginOptions, starts: Sequence[Start | FloatArray]
) -> MarginChoice:
    """Return the start with the lowest score on inner splits, and the iteration that had it."""
    splits = inner_splits(problem, options.seed)
    if not splits:
        return MarginChoice(starts[0], options.max_iter, {})
    curves = [_mean_curve(splits, replace(options, init=init)) for init in starts]
    lowest = [min(curve) for curve in curves]
    best = int(np.argmin(lowest))
    labels = [init.label() if isinstance(init, Start) else "array" for init in starts]
    tried = dict(zip(labels, curves, strict=True))
    return MarginChoice(starts[best], 1 + int(np.argmin(curves[best])), tried)


def _mean_curve(
    splits: Sequence[tuple[MarginProblem, MarginProblem]], options: MarginOptions
) -> list[float]:
    """Return the mean over splits of the scores after each iteration."""
    curves = [_held_out_curve(train, held, options) for train, held in splits]
    longest = max(map(len, curves))
    # A descent that ended stays where it is.
    return np.mean([c + c[-1:] * (longest - len(c)) for c in curves], axis=0).tolist()


def _held_out_curve(
    train: MarginProblem, held: MarginProblem, options: MarginOptions
) -> list[float]:
    """Return the scores of held-out rows after each iteration of a descent on the others."""
    scores: list[float] = []

    def watch(step: Step, n_active: int) -> bool:
        scores.append(train.score(step.parameters, held, options).mean)
        return len(scores) - 1 - int(np.argmin(scores)) >= PATIENCE

    end, _ = train.learn(options, watch)
    # A start no step improves on is where it ends.
    return scores or [train.score(end, held, options).mean]


def scale_to_targets(start: FloatArray, rows: FloatArray, targets: IntArray) -> FloatArray:
    """Return L such that the median squared distance to the last target is 1, the margin."""
    squared_distances = np.empty(targets.shape)
    target_squared_distances(rows @ start.T, targets, squared_distances)
    farthest = squared_distances.max(axis=1)
    farthest = farthest[farthest > 0]
    return start / np.sqrt(np.median(farthest)) if len(farthest) else start
