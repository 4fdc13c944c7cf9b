"""Error, CPU-seconds and memory of every learner on many data sets: what "how to choose" rests on.

    python -m benchmarks._choosing [--sets webcam,letter] [--methods lda,nca] [--limit 300]

Each cell is one fit of one learner with its defaults, in a process and a thread of its own under a
limit of CPU-seconds. Records are appended to ``results/choosing.jsonl``; a cell that is there is
not measured again. The page of :mod:`benchmarks._choosing_page` is made of all cells. Data are
looked for where ``VICINAL_DATA`` says.

``--sets mnist-pca100 --limit 900`` asks what becomes of 60,000 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LINES = FOLDER / "results" / "choosing.jsonl"
CLASSES = (
    "digits", "letter", "usps", "isolet", "webcam", "dslr", "tables/segmentation",
    "tables/phoneme", "tables/splice", "tables/waveform_40", "tables/yeast", "tables/australian",
)  # fmt: skip
NUMBERS = ("kin8nm", "concrete", "boston_housing")
MANY = "mnist-pca100"
# Measured where they are asked for: codes trade error for memory, and a mean of five fits is no
# learner of its own.
LEFT_OUT = (
    "mlng-hamming",
    "hdml",
    "lsh",
    "itq",
    "spectral-hashing",
    "classifier-codes",
    "mlng-mean",
)
SEED = 0
VOTES = {"classification": 3, "regression": 5}
MOST_ASKED = 4000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to ask for, z-scored by the former."""

    train: Any
    y_train: Any
    test: Any
    y_test: Any
    task: Any


def main() -> int:
    """Measure what is asked for and not yet known; write the page's tables and its figure."""
    parser = argparse.ArgumentParser("python -m benchmarks._choosing", description=__doc__)
    parser.add_argument("--sets", default=",".join((*CLASSES, *NUMBERS)))
    parser.add_argument("--methods", default="", help="all by default")
    parser.add_argument("--limit", type=int, default=300, help="CPU-seconds a cell may take")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one, options.limit)))
        return 0
    done = {(r["dataset"], r["method"]) for r in records()}
    for dataset in filter(None, options.sets.split(",")):
        known = learners("regression" if dataset in NUMBERS else "classification")
        usual = [method for method in known if method not in LEFT_OUT]
        for method in options.methods.split(",") if options.methods else usual:
            if (dataset, method) not in done and method in known:
                _keep(run_cell(dataset, method, options.limit))
    from benchmarks._choosing_page import write

    write(records())
    return 0


def learners(task: Any) -> list[str]:
    """Return the names of the learners for a task."""
    from vicinal.methods import list_methods

    return [method.name for method in list_methods(task) if not method.reference]


