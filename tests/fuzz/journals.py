"""Mutated journals: a record is as it was written, or left out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz._outcomes import Try, Wrong
from tests.fuzz.mutations import corrupt, damage

from vicinal.runs._folder import RunFolder
from vicinal.runs._journal import read_records


@cache
def _whole() -> tuple[Path, bytes, dict[str, Any]]:
    folder = Path(tempfile.mkdtemp(prefix="vicinal-fuzz-"))
    records: list[dict[str, Any]] = [
        {"key": f"k{n}", "status": "ok", "error": n / 10, "n_test": 40, "wrong": "0f" * n}
        for n in range(6)
    ]
    with RunFolder(folder, {"seed": 0}) as run:
        run.add(records)
    path = folder / "records.jsonl"
    return path, path.read_bytes(), {record["key"]: record for record in records}


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield tries without end."""
    while True:
        for edited in (False, True):
            seed = int(random.integers(2**32))
            yield Try(f"{'edited ' * edited}{seed}", _trying(edited, seed))


def _trying(edited: bool, seed: int) -> Any:
    def run() -> str:
        path, data, known = _whole()
        random = np.random.default_rng(seed)
        path.write_bytes(_edit(data, random) if edited else damage(data, random))
        found = read_records(path)
        if any(known.get(record["key"]) != record for record in found):
            raise Wrong("a record that nobody wrote")
        with RunFolder(path.parent, {"seed": 0}) as folder:  # and going on is possible
            folder.add([{"key": "new", "status": "ok"}])
        if read_records(path)[-1] != {"key": "new", "status": "ok"}:
            raise Wrong("a record is lost")
        return "all" if len(found) == len(known) else "some left out"

    return run


def _edit(data: bytes, random: np.random.Generator) -> bytes:
    lines = data.splitlines(keepends=True)
    number = random.integers(len(lines))
    lines[number] = json.dumps(corrupt(json.loads(lines[number]), random)).encode() + b"\n"
    return b"".join(lines)
