"""Exhibits on disk: one NPZ file of plain arrays and a JSON text, nothing pickled."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, Example, Exhibit, Neighbor
from vicinal._writing import write_atomically

ARRAYS = ("map_before", "map_after", "map_targets", "relevance", "spectrum")


def write_exhibit(exhibit: Exhibit, path: Path) -> None:
    """Write an exhibit whole or not at all."""
    rows, pictures = _collect_pictures(exhibit)
    bare = [asdict(replace(e, images={}, query_image=None)) for e in exhibit.examples]
    texts = {f.name: getattr(exhibit, f.name) for f in fields(exhibit) if f.name not in ARRAYS}
    text = {**texts, "examples": bare}
    arrays = {name: getattr(exhibit, name) for name in ARRAYS}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, text=np.array(json.dumps(text)), rows=rows, pictures=pictures, **arrays
    )
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
            arrays = {name: file[name] for name in file.files}
        text = json.loads(str(arrays["text"]))
        pictures = dict(zip(arrays["rows"].tolist(), arrays["pictures"], strict=True))
        return _assemble(text, arrays, pictures)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None


def _assemble(
    text: dict[str, Any], arrays: dict[str, AnyArray], pictures: dict[int, AnyArray]
) -> Exhibit:
    shape = text.pop("image_shape")
    examples = tuple(_example(e, pictures) for e in text.pop("examples"))
    values = {
        **text,
        **{name: arrays[name] for name in ARRAYS},
        "feature_names": tuple(text["feature_names"]),
        "examples": examples,
        "image_shape": None if shape is None else tuple(shape),
    }
    return Exhibit(**values)


def _example(text: dict[str, Any], pictures: dict[int, AnyArray]) -> Example:
    sides = {side: tuple(_neighbor(n) for n in text.pop(side)) for side in ("before", "after")}
    rows = [neighbor.row for side in sides.values() for neighbor in side]
    return Example(
        **{
            **text,
            **sides,
            "values": tuple((name, value) for name, value in text["values"]),
            "images": {row: pictures[row] for row in rows} if pictures else {},
            "query_image": pictures.get(text["row"]),
        }
    )


def _neighbor(text: dict[str, Any]) -> Neighbor:
    return Neighbor(**{**text, "values": tuple(text["values"])})
