"""Published results as data: one YAML file a cell of a table, or a curve, read into records.

The files live in ``published/`` beside this one; ``published/schema.json`` says what they hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from vicinal.runs import HNN, KNN, Neighbors

CHOSEN = "cv"


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
    of :class:`~vicinal.runs.Source`. ``seconds`` is a published running time.
    """

    name: str
    citation: str
    document: str
    table: str
    line: int | None
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

    @property
    def groups(self) -> frozenset[str]:
        """The words that select this experiment: those of its name, its data set, its method."""
        return frozenset((*self.name.split("_"), self.dataset, self.method, "all"))

    @property
    def n_train(self) -> int:
        """The number of training rows the file asks for, 0 where it does not say."""
        return int(self.folds.get("train_size", 0))

    @property
    def rival(self) -> tuple[str, float] | None:
        """The best published other method of the same cell, and its figure."""
        return min(self.others.items(), key=lambda other: other[1]) if self.others else None


def parse_experiment(text: str, name: str) -> Experiment:
    """Read a file of one experiment; see :func:`parse_experiments`."""
    (experiment,) = parse_experiments(text, name)
    return experiment


def parse_experiments(text: str, name: str) -> tuple[Experiment, ...]:
    """Read one experiment file; ``name`` is the file's name without its ending.

    A file whose protocol has ``train_sizes`` is a curve: one experiment for each size, called
    after the file and the size.

    Raises
    ------
    ValueError
        Where the text is not YAML, lacks a field, or names itself otherwise than its file.
    """
    import yaml

    try:
        return _from_file(yaml.load(text, Loader=_loader()), name)
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"experiment file {name}.yaml cannot be read: {error!r}") from error


def _loader() -> Any:
    """Return libyaml's safe loader where it was built in: many times faster."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _from_file(fields: dict[str, Any], name: str) -> tuple[Experiment, ...]:
    if fields["name"] != name:
        raise ValueError(f"experiment file {name}.yaml calls itself {fields['name']!r}")
    sizes = fields["protocol"].get("train_sizes")
    if sizes is None:
        return (_from_fields(fields, name),)
    return tuple(_from_fields(_at_size(fields, n), f"{name}_n{n}") for n in sizes)


def _at_size(fields: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the fields of one point of a curve; a running time belongs to its last point."""
    protocol = {word: value for word, value in fields["protocol"].items() if word != "train_sizes"}
    published = dict(fields["published"])
    if n != max(fields["protocol"]["train_sizes"]):
        published.pop("seconds", None)
    return {**fields, "protocol": {**protocol, "train_size": n}, "published": published}


def _from_fields(fields: dict[str, Any], name: str) -> Experiment:
    protocol, published, source = fields["protocol"], fields["published"], fields["source"]
    error = published.get("error")
    return Experiment(
        name=name,
        citation=fields["citation"],
        document=source["document"],
        table=source["table"],
        line=source.get("line"),
        dataset=fields["dataset"],
        protocol=protocol["name"],
        folds={word: value for word, value in protocol.items() if word != "name"},
        preparation=dict(fields["preparation"]),
        method=fields["method"],
        parameters=dict(fields["parameters"]),
        k=_neighbors(fields),
        error=None if error is None else float(error),
        spread=published.get("spread"),
        unit=published["unit"],
        others=dict(fields["others"]),
        doubts=tuple(fields["doubts"]),
        view=dict(fields.get("view", {})),
        seconds=published.get("seconds"),
    )


def _neighbors(fields: dict[str, Any]) -> Neighbors:
    if "h" in fields:
        return HNN
    k: int | str = fields["k"]
    return KNN if k == CHOSEN else int(k)


@cache
def published_experiments() -> tuple[Experiment, ...]:
    """Return every shipped experiment, ordered by method, data set, preparation and k."""
    folder = files("vicinal.experiments") / "published"
    found = [file for file in folder.iterdir() if file.name.endswith(".yaml")]
    experiments = [
        experiment
        for file in found
        for experiment in parse_experiments(
            file.read_text(encoding="utf-8"), file.name.removesuffix(".yaml")
        )
    ]
    return tuple(sorted(experiments, key=_order))


def _order(experiment: Experiment) -> tuple[str, str, int, str, int]:
    """Sort k and sizes as numbers: k11 comes after k3, n1000 after n500."""
    k = experiment.k if isinstance(experiment.k, int) else 0
    stem = experiment.name.rsplit("_", 1)[0]
    return experiment.method, stem, k, str(experiment.k), experiment.n_train


def select_experiments(
    names: Iterable[str],
    ks: Iterable[int] | None = None,
    known: tuple[Experiment, ...] | None = None,
) -> tuple[Experiment, ...]:
    """Return the experiments that any of the names picks, each once, at the given k only.

    A name is an experiment's name, a glob over names (``*_letter_*``), or a group: a word of
    the name such as ``mlng``, ``letter``, ``zscore``, ``k3``, or ``all``.

    Raises
    ------
    ValueError
        For a name that picks nothing (the nearest known ones are given), or where no
        experiment picked has one of the k.
    """
    known = published_experiments() if known is None else known
    picked = {name for pattern in names for name in _picked(pattern, known)}
    chosen = tuple(experiment for experiment in known if experiment.name in picked)
    wanted = None if ks is None else set(ks)
    kept = tuple(e for e in chosen if wanted is None or e.k in wanted)
    if chosen and not kept:
        has = ", ".join(sorted({str(experiment.k) for experiment in chosen}, key=_as_number))
        asked = ", ".join(str(k) for k in sorted(wanted or ()))
        raise ValueError(f"none of the experiments chosen has k = {asked}; they have k = {has}.")
    return kept


def _as_number(word: str) -> tuple[int, str]:
    return (int(word), "") if word.isdigit() else (0, word)


def _picked(pattern: str, known: tuple[Experiment, ...]) -> list[str]:
    found = [e.name for e in known if pattern in e.groups or fnmatchcase(e.name, pattern)]
    if not found:
        raise ValueError(_unknown(pattern, known))
    return found


def _unknown(pattern: str, known: tuple[Experiment, ...]) -> str:
    words = sorted({word for experiment in known for word in experiment.groups})
    near = difflib.get_close_matches(pattern, [*words, *(e.name for e in known)], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"groups are {', '.join(words)}."
    return f"no published experiment is called {pattern!r}; {hint} List them with --list."
