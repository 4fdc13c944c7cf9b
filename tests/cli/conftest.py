"""Running commands in the tests' own process, as a user would see them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from vicinal.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Return a function that runs ``vicinal`` with the words it is given."""

    def call(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["vicinal", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return Outcome(code, printed.out, printed.err)

    return call
