"""Names and labels of unknown origin are shown, not obeyed."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal._printable import neutral_cell, printable
from vicinal.cli._console import make_console
from vicinal.cli._options import csv_text, print_text, say

HOSTILE = "a\x1b[2Jb\x9b31m\x07\u202ec"


@given(st.text())
def test_what_is_printable_holds_no_control_characters_and_stays_so(text):
    shown = printable(text)
    assert all(c in "\n\t" or (ord(c) >= 32 and not 127 <= ord(c) < 160) for c in shown)
    assert printable(shown) == shown


def test_text_that_is_harmless_is_left_alone():
    assert printable("élan ± 5 %\n\tΔ 北") == "élan ± 5 %\n\tΔ 北"


def test_lines_and_tables_show_escapes_as_text(capsys):
    console = make_console()
    console.print(HOSTILE, markup=False)
    say(HOSTILE, err=False)
    assert not set("\x1b\x9b\x07\u202e") & set(capsys.readouterr().out)


def test_a_terminal_gets_harmless_text_and_a_pipe_the_text(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, expected in ((Terminal(), printable(HOSTILE)), (io.StringIO(), HOSTILE)):
        monkeypatch.setattr(sys, "stdout", stream)
        print_text(HOSTILE)
        assert stream.getvalue() == expected


@pytest.mark.parametrize("cell", ["=1+1", "+1;x", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_marked_as_text(cell):
    assert neutral_cell(cell) == f"'{cell}"
    assert f"'{cell}" in csv_text(["label"], [[cell]]).replace('"', "")
    assert f"'{cell}" not in csv_text(["label"], [[cell]], formulas=True)


@pytest.mark.parametrize("cell", [-3.5, "-3.5", "+1e5", "a=b", "", None, "-inf"])
def test_numbers_and_other_text_are_left_alone(cell):
    assert neutral_cell(cell) == cell
