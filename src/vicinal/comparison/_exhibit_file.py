"""Exhibits on disk: one NPZ file of plain arrays and a JSON text, nothing pickled."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray
from vicinal._writing import write_atomically
from vicinal.report import Example, Exhibit
from vicinal.runs import record_from_json


def exhibit_path(folder: Path, key: str) -> Path:
    """Return where the exhibit of a measurement is kept."""
    return folder / f"exhibit-{key}.npz"


def write_exhibit(exhibit: Exhibit, path: Path) -> None:
    """Write an exhibit whole or not at all."""
    values = {f.name: getattr(exhibit, f.name) for f in fields(exhibit)}
    arrays: dict[str, Any] = {
        name: value for name, value in values.items() if isinstance(value, np.ndarray)
    }
    texts = {name: value for name, value in values.items() if name not in arrays}
    texts["examples"] = [asdict(replace(e, images={}, query_image=None)) for e in exhibit.examples]
    rows, pictures = _collect_pictures(exhibit)
    buffer = io.BytesIO()
    text = np.array(json.dumps(texts))
    np.savez_compressed(buffer, text=text, rows=rows, pictures=pictures, **arrays)
    write_atomically(path, buffer.getvalue())


def _collect_pictures(exhibit: Exhibit) -> tuple[AnyArray, AnyArray]:
    """The pictures of all examples, each once, with their rows."""
    pictures: dict[int, AnyArray] = {}
    for example in exhibit.examples:
        pictures |= example.images
        if example.query_image is not None:
            pictures[example.row] = example.query_image
    rows = np.array(list(pictures), dtype=np.int64)
    return rows, np.array(list(pictures.values())) if pictures else np.empty(0)


def read_exhibit(path: Path) -> Exhibit | None:
    """Return an exhibit, or None where the file is missing or not whole."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
        texts = json.loads(str(arrays.pop("text")))
        rows, pictures = arrays.pop("rows").tolist(), arrays.pop("pictures")
        picture_of = dict(zip(rows, pictures, strict=True))
        exhibit = record_from_json(Exhibit, texts | arrays)
        shown = tuple(_with_pictures(example, picture_of) for example in exhibit.examples)
        return replace(exhibit, examples=shown)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _with_pictures(example: Example, pictures: dict[int, AnyArray]) -> Example:
    rows = [neighbor.row for neighbor in (*example.before, *example.after)]
    images = {row: pictures[row] for row in rows} if pictures else {}
    return replace(example, images=images, query_image=pictures.get(example.row))
