"""MeanMetric and AutoMetric on dask collections: every partition is fitted where it lies.

partition ─▶ fit_part ─▶ PartFit (maps, their sizes) ─┐ gathered, the lost left out
partition ─▶ fit_part ─▶ PartFit ─────────────────────┴─▶ mean_map ─▶ components_
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from vicinal._types import FloatArray
from vicinal._validation import check_whole
from vicinal.combine import (
    AutoMetric,
    MeanMetric,
    average,
    check_member,
    draw_seed,
    fit_member,
    linear_map,
    prepare_member,
    task_of,
)
from vicinal.metric.gradients.mergeable import GradientMetric, merge_all
from vicinal.metric.means import mean_map, near_squared_distance
from vicinal.rows import Classes, Rows, read_target
from vicinal.scale._chunk_sums import Census, as_rows, as_vector, take_census
from vicinal.scale._dask import (
    Chunks,
    Shards,
    draw_rows,
    fit_gradients,
    gather_rows,
    typical_rows,
    with_names,
)

# Rows a learner is chosen on: the race looks at no more.
_ROWS_TO_CHOOSE_ON = 5000
# How often a partition that fails to load is tried again.
_RETRIES = 2


@dataclass(frozen=True)
class PartFit:
    """What a partition tells of itself: its census, and its maps or why there are none.

    ``sizes`` are the squared distances of near rows under each map. ``refusal`` says what is wrong
    with its rows, ``problem`` why they could not be fitted or read.
    """

    census: Census | None = None
    maps: tuple[FloatArray, ...] = ()
    sizes: tuple[float, ...] = ()
    n_iter: int | None = None
    refusal: str = ""
    problem: str = ""


def fit_part(X: Any, y: Any, number: int, members: Sequence[Any]) -> PartFit:
    """Fit the members to one partition."""
    try:
        census = take_census(X, y, number)
    except ValueError as error:
        return PartFit(refusal=str(error))
    if not census.n_rows:
        return PartFit(census)
    rows = as_rows(X)
    try:
        target = read_target(as_vector(y), task_of(members[0]))
        fits = [fit_member(member, Rows(rows, target)) for member in members]
        maps = tuple(linear_map(fit) for fit in fits)
    except ValueError as error:
        return PartFit(census, problem=str(error))
    sizes = tuple(near_squared_distance(rows, components) for components in maps)
    counts = [vars(fit).get("n_iter_") for fit in fits]
    n_iter = None if None in counts else int(max(np.max(count) for count in counts))
    return PartFit(census, maps, sizes, n_iter)


def fit_mean(estimator: MeanMetric, chunks: Chunks) -> None:
    """Fit a mean of metrics whose parts are the partitions, in place."""
    from dask import delayed

    check_member(estimator.estimator, "estimator")
    n_starts = check_whole("n_starts", estimator.n_starts)
    random = check_random_state(estimator.random_state)
    task = delayed(fit_part, pure=False)
    tasks = []
    for number, (X, y) in enumerate(zip(chunks.X, chunks.y, strict=True)):
        members = [
            prepare_member(estimator.estimator, seed=draw_seed(random), k=estimator.n_neighbors)
            for _ in range(n_starts)
        ]
        tasks.append(task(X, y, number, delayed(members, pure=False, traverse=False)))
    parts = run_what_can(tasks, chunks)
    _keep_mean(estimator, _without_failed(parts), _facts(parts), chunks.names)


def run_what_can(tasks: Sequence[Any], chunks: Chunks) -> list[PartFit]:
    """Return the results of all tasks; on a cluster, a problem in place of one that is lost."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(scheduler=chunks.client), "__self__", None)
    if client is None:
        return chunks.compute(tasks)
    return [_await(future) for future in client.compute(list(tasks), retries=_RETRIES)]


def _await(future: Any) -> PartFit:
    try:
        part: PartFit = future.result()
    except Exception as error:  # whatever loading raises, or the scheduler on a lost worker
        return PartFit(problem=f"{type(error).__name__}: {error}")
    return part


def _facts(parts: Sequence[PartFit]) -> Census:
    """Return the census of all partitions that could be read."""
    census_of = [part.census for part in parts if part.census is not None and part.census.n_rows]
    if not census_of:
        raise ValueError("X has no rows (n_samples=0).")
    census: Census = merge_all(census_of)
    return census


def _without_failed(parts: Sequence[PartFit]) -> list[PartFit]:
    """Return the fitted partitions; warn of the others. Refuse wrong rows, and if none is left."""
    for part in parts:
        if part.refusal:
            raise ValueError(part.refusal)
    fitted = [part for part in parts if part.maps]
    problems = [part.problem for part in parts if part.problem]
    of_all = f"of {len(fitted) + len(problems)} partitions"
    if problems and not fitted:
        raise ValueError(f"none {of_all} could be fitted: {problems[0]}")
    if problems:
        warnings.warn(
            f"{len(problems)} {of_all} could not be fitted and are left out of the mean: "
            f"{problems[0]}",
            UserWarning,
            stacklevel=4,
        )
    return fitted


def _keep_mean(estimator: MeanMetric, parts: list[PartFit], census: Census, names: Any) -> None:
    """Set what a fit in memory sets, but for the members, whose rows lie elsewhere."""
    rows = estimator.note_rows(estimator._read(*typical_rows(census, names)))
    estimator.feature_spread_ = census.feature_spread  # of all rows, not of the typical
    maps = [components for part in parts for components in part.maps]
    sizes = np.array([size for part in parts for size in part.sizes])
    components = mean_map(maps, sizes, estimator.n_components)
    estimator.components_ = components.astype(rows.X.dtype, copy=False)
    counts = [part.n_iter for part in parts if part.n_iter is not None]
    for name in ("estimators_", "n_iter_"):  # of an earlier fit
        estimator.__dict__.pop(name, None)
    if len(counts) == len(parts):
        estimator.n_iter_ = max(counts)


def fit_choice(estimator: AutoMetric, shards: Shards, n_reference: int | None) -> None:
    """Choose a learner on a sample and fit it to the partitions, in place."""
    random = check_random_state(estimator.random_state)
    target = read_target(typical_rows(shards.census, None)[1], estimator.task)
    task = "classification" if isinstance(target, Classes) else "regression"
    X, y = gather_rows(shards, draw_rows(random, shards.census.n_rows, _ROWS_TO_CHOOSE_ON))
    chooser = clone(estimator).set_params(task=task, random_state=random)
    chooser.fit(with_names(X, shards.names), y)
    chosen = chooser.metric_ if isinstance(chooser.metric_, list) else [chooser.metric_]
    fits = [_fit_chosen(learner, shards, n_reference) for learner in chosen]
    for name, value in vars(chooser).items():
        if name.endswith("_"):
            setattr(estimator, name, value)
    estimator.feature_spread_ = shards.census.feature_spread
    if isinstance(target, Classes):
        estimator.classes_ = target.names  # the sample may miss a rare one
    estimator.metric_ = fits if len(fits) > 1 else fits[0]
    estimator._keep(average(fits, X) if len(fits) > 1 else fits[0].maps_)


def _fit_chosen(learner: Any, shards: Shards, n_reference: int | None) -> Any:
    """Return a copy of a learner fitted to the partitions."""
    linear_map(learner)  # of the sample: refused before the partitions are fitted
    fresh = clone(learner)
    if isinstance(fresh, GradientMetric):
        fit_gradients(fresh, shards, n_reference)
        return fresh
    mean = fresh if isinstance(fresh, MeanMetric) else MeanMetric(fresh, n_starts=1)
    fit_mean(mean, shards)
    return mean
