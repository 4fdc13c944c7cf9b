"""The main job: does a learned metric help on these data?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinal import __version__
from vicinal._types import Comparison, Dataset, Exhibit, Fold, Row
from vicinal.comparison._exhibit_file import read_exhibit
from vicinal.comparison._portrait import choose_portraits, portrait_failures
from vicinal.comparison._results import results_of, write_results
from vicinal.comparison._rows import load_rows, make_setting_folds, prepare_fold
from vicinal.comparison._summary import best_learned, summarize_records
from vicinal.data import PROTOCOLS
from vicinal.data._registry import get_entry
from vicinal.methods._table import Method, choose_methods
from vicinal.runs._cells import Cell, Setting, Source, digest, plan_cells, record_key
from vicinal.runs._folder import RunFolder, WriteError, explain_write_error
from vicinal.runs._pool import WorkerPool
from vicinal.runs._runner import Listener, run_cells, run_exhibit, unmeasured

RUNS = Path("vicinal-runs")


@dataclass(frozen=True)
class Plan:
    """A comparison that has been checked and only needs to be run."""

    dataset: Dataset
    setting: Setting
    methods: tuple[Method, ...]
    ks: tuple[int, ...]
    folds: tuple[Fold, ...]
    asked: tuple[str, ...]
    configuration: Mapping[str, Any]

    @property
    def cells(self) -> list[Cell]:
        """Everything to be measured."""
        return plan_cells(self.setting, self.methods, self.ks, len(self.folds))

    @property
    def default_folder(self) -> Path:
        """Where the results go unless told otherwise: the same plan, the same place."""
        stem = Path(self.setting.source.name).stem
        return RUNS / f"{stem}-{digest(self.configuration)[:8]}"

    def succeeded(self, comparison: Comparison) -> bool:
        """Whether any of the methods asked for was measured."""
        return any(r.method in self.asked and r.status != "failed" for r in comparison.rows)


def plan_comparison(
    source: Source,
    *,
    methods: Sequence[str] | None = None,
    ks: Sequence[int] = (3, 7),
    preparation: Mapping[str, Any] | None = None,
    protocol: str = "auto",
    n_folds: int = 5,
    n_repeats: int = 10,
    seed: int = 0,
) -> Plan:
    """Load the rows and check everything that can be checked before the work starts.

    Raises
    ------
    ValueError
        For anything that would fail on every fold.
    """
    if seed < 0:
        raise ValueError(f"--seed must not be negative, got {seed}.")
    dataset = load_rows(source, seed)
    chosen = choose_methods(methods, dataset.task)
    protocol = dataset.protocol if protocol == "auto" else protocol
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"no protocol is called {protocol!r}; choose auto, {', '.join(PROTOCOLS)}."
        )
    counts = {"repeated": {"n_repeats": n_repeats}, "official": {}}
    setting = Setting(
        source,
        preparation={"scale": "zscore", **(preparation or {})},
        protocol=protocol,
        folds=counts.get(protocol, {"n_folds": n_folds}),
        seed=seed,
    )
    folds = make_setting_folds(dataset, setting)
    ks = check_ks(ks, min(len(fold.train) for fold in folds))
    prepare_fold(dataset, folds[0], setting.preparation)  # what it refuses, it refuses here
    configuration = {
        "version": __version__,
        **setting.identify(),
        "methods": [method.name for method in chosen],
        "ks": list(ks),
    }
    asked = {method.name for method in choose_methods(methods, dataset.task, add=())}
    return Plan(dataset, setting, chosen, ks, folds, tuple(asked), configuration)


def check_ks(ks: Iterable[int], smallest: int) -> tuple[int, ...]:
    """Return the k once each, ascending; refuse those the smallest training part cannot serve."""
    ks = tuple(sorted(set(ks)))
    if not ks or ks[0] < 1:
        raise ValueError(f"k must be at least 1, got {ks[0] if ks else 'none'}.")
    if ks[-1] > smallest:
        raise ValueError(
            f"k = {ks[-1]} is more than the {smallest:,} rows of the smallest training part; "
            f"use at most {smallest:,}."
        )
    return ks


def run_comparison(
    plan: Plan,
    folder: RunFolder,
    *,
    jobs: int = 1,
    exhibit: bool = True,
    listener: Listener | None = None,
    say: Callable[[str], None] | None = None,
) -> Comparison:
    """Measure what is not measured yet, and return the comparison.

    With ``exhibit``, the best learned metric is fitted once more on the first fold to show what
    it does. ``listener`` hears of every cell, ``say`` of what is done besides.
    """
    n_left = len(unmeasured(plan.cells, folder))
    with WorkerPool(max(1, min(jobs, n_left))) as pool:
        records = run_cells(plan.cells, folder, pool=pool, listener=listener, portraits=True)
        rows = summarize_records(records, plan.methods, plan.ks, plan.dataset.name)
        exhibits, notes = _exhibit_best(plan, rows, folder, pool, say) if exhibit else ((), ())
    portraits = choose_portraits(records, rows, plan.methods, plan.dataset)
    notes += portrait_failures(records, plan.methods)
    return replace(describe_comparison(plan, rows, exhibits, notes), portraits=portraits)


def describe_comparison(
    plan: Plan,
    rows: tuple[Row, ...],
    exhibits: tuple[Exhibit, ...] = (),
    notes: tuple[str, ...] = (),
) -> Comparison:
    """Return rows together with what they were measured on."""
    dataset, setting = plan.dataset, plan.setting
    return Comparison(
        dataset=dataset.name,
        task=dataset.task,
        n_rows=len(dataset.y),
        n_features=dataset.X.shape[1],
        n_classes=len(dataset.classes) or count_classes(dataset),
        protocol=describe_protocol(setting, len(plan.folds)),
        preparation=describe_preparation(setting.preparation),
        seed=setting.seed,
        version=__version__,
        rows=rows,
        exhibits=exhibits,
        citation=describe_source(setting.source),
        notes=(*_notes_on_rows(plan), *notes),
    )


def count_classes(dataset: Dataset) -> int:
    """Return how many classes the targets hold, 0 for regression."""
    return len(np.unique(dataset.y)) if dataset.task == "classification" else 0


def describe_source(source: Source) -> str:
    """Say where a known data set comes from; a table of the user's own needs no telling."""
    if source.path is not None:
        return ""
    entry = get_entry(source.name)
    told = (entry.title, entry.source.page, entry.licence, f"cited as {entry.citation}")
    return "; ".join(part for part in told if part)


