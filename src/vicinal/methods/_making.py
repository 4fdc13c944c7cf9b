"""From an entry of the table to an unfitted learner."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line reads the table for its help, and must not load NumPy
    from vicinal._types import Task
    from vicinal.methods._table import Method


def import_factory(path: str) -> Any:
    """Return what "module:Class" or "module:Class.constructor" names; refuse with a ValueError."""
    module, _, name = path.partition(":")
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"method {path!r} cannot be imported: {error}") from error


def takes_neighbors(path: str) -> bool:
    """Whether a learner, given by its import path, takes ``n_neighbors``."""
    return "n_neighbors" in _parameters(import_factory(path))


def make_learner(
    method: Method,
    task: Task,
    *,
    k: int | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    unit: bool = False,
) -> Any:
    """Return the unfitted learner of a method: a metric (None for Euclidean), or a reference.

    ``n_neighbors`` and ``random_state`` are filled in where the learner takes them and the
    parameters do not set them. Where rows are ``unit`` vectors, a learner whose maps may leave the
    sphere is one that brings mapped rows back where held-out rows prefer it.
    """
    if method.estimator is not None:
        from sklearn.base import clone

        return clone(method.estimator)
    path = method.factory_for(task)
    if path is None:
        return None
    filled: dict[str, Any] = {"random_state": seed, "task": task}
    if method.depends_on_k:
        filled["n_neighbors"] = k
    options = {**method.parameters, **(parameters or {})}
    if method.wraps is not None:
        options = {"estimator": _make(method.wraps, filled, {}), **options}
    learner = _make(path, filled, options)
    if not (unit and method.back_to_unit):
        return learner
    return import_factory("vicinal.combine:UnitLength")(learner, random_state=seed, n_neighbors=k)


def _make(path: str, filled: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    factory = import_factory(path)
    accepted = _parameters(factory)
    offered = {name: value for name, value in filled.items() if name in accepted}
    return factory(**{**offered, **given})


def _parameters(factory: Any) -> Mapping[str, Any]:
    try:
        return inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}
