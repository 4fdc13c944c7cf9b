"""JSON lines: an object a line, its keys the columns."""

from __future__ import annotations

import json
from pathlib import Path

from vicinal.data.tables._raw_table import RawTable, quoted
from vicinal.data.tables._text import as_utf8


def read_json_lines(data: bytes, path: Path) -> RawTable:
    """Return the objects as rows; a key that an object lacks is a missing value."""
    import pandas as pd

    data, notes = as_utf8(data, path)
    rows = []
    for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: line {number} is not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}: line {number} holds {type(row).__name__}, not an object of columns."
            )
        rows.append(row)
    nested = sorted({k for row in rows for k, v in row.items() if isinstance(v, (list, dict))})
    if nested:
        raise ValueError(
            f"{path}: columns hold lists or records, not single values: {quoted(nested)}. "
            "Spread them over columns of their own or remove them."
        )
    return RawTable(pd.DataFrame.from_records(rows).infer_objects(), notes)