def describe_protocol(setting: Setting, n_folds: int) -> str:
    """Say in a few words which rows trained and which tested."""
    words = {
        "official": "official split",
        "kfold": f"{n_folds}-fold cross-validation",
        "repeated": f"{n_folds} random splits",
        "grouped": f"{n_folds}-fold cross-validation by group",
    }
    return words.get(setting.protocol, setting.protocol)


def describe_preparation(preparation: Mapping[str, Any]) -> str:
    """Say in a few words how the features were prepared."""
    scale = {"zscore": "z-scored", "histogram": "rows divided by their sums", "none": "raw"}
    words = scale.get(preparation["scale"], preparation["scale"])
    n_components = preparation.get("n_components")
    return words if n_components is None else f"{words}, {n_components} principal components"


def _notes_on_rows(plan: Plan) -> tuple[str, ...]:
    notes = []
    if plan.setting.source.path is None and (note := get_entry(plan.dataset.name).note):
        notes.append(f"About {plan.dataset.name}: {note}.")
    if plan.setting.source.limit is not None:
        notes.append(f"Measured on a random sample of {len(plan.dataset.y):,} rows (--limit).")
    if plan.setting.source.impute:
        notes.append("Missing values were filled in from each training part.")
    return tuple(notes)


def _exhibit_best(
    plan: Plan,
    rows: tuple[Row, ...],
    folder: RunFolder,
    pool: WorkerPool,
    say: Callable[[str], None] | None,
) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
    """The exhibit of the best learned metric, kept in the folder once made."""
    best = best_learned(rows)
    if best is None:
        return (), ()
    cell = Cell(plan.setting, 0, best.method, (best.k,))
    path = folder.path / f"exhibit-{record_key(cell, best.k)}.npz"
    exhibit, error = read_exhibit(path), ""
    if exhibit is None:
        if say is not None:
            say(f"fitting {best.title} once more to show what it does")
        error = run_exhibit(cell, path, pool)
        exhibit = read_exhibit(path)
    if exhibit is None:
        return (), (f"What {best.title} does could not be shown: {error}",)
    return (exhibit,), ()


def write_outputs(
    comparison: Comparison, plan: Plan, folder: Path, *, page: bool, copy: Path | None = None
) -> list[Path]:
    """Write ``results.json``, the report page and a copy of the former; return what was written.

    Raises
    ------
    WriteError
        Where that fails. The records in the folder are whole.
    """
    results = results_of(comparison, plan.configuration)
    written = [folder / "results.json", *([copy] if copy is not None else [])]
    try:
        for path in written:
            write_results(results, path)
        if page:
            from vicinal.report import write_page

            write_page(comparison, folder / "report.html")
            written.append(folder / "report.html")
    except OSError as error:
        raise WriteError(explain_write_error(folder, error)) from error
    return written
