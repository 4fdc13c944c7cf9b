"""What commands share on the terminal: consoles, progress, and how a run that stops says so."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from vicinal._printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.text import Text

    from vicinal.runs import Cell, RunProgress

PLAIN_WIDTH = 120


def make_console(*, stderr: bool = False) -> Console:
    """Return a console; one that is no terminal gets plain lines of fixed width."""
    from rich.console import Console

    class Harmless(Console):
        """Shows names and labels without obeying what they hold."""

        def render_str(self, text: str, **settings: Any) -> Text:
            return super().render_str(printable(text), **settings)

        def print(self, *objects: Any, **settings: Any) -> None:
            try:
                super().print(*objects, **settings)
            except BrokenPipeError:
                self.on_broken_pipe()

        def on_broken_pipe(self) -> None:
            """Go on without a word where the result has no reader; stop where progress has none."""
            if self.quiet:
                return
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
            if self.stderr:
                raise KeyboardInterrupt

    stream = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):  # a terminal that cannot show ± gets a question mark
        stream.reconfigure(errors="replace")
    console = Harmless(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = Harmless(stderr=stderr, highlight=False, width=PLAIN_WIDTH, color_system=None)
    return console


def format_duration(seconds: float) -> str:
    """Return "8 s", "3 min 20 s" or "2 h 05 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def describe_cell(cell: Cell) -> str:
    """Return "mlng, k = 3, fold 2", or "egop, hnn and knn, fold 2" where k is chosen."""
    ks = " and ".join(map(str, cell.ks)) if cell.tuned else f"k = {', '.join(map(str, cell.ks))}"
    return f"{cell.method}, {ks}, fold {cell.fold + 1}"


def describe_cell_of_many(cell: Cell) -> str:
    """Return "letter, mlng, k = 3, fold 2", for runs over several data sets."""
    return f"{cell.setting.source.name}, {describe_cell(cell)}"


class Display:
    """A bar with the time left on a terminal, lines elsewhere; use as a context manager."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console, self._quiet = console, quiet
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._bar = _make_bar(self._console)
            self._task = self._bar.add_task("", total=None, ends=None)
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Name what is being done, where the bar would."""
        if self._bar is not None:
            self._bar.update(self._task, description=text, ends=None)

    def print(self, text: str) -> None:
        """Print a line as it is."""
        self._console.print(text, markup=False, soft_wrap=True)

    def _move(self, bar: Bar, text: str, done: int, total: int, left: float | None) -> None:
        ends = None if left is None else time.monotonic() + left
        bar.update(self._task, description=text, total=total, completed=done, ends=ends)


class RunDisplay(Display):
    """Shows a run, a line a cell where there is no bar; it is the ``listener`` of the run."""

    def __init__(
        self,
        console: Console,
        describe: Callable[[Cell], str] = describe_cell,
        *,
        quiet: bool = False,
    ) -> None:
        super().__init__(console, quiet=quiet)
        self._describe = describe
        self._said_known = False
        self.folder: Path | None = None

    def __call__(self, progress: RunProgress) -> None:
        """Show how far the run is."""
        self.folder = progress.folder
        if not self._said_known:
            self._said_known = True
            self._say_known(progress)
        if self._quiet:
            return
        if self._bar is None:
            self._print_line(progress)
        else:
            self._move_bar(self._bar, progress)

    def announce(self, notes: Iterable[str]) -> None:
        """Print how the rows were read."""
        for note in () if self._quiet else notes:
            self.print(name_options(note))

    def _say_known(self, progress: RunProgress) -> None:
        if progress.n_done and not self._quiet:
            self.print(
                f"{progress.n_done} of {progress.n_cells} cells were measured by an earlier run "
                "and are kept (--fresh measures anew)."
            )

    def _move_bar(self, bar: Bar, progress: RunProgress) -> None:
        failed = f" ({progress.n_failed} failed)" if progress.n_failed else ""
        text = ("; ".join(map(self._describe, progress.running)) or "…") + failed
        self._move(bar, text, progress.n_done, progress.n_cells, progress.seconds_left)

    def _print_line(self, progress: RunProgress) -> None:
        if progress.ended is None:
            return
        width = len(str(progress.n_cells))
        left = progress.seconds_left
        ahead = f"; about {format_duration(left)} left" if left and left >= 1 else ""
        self.print(
            f"[{progress.n_done:{width}}/{progress.n_cells}] {self._describe(progress.ended)}: "
            f"{describe_records(progress.records)}{ahead}"
        )


