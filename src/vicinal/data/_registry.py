"""What is known of each data set, and where its name is looked up.

The entries themselves are in ``sets.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from vicinal._types import AnyArray, Task
from vicinal.data._decoding import Decoder
from vicinal.data._fingerprint import Fingerprint

RawReader = Callable[[Mapping[str, Path]], dict[str, AnyArray]]


@dataclass(frozen=True)
class RawFile:
    """A file as its public source serves it.

    ``url`` is None where no lasting address is known (the file can still be put in place by
    hand), or ``"openml:<id>"``: the address and checksum are then asked from OpenML. ``sha256``
    is None where none is published: what is read from the file is then checked against the
    entry's shape, class counts and fingerprint.
    """

    name: str
    url: str | None
    sha256: str | None = None


@dataclass(frozen=True)
class PublicSource:
    """The public source: its page, its files, and how these become stored arrays."""

    page: str
    files: tuple[RawFile, ...] = ()
    read: RawReader | None = None
    openml: int | None = None
    note: str = ""


@dataclass(frozen=True)
class StoredFile:
    """The one file a set is loaded from, by name, checksum and size in bytes."""

    name: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Measured:
    """What was counted in the stored file once, to show it and to recognise it again.

    ``shape`` is (rows, features); ``n_test`` and ``n_groups`` are 0 where there are none;
    ``class_counts`` has the members of class 0..R-1 and is empty for regression.
    """

    shape: tuple[int, int]
    fingerprint: Fingerprint
    class_counts: tuple[int, ...] = ()
    n_test: int = 0
    n_groups: int = 0


@dataclass(frozen=True)
class DatasetEntry:
    """Everything known about a data set without opening it.

    Attributes
    ----------
    name, title : str
    task : {"classification", "regression"}
    measured : Measured
    stored : StoredFile or None
        None for a set that ships with scikit-learn.
    decode : callable
        Stored arrays to features and targets.
    source : PublicSource
    citation : str
        Key in the bibliography.
    licence : str
    classes : tuple of str
        What class 0..R-1 is called; empty for regression.
    feature_names : tuple of str
        Used where the stored file names none; numbered ``x0, x1, ...`` where this is empty.
    groups : str
        What ties rows together ("subject", "molecule", ...); empty when nothing does.
    image_shape : tuple of int or None
    protocol : str
        What ``compare`` uses unless told otherwise.
    single_precision : bool
        Load as float32 (exact for these sets, and half the memory).
    note : str
        What a user should know before trusting a result.
    """

    name: str
    title: str
    task: Task
    measured: Measured
    stored: StoredFile | None
    decode: Decoder
    source: PublicSource
    citation: str
    licence: str
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = field(default=(), repr=False)
    groups: str = ""
    image_shape: tuple[int, int] | None = None
    protocol: str = "kfold"
    single_precision: bool = False
    note: str = ""


# A file of several targets, asked for by its own name, gives the first of them.
ALIASES: Mapping[str, str] = {
    "parkinsons": "parkinsons_motor",
    "sarcos_gpml": "sarcos_gpml_1",
    "sarcos_ias": "sarcos_ias_1",
    "barrett_real": "barrett_1",
}


@cache
def registry() -> dict[str, DatasetEntry]:
    """Return all entries by name."""
    from vicinal.data._entries import read_entries

    return {entry.name: entry for entry in read_entries()}


def get_entry(name: str) -> DatasetEntry:
    """Return the entry of a name; an unknown name is answered with the nearest known ones."""
    entries = registry()
    if not isinstance(name, str):
        raise ValueError(f"the name of a data set must be a string, got {name!r}.")
    name = ALIASES.get(name, name)
    if name not in entries:
        near = get_close_matches(name.lower(), [*entries, *ALIASES], n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"unknown data set {name!r}.{hint} `vicinal datasets` lists all that are known."
        )
    return entries[name]


def list_datasets() -> list[str]:
    """Return the names of all known data sets, in alphabetical order.

    Examples
    --------
    >>> from vicinal import list_datasets
    >>> "letter" in list_datasets()
    True
    """
    return sorted(registry())
