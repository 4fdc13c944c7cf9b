"""How far a reader of ``MLNG().fit`` has to walk: functions, files, and ways from file to file."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_wine

import vicinal
from vicinal import MLNG

ROOT = str(Path(vicinal.__file__).parent)
# The checks of input that all estimators share, which a reader knows or takes for granted.
CHECKS = tuple(f"{ROOT}/{name}.py" for name in ("_validation", "_disguises"))


def walk(run: Any) -> tuple[set[tuple[str, str]], set[str], set[tuple[str, str]]]:
    """Return the package's functions that a call passes, their files, and which calls which."""
    functions: set[tuple[str, str]] = set()
    changes: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(ROOT) or file in CHECKS:
            return
        functions.add((file, frame.f_code.co_qualname))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != file:
            changes.add((caller.f_code.co_filename, file))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return functions, {file for file, _ in functions}, changes


def test_a_fit_is_a_short_walk():
    X, y = load_wine(return_X_y=True)
    functions, files, changes = walk(lambda: MLNG(random_state=0).fit(X[::2], y[::2]))
    assert len(functions) <= 130
    assert len(files) <= 21
    assert len(changes) <= 30
