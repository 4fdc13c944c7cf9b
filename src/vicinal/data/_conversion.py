"""A source's own files -> the stored file, recognised before it is trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vicinal._types import AnyArray
from vicinal._writing import replace_when_done, write_atomically
from vicinal.data._download import DataCorruptError, DataUnavailableError
from vicinal.data._fingerprint import fingerprint, same_fingerprint
from vicinal.data._registry import DatasetEntry, StoredFile, registry


def convert(entry: DatasetEntry, files: Mapping[str, Path], folder: Path) -> Path:
    """Turn a source's own files into the stored file, after checking what they hold.

    The stored file is written to `folder`, with its own checksum beside it: compression is not
    the same everywhere, so it need not equal the registered one byte for byte.
    """
    assert entry.stored is not None
    assert entry.source.read is not None
    names = ", ".join(files)
    try:
        arrays = entry.source.read(files)
        problems = [p for p in (_differs(e, arrays) for e in _entries_of(entry)) if p]
    except Exception as error:  # a damaged file may break any parser, in any way
        raise DataCorruptError(f"cannot make sense of {names} for {entry.name}: {error}") from error
    if problems:
        raise DataCorruptError(f"{names} does not hold the registered data: {problems[0]}")
    return _save(folder / entry.stored.name, arrays, files)


def _entries_of(entry: DatasetEntry) -> list[DatasetEntry]:
    """Return all entries that share this one's stored file (targets, domains)."""
    others = [e for e in registry().values() if e.stored == entry.stored and e.name != entry.name]
    return [entry, *others]


def _differs(entry: DatasetEntry, arrays: Mapping[str, AnyArray]) -> str | None:
    """Compare what was read with what was measured when the set was registered."""
    decoded, measured = entry.decode(arrays), entry.measured
    X = decoded.X if decoded.divisor == 1.0 else decoded.X / decoded.divisor
    if X.shape != measured.shape:
        return f"{entry.name} should have shape {measured.shape}, found {X.shape}."
    counts = tuple(int(n) for n in np.bincount(decoded.y)) if measured.class_counts else ()
    if counts != measured.class_counts:
        return f"{entry.name} should have {measured.class_counts} rows by class, found {counts}."
    n_test = 0 if decoded.is_test is None else int(decoded.is_test.sum())
    n_groups = 0 if decoded.groups is None else len(np.unique(decoded.groups))
    if (n_test, n_groups) != (measured.n_test, measured.n_groups):
        return f"{entry.name}'s official split or groups differ."
    if not same_fingerprint(fingerprint(X, decoded.y, decoded.is_test), measured.fingerprint):
        return f"the values of {entry.name} differ from the registered ones."
    return None


def _save(path: Path, arrays: Mapping[str, AnyArray], files: Mapping[str, Path]) -> Path:
    """Write the stored file and beside it its own checksum, each in one step."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_when_done(path) as file:
            np.savez_compressed(file, **dict(arrays))
        sources = {name: sha256_of(source) for name, source in files.items()}
        made = {"sha256": sha256_of(path), "made_from": sources}
        write_atomically(sidecar_of(path), json.dumps(made, indent=2) + "\n")
    except OSError as error:
        raise DataUnavailableError(
            f"cannot write {path}: {error.strerror or error}; set VICINAL_CACHE to a folder with "
            "room that you may write to"
        ) from error
    return path


def sidecar_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def mismatch(path: Path, stored: StoredFile) -> str | None:
    """Say how a file differs from the registered one, or from what was converted beside it."""
    digest = sha256_of(path)
    if digest == stored.sha256:
        return None
    try:
        made = json.loads(sidecar_of(path).read_text(encoding="utf-8"))
        if made["sha256"] == digest:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return (
        f"{path} is not the registered file: its sha256 is {digest} instead of {stored.sha256}, "
        f"its size {path.stat().st_size} instead of {stored.n_bytes} bytes."
    )


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
