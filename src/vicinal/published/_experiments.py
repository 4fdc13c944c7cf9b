"""A published figure as a record, and the names that pick such records."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from vicinal.methods import METHODS

if TYPE_CHECKING:
    from vicinal.runs import Neighbors


@dataclass(frozen=True)
class Experiment:
    """A published figure, and everything needed to measure it again.

    ``error`` and ``spread`` are in ``unit``: "percent" of wrong votes, "share" of them, or "nmse"
    (mean squared error over the variance of the target). ``spread`` is what the source prints
    after ±, None where it prints nothing; ``error`` is None where it prints a curve only, or
    nothing comparable. ``k`` is a number, or "knn" (its number chosen by cross-validation) or
    "hnn" (all neighbours within a radius chosen so). ``protocol`` and ``preparation`` are
    keyword arguments of :func:`vicinal.data.make_folds` (the protocol's name apart) and of
    :class:`vicinal.data.Preparation`; ``view`` is what is taken of the data set, as arguments
    of the run's source. ``variant`` names another constructor of the method's learner, such as
    the algorithm as its source states it; its figure stands beside that of the method's own
    defaults. ``beside`` names the method beside whose printed figure this one's measured one
    stands, the source printing none of its own. ``title`` heads its column where that is not
    the method's name. ``seconds`` is a published running time.
    """

    name: str
    table: str
    citation: str
    dataset: str
    protocol: str
    folds: Mapping[str, Any]
    preparation: Mapping[str, Any]
    method: str
    parameters: Mapping[str, Any]
    k: Neighbors
    error: float | None
    spread: float | None
    unit: str
    others: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    view: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    variant: str = ""
    beside: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """The method, with the variant where it is one: "mlng", "mlng-as-published"."""
        return "-".join([self.method, *self.variant.split("_")]) if self.variant else self.method

    @property
    def groups(self) -> frozenset[str]:
        """The words that select this experiment: those of its name, its table, its data set.

        "rivals" selects the learners of other authors.
        """
        words = (*self.name.split("_"), self.table, self.dataset, self.label, "all")
        return frozenset((*words, "rivals") if is_rival(self.method) else words)

    @property
    def n_train(self) -> int:
        """The number of training rows the table asks for, 0 where it does not say."""
        return int(self.folds.get("train_size", 0))

    @property
    def rival(self) -> tuple[str, float] | None:
        """The best published other method of the same row, and its figure."""
        return min(self.others.items(), key=lambda other: other[1]) if self.others else None


def is_rival(method: str) -> bool:
    """Whether a method is a learner of other authors, by where it is written."""
    return any(
        known.name == method and str(known.factory).startswith("vicinal.rivals:")
        for known in METHODS
    )


def pick_experiments(
    known: Sequence[Experiment], names: Iterable[str], ks: Iterable[int] | None = None
) -> tuple[Experiment, ...]:
    """Return the experiments that any of the names picks, each once, at the given k only.

    A name is an experiment's name, a glob over names (``*_letter_*``), or a group: a table, a
    word of the name such as ``mlng``, ``letter``, ``zscore``, ``k3``, or ``all``. Several with
    colons between them pick what each of them picks: ``trivedi2014_zscore:letter:k3``.

    Raises
    ------
    ValueError
        For a name that picks nothing (the nearest known ones are given), or where no
        experiment picked has one of the k.
    """
    picked = {name for pattern in names for name in _picked(pattern, known)}
    chosen = tuple(experiment for experiment in known if experiment.name in picked)
    numbers = None if ks is None else set(ks)
    fitting = tuple(e for e in chosen if numbers is None or e.k in numbers)
    if chosen and not fitting:
        has = ", ".join(sorted({str(experiment.k) for experiment in chosen}, key=_as_number))
        missing = ", ".join(str(k) for k in sorted(numbers or ()))
        raise ValueError(f"none of the experiments chosen has k = {missing}; they have k = {has}.")
    return fitting


def _as_number(word: str) -> tuple[int, str]:
    return (int(word), "") if word.isdigit() else (0, word)


def _picked(pattern: str, known: Sequence[Experiment]) -> set[str]:
    parts = [_picked_by_part(part, known) for part in pattern.split(":")]
    both = set.intersection(*parts)
    if not both:
        raise ValueError(f"no published experiment is picked by all parts of {pattern!r}.")
    return both


def _picked_by_part(part: str, known: Sequence[Experiment]) -> set[str]:
    names = {e.name for e in known if part in e.groups or fnmatchcase(e.name, part)}
    if not names:
        raise ValueError(_unknown(part, known))
    return names


def _unknown(part: str, known: Sequence[Experiment]) -> str:
    words = sorted({word for experiment in known for word in experiment.groups})
    near = difflib.get_close_matches(part, [*words, *(e.name for e in known)], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"groups are {', '.join(words)}."
    return f"no published experiment is called {part!r}; {hint} All can be seen (list)."
