"""Counted once in each stored file: checksums, shapes, class counts and fingerprints.

The numbers are in ``measurements.json``; a test counts again wherever the files are at hand.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from vicinal.data._registry import Measured, StoredFile


def _measured(record: dict[str, Any]) -> Measured:
    lists = {key: tuple(value) for key, value in record.items() if isinstance(value, list)}
    return Measured(**(record | lists))


_KNOWN = json.loads((files("vicinal.data") / "measurements.json").read_text(encoding="utf-8"))

STORED = {stem: StoredFile(f"{stem}.npz", **known) for stem, known in _KNOWN["files"].items()}
MEASURED = {name: _measured(record) for name, record in _KNOWN["sets"].items()}
