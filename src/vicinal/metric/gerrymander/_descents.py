"""From rows, options and a setting to a descent that is ready to walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric.candidates._exact import order_by_class
from vicinal.metric.candidates._search import choose_refresh, choose_search
from vicinal.metric.descent._projected import ProjectedGradient, ProjectedObjective
from vicinal.metric.descent._stochastic import Adam, Descent
from vicinal.metric.gerrymander._factored import FactoredObjective
from vicinal.metric.gerrymander._records import Options, Rows, Setting


def begin_descent(
    base: FactoredObjective,
    options: Options,
    setting: Setting,
    start: FloatArray,
    seed: Sequence[int],
) -> Descent:
    """Return a descent from the start, ready to walk, on a copy of an objective."""
    objective = replace(base, regularization=setting.regularization)
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


def factored_objective(rows: Rows, options: Options) -> FactoredObjective:
    """Return the objective on rows put in order of class."""
    n, k = len(rows.codes), options.training_neighbors
    classes = order_by_class(rows.codes)
    search = choose_search(options.search, n)
    n_other = 40 if options.n_other is None else options.n_other
    return FactoredObjective(
        X=rows.X[classes.order],
        classes=classes,
        n_neighbors=k,
        costs=options.costs,
        n_own=min(2 * k + 3, n),
        n_other=min(n_other, n),
        refresh=options.refresh or choose_refresh(search),
        search=search,
        seed=options.seed,
        weights=None if rows.weights is None else rows.weights[classes.order],
        regularizer=options.regularizer,
        n_threads=options.n_threads,
    )


def learned_map(descent: Descent) -> FloatArray:
    """Return the descent's map: its parameters, or the factor of its W."""
    rule = descent.rule
    return rule.factor if isinstance(rule, ProjectedGradient) else descent.parameters
