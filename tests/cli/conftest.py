"""Running commands in the tests' own process, as a user would see them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import pytest

from vicinal.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


def run_here(*words: object) -> Outcome:
    """Run ``vicinal`` with these words in this process."""
    code, out, err = 0, StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["vicinal", *map(str, words)])
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture
def run() -> Callable[..., Outcome]:
    """Return a function that runs ``vicinal`` with the words it is given."""
    return run_here
