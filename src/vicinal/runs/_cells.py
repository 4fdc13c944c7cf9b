"""What is to be measured, as plain values: a setting, and the cells of its table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, TypeVar, cast, get_args, get_type_hints

from vicinal import __version__

T = TypeVar("T")

# How many neighbours predict: a number of them, or one of four that the training part decides:
# as many as its cross-validation finds best, all within the radius it finds best, the soft vote at
# the temperature its held-out rows choose, or whatever these choose for k, weights and heads.
Neighbors = int | str
KNN, HNN, LEARNED, CHOSEN = "knn", "hnn", "learned", "auto"


@dataclass(frozen=True)
class Source:
    """Where rows come from: a known data set, or a table with one column to predict.

    ``digest`` is the SHA-256 of the table's file: the results belong to its contents, not to
    the place where it lies. ``held`` rows are arrays of the caller's own: in memory, or in a file
    at ``path`` that was written for the workers. ``limit`` takes a random sample of so many rows.
    ``roles`` names columns of a table by what they are for (see :class:`vicinal.data.Roles`).
    ``sides`` makes two classes of several, "text | rest" or "Fir | Pine", and leaves out the rows
    of neither; ``n_features`` keeps the first so many columns.
    """

    name: str
    path: str | None = None
    target: str | None = None
    task: str | None = None
    impute: bool = False
    digest: str = ""
    limit: int | None = None
    sides: str | None = None
    n_features: int | None = None
    held: bool = False
    roles: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """Everything that cells share: rows, preparation, folds and the seed of all of them.

    ``preparation`` holds arguments of :class:`vicinal.data.Preparation`, ``folds`` those of
    :func:`vicinal.data.make_folds` besides the protocol; its seed is ``seed`` unless given.
    """

    source: Source
    preparation: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = "kfold"
    folds: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def identify(self) -> dict[str, Any]:
        """Return what the results depend on, as JSON values: all but the place of the file."""
        identity = asdict(replace(self, source=replace(self.source, path=None)))
        for name in ("sides", "n_features", "held", "roles"):  # absent where not used
            if not identity["source"][name]:
                del identity["source"][name]
        return identity


@dataclass(frozen=True)
class Cell:
    """The unit of work: one method on one fold, at every k its one fit serves.

    A model that asks no neighbours has the single k None.
    """

    setting: Setting
    fold: int
    method: str
    ks: tuple[Neighbors | None, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tuned(self) -> bool:
        """Whether the number of neighbours, or their radius, is left to cross-validation."""
        return any(isinstance(k, str) and k not in (CHOSEN, LEARNED) for k in self.ks)

    def keys(self) -> dict[Neighbors | None, str]:
        """Return the key of each k's record."""
        return {k: record_key(self, k) for k in self.ks}


def record_key(cell: Cell, k: Neighbors | None) -> str:
    """Return 16 hexadecimal digits that name one measurement whatever runs it, and where."""
    identity = {
        "setting": cell.setting.identify(),
        "fold": cell.fold,
        "method": cell.method,
        "parameters": cell.parameters,
        "k": k,
        "version": __version__,
    }
    return digest_of(identity)[:16]


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def record_from_json(kind: type[T], value: Mapping[str, Any]) -> T:
    """Return the frozen record that ``asdict`` made JSON of: nested ones, and tuples for lists."""
    hints = get_type_hints(kind)
    return kind(**{name: _restore(hints[name], each) for name, each in value.items()})


def _restore(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        return record_from_json(cast("type[Any]", hint), value)
    if not isinstance(value, list):
        return value
    inner = (*get_args(hint), None)[0]
    return tuple(_restore(inner, each) for each in value)
