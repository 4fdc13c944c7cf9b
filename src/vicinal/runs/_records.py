"""What every record says, and those of measurements that could not be made."""

from __future__ import annotations

from datetime import UTC, datetime

from vicinal import __version__
from vicinal.runs._cells import Cell, Neighbors, record_key
from vicinal.runs._journal import Record


def record_head(cell: Cell, k: Neighbors | None) -> Record:
    """Return what every record says of the measurement it is of."""
    return {
        "key": record_key(cell, k),
        "dataset": cell.setting.source.name,
        "method": cell.method,
        "parameters": dict(cell.parameters),
        "k": k,
        "fold": cell.fold,
        "seed": cell.setting.seed,
        "version": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def fail_record(cell: Cell, k: Neighbors | None, message: str) -> Record:
    """Return the record of a measurement that could not be made."""
    return {**record_head(cell, k), "status": "failed", "message": message}


def fail_cell(cell: Cell, message: str) -> list[Record]:
    """Return a failed record for every k of a cell."""
    return [fail_record(cell, k, message) for k in cell.ks]
