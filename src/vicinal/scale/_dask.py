"""GW, EGOP and EJOP on dask collections: a map-reduce of sums, on the scheduler at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.gradients import mergeable
from vicinal.metric.gradients.mergeable import (
    Estimate,
    Evaluated,
    GradientFit,
    GradientMetric,
    GradientOptions,
    GradientSums,
    Smoother,
    sum_gradients,
)
from vicinal.scale import _chunk_sums as sums_of

# Results that are merged at a time.
_FAN_IN = 4
# Points of a round at least.
_LEAST_POINTS = 64


def fit_gradients(estimator: GradientMetric, shards: Shards, n_reference: int | None) -> None:
    """Fit a gradient metric to all chunks, in place."""
    rule, options = _read_targets(estimator, shards)
    random = check_random_state(estimator.random_state)
    mergeable.keep_fit(estimator, _learn(options, shards, rule, n_reference, random))


@dataclass(frozen=True)
class Chunks:
    """Chunks of X and y as delayed values, the columns' names (or None), and the scheduler."""

    X: tuple[Any, ...]
    y: tuple[Any, ...]
    names: Any
    client: Any

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Run tasks on the scheduler."""
        import dask

        return list(dask.compute(*tasks, scheduler=self.client))

    def hold(self, task: Any) -> Any:
        """Run a task and leave its result with a worker, which a later one can make again.

        What is needed by this task and by later ones is let go in between: no chunk waits. The
        worker forgets the result once nobody here refers to what is returned.
        """
        import dask

        held = dask.persist(task)[0] if self.client is None else self.client.persist(task)
        self.compute([dask.delayed(len)(held)])
        return held


@dataclass(frozen=True)
class Shards(Chunks):
    """Chunks that are not empty, and what is known of them."""

    census: sums_of.Census

    def local_rows(self, rows: IntArray) -> list[IntArray]:
        """Return sorted rows of the whole as rows of each chunk."""
        ends = np.cumsum(self.census.sizes)
        starts = ends - self.census.sizes
        cuts = np.searchsorted(rows, np.concatenate([starts, ends[-1:]]))
        return [rows[a:b] - s for a, b, s in zip(cuts[:-1], cuts[1:], starts, strict=True)]


def take_stock(chunks: Chunks) -> Shards:
    """Return the chunks that have rows, with their census."""
    from dask import delayed

    census = delayed(sums_of.take_census, pure=False)
    places = enumerate(zip(chunks.X, chunks.y, strict=True))
    counts = chunks.compute([census(X, y, number) for number, (X, y) in places])
    filled = [i for i, part in enumerate(counts) if part.n_rows]
    if not filled:
        raise ValueError("X has no rows (n_samples=0).")
    return Shards(
        tuple(chunks.X[i] for i in filled),
        tuple(chunks.y[i] for i in filled),
        chunks.names,
        chunks.client,
        mergeable.merge_all([counts[i] for i in filled]),
    )


def split_collections(X: Any, y: Any, client: Any) -> Chunks:
    """Return the chunks of both collections."""
    try:
        import dask.array as da
    except ImportError as error:
        raise ImportError("fit_distributed needs dask: pip install 'vicinal[dask]'.") from error
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {X.shape}.")
        X = X.rechunk({1: -1})
        sized = not np.isnan(X.shape[0])
        if sized and not hasattr(y, "to_delayed"):
            y = da.from_array(np.asarray(y), chunks=(X.chunks[0],))
        if sized and isinstance(y, da.Array) and y.shape[0] == X.shape[0]:
            y = y.rechunk({0: X.chunks[0]})
    for name, value in (("X", X), ("y", y)):
        if not hasattr(value, "to_delayed"):
            raise ValueError(
                f"{name} must be a dask array or frame, got {type(value).__name__}; for data in "
                "memory call the estimator's own fit."
            )
    X_parts, y_parts = (list(np.ravel(part.to_delayed())) for part in (X, y))
    if len(X_parts) != len(y_parts):
        raise ValueError(
            f"X has {len(X_parts)} chunks of rows and y {len(y_parts)}: give both the same."
        )
    return Chunks(tuple(X_parts), tuple(y_parts), getattr(X, "columns", None), client)


def _read_targets(
    estimator: GradientMetric, shards: Shards
) -> tuple[sums_of.TargetRule, GradientOptions]:
    """Let the estimator check a few rows with every target there is, and say how y is read."""
    census = shards.census
    rows, few = typical_rows(census, shards.names)
    targets, options = mergeable.read_input(estimator, rows, few)
    estimator.feature_spread_ = census.feature_spread  # of all rows, not of the few
    many = len(census.distinct) >= sums_of.MOST_DISTINCT
    if not targets.is_real:
        if many:
            raise ValueError(f"y holds {sums_of.MOST_DISTINCT} classes or more: too many.")
        prior = census.counts / census.n_rows
        return sums_of.TargetRule(False, census.distinct, 0.0, 1.0, prior), options
    labels = None
    mean, spread = census.mean, census.spread
    if not many and len(census.distinct) == 2 and census.distinct.dtype.kind not in "fc":
        labels = census.distinct
        mean = float(census.counts[1]) / census.n_rows
        spread = census.n_rows * mean * (1 - mean)
    deviation = float(np.sqrt(spread / census.n_rows))
    return sums_of.TargetRule(True, labels, mean, deviation, np.zeros(1)), options


def typical_rows(census: sums_of.Census, names: Any) -> tuple[Any, AnyArray]:
    """Return a few rows with every target there is, for an estimator to check and read."""
    # Three rows each: scikit-learn takes all-different targets for a mistake.
    few = np.repeat(_representatives(census.distinct), 3)
    return with_names(np.broadcast_to(census.row, (len(few), census.row.shape[1])), names), few


def with_names(rows: FloatArray, names: Any) -> Any:
    """Return rows as a frame, where the columns have names."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def _representatives(distinct: AnyArray) -> AnyArray:
    """Return targets that stand for all: every class, or some values of a quantity."""
    if distinct.dtype.kind != "f" or not np.any(distinct % 1):
        return distinct
    broken = np.flatnonzero(distinct % 1)[:1]
    spread = np.linspace(0, len(distinct) - 1, 50).astype(np.int64)
    return distinct[np.unique(np.concatenate([broken, spread]))]


