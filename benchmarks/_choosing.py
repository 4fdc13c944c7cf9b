"""Error, CPU-seconds and memory of every learner on many data sets: what "how to choose" rests on.

    python -m benchmarks._choosing [--sets webcam,letter] [--methods lda,nca] [--limit 900]

Each cell runs in a process of its own under a limit of CPU-seconds, and is appended to
``results/choosing.jsonl``; a cell that is there is not measured again. ``results/choosing.md`` and
``docs/_static/choosing.svg`` are made of all cells. A set that is not at hand is passed over.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LINES = FOLDER / "results" / "choosing.jsonl"
FIGURE = FOLDER.parent / "docs" / "_static" / "choosing.svg"
CLASSES = (
    "digits", "letter", "usps", "isolet", "webcam", "dslr", "tables/segmentation",
    "tables/phoneme", "tables/splice", "tables/waveform_40", "tables/yeast", "tables/australian",
)  # fmt: skip
NUMBERS = ("kin8nm", "concrete", "boston_housing")
K = 3


def main() -> int:
    """Measure what is asked for and not yet known; write the table and the figure."""
    parser = argparse.ArgumentParser("python -m benchmarks._choosing", description=__doc__)
    parser.add_argument("--sets", default=",".join((*CLASSES, *NUMBERS)))
    parser.add_argument("--methods", default="")
    parser.add_argument("--limit", type=int, default=900, help="CPU-seconds a cell may take")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one, options.limit)))
        return 0
    from vicinal.methods import list_methods

    done = {(r["dataset"], r["method"]) for r in _records()}
    for dataset in options.sets.split(","):
        task: Any = "regression" if dataset in NUMBERS else "classification"
        known = [m.name for m in list_methods(task) if not m.reference and m.name != "mlng-mean"]
        for method in options.methods.split(",") if options.methods else known:
            if (dataset, method) not in done and method in known:
                _cell(dataset, method, options.limit)
    _write()
    return 0


def _cell(dataset: str, method: str, limit: int) -> None:
    command = [sys.executable, "-m", "benchmarks._choosing", "--limit", str(limit)]
    done = subprocess.run(
        [*command, "--one", dataset, method], cwd=FOLDER.parent, capture_output=True, text=True
    )
    lines = done.stdout.strip().splitlines()
    failed = {"dataset": dataset, "method": method, "error": None, "why": done.stderr[-200:]}
    record = json.loads(lines[-1]) if done.returncode == 0 and lines else failed
    print(json.dumps(record), flush=True)
    LINES.parent.mkdir(exist_ok=True)
    with LINES.open("a") as file:
        file.write(json.dumps(record) + "\n")


def measure(dataset: str, method: str, limit: int) -> dict[str, Any]:
    """Return the record of one cell: a third of the rows (at most 4,000) is asked for."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from vicinal import KNNClassifier, KNNRegressor
    from vicinal.methods import get_method, make_learner

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    warnings.simplefilter("ignore")
    X, y, task = rows_of(dataset)
    order = np.random.default_rng(0).permutation(len(X))
    held = order[: min(4000, len(X) // 3)]
    kept = order[len(held) :]
    scaler = StandardScaler().fit(X[kept])
    train, test = (scaler.transform(X[rows]).astype(np.float32) for rows in (kept, held))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    metric = make_learner(get_method(method), task, k=K, seed=0)
    kind: Any = KNNClassifier if task == "classification" else KNNRegressor
    began = time.process_time()
    model = kind(K if task == "classification" else 5, metric=metric).fit(train, y[kept])
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    found = model.predict(test)
    wrong = np.mean(found != y[held]) if task == "classification" else (
        np.mean((found - y[held]) ** 2) / np.var(y[held]))  # fmt: skip
    return {
        "dataset": dataset, "method": method, "task": task, "n": len(kept), "d": X.shape[1],
        "error": round(float(wrong), 4), "cpu_seconds": round(seconds, 2), "peak_mb": peak // 1024,
    }  # fmt: skip


def rows_of(dataset: str) -> tuple[Any, Any, Any]:
    """Return X, y and the task of a set: scikit-learn's digits, a known one, or an NPZ file."""
    import numpy as np
    from sklearn.datasets import load_digits

    from vicinal import load_dataset

    if dataset == "digits":
        return (*load_digits(return_X_y=True), "classification")
    if dataset.startswith("tables/"):
        with np.load(Path(os.environ["VICINAL_DATA"]) / f"{dataset}.npz") as file:
            return file["X"].astype(float), file["y"], "classification"
    data = load_dataset(dataset)
    return data.X, data.y, data.task


def _records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []


def _write() -> None:
    records = [r for r in _records() if r["error"] is not None]
    methods = list(dict.fromkeys(r["method"] for r in records))
    sets = list(dict.fromkeys(r["dataset"] for r in records))
    cells = {(r["dataset"], r["method"]): r for r in records}
    rows = ["| learner | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for method in methods:
        shown = [_shown(cells.get((dataset, method))) for dataset in sets]
        rows.append(f"| {method} | " + " | ".join(shown) + " |")
    head = "Error in percent (nMSE in percent for numbers), CPU-seconds and MB of a fit.\n\n"
    (LINES.parent / "choosing.md").write_text(head + "\n".join(rows) + "\n")
    _draw(records, methods, sets)


def _shown(record: dict[str, Any] | None) -> str:
    if record is None:
        return "–"
    return f"{100 * record['error']:.1f} · {record['cpu_seconds']:g} s · {record['peak_mb']} MB"


def _draw(records: Sequence[dict[str, Any]], methods: Sequence[str], sets: Sequence[str]) -> None:
    """Draw each learner's mean error, as a share of the plain distance's, against its cost."""
    import matplotlib.pyplot as plt
    import numpy as np

    plain = {r["dataset"]: r["error"] for r in records if r["method"] == "euclidean"}
    figure, axes = plt.subplots(figsize=(7, 4))
    for method in methods:
        own = [r for r in records if r["method"] == method and plain.get(r["dataset"])]
        if len(own) < max(1, len(sets) // 3) or method == "euclidean":
            continue
        share = np.exp(np.mean([np.log(max(r["error"], 1e-4) / plain[r["dataset"]]) for r in own]))
        seconds = np.exp(np.mean([np.log(max(r["cpu_seconds"], 0.01)) for r in own]))
        axes.plot(seconds, share, "o")
        axes.annotate(method, (seconds, share), textcoords="offset points", xytext=(5, 3))
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set(
        xscale="log", xlabel="CPU-seconds of a fit", ylabel="error / that of the plain distance"
    )
    figure.tight_layout()
    figure.savefig(FIGURE)


if __name__ == "__main__":
    sys.exit(main())
