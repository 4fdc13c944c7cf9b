"""Lets this process and its workers import the learners that misbehave."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _learners_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "runs"))
