"""k-NN in the metric of EGOP against k-NN as the rows come: ten splits, 1,500 training rows.

The estimator, its settings and k are chosen on the training rows alone; the data sets must be here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import Any

from benchmarks._measure import Case
from vicinal.experiments._cells import KNN, Cell, Setting, Source
from vicinal.experiments._execute import Executor

N_SPLITS = 10
SIZES = {"train_size": 1500, "test_size": 2500}
# The most that the mean nMSE may be.
BARS = {"kin32fh": 0.32, "ailerons": 0.18, "puma8nh": 0.34, "puma32nm": 0.09}
PARAMETERS = {"n_iter": 6}


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield the four data sets whose errors have a limit; quick takes two splits of two."""
    n_splits = 2 if quick else N_SPLITS
    for name, most in list(BARS.items())[: 2 if quick else None]:
        yield accuracy(name, n_splits, {} if quick else {"nmse": most})


def accuracy(name: str, n_splits: int, limits: Mapping[str, float]) -> Case:
    """Compare the errors of one data set; the times are those of all splits."""
    return Case(
        name=f"{name}, {n_splits} splits of 1,500 rows",
        peer_name="k-NN as the rows come",
        ours=lambda: errors(name, "egop", PARAMETERS, n_splits),
        peer=lambda: errors(name, "euclidean", {}, n_splits),
        warm_up=lambda: errors(name, "egop", PARAMETERS, 1),
        check=compare,
        limits=limits,
    )


def errors(
    name: str, method: str, parameters: Mapping[str, Any], n_splits: int
) -> list[dict[str, Any]]:
    """Return one record a split."""
    setting = Setting(
        Source(name),
        preparation={"scale": "zscore"},
        protocol="repeated",
        folds={"n_repeats": n_splits, **SIZES},
    )
    executor = Executor()
    cells = (Cell(setting, fold, method, (KNN,), parameters) for fold in range(n_splits))
    return [executor.run(cell)[0] for cell in cells]


def compare(ours: list[dict[str, Any]], plain: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Return mean and deviation of the errors; refuse where a split could not be measured."""
    for record in (*ours, *plain):
        if record["status"] != "ok":
            raise RuntimeError(record["message"])
    found = [record["error"] for record in ours]
    mean, before = fmean(found), fmean(record["error"] for record in plain)
    spread = stdev(found)
    return {
        "nmse": round(mean, 4),
        "note": f"nMSE {mean:.4f} ± {spread:.4f}, as the rows come {before:.4f}",
    }
