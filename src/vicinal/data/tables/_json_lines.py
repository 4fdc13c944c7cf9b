"""JSON lines: an object a line, its keys the columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vicinal.data.tables._limits import refuse_beyond, unpacked_limit
from vicinal.data.tables._raw_table import RawTable, quoted
from vicinal.data.tables._text import as_utf8


def read_json_lines(data: bytes, path: Path) -> RawTable:
    """Return the objects as rows; a key that an object lacks is a missing value."""
    import pandas as pd

    data, notes = as_utf8(data, path)
    rows: list[dict[str, Any]] = []
    keys: set[str] = set()
    limit = unpacked_limit(path)
    # By line feeds alone: texts may hold other characters that end a line elsewhere.
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_object if b"\\ud" in line.lower() else None)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: line {number} is not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}: line {number} holds {type(row).__name__}, not an object of columns."
            )
        rows.append(row)
        keys.update(row)
        refuse_beyond(8 * len(rows) * len(keys), limit, path)
    nested = sorted({k for row in rows for k, v in row.items() if isinstance(v, (list, dict))})
    if nested:
        raise ValueError(
            f"{path}: columns hold lists or records, not single values: {quoted(nested)}. "
            "Spread them over columns of their own or remove them."
        )
    return RawTable(pd.DataFrame.from_records(rows).infer_objects(), notes)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose texts can be written: half of a pair of surrogates is no letter."""
    return {_whole(key): _whole(v) if isinstance(v, str) else v for key, v in pairs}


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
