"""What ``reproduce`` leaves: outcomes as JSON or as a page, experiments as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from vicinal import __version__
from vicinal._writing import write_atomically
from vicinal.published._experiments import Experiment
from vicinal.published._outcomes import Outcome, outcome_record
from vicinal.published._page import results_markdown


def write_outcomes(outcomes: Iterable[Outcome], path: Path) -> None:
    """Write outcomes as JSON: ``version`` and one record an experiment."""
    content = {
        "version": __version__,
        "records": [outcome_record(outcome) for outcome in outcomes],
    }
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def write_page(outcomes: Iterable[Outcome], path: Path) -> None:
    """Write outcomes as a page of Markdown; quick ones are refused with a ValueError."""
    body = results_markdown([outcome_record(outcome) for outcome in outcomes])
    write_atomically(path, f"# Published results, measured again\n\n{body}")


def write_plan(experiments: Iterable[Experiment], path: Path) -> None:
    """Write experiments as JSON, with everything their tables say of them."""
    content = {"version": __version__, "experiments": [asdict(e) for e in experiments]}
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
