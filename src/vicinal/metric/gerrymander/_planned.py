"""A planned fit seen from outside: what it learns without a fold, and how it is finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vicinal._threads import one_blas_thread
from vicinal._types import FloatArray, Fold
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import Plan

L = TypeVar("L")


def cross_fit_plan(plan: Plan, learner: L, keep: Callable[[Plan], None]) -> CrossFit:
    """Return the cross-fit of a learner whose settings are chosen; ``keep`` fits all rows."""

    def without(fold: Fold) -> LinearMaps:
        with one_blas_thread():  # as for the fit: the result must not depend on threads
            return as_maps(plan, plan.without(fold))

    def finish() -> L:
        with one_blas_thread():
            keep(plan)
        return learner

    return CrossFit(without, finish)


def as_maps(plan: Plan, components: FloatArray) -> LinearMaps:
    """Return the maps of features equal to what was learned in the frame of a plan's rows."""
    rows: Any = plan.problem.rows
    maps: LinearMaps = rows.frame.maps(components.astype(rows.X.dtype, copy=False))
    return maps
