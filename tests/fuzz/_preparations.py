"""Bad tables for what prepares rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz.calls import Call, Outputs, spoil
from tests.fuzz.numbers import ANY, FRAME, REFUSE, SAME, Case, N, X

from vicinal import data

RANDOM = np.random.default_rng(1)


ITSELF = object()  # the rows that were learned from


def calls() -> Iterator[Call]:
    """Yield scalings, fillings and encodings."""
    steps: dict[str, Callable[[], Any]] = {
        "Preparation": data.Preparation,
        "Preparation, PCA": lambda: data.Preparation(n_components=2),
        "Preparation, PCA first": lambda: data.Preparation(n_components=2, pca_first=True),
        "Preparation, unit": lambda: data.Preparation("unit"),
        "Preparation, none": lambda: data.Preparation("none", n_components=2),
        "Imputer": data.Imputer,
        "TableEncoder": data.TableEncoder,
    }
    for name, make in steps.items():
        table = _rows_of(name)
        asked = {n: c for n, c in table.items() if n not in ("names twice",)}
        yield Call(name, _prepared(make), rows=(X, table), asked=ITSELF)
        yield Call(
            f"{name}.transform",
            _prepared(make),
            rows=X,
            asked=(X, asked | {"no entries": (ANY, X[:0])}),
        )
    counts = {n: (REFUSE, v) for n, (_, v) in spoil(np.abs(X)).items() if n == "never"}
    histogram = {n: c for n, c in spoil(np.abs(X)).items() if n != "no entries"} | counts
    yield Call("Preparation, histogram", _prepared(lambda: data.Preparation("histogram")),
               rows=(np.abs(X), histogram), asked=ITSELF)  # fmt: skip


def _rows_of(name: str) -> dict[str, Case]:
    table = spoil(X)
    if name == "Imputer":
        table["NaN"] = table["None"] = (ANY, np.where(X > 1, np.nan, X))
        table["all NaN"] = (ANY, np.full_like(X, np.nan))
    if name == "TableEncoder":
        # A table may hold text and dates, and columns that vary in nothing are left out.
        for free in (
            "text",
            "dates",
            "durations",
            "words",
            "objects",
            "long whole numbers",
            "long objects",
        ):
            table[free] = (ANY, table[free][1])
        for free in ("fortran", "backwards", "read only", "big endian"):
            table[free] = (SAME, table[free][1])
        table["frame"] = (SAME, FRAME.rename(columns=lambda name: f"x{ord(name) - 97}"))
        table["names twice"] = (REFUSE, FRAME.set_axis(list("aabc"), axis=1))
        table["nested"] = (ANY, pd.DataFrame({f"x{n}": [[1, 2]] * N for n in range(4)}))
        table["huge texts"] = (ANY, pd.DataFrame({f"x{n}": ["9" * 400] * N for n in range(4)}))
        table["escapes"] = (
            ANY,
            pd.DataFrame({f"x{n}": ["\x1b[2J", "\0"] * (N // 2) for n in range(4)}),
        )
    return table


def _prepared(make: Callable[[], Any]) -> Callable[..., Outputs]:
    def run(rows: Any, asked: Any) -> Outputs:
        fitted = make().fit(rows)
        return (fitted.transform(rows if asked is ITSELF else asked),)

    return run
