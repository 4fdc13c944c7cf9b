"""The table of methods: one entry makes a learner known to every command."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line reads this table for its help, and must not load NumPy
    from vicinal._types import Task

EUCLIDEAN = "euclidean"


@dataclass(frozen=True)
class Method:
    """A way to measure nearness, by name.

    Attributes
    ----------
    name, title : str
        What the user types, and what tables show.
    factory : str or None
        "package.module:Class" of the metric learner, imported only where it runs; None is the
        plain Euclidean distance.
    tasks : tuple of "classification" and "regression"
    depends_on_k : bool
        Whether the learner takes ``n_neighbors``, so that every k needs a fit of its own.
    default : bool
        Whether ``compare`` runs it unless told otherwise.
    parameters : mapping
        Arguments of the learner that differ from its own defaults.
    citation : str
        A BibTeX key.
    """

    name: str
    title: str
    factory: str | None
    tasks: tuple[Task, ...] = ("classification",)
    depends_on_k: bool = False
    default: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    citation: str = ""


METHODS = (
    Method(EUCLIDEAN, "Euclidean", None, tasks=("classification", "regression")),
    Method("lda", "LDA", "vicinal.baselines:LDA", citation="fisher1936"),
    Method("lmnn", "LMNN", "vicinal.baselines:LMNN", depends_on_k=True, citation="weinberger2009"),
    Method("nca", "NCA", "vicinal.baselines:NCA", citation="goldberger2004"),
    Method(
        "mlng",
        "MLNG",
        "vicinal.metric:MLNG",
        depends_on_k=True,
        citation="trivedi2014",
    ),
    Method(
        "gw",
        "GW",
        "vicinal.metric:GradientWeights",
        tasks=("classification", "regression"),
        default=False,
        depends_on_k=True,
        citation="kpotufe2016",
    ),
    Method(
        "egop",
        "EGOP",
        "vicinal.metric:EGOP",
        tasks=("regression",),
        depends_on_k=True,
        citation="trivedi2014egop",
    ),
    Method(
        "relieff",
        "ReliefF",
        "vicinal.metric:ReliefF",
        tasks=("classification", "regression"),
        default=False,
        citation="kononenko1994",
    ),
    Method(
        "gdm",
        "GDM",
        "vicinal.metric:GradientDiffusionMap",
        tasks=("regression",),
        default=False,
        parameters={"n_components": 10},
        citation="trivedi2018",
    ),
    Method("ejop", "EJOP", "vicinal.metric:EJOP", depends_on_k=True, citation="trivedi2018"),
)


def list_methods(task: Task | None = None) -> tuple[Method, ...]:
    """Return the known methods, or those for one task."""
    return tuple(m for m in METHODS if task is None or task in m.tasks)


def get_method(name: str) -> Method:
    """Return a known method, or one made from "module:Class"; refuse other names.

    Raises
    ------
    ValueError
        For a name nobody knows, with the nearest ones that are known.
    """
    if ":" in name:
        return _outside_method(name)
    known = {method.name: method for method in METHODS}
    if name.lower() in known:
        return known[name.lower()]
    close = get_close_matches(name.lower(), known, n=3)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    raise ValueError(f"no method is called {name!r}. {hint}Known: {', '.join(known)}.")


def _outside_method(path: str) -> Method:
    """A learner of the user's own, given by its import path."""
    factory = import_factory(path)
    try:
        takes_k = "n_neighbors" in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        takes_k = False
    return Method(
        path, path.rpartition(":")[2], path, ("classification", "regression"), depends_on_k=takes_k
    )


def choose_methods(
    names: Iterable[str] | None, task: Task, add: Iterable[str] = (EUCLIDEAN,)
) -> tuple[Method, ...]:
    """Return the methods asked for (None: the default ones) after those that are always run.

    Raises
    ------
    ValueError
        For an unknown name, or a method that is not made for the task.
    """
    if names is None:
        chosen = [method for method in list_methods(task) if method.default]
    else:
        chosen = [get_method(name) for name in names]
    unfit = [method.name for method in chosen if task not in method.tasks]
    if unfit:
        fit = ", ".join(method.name for method in list_methods(task))
        raise ValueError(f"{', '.join(unfit)}: not made for {task}. Methods that are: {fit}.")
    always = [get_method(name) for name in add]
    return tuple({method.name: method for method in (*always, *chosen)}.values())


def import_factory(path: str) -> Any:
    """Return what "module:name" points to; refuse with a ValueError that says what is missing."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"method {path!r} cannot be imported: {error}") from error


def make_metric(method: Method, parameters: Mapping[str, Any], k: int, seed: int) -> Any:
    """Return the unfitted learner of a method (None for Euclidean).

    ``n_neighbors`` and ``random_state`` are filled in where the learner takes them and the
    parameters do not set them.
    """
    if method.factory is None:
        return None
    factory = import_factory(method.factory)
    accepted = inspect.signature(factory).parameters
    filled = {"random_state": seed} | ({"n_neighbors": k} if method.depends_on_k else {})
    offered = {name: value for name, value in filled.items() if name in accepted}
    return factory(**{**offered, **method.parameters, **parameters})
