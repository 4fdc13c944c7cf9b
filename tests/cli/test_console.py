"""Progress on the terminal: a bar with the time left, or a line for every cell."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import typer
from rich.console import Console

from vicinal.cli._console import (
    RunDisplay,
    describe_records,
    explain_stop,
    format_duration,
    make_console,
    name_options,
)
from vicinal.runs import Cell, RunProgress, Setting, Source

CELL = Cell(Setting(Source("letter")), 1, "mlng", (3, 7))
RECORD = {"status": "ok", "error": 0.0213, "fit_cpu_seconds": 1.5, "predict_cpu_seconds": 0.25}


def show(*reports: RunProgress, terminal: bool, say: str = "") -> str:
    file = io.StringIO()
    console = Console(file=file, width=120, force_terminal=terminal, color_system=None)
    with RunDisplay(console) as display:
        for report in reports:
            display(report)
        if say:
            display.say(say)
    return file.getvalue()


REPORTS = (
    RunProgress(10, 4, 0, (CELL,), None),
    RunProgress(10, 5, 0, (), 75.0, ended=CELL, records=(RECORD,)),
    RunProgress(10, 6, 1, (), 0.2, ended=CELL, records=({"status": "failed", "message": "[no]"},)),
)


def test_piped_every_cell_is_a_line_with_its_errors_and_the_time_left():
    assert show(*REPORTS, terminal=False, say="reading a table").splitlines() == [
        "4 of 10 cells were measured by an earlier run and are kept (--fresh measures anew).",
        "[ 5/10] mlng, k = 3, 7, fold 2: error 0.0213 (1.75 CPU s); about 1 min 15 s left",
        "[ 6/10] mlng, k = 3, 7, fold 2: failed: [no]",
    ]


def test_on_a_terminal_a_bar_shows_how_far_and_how_long():
    text = show(*REPORTS[:2], terminal=True)
    assert "5/10" in text
    assert "1 min 1" in text
    assert "reading a table" in show(*REPORTS, terminal=True, say="reading a table")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations_are_told_as_people_do(seconds, words):
    assert format_duration(seconds) == words


def test_records_of_several_k_are_told_together():
    assert describe_records((RECORD, {**RECORD, "error": 0.5})) == (
        "error 0.0213, 0.5000 (1.75 CPU s)"
    )


def test_an_interrupt_within_a_kernel_is_a_stop_like_any_other(capsys):
    console = make_console(stderr=True)
    with pytest.raises(typer.Exit) as left, explain_stop(console, Path("folder")):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    assert left.value.exit_code == 130
    assert "run the same command again" in capsys.readouterr().err
    with pytest.raises(SystemError), explain_stop(console, Path("folder")):
        raise SystemError("something else")


def test_arguments_in_messages_of_the_library_are_named_as_options():
    said = "Bring it back by name (keep). Ask for 5 (n_folds), in processes (n_jobs); (kept) stays."
    named = (
        "Bring it back by name (--keep). Ask for 5 (--folds), in processes (--jobs); (kept) stays."
    )
    assert name_options(said) == named
