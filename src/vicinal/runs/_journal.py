"""Records on disk, one JSON line each, appended as they come and never rewritten.

A line is whole or it does not count: one that a kill or a full disk cut short is left out when
reading and cut off before the next append, so whatever was written before it stays. Each record
carries a digest of itself: one that was damaged or edited is named, left out and measured again.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Return all records of a journal that are as written, in order; none if there is no file.

    Warns of lines that are not.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last newline is torn
    records = [_parse(line) for line in lines]
    bad = [str(number) for number, record in enumerate(records, start=1) if record is None]
    if bad:
        where = f"line {bad[0]}" if len(bad) == 1 else f"lines {', '.join(bad[:10])}"
        warnings.warn(
            f"{path}, {where}: not as they were written; left out, to be measured again.",
            UserWarning,
            stacklevel=2,
        )
    return [record for record in records if record is not None]


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not {"key", "status"} <= record.keys():
        return None
    return record if record.pop("digest", None) == _digest(record) else None


def _digest(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _line(record: Mapping[str, Any]) -> str:
    # As it will be read: JSON knows no tuples, and keys are text.
    read: Record = json.loads(json.dumps(record, allow_nan=False))
    return json.dumps({**read, "digest": _digest(read)}, sort_keys=True) + "\n"


def update_latest(latest: dict[str, Record], records: Iterable[Record]) -> None:
    """Keep the last word on each key; a measurement outweighs any failure."""
    for record in records:
        before = latest.get(record["key"])
        if before is None or record["status"] == "ok" or before["status"] != "ok":
            latest[record["key"]] = record


class Journal:
    """The writing end of a journal: append, and be sure it is on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._size = _whole_length(self._file)
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records and wait until they are on the disk; all of them or none.

        Raises
        ------
        OSError
            Where they cannot be written; what was there before is untouched.
        """
        data = "".join(map(_line, records)).encode()
        try:
            self._write(data)
            os.fsync(self._file)
        except OSError:
            self._cut_back()
            raise
        self._size += len(data)

    def _write(self, data: bytes) -> None:
        while data:  # a nearly full disk takes a part, and says so only at the next write
            data = data[os.write(self._file, data) :]

    def _cut_back(self) -> None:
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _whole_length(file: int) -> int:
    """Return the length up to and with the last newline."""
    end = os.lseek(file, 0, os.SEEK_END)
    while end:
        start = max(0, end - 65536)
        os.lseek(file, start, os.SEEK_SET)
        newline = os.read(file, end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