def run_cell(dataset: str, method: str, limit: int) -> dict[str, Any]:
    """Return the record of a cell measured in a process of its own, or of what stopped it."""
    command = [sys.executable, "-m", "benchmarks._choosing", "--limit", str(limit)]
    done = subprocess.run(
        [*command, "--one", dataset, method],
        cwd=FOLDER.parent,
        env=os.environ | dict.fromkeys(THREADS, "1"),
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return dict(json.loads(done.stdout.strip().splitlines()[-1]))
    over = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    why = {"over_cpu_seconds": limit} if over else {"failed": done.stderr[-300:]}
    return {"dataset": dataset, "method": method, "error": None, **why}


def measure(dataset: str, method: str, limit: int) -> dict[str, Any]:
    """Return the record of one cell: the error on the rows asked for, and what the fit cost."""
    import numpy as np

    from vicinal import KNNClassifier, KNNRegressor

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    _compile(method, "regression" if dataset in NUMBERS else "classification")
    split = split_of(dataset)
    cell = {"dataset": dataset, "method": method, "task": split.task, "seed": SEED}
    k = VOTES[split.task]
    kind: Any = KNNClassifier if split.task == "classification" else KNNRegressor
    model = kind(k, metric=_make(method, split.task, k))
    before, began = _peak(), time.process_time()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(split.train, split.y_train)
        except ValueError as error:
            seconds = round(time.process_time() - began, 2)
            return {**cell, "error": None, "refused": str(error), "cpu_seconds": seconds}
    seconds, peak = time.process_time() - began, _peak()
    found = model.predict(split.test)
    wrong = np.mean(found != split.y_test) if split.task == "classification" else (
        np.mean((found - split.y_test) ** 2) / np.var(split.y_test))  # fmt: skip
    return {
        **cell, "k": k, "n": len(split.train), "d": split.train.shape[1], "asked": len(found),
        "error": round(float(wrong), 4), "cpu_seconds": round(seconds, 2),
        "peak_mb": peak - before, "process_mb": peak,
        "said": list(dict.fromkeys(str(warning.message) for warning in said)),
    }  # fmt: skip


def _make(method: str, task: Any, k: int) -> Any:
    from vicinal.methods import get_method, make_learner

    return make_learner(get_method(method), task, k=k, seed=SEED)


def _compile(method: str, task: Any) -> None:
    """Fit a few rows first, so that no kernel is compiled while the clock runs."""
    import numpy as np
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    learner = _make(method, task, VOTES[task])
    if learner is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.set_params(**{"n_components": 2} if method == "gdm" else {})
            learner.fit(X.astype(np.float32), y if task == "classification" else X[:, 0])


def _peak() -> int:
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def split_of(dataset: str) -> Split:
    """Return a random third of a set (at most 4,000 rows) to ask for, the others to learn from."""
    import numpy as np

    if dataset == MANY:
        return _many()
    X, y, task = rows_of(dataset)
    order = np.random.default_rng(SEED).permutation(len(X))
    held = order[: min(MOST_ASKED, len(X) // 3)]
    kept = order[len(held) :]
    return Split(*_scaled(X[kept], X[held], y[kept], y[held]), task)


def _scaled(train: Any, test: Any, y_train: Any, y_test: Any) -> tuple[Any, Any, Any, Any]:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    train, test = (scaler.transform(rows).astype(np.float32) for rows in (train, test))
    return train, y_train, test, y_test


def _many() -> Split:
    """Return MNIST in its 100 first principal components, whole, as they come."""
    import numpy as np
    from sklearn.decomposition import PCA

    from vicinal import load_dataset

    data = load_dataset("mnist")
    X, y = data.X.reshape(len(data.X), -1).astype(np.float32) / 255, data.y
    pca = PCA(100, svd_solver="covariance_eigh").fit(X[:60_000])
    return Split(pca.transform(X[:60_000]), y[:60_000], pca.transform(X[60_000:]), y[60_000:],
                 "classification")  # fmt: skip


def rows_of(dataset: str) -> tuple[Any, Any, Any]:
    """Return X, y and the task of a set: scikit-learn's digits, a known one, or an NPZ file."""
    import numpy as np
    from sklearn.datasets import load_digits

    from vicinal import load_dataset

    if dataset == "digits":
        return (*load_digits(return_X_y=True), "classification")
    if dataset.startswith("tables/"):
        with np.load(Path(os.environ["VICINAL_DATA"]) / f"{dataset}.npz") as file:
            return (
                _one_hot(file["X"].astype(float), file["categorical"]),
                file["y"],
                "classification",
            )
    data = load_dataset(dataset)
    return data.X, data.y, data.task


def _one_hot(X: Any, categorical: Any) -> Any:
    """Return X with a column for each value of the features that are categories."""
    import numpy as np
    from sklearn.preprocessing import OneHotEncoder

    if not categorical.any():
        return X
    codes = OneHotEncoder(sparse_output=False, drop="if_binary").fit_transform(X[:, categorical])
    return np.hstack([X[:, ~categorical], codes])


def records() -> list[dict[str, Any]]:
    """Return every record there is, the oldest first."""
    return [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []


def _keep(record: dict[str, Any]) -> None:
    print(json.dumps(record), flush=True)
    LINES.parent.mkdir(exist_ok=True)
    with LINES.open("a") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main())