def describe_records(records: tuple[dict[str, Any], ...]) -> str:
    """Return "error 0.0512, 0.0488 (0.31 CPU s)", or why there is none."""
    ok = [record for record in records if record["status"] == "ok"]
    if not ok:
        return f"failed: {records[0]['message']}"
    errors = ", ".join(f"{record['error']:.4f}" for record in ok)
    cpu = ok[0]["fit_cpu_seconds"] + ok[0]["predict_cpu_seconds"]
    return f"error {errors} ({cpu:.2f} CPU s)"


def _make_bar(console: Console) -> Bar:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """Counts down to when the run is expected to end."""

        def render(self, task: Any) -> Text:
            ends = task.fields.get("ends")
            if ends is None:
                return Text("")
            return Text(f"{format_duration(max(0.0, ends - time.monotonic()))} left")

    return Bar(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
        TextColumn("{task.description}", style="dim", markup=False),
        console=console,
        transient=True,
    )


@contextmanager
def running(
    describe: Callable[[Cell], str] = describe_cell, *, quiet: bool = False
) -> Iterator[RunDisplay]:
    """Show a run whose listener this yields, and explain how it stops."""
    console = make_console(stderr=True)
    with RunDisplay(console, describe, quiet=quiet) as display, explain_stop(console, display):
        yield display


@contextmanager
def explain_stop(console: Console, where: RunDisplay | Path) -> Iterator[None]:
    """Turn Ctrl-C, a polite kill and a full disk into a sentence and an exit code.

    ``where`` is the run folder, or the display that hears of it.
    """
    from vicinal.runs import WriteError

    before = on_signals(_interrupt)
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        # A compiled kernel that is interrupted says so in its own way.
        if isinstance(error, SystemError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        folder = where.folder if isinstance(where, RunDisplay) else where
        outcome = "nothing was measured yet."
        if folder is not None:
            outcome = f"What is measured is kept in {folder}; run the same command again to go on."
        console.print(f"stopped. {outcome}", markup=False, soft_wrap=True)
        raise typer.Exit(128 + getattr(error, "number", signal.SIGINT)) from None
    except WriteError as error:
        console.print(f"failed: {name_options(str(error))}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def on_signals(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Let a handler answer a polite kill and a closed terminal; return who did before.

    What the caller has told the process not to hear, as ``nohup`` does, stays unheard.
    """
    numbers = [n for name in ("SIGTERM", "SIGHUP") if (n := getattr(signal, name, None))]
    heard = [n for n in numbers if signal.getsignal(n) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


OPTIONS = (
    "categories", "drop", "fresh", "groups", "impute", "k", "keep", "limit", "list", "missing",
    "folds", "jobs", "sheet",
    "protocol", "repeats", "out", "quick", "scale", "score", "seed", "split", "target", "task",
)  # fmt: skip


def name_options(text: str) -> str:
    """Return a message of the library with its arguments as options.

    "(target)" becomes "(--target)", and "(groups='plot no')" becomes "(--groups 'plot no')".
    """

    def name(found: re.Match[str]) -> str:
        value = found["value"]
        return f"(--{found['name']}{'' if value is None else f' {shlex.quote(value)}'})"

    names = "|".join(OPTIONS)
    return re.sub(rf"\((?:n_)?(?P<name>{names})(?:='(?P<value>[^']*)')?\)", name, text)


def remedy_command(remedy: Mapping[str, Any]) -> str:
    """Return the command as it was typed, with the options that would mend it."""
    more: list[str] = []
    for name, value in remedy.items():
        more.append(f"--{name}")
        if value is not True:
            more.append(value if isinstance(value, str) else ",".join(value))
    return shlex.join(["vicinal", *sys.argv[1:], *more])


class _Interrupted(KeyboardInterrupt):
    """A signal other than Ctrl-C's, by its number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _interrupt(number: int, frame: Any) -> None:
    raise _Interrupted(number)