def _learn(
    options: GradientOptions,
    shards: Shards,
    rule: sums_of.TargetRule,
    n_reference: int | None,
    random: np.random.RandomState,
) -> GradientFit:
    """Do what the fit in memory does, with the same random draws."""
    n_rows = shards.census.n_rows
    X, y = gather_rows(shards, draw_rows(random, n_rows, mergeable.ROWS_TO_CHOOSE_ON))
    plan = mergeable.plan_fit(options, X, rule.targets(y), np.ones(len(X)), n_rows, random)
    chosen = np.arange(n_rows) if plan.points is None else plan.points
    drawn = None if n_reference is None else draw_rows(random, n_rows, n_reference)

    def evaluate(smoother: Smoother, components: FloatArray | None) -> tuple[Evaluated, None]:
        rows = mergeable.rows_to_gather(smoother, n_rows) if drawn is None else drawn
        estimate = Estimate(
            smoother,
            components,
            centre=shards.census.sums / n_rows,
            prior=rule.prior,
            scale=rule.deviation,
            own=rows is None or len(rows) == n_rows,
        )
        return Evaluated(*_evaluate(shards, estimate, rule, chosen, rows, options)), None

    return mergeable.follow_plan(plan, evaluate)


def draw_rows(random: np.random.RandomState, n_rows: int, most: int) -> IntArray:
    """Return at most so many random rows, sorted."""
    rows: IntArray = np.arange(n_rows)
    return rows if n_rows <= most else np.sort(random.permutation(n_rows)[:most])


def _take(X: Any, rows: IntArray) -> FloatArray:
    return sums_of.as_rows(X)[rows]


def _take_both(X: Any, y: Any, rows: IntArray) -> tuple[FloatArray, AnyArray]:
    return sums_of.as_rows(X)[rows], sums_of.as_vector(y)[rows]


