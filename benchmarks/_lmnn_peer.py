"""LMNN against PyLMNN 1.6.4, whose algorithm is L-BFGS on all impostors, on the letters.

    python -m benchmarks._lmnn_peer PYTHON [--repeats 2] [--rows 16000]

PyLMNN does not run on today's scikit-learn, so ``PYTHON`` is the interpreter of an environment of
its own: ``pip install "scikit-learn==1.2.2" "numpy<1.25" "scipy<1.11" six``, then
``pip install --no-deps pylmnn==1.6.4``. Both fit the same rows with their defaults and k = 3 in
one thread, in turn, each in a process of its own that measures CPU-seconds of the fit alone; both
maps are judged by the same votes. The record goes to ``results/lmnn_peer.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks._choosing import FOLDER, THREADS
from benchmarks._measure import circumstances
from benchmarks.rivals import letters_split
from vicinal import KNNClassifier

LINES = FOLDER / "results" / "lmnn_peer.jsonl"
K = 3
# The tuning of PyLMNN's settings needs further packages, and is not used here.
PEER = """
import sys, types
sys.modules["pylmnn.bayesopt"] = types.SimpleNamespace(find_hyperparams=None)
from pylmnn import LargeMarginNearestNeighbor as LMNN
"""
OURS = "from vicinal import LMNN"
FIT = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
with np.load(sys.argv[1]) as rows:
    X, y = rows["X"], rows["y"]
LMNN(n_neighbors=3, random_state=0, n_jobs=1).fit(X[:500], y[:500])
began = time.process_time()
metric = LMNN(n_neighbors=3, random_state=0, n_jobs=1).fit(X, y)
seconds = time.process_time() - began
np.savez(sys.argv[2], components=metric.components_, seconds=seconds)
"""


def main() -> int:
    """Measure both in turn and keep one record."""
    parser = argparse.ArgumentParser("python -m benchmarks._lmnn_peer", description=__doc__)
    parser.add_argument("python", help="interpreter that has PyLMNN")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rows", type=int, default=16_000)
    options = parser.parse_args()
    train, test, y_train, y_test = letters_split()
    train, y_train = train[: options.rows].astype(np.float64), y_train[: options.rows]
    found: dict[str, list[tuple[float, Any]]] = {"ours": [], "peer": []}
    with tempfile.TemporaryDirectory() as folder:
        rows, result = Path(folder) / "rows.npz", Path(folder) / "result.npz"
        np.savez(rows, X=train, y=np.unique(y_train, return_inverse=True)[1])
        for _ in range(options.repeats):
            for who, python, program in (
                ("ours", sys.executable, OURS), ("peer", options.python, PEER)
            ):  # fmt: skip
                found[who].append(_fit(python, program + FIT, rows, result))
    error = {
        who: _error(fits[0][1], train, test.astype(np.float64), y_train, y_test)
        for who, fits in found.items()
    }
    seconds = {who: median(fit[0] for fit in fits) for who, fits in found.items()}
    record = {
        "case": f"LMNN on {len(train):,} x {train.shape[1]}, k={K}", "peer": "PyLMNN 1.6.4",
        "cpu_seconds": round(seconds["ours"], 2), "peer_cpu_seconds": round(seconds["peer"], 2),
        "cpu_ratio": round(seconds["ours"] / seconds["peer"], 4), "repeats": options.repeats,
        "error": error["ours"], "peer_error": error["peer"], **circumstances(),
    }  # fmt: skip
    print(json.dumps(record))
    with LINES.open("a") as file:
        file.write(json.dumps(record) + "\n")
    return 0


def _fit(python: str, program: str, rows: Path, result: Path) -> tuple[float, Any]:
    """Return CPU-seconds and the map of a fit in a process of one thread."""
    ways = os.environ | dict.fromkeys(THREADS, "1")
    if python != sys.executable:
        ways.pop("PYTHONPATH", None)
    subprocess.run([python, "-c", program, str(rows), str(result)], check=True, env=ways)
    with np.load(result) as found:
        return float(found["seconds"]), found["components"]


def _error(components: Any, train: Any, test: Any, y_train: Any, y_test: Any) -> float:
    model = KNNClassifier(K).fit(train @ components.T, y_train)
    return round(100 * float(np.mean(model.predict(test @ components.T) != y_test)), 2)


if __name__ == "__main__":
    sys.exit(main())
