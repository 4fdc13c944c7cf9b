"""What ``fit``, ``predict`` and ``neighbors`` share: options, outputs that are whole or absent."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[
    str, typer.Argument(help="A known data set, or a CSV, Parquet or NPZ file.", metavar="DATA")
]
ModelFile = Annotated[Path, typer.Argument(help="A file `vicinal fit` wrote.", metavar="MODEL")]
Split = Annotated[
    str, typer.Option(help="all, or the train or test part of a known set's official split.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the results here as JSON.")]


def check_output(path: Path | None, option: str, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a place that cannot be written, or an input, before time is spent on its contents."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{option} {path} is a directory; give the name of a file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no directory {folder}.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"{option} {path}: no permission to write there.")
    for used in map(Path, inputs):
        if path.exists() and used.exists() and path.samefile(used):
            raise ValueError(f"{option} {path} is also read by this command; choose another name.")


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and for how long; elsewhere be quiet."""
    try:
        with _spinner(text):
            yield
    except KeyboardInterrupt:
        say("stopped; nothing was written.")
        raise typer.Exit(130) from None


def _spinner(text: str) -> AbstractContextManager[Any]:
    from vicinal.cli._console import make_console

    console = make_console(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    progress = Progress(*columns, console=console, transient=True)
    progress.add_task(text, total=None)
    return progress


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Turn a failed write into a sentence and exit code 1: the command was right, the disk not."""
    try:
        yield
    except OSError as error:
        say(f"failed: cannot write {path}: {error.strerror or error}. What was there is unchanged.")
        raise typer.Exit(1) from None


def say(text: str, *, err: bool = True) -> None:
    """Print a line, on standard error unless told otherwise."""
    typer.echo(text, err=err)


def write_file(path: Path, text: str) -> None:
    """Write a text file whole or not at all; a pipe or device is written as it is."""
    from vicinal._writing import write_atomically

    with saving(path):
        write_atomically(path, text)


def write_json(path: Path | None, content: Mapping[str, Any]) -> None:
    """Write ``--json``, where asked for."""
    if path is not None:
        write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def print_text(text: str) -> None:
    """Write to standard output as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Return a NumPy value as Python's own, for JSON and CSV."""
    return value.item() if hasattr(value, "item") else value


def format_error(error: float, task: str) -> str:
    """Return "4.9 %" of wrong predictions, or "0.213 nMSE"."""
    return f"{100 * error:.1f} %" if task == "classification" else f"{error:.3f} nMSE"
