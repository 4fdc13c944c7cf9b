"""Files written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replace_when_done(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` that takes its place once all is written and on disk.

    Where the writing fails, what was at ``path`` is untouched and nothing is left beside it. A
    link keeps pointing to the file it points to.
    """
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a whole file or none; a pipe or a device is written to as it is, never replaced."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            device.write(data)
        return
    with replace_when_done(path) as file:
        file.write(data)
