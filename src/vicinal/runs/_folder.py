"""A run folder: its configuration, its journal, and the lock that keeps one writer at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from vicinal._writing import write_atomically
from vicinal.runs._journal import Journal, Record, read_records, update_latest

RUNS = Path("vicinal-runs")  # where runs go unless told otherwise
CONFIGURATION = "config.json"
RECORDS = "records.jsonl"
LOCK = "run.lock"
OUTPUTS = ("results.json", "report.html", "exhibit-*.npz", "*.pt", ".*.part")


class WriteError(RuntimeError):
    """Results could not be written; what was written before is whole."""


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn a failed write into a :class:`WriteError`: what went wrong, what is safe, what to do."""
    try:
        yield
    except BlockingIOError:  # another run's lock, which has its own words
        raise
    except OSError as error:
        raise WriteError(_explain(path, error)) from error


def _explain(path: Path, error: OSError) -> str:
    return (
        f"cannot write to {path}: {error.strerror or error}. What was measured before is kept; "
        "put that right and start the same run again to go on, or use another folder (out)."
    )


class RunFolder:
    """Where a run keeps its results, so that it can stop at any moment and go on later.

    Use as a context manager. Entering makes the folder, takes the lock, writes or compares
    ``config.json`` and reads what is already measured.

    Parameters
    ----------
    path : Path
    configuration : mapping of JSON values, or None
        What the results depend on. A folder that holds another one is refused; None accepts
        any, for runs whose records' keys say it all.
    fresh : bool
        Forget what is there and start over.

    Attributes
    ----------
    known : dict of str to record
        The last record of each key.
    """

    def __init__(
        self, path: Path, configuration: Mapping[str, Any] | None = None, *, fresh: bool = False
    ) -> None:
        self.path = Path(path)
        self.configuration = configuration
        self.fresh = fresh
        self.known: dict[str, Record] = {}

    def __enter__(self) -> RunFolder:
        check_folder(self.path)
        with writing_to(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(self.path)
            self._open_locked()
        return self

    def _open_locked(self) -> None:
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self) -> None:
        if self.fresh:
            _forget(self.path)
        if self.configuration is not None:
            _keep_configuration(self.path / CONFIGURATION, self.configuration)
        update_latest(self.known, read_records(self.path / RECORDS))
        self._journal = Journal(self.path / RECORDS)

    def __exit__(self, *exception: object) -> None:
        self._journal.close()
        _drop_pieces(self.path)
        os.close(self._lock)

    def add(self, records: Iterable[Record]) -> None:
        """Append records; they are on the disk when this returns.

        Raises
        ------
        WriteError
            Where they cannot be written.
        """
        records = list(records)
        with writing_to(self.path):
            self._journal.append(records)
        update_latest(self.known, records)

    def measured(self, key: str) -> bool:
        """Whether a key has a result; a failure is none, so that a restart tries again."""
        return self.known.get(key, {}).get("status") == "ok"


def check_folder(path: Path) -> None:
    """Refuse a file, or a folder with things in it that no run put there."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file; results need a folder of their own.")
    if path.is_dir() and not (path / LOCK).exists() and any(path.iterdir()):
        raise FileExistsError(
            f"{path} holds other files and no run of vicinal; choose an empty or a new folder."
        )


def _take_lock(path: Path) -> int:
    """Return an open lock file; the system lets go of it when the process ends, however it ends."""
    file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise BlockingIOError(
            f"another run is writing to {path}; wait for it, or use another folder (out)."
        ) from None
    except (ImportError, OSError):  # a system without locks: two writers are the user's care
        pass
    return file


def _drop_pieces(path: Path) -> None:
    """Remove what a process that was killed has written half; nobody else writes by now."""
    for piece in path.glob(".*.part"):
        with suppress(OSError):
            piece.unlink()


def _forget(path: Path) -> None:
    # Only what a run writes, and the configuration last: it tells whose the rest is.
    for pattern in (*OUTPUTS, RECORDS, CONFIGURATION):
        for old in path.glob(pattern):
            old.unlink()


def _keep_configuration(path: Path, configuration: Mapping[str, Any]) -> None:
    """Write the configuration of a new folder, or refuse a folder that has another."""
    if not path.exists():
        write_atomically(path, json.dumps(configuration, indent=2, sort_keys=True) + "\n")
        return
    try:
        present = json.loads(path.read_text())
    except ValueError:
        raise ValueError(
            f"{path} is damaged, so it cannot be told what the results beside it belong to; "
            "start over (fresh), or use another folder (out)."
        ) from None
    differences = list(_differences(present, json.loads(json.dumps(configuration))))
    if differences:
        raise ValueError(
            f"{path.parent} holds the results of another configuration ({'; '.join(differences)}); "
            "use another folder (out), or start over (fresh)."
        )


def _differences(present: Any, wanted: Any, name: str = "") -> Iterable[str]:
    """Say in words where two configurations part."""
    if isinstance(present, dict) and isinstance(wanted, dict):
        for key in sorted({*present, *wanted}):
            yield from _differences(present.get(key), wanted.get(key), key)
    elif present != wanted:
        yield f"{name}: there {json.dumps(present)}, now {json.dumps(wanted)}"
