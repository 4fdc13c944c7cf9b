"""Rows of a large text drawn at random, so that time and memory do not grow with the file's.

    file ─▶ blocks ─▶ how many records ─▶ which ─▶ blocks again ─▶ where those are ─▶ their bytes

The first records are always among them: they hold what a table is recognised by.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from vicinal._types import IntArray

BLOCK = 1 << 22
# Bytes of text beyond which a comparison looks at a sample: what a packed table may unpack to.
LARGE = 10**8
# Rows of that sample: a fold of them tells an error to within a point (4,000 rows: 0.8).
SAMPLE = 20_000
# And the bytes it may have, where rows are long.
MOST_BYTES = LARGE // 2
HEAD = 50
LINES = (".jsonl", ".ndjson")
RECORDS = (".csv", ".tsv", ".txt", ".dat", ".data", *LINES)


def is_large_text(path: Path) -> bool:
    """Return whether a file is a text of records too large to be looked at whole."""
    if path.suffix.lower() not in RECORDS or not path.is_file() or path.stat().st_size <= LARGE:
        return False
    with path.open("rb") as file:
        return b"\0" not in file.read(1000)  # every other byte of UTF-16 is one


def sample_records(path: Path, n_records: int, seed: int = 0) -> tuple[bytes, int]:
    """Return the first records and random others, in their order, and how many there are in all.

    Parameters
    ----------
    path : Path
        A text as :func:`is_large_text` means it.
    n_records : int
        How many to return, fewer where they take more than ``MOST_BYTES``.
    seed : int

    Notes
    -----
    Two passes over the file in blocks; memory is a block and what is returned.
    """
    quoted = path.suffix.lower() not in LINES
    total = sum(len(ends) for ends in _record_ends(path, quoted))
    n = min(n_records, max(HEAD, MOST_BYTES * total // path.stat().st_size))
    if n >= total:
        return path.read_bytes(), total
    head = min(HEAD, n)
    others = np.random.default_rng(seed).choice(total - head, n - head, replace=False) + head
    chosen = np.concatenate([np.arange(head), np.sort(others)])
    with path.open("rb") as file:
        return b"".join(_read(file, *span) for span in _spans(path, quoted, chosen)), total


def _read(file: BinaryIO, start: int, stop: int) -> bytes:
    file.seek(start)
    return file.read(stop - start)


def _spans(path: Path, quoted: bool, chosen: IntArray) -> Iterator[tuple[int, int]]:
    """Yield where each chosen record begins and where the next one does."""
    number = start = 0
    for ends in _record_ends(path, quoted):
        if not len(ends):
            continue
        starts = np.concatenate([[start], ends[:-1]])
        first, last = np.searchsorted(chosen, [number, number + len(ends)])
        for record in chosen[first:last] - number:
            yield int(starts[record]), int(ends[record])
        number, start = number + len(ends), int(ends[-1])


def _record_ends(path: Path, quoted: bool) -> Iterator[IntArray]:
    """Yield, block by block, the places behind the records that end there, shape (n,)."""
    from vicinal._kernels._records import OPENING, find_record_ends

    state, place, last = OPENING, 0, b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            text = np.frombuffer(block, np.uint8)
            ends = np.flatnonzero(text == ord("\n"))
            if quoted:
                n, state = find_record_ends(text, state, ends)
                ends = ends[:n]
            yield place + ends + 1
            place, last = place + len(block), block[-1:]
        if place and last != b"\n":
            yield np.array([place])
