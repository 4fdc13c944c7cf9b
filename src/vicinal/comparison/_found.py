"""What a comparison found, read from its run folder: enough to fit it on all rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vicinal.data import sha256_of
from vicinal.methods import EUCLIDEAN

RESULTS = "results.json"


@dataclass(frozen=True)
class Found:
    """The best of a comparison's neighbours, and how its rows were read and prepared."""

    data: str
    method: str
    k: int
    target: str | None = None
    task: str | None = None
    impute: bool = False
    scale: str = "zscore"
    n_components: int | None = None
    seed: int = 0
    roles: Mapping[str, Any] = field(default_factory=dict)


def read_found(folder: str | Path) -> Found:
    """Return what a comparison found.

    Raises
    ------
    ValueError
        Where the folder holds no comparison that ended, nothing was measured, its rows were
        never in a file, or the file has changed since.
    """
    path = Path(folder) / RESULTS
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        source, settings = content["config"]["source"], content["config"]["preparation"]
        rows = [row for row in content["records"] if _counts(row)]
        data, seed = content["data"], int(content["config"]["seed"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder} is a directory without a comparison that ended (no {RESULTS} of one in "
            "it); give a table, a known data set, or the run folder that compare names."
        ) from error
    if not rows:
        raise ValueError(f"{folder}: no method was measured there, so there is none to fit.")
    if not data:
        raise ValueError(f"{folder}: its rows were given in Python and are in no file.")
    if source.get("digest") and (
        not Path(data).exists() or sha256_of(Path(data)) != source["digest"]
    ):
        raise ValueError(
            f"{folder}: {data} has changed since it was compared, or is gone; compare again."
        )
    best = min(rows, key=lambda row: (row["error_mean"], row["method"] != EUCLIDEAN))
    return Found(
        data, best["method"], int(best["k"]), source.get("target"), source.get("task"),
        bool(source.get("impute")), settings["scale"], settings.get("n_components"), seed,
        source.get("roles") or {},
    )  # fmt: skip


def _counts(row: Mapping[str, Any]) -> bool:
    error = row["error_mean"]
    finite = isinstance(error, float) and math.isfinite(error)
    return finite and row["status"] == "ok" and not row["reference"]
