"""The entries of the registry, from the two files that hold them.

``sets.toml`` has what is told of each set; ``measurements.json`` what was counted in its stored
file once (checksums, shapes, class counts, fingerprints): a test counts again wherever the files
are at hand.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from vicinal.data import _decoding, _raw
from vicinal.data._registry import DatasetEntry, Measured, PublicSource, RawFile, StoredFile


def read_entries() -> list[DatasetEntry]:
    """Return all entries, in the order of the file."""
    folder = files("vicinal.data")
    tables = tomllib.loads((folder / "sets.toml").read_text(encoding="utf-8"))
    counted = json.loads((folder / "measurements.json").read_text(encoding="utf-8"))
    return [_entry(name, _complete(fields, tables), counted) for name, fields in tables.items()]


def _complete(fields: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry with those of the one that it is like."""
    like = fields.get("like")
    return {**(told[like] if like else {}), **fields}


def _entry(name: str, fields: Mapping[str, Any], counted: Mapping[str, Any]) -> DatasetEntry:
    stem, measured = fields["stored"], _as_tuples(counted["sets"][name])
    names = ("title", "task", "citation", "licence", "groups", "protocol", "note")
    return DatasetEntry(
        name=name,
        measured=Measured(**measured),
        stored=StoredFile(f"{stem}.npz", **counted["files"][stem]) if stem else None,
        decode=_function(fields["decode"], _decoding),
        source=_source(fields),
        classes=tuple(fields.get("classes", ())),
        feature_names=_feature_names(fields, measured["shape"][1]),
        image_shape=tuple(fields["image_shape"]) if fields.get("image_shape") else None,
        single_precision=fields.get("single_precision", False),
        **{key: fields[key] for key in names if key in fields},
    )


def _source(fields: Mapping[str, Any]) -> PublicSource:
    read = fields.get("read")
    return PublicSource(
        page=fields["page"],
        files=tuple(RawFile(**{"url": None, **file}) for file in fields.get("files", ())),
        read=_function(read, _raw) if read else None,
        openml=fields.get("openml") or None,
        note=fields.get("source_note", ""),
    )


def _function(told: str | Mapping[str, Any], module: Any) -> Callable[..., Any]:
    """Return a function of a module by its name, with its arguments where the file gives some."""
    if isinstance(told, str):
        function: Callable[..., Any] = getattr(module, told)
        return function
    options = {key: value for key, value in told.items() if key != "function"}
    for key, value in options.items():
        by_name = key == "group_rows"  # an argument that is a function itself
        options[key] = _function(value, module) if by_name else _as_tuple(value)
    return partial(getattr(module, told["function"]), **options)


def _feature_names(fields: Mapping[str, Any], n_features: int) -> tuple[str, ...]:
    """Return names that are listed, or made by a pattern of number, row and column."""
    names = fields.get("feature_names", ())
    if not isinstance(names, str):
        return tuple(names)
    width = (fields.get("image_shape") or (1, 1))[1]
    return tuple(
        names.format(number=i, row=i // width, column=i % width) for i in range(n_features)
    )


def _as_tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _as_tuple(value) for key, value in record.items()}


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
