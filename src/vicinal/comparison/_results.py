"""Results as a JSON file: what was asked, and one record for each method and k."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vicinal._types import Comparison, Row
from vicinal._writing import write_atomically


def results_of(comparison: Comparison, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of ``results.json``."""
    return {
        "version": comparison.version,
        "config": dict(configuration),
        "records": [row_to_json(row, comparison) for row in comparison.rows],
    }


def row_to_json(row: Row, comparison: Comparison) -> dict[str, Any]:
    """Return a row as JSON values; what is not known is null."""
    record = asdict(row) | {"seed": comparison.seed, "version": comparison.version}
    return {name: _known(value) for name, value in record.items()}


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_results(results: Mapping[str, Any], path: Path) -> None:
    """Write results whole or not at all."""
    write_atomically(path, json.dumps(results, indent=1, allow_nan=False) + "\n")
