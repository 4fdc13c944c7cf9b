"""What commands share: options and their checks, outputs that are whole or absent."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from vicinal._printable import neutral_cell, printable
from vicinal.methods import METHODS

Option = typer.Option
METHODS_HELP = (
    f"Methods, separated by commas: {', '.join(method.name for method in METHODS)}, "
    "or module:Class for a learner of your own."
)

Data = Annotated[
    str,
    typer.Argument(
        help="A known data set, or a table: .csv, .tsv, .txt, .jsonl or .arff (also .gz), "
        ".parquet, .feather, .xlsx, .npz; - reads CSV from standard input.",
        metavar="DATA",
    ),
]
DataOrRun = Annotated[
    str,
    typer.Argument(
        help="A known data set, a table as for compare, or the run folder of a comparison.",
        metavar="DATA",
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A file `vicinal fit` wrote.", metavar="MODEL")]
Split = Annotated[str, Option(help="all, or the train or test part of a known set's split.")]
Target = Annotated[str | None, Option(help="The column to predict, for a file.")]
TaskName = Annotated[str | None, Option("--task", help="classification or regression, for a file.")]
Impute = Annotated[bool, Option("--impute", help="Fill in missing values of a file.")]
Methods = Annotated[str | None, Option(help=METHODS_HELP, show_default="all that suit the task")]
Scale = Annotated[
    str,
    Option(
        "--scale",
        help="zscore, histogram, unit (rows of length 1) or none.",
        show_default="zscore; none for rows of unit length",
    ),
]
Components = Annotated[int | None, Option("--pca", help="Keep so many principal components.")]
Jobs = Annotated[int, Option(help="Processes to work in.", min=1)]
AllJobs = Annotated[
    int | None, Option("--jobs", help="Processes to work in.", min=1, show_default="all processors")
]
COLUMNS = "Columns of a table"
Drop = Annotated[
    str | None,
    Option("--drop", help="Columns to leave out, separated by commas.", rich_help_panel=COLUMNS),
]
Features = Annotated[
    str | None, Option("--features", help="The only columns to use.", rich_help_panel=COLUMNS)
]
Keep = Annotated[
    str | None,
    Option("--keep", help="Columns to use although they look like ids.", rich_help_panel=COLUMNS),
]
Categories = Annotated[
    str | None,
    Option("--categories", help="Columns whose numbers are codes.", rich_help_panel=COLUMNS),
]
Id = Annotated[
    str | None,
    Option("--id", help="The column that names the rows.", rich_help_panel=COLUMNS),
]
Groups = Annotated[
    str | None,
    Option(
        "--groups",
        help="Rows alike in this column stay together; copies: rows alike in all of them.",
        rich_help_panel=COLUMNS,
    ),
]
Weights = Annotated[
    str | None,
    Option("--weights", help="What each row counts: a column.", rich_help_panel=COLUMNS),
]
Missing = Annotated[
    str | None,
    Option(
        "--missing",
        help='Words that stand for no value, separated by commas: "<LOD,n.d.".',
        rich_help_panel=COLUMNS,
    ),
]
Sheet = Annotated[
    str | None,
    Option(
        "--sheet",
        help="The sheet of a workbook.",
        show_default="the first with a table",
        rich_help_panel=COLUMNS,
    ),
]
Out = Annotated[Path | None, Option(help="The run folder.", show_default=False)]
Fresh = Annotated[bool, Option("--fresh", help="Forget an earlier run and start over.")]
Formulas = Annotated[
    bool, Option("--formulas", help="Leave CSV cells that spreadsheets run as formulas alone.")
]
Json = Annotated[Path | None, Option("--json", help="Write the results here as JSON.")]
JsonCopy = Annotated[Path | None, Option("--json", help="Write the results here too.")]


def split_names(text: str, option: str = "--methods") -> list[str]:
    """Return the names of a list separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{option} names nothing.")
    return names


def name_roles(**roles: str | None) -> dict[str, Any]:
    """Return columns by what they are for, as the library takes them."""
    texts = {role: text for role, text in roles.items() if text is not None}
    singles = ("id", "groups", "weights", "sheet")
    return {k: v if k in singles else tuple(split_names(v, f"--{k}")) for k, v in texts.items()}


def check_data(data: str) -> None:
    """Refuse a place without a table before anything heavy is loaded."""
    from vicinal.data import check_source

    check_source(data)


@contextmanager
def standard_input(data: str) -> Iterator[str]:
    """Keep what standard input holds in a file while it is needed; yield where the data are."""
    if data != "-":
        check_data(data)
        yield data
        return
    with TemporaryDirectory(prefix="vicinal-") as folder:
        path = Path(folder) / "stdin.csv"
        if sys.stdin is None:  # the caller has closed it
            raise ValueError("- reads the table from standard input, which is closed.")
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def split_methods(text: str | None) -> list[str] | None:
    """Return the names of some methods, separated by commas; None is left to the library."""
    names = None if text is None else split_names(text)
    find_own_learners(names or ())
    return names


def split_numbers(text: str, option: str = "--k") -> list[int]:
    """Return the whole numbers of a list separated by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} takes whole numbers separated by commas, such as 3,7; got {text!r}."
        ) from None


def find_own_learners(names: Iterable[str]) -> None:
    """Let learners of one's own, module:Class, be found where one works."""
    if any(":" in name for name in names):
        sys.path.insert(0, str(Path.cwd()))


def check_output(
    path: Path | None, option: str = "--json", inputs: Sequence[str | Path] = ()
) -> None:
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
def noting() -> Iterator[None]:
    """Say warnings as notes, once each."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"note: {text}")


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Turn a failed write into a sentence and exit code 1: the command was right, the disk not."""
    try:
        yield
    except OSError as error:
        say(f"failed: cannot write {path}: {error.strerror or error}. What was there is unchanged.")
        raise typer.Exit(1) from None


def command_line() -> str:
    """Return what was typed."""
    return shlex.join(["vicinal", *sys.argv[1:]])


def say(text: str, *, err: bool = True) -> None:
    """Print a line, on standard error unless told otherwise."""
    typer.echo(printable(text), err=err)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; a pipe or device is written as it is."""
    from vicinal._writing import write_atomically

    with saving(path):
        write_atomically(path, content)


def write_json(path: Path | None, content: Mapping[str, Any]) -> None:
    """Write ``--json``, where asked for."""
    if path is not None:
        write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def csv_text(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, formulas: bool = False
) -> str:
    """Return rows as CSV; unless ``formulas``, no cell is one to a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(row if formulas else [neutral_cell(cell) for cell in row])
    return buffer.getvalue()


def print_text(text: str) -> None:
    """Write to standard output: as it is to a file or a pipe, harmless to a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Return a NumPy value as Python's own, for JSON and CSV."""
    return value.item() if hasattr(value, "item") else value


def phrase_vote(model: Any, k: int) -> str:
    """Return what votes in a pipeline that was fitted: k neighbours, or what the fit chose."""
    return "chosen vote" if model["neighbors"].n_neighbors == "auto" else f"k = {k}"


def format_error(error: float, task: str) -> str:
    """Return "4.9 %" of wrong predictions, or "0.213 nMSE"."""
    return f"{100 * error:.1f} %" if task == "classification" else f"{error:.3f} nMSE"
