"""How the time of a fit of MLNG grows with the rows.

``python -m benchmarks.mlng_scaling`` fits 2,000 to 128,000 rows of covertype (54 features, 7
classes, k=3): with defaults, which choose their epochs, and with start and rate fixed, which makes
twelve, for both searches for candidates. It prints CPU seconds, appends them to
``results/mlng_scaling.jsonl`` and draws ``docs/_static/mlng_scaling.svg`` from the records.
``--draw`` draws only; ``--fits NAME`` measures one kind of fits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import Case, circumstances
from vicinal import MLNG
from vicinal.metric.candidates import SEARCHES, choose_search

ROWS = (2_000, 8_000, 32_000, 128_000)
FIXED = {"init": "lda", "learning_rate": 0.1, "max_iter": 12}
FITS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "12 epochs, approximate lists": {**FIXED, "candidates": "approximate"},
    "12 epochs, exact lists": {**FIXED, "candidates": "exact"},
}
RESULTS = Path(__file__).parent / "results" / "mlng_scaling.jsonl"
PLOT = Path(__file__).parents[1] / "docs" / "_static" / "mlng_scaling.svg"


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield nothing: there is no peer, the figures are written by ``python -m`` this file."""
    return iter(())


def covertype() -> tuple[Any, Any]:
    """Return z-scored rows in random order, and their classes."""
    from vicinal import load_dataset

    X, y = load_dataset("covtype")
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].astype(np.float32), y[order]


def fit_seconds(X: Any, y: Any, settings: dict[str, Any]) -> dict[str, float]:
    """Return CPU seconds of one fit, of these its searches for candidates, and its epochs."""
    spent = 0.0
    name = settings.get("candidates", "auto")
    name = choose_search(len(X)) if name == "auto" else name
    find = SEARCHES[name]

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal spent
        began = time.process_time()
        found = find(*arguments, **options)
        spent += time.process_time() - began
        return found

    SEARCHES[name] = timed
    try:
        began = time.process_time()
        metric = MLNG(**settings, random_state=0, n_jobs=1).fit(X, y)
        fitted = time.process_time() - began
    finally:
        SEARCHES[name] = find
    return {"fit": round(fitted, 3), "search": round(spent, 3), "epochs": metric.n_iter_}


def slope(records: list[dict[str, Any]]) -> float:
    """Return the exponent b of the least-squares fit  seconds = a · rows^b."""
    rows, seconds = ([np.log(record[key]) for record in records] for key in ("rows", "fit"))
    return float(np.polyfit(rows, seconds, 1)[0])


def recorded() -> dict[str, list[dict[str, Any]]]:
    """Return the latest record of each size, ascending, for each kind of fits."""
    records = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    latest = {(record["fits"], record["rows"]): record for record in records}
    return {name: [latest[key] for key in sorted(latest) if key[0] == name] for name in FITS}


def draw(path: Path = PLOT) -> None:
    """Draw recorded seconds against rows, both logarithmic, with a line of slope one."""
    import matplotlib

    matplotlib.use("svg")
    # The same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "mlng_scaling"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    for (name, records), marker in zip(recorded().items(), "osD", strict=True):
        rows, seconds = ([record[key] for record in records] for key in ("rows", "fit"))
        axes.loglog(rows, seconds, marker + "-", label=f"{name}: slope {slope(records):.2f}")
    first = recorded()["defaults"][0]
    line = np.array([ROWS[0], ROWS[-1]])
    axes.loglog(line, first["fit"] * line / first["rows"], "--", color="grey", label="slope 1")
    axes.set_xticks(ROWS, [f"{rows:,}" for rows in ROWS])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("rows of covertype")
    axes.set_ylabel("CPU seconds of one fit")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure all sizes, print and record them, and draw the plot."""
    parser = argparse.ArgumentParser("python -m benchmarks.mlng_scaling", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw what is recorded")
    parser.add_argument("--fits", choices=FITS, action="append")
    options = parser.parse_args()
    if not options.draw:
        X, y = covertype()
        MLNG(candidates="approximate", random_state=0).fit(X[:3000], y[:3000])
        for name in options.fits or FITS:
            for rows in ROWS:
                measure(X[:rows], y[:rows], name)
    draw()


def measure(X: Any, y: Any, name: str) -> None:
    """Measure one size, print it and append it to the results."""
    record = {"rows": len(X), "fits": name, **fit_seconds(X, y, FITS[name])}
    print(json.dumps(record), flush=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps({**record, **circumstances()}) + "\n")


if __name__ == "__main__":
    main()