def _join(parts: Sequence[tuple[FloatArray, AnyArray]]) -> tuple[FloatArray, AnyArray]:
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _rows_of(shards: Shards, rows: IntArray) -> list[Any]:
    """Return delayed (X, y) of some rows, one value for each chunk that has any."""
    from dask import delayed

    take = delayed(_take_both, pure=False)
    places = zip(shards.X, shards.y, shards.local_rows(rows), strict=True)
    return [take(X, y, local) for X, y, local in places if len(local)]


def gather_rows(shards: Shards, rows: IntArray) -> tuple[FloatArray, AnyArray]:
    return _join(shards.compute(_rows_of(shards, rows)))


def _evaluate(
    shards: Shards,
    estimate: Estimate,
    rule: sums_of.TargetRule,
    chosen: IntArray,
    drawn: IntArray | None,
    options: GradientOptions,
) -> tuple[GradientSums, FloatArray | None]:
    """Return the sums over gradients at the chosen rows, and the gradients if they are kept."""
    from dask import delayed

    how = [delayed(part, pure=False, traverse=False) for part in (estimate, rule)]
    if drawn is not None:
        sample = shards.hold(delayed(_join, pure=False)(_rows_of(shards, drawn)))
        gradients_at = delayed(sums_of.gradients_from_sample, pure=False)
        fields = [gradients_at(points, sample, *how) for points in _points_of(shards, chosen)]
        return _run(shards, fields, options)
    mergeable.parts_that_merge(estimate.smoother)  # refused here, not by a worker
    # One round after the other: in each, a chunk is asked for once, so that none is copied about.
    rounds = np.array_split(chosen, -(-len(chosen) // _points_a_round(shards, estimate)))
    done = []
    for rows in rounds:
        points = shards.hold(delayed(np.concatenate, pure=False)(_points_of(shards, rows)))
        done.append(_run(shards, [_from_all_chunks(shards, points, how)], options))
    gradients = [part for _, part in done if part is not None]
    sums = mergeable.merge_all(part for part, _ in done)
    return sums, np.concatenate(gradients) if gradients else None


def _run(
    shards: Shards, fields: list[Any], options: GradientOptions
) -> tuple[GradientSums, FloatArray | None]:
    """Return the sums over delayed gradients, and these if they are kept."""
    from dask import delayed

    total, diagonal = delayed(_sum, pure=False), options.kind.diagonal
    sums, *gradients = shards.compute(
        [
            _merged([total(field, diagonal) for field in fields]),
            *(fields if options.keep_gradients else []),
        ]
    )
    return sums, np.concatenate(gradients) if gradients else None


def _sum(gradients: FloatArray, diagonal: bool) -> GradientSums:
    return sum_gradients(gradients, np.ones(len(gradients)), diagonal=diagonal)


def _from_all_chunks(shards: Shards, points: Any, how: list[Any]) -> Any:
    """Return delayed gradients at points, to which every chunk contributes."""
    from dask import delayed

    pair = delayed(sums_of.pair_parts, pure=False)
    pairs = [pair(points, X, y, *how) for X, y in zip(shards.X, shards.y, strict=True)]
    return delayed(mergeable.gradients_from, pure=False)(_merged(pairs), how[0])


def _points_of(shards: Shards, rows: IntArray) -> list[Any]:
    """Return delayed X of some rows, one value for each chunk that has any."""
    from dask import delayed

    take = delayed(_take, pure=False)
    places = zip(shards.X, shards.local_rows(rows), strict=True)
    return [take(X, local) for X, local in places if len(local)]


def _points_a_round(shards: Shards, estimate: Estimate) -> int:
    """Return how many points have sums no larger than the largest chunk."""
    n_columns = len(estimate.prior)
    held = max(n_columns, estimate.smoother.n_local or 2)
    return max(_LEAST_POINTS, max(shards.census.sizes) // held)


def _merged(parts: list[Any]) -> Any:
    """Return delayed parts merged, a few at a time, always in the same order."""
    from dask import delayed

    merge = delayed(mergeable.merge_all, pure=False)
    while len(parts) > 1:
        parts = [merge(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return parts[0]
