"""How the time of an MLNG epoch grows with the rows, at fixed candidates.

``python -m benchmarks.mlng_scaling`` prints CPU seconds of the walk and of the search for
candidates, for 2,000 to 128,000 rows of covertype, and writes them to
``results/mlng_scaling.json`` for the plot in the guide.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import Case
from vicinal.metric._candidates import order_by_class
from vicinal.metric._factored import FactoredObjective
from vicinal.metric._optimiser import Adam, Descent

ROWS = (2_000, 8_000, 32_000, 128_000)


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield nothing: there is no peer, the figures are written by ``python -m`` this file."""
    return iter(())


def scale(X: Any, y: Any, n: int, seed: int = 0) -> dict[str, float]:
    """Return CPU seconds of one search for candidates and of one epoch over n rows."""
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    classes = order_by_class(y[rows])
    start = np.eye(X.shape[1], dtype=np.float32) / 2
    objective = FactoredObjective(
        X=X[rows][classes.order],
        classes=classes,
        n_neighbors=3,
        costs=1.0 - np.eye(int(y.max()) + 1),
        n_own=9,
        n_other=40,
        refresh=10**6,
    )
    began = time.process_time()
    objective.begin_epoch(start, 0)
    searched = time.process_time()
    rng = np.random.default_rng(seed)
    # Epoch 1: an epoch 0 would begin with another search.
    Descent(objective, Adam(0.001), start, 12, 256, 1, rng, epoch=1).advance()
    return {"rows": n, "search": searched - began, "epoch": time.process_time() - searched}


def main() -> None:
    """Measure all sizes, print them, and write them beside the other results."""
    from vicinal import load_dataset

    X, y = load_dataset("covtype")
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)[:, :10]
    scale(X, y, 2_000)
    records = [scale(X, y, n) for n in ROWS]
    for record in records:
        print("{rows:>8,} rows: search {search:6.2f} s, epoch {epoch:6.2f} s".format(**record))
    path = Path(__file__).parent / "results" / "mlng_scaling.json"
    path.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
