"""The ``vicinal`` command: parse, call, print.

Each command has a file of its own that imports nothing heavy until it runs, so that
``vicinal --help`` answers at once.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
import warnings
from contextlib import suppress

import typer

from vicinal import __version__
from vicinal._printable import printable
from vicinal.cli._adapt import adapt
from vicinal.cli._bench import bench
from vicinal.cli._benchmark import benchmark
from vicinal.cli._compare import compare
from vicinal.cli._console import on_signals
from vicinal.cli._datasets import datasets
from vicinal.cli._export import export
from vicinal.cli._fit import fit
from vicinal.cli._info import info
from vicinal.cli._neighbors import neighbors
from vicinal.cli._neural import neural
from vicinal.cli._predict import predict
from vicinal.cli._reproduce import reproduce
from vicinal.cli._rows import rows
from vicinal.cli._sphere import sphere
from vicinal.cli._transform import transform

app = typer.Typer(
    name="vicinal",
    help='Learn what "near" means, and see whether it helps on your data.',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"vicinal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


app.command("adapt")(adapt)
app.command("bench")(bench)
app.command("compare")(compare)
app.command("datasets")(datasets)
app.command("export")(export)
app.command("fit")(fit)
app.command("info")(info)
app.command("neighbors")(neighbors)
app.command("predict")(predict)
app.command("reproduce")(reproduce)
app.command("transform")(transform)
app.add_typer(benchmark, name="benchmark")
app.add_typer(neural, name="neural")
app.add_typer(rows, name="rows")
app.add_typer(sphere, name="sphere")
groups = (app, benchmark, neural, rows, sphere)
for command in (each for group in groups for each in group.registered_commands):
    # Paragraphs of one line each, so that the terminal alone breaks them.
    paragraphs = inspect.getdoc(command.callback or _options) or ""
    command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", paragraphs)


def main() -> None:
    """Run the command line; exit 0 when done, 1 when something failed, 2 for bad usage or input."""
    warnings.showwarning = _note
    on_signals(_leave)
    try:
        app()
    except _Stopped as stopped:
        with suppress(OSError):  # the terminal may be gone
            typer.echo(f"stopped ({signal.Signals(stopped.number).name}).", err=True)
        sys.exit(128 + stopped.number)
    except (ValueError, OSError) as error:  # bad input: say what, never show a traceback
        _stop(error, code=2)
    except Exception as error:
        _stop(error, code=1)


class _Stopped(BaseException):
    """The process is asked to end, at a moment when there is nothing to keep."""

    def __init__(self, number: int) -> None:
        self.number = number


def _leave(number: int, frame: object) -> None:
    raise _Stopped(number)


def _note(message: Warning | str, *where: object, **more: object) -> None:
    """Show a warning as a line to a user, who does not care for the place in the code."""
    typer.echo(printable(f"note: {message}"), err=True)


def _stop(error: Exception, code: int) -> None:
    if os.environ.get("VICINAL_DEBUG"):
        raise error
    from vicinal.cli._console import name_options

    text = name_options(str(error)) or type(error).__name__
    said = f"error: {text}" if code == 2 else f"failed: {type(error).__name__}: {text}"
    remedy = getattr(error, "remedy", None)
    if remedy:
        from vicinal.cli._console import remedy_command

        said = f"{said}\nfor instance: {remedy_command(remedy)}"
    typer.echo(printable(said), err=True)
    sys.exit(code)
