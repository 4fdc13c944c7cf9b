"""Records on disk, one JSON line each, appended as they come and never rewritten.

A line is whole or it does not count: one that a kill or a full disk cut short is left out when
reading and cut off before the next append, so whatever was written before it stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Return all whole records of a journal, in the order written; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last newline is torn
    return [record for record in map(_parse, lines) if record is not None]


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and {"key", "status"} <= record.keys() else None


def update_latest(latest: dict[str, Record], records: Iterable[Record]) -> None:
    """Keep the last word on each key; a measurement outweighs any failure."""
    for record in records:
        known = latest.get(record["key"])
        if known is None or record["status"] == "ok" or known["status"] != "ok":
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
        text = "".join(json.dumps(r, allow_nan=False, sort_keys=True) + "\n" for r in records)
        data = text.encode()
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
