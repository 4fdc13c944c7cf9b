"""Run published experiments again: experiments to cells, records to outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from vicinal.comparison import SYNTHETIC
from vicinal.methods import get_method
from vicinal.published._experiments import Experiment
from vicinal.published._outcomes import Outcome
from vicinal.runs import (
    Cell,
    Listener,
    Neighbors,
    Record,
    RunFolder,
    Setting,
    Source,
    WorkerPool,
    record_key,
    run_cells,
)

QUICK_ROWS = 2000
QUICK_FOLDS = 2
# Shares, where a table gives numbers of rows: a sample may hold fewer.
QUICK_SIZES = {"train_size": 0.5, "test_size": 0.25}
DEFAULT_FOLDS = {"official": 1, "kfold": 5, "grouped": 5, "repeated": 10}
FOLD_COUNTS = {"kfold": "n_folds", "grouped": "n_folds", "repeated": "n_repeats"}


def reproduce(
    experiments: Sequence[Experiment],
    path: Path,
    *,
    quick: bool = False,
    jobs: int = 1,
    fresh: bool = False,
    listener: Listener | None = None,
) -> list[Outcome]:
    """Measure experiments in a run folder and return one outcome each, in their order.

    What the folder already holds is not measured again, so a stopped run goes on where it
    stopped, and one folder serves any choice of experiments.

    Parameters
    ----------
    experiments : sequence of Experiment
    path : Path
        The run folder.
    quick : bool
        Take at most 2,000 rows and two folds: a check that all works, not a reproduction.
    jobs : int
        Worker processes.
    fresh : bool
        Forget what the folder holds.
    listener : callable, optional
        Called with a :class:`~vicinal.runs._runner.RunProgress` as cells start and end.
    """
    with RunFolder(path, fresh=fresh) as folder, WorkerPool(jobs) as pool:
        run_cells(plan_experiments(experiments, quick=quick), folder, pool=pool, listener=listener)
        return [summarise(e, folder.known, quick=quick) for e in experiments]


def check_data(experiments: Iterable[Experiment]) -> None:
    """Load each data set once, so that a missing one stops the run before it starts.

    Raises
    ------
    OSError
        Where a data set can neither be found nor fetched; it says where to put the file.
    """
    from vicinal.data import load_dataset

    for name in dict.fromkeys(experiment.dataset for experiment in experiments):
        if name not in SYNTHETIC:
            load_dataset(name)


def plan_experiments(experiments: Iterable[Experiment], *, quick: bool = False) -> list[Cell]:
    """Return the cells of all experiments, each once, those on the same rows in a row.

    Experiments that differ in k only share a cell where one fit of the method serves every k.
    """
    shared: dict[str, tuple[Cell, list[Any]]] = {}
    for experiment in experiments:
        for cell in experiment_cells(experiment, quick=quick):
            # A key without k names everything else that makes a cell what it is.
            key = record_key(cell, _fit_of(experiment))
            _, ks = shared.setdefault(key, (cell, []))
            ks.append(cell.ks[0])
    # Numbers and names are never mixed: a cell of chosen neighbours has a fit of its own.
    cells = [replace(cell, ks=tuple(sorted(set(ks)))) for cell, ks in shared.values()]
    return sorted(cells, key=_neighborhood)


def _fit_of(experiment: Experiment) -> Neighbors:
    """Name the fit that an experiment needs, as far as it depends on the neighbours."""
    if isinstance(experiment.k, str):
        return "chosen"
    return experiment.k if get_method(learner_of(experiment)).depends_on_k else 0


def learner_of(experiment: Experiment) -> str:
    """Return the name that runs know: a variant is another constructor of the method's class."""
    if not experiment.variant:
        return experiment.method
    return f"{get_method(experiment.method).factory}.{experiment.variant}"


def _neighborhood(cell: Cell) -> tuple[str, str, str, int, str, str]:
    setting = cell.setting
    preparation = json.dumps(dict(setting.preparation), sort_keys=True)
    split = json.dumps([setting.protocol, dict(setting.folds)], sort_keys=True)
    ks = " ".join(f"{k!s:>4}" for k in cell.ks)
    return setting.source.name, preparation, split, cell.fold, cell.method, ks


def experiment_cells(experiment: Experiment, *, quick: bool = False) -> list[Cell]:
    """Return one cell a fold; a model that asks no neighbours has no k."""
    setting = experiment_setting(experiment, quick=quick)
    learner = learner_of(experiment)
    k = None if get_method(learner).reference else experiment.k
    return [
        Cell(setting, fold, learner, (k,), experiment.parameters)
        for fold in range(count_folds(setting.protocol, setting.folds))
    ]


def experiment_setting(experiment: Experiment, *, quick: bool = False) -> Setting:
    """Return rows, preparation and folds of an experiment; ``quick`` cuts rows and folds down."""
    folds = {word: value for word, value in experiment.folds.items() if word != "seed"}
    count = FOLD_COUNTS.get(experiment.protocol)
    if quick and count is not None:
        folds[count] = QUICK_FOLDS
    if quick:
        folds |= {word: QUICK_SIZES[word] for word in QUICK_SIZES if word in folds}
    return Setting(
        source=Source(experiment.dataset, limit=QUICK_ROWS if quick else None, **experiment.view),
        preparation=experiment.preparation,
        protocol=experiment.protocol,
        folds=folds,
        seed=experiment.folds.get("seed", 0),
    )


def count_folds(protocol: str, folds: Mapping[str, Any]) -> int:
    """Return how many folds a protocol makes."""
    return int(folds.get(FOLD_COUNTS.get(protocol, ""), DEFAULT_FOLDS[protocol]))


def summarise(
    experiment: Experiment, known: Mapping[str, Record], *, quick: bool = False
) -> Outcome:
    """Return the outcome of an experiment from the records there are of it."""
    keys = [record_key(c, c.ks[0]) for c in experiment_cells(experiment, quick=quick)]
    records = [known[key] for key in keys if key in known]
    done = [record for record in records if record["status"] == "ok"]
    failures = (record["message"] for record in records if record["status"] != "ok")
    costs = {
        name: fmean(record[name] for record in done)
        for name in ("fit_seconds", "fit_cpu_seconds")
        if done
    }
    return Outcome(
        experiment,
        errors=tuple(record["error"] for record in done),
        expected=len(keys),
        n_train=max((record["n_train"] for record in done), default=0),
        n_test=max((record["n_test"] for record in done), default=0),
        quick=quick,
        messages=tuple(dict.fromkeys(failures)),
        chosen=tuple(record["chosen"] for record in done if "chosen" in record),
        **costs,
    )
