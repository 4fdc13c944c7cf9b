"""A comparison from the records of a run: its rows, what was learned, and what to know of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import version as installed
from pathlib import Path
from platform import python_version
from typing import Any

from vicinal import __version__
from vicinal.comparison._exhibit_file import exhibit_path, read_exhibit
from vicinal.comparison._plan import N_REPEATS, ComparisonPlan
from vicinal.comparison._summary import summarize_majority, summarize_records
from vicinal.data import get_entry
from vicinal.methods import EUCLIDEAN
from vicinal.report import SIGNIFICANCE, Comparison, Duel, Exhibit, Row, best_row
from vicinal.runs import Record, Setting, Source


def describe_comparison(
    plan: ComparisonPlan, records: Sequence[Record], folder: Path
) -> Comparison:
    """Return what was measured together with what it was measured on."""
    facts, setting = plan.facts, plan.setting
    rows, duels = summarize_records(records, plan.methods, plan.ks, facts.name, plan.loss)
    return Comparison(
        dataset=facts.name,
        task=facts.task,
        n_rows=facts.n_rows,
        n_features=facts.n_features,
        n_classes=facts.n_classes,
        protocol=describe_protocol(setting, plan.n_folds),
        preparation=describe_preparation(setting.preparation),
        seed=setting.seed,
        version=__version__,
        rows=rows,
        exhibits=tuple(read_best(rows, records, folder)),
        citation=describe_source(setting.source),
        notes=(
            *facts.notes,
            *_notes_on_rows(plan),
            *_failed_exhibits(records, rows),
            *_more_rounds(plan, rows, duels),
        ),
        duels=duels,
        configuration=plan.configuration,
        loss=plan.loss,
        classes=facts.classes,
        target=facts.target,
        unit=facts.unit,
        majority=summarize_majority(records),
        call=describe_call(plan),
        made_with=describe_making(),
        data="" if setting.source.held else setting.source.path or setting.source.name,
    )


def describe_call(plan: ComparisonPlan) -> str:
    """Return the call from Python that makes the same comparison."""
    setting, source = plan.setting, plan.setting.source
    rows = "X, y" if source.held else repr(source.name)
    target = f", {source.target!r}" if source.target else ""
    options: dict[str, Any] = {
        "methods": [method.name for method in plan.methods if not method.reference],
        "k": list(plan.ks),
        "protocol": setting.protocol,
        **_asked_folds(plan),
        "scale": setting.preparation["scale"],
        "random_state": setting.seed,
    }
    more = {"n_components": setting.preparation.get("n_components"), "limit": source.limit}
    more |= {"task": source.task, "impute": source.impute, **source.roles}
    options |= {name: value for name, value in more.items() if value}
    listed = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"vicinal.compare({rows}{target}, {listed})"


def _asked_folds(plan: ComparisonPlan) -> dict[str, int]:
    """The folds judged, as arguments of a call; none where only the first is."""
    folds = dict(plan.setting.folds)
    folds.pop("n_rounds", None)
    if "n_folds" in folds and plan.n_folds > folds["n_folds"]:
        return {"n_repeats": plan.n_folds // folds["n_folds"], **folds}
    return folds if plan.n_folds in folds.values() else {}


def _more_rounds(plan: ComparisonPlan, rows: Sequence[Row], duels: Iterable[Duel]) -> list[str]:
    """What a test with the power to tell a gain from noise would cost, where this one had not."""
    chance = {duel.reference: duel.p_value for duel in duels}.get(EUCLIDEAN)
    once = plan.setting.protocol in ("kfold", "grouped") and (
        plan.n_folds == plan.setting.folds["n_folds"]
    )
    if chance is None or chance < SIGNIFICANCE or not once:
        return []
    cost: dict[str, float] = {}
    fits = {method.name: method.depends_on_k for method in plan.methods}
    for row in (row for row in rows if row.measured):
        spent = plan.n_folds * (row.fit_cpu_seconds + row.predict_cpu_seconds)
        each = fits[row.method]
        cost[row.method] = spent + cost.get(row.method, 0.0) if each else spent
    return [
        f"Folds cut {N_REPEATS} times (n_repeats='{N_REPEATS}') would tell smaller gains from "
        f"noise, for about {max(1, round((N_REPEATS - 1) * sum(cost.values())))} CPU s more."
    ]


def describe_making() -> str:
    """Say when and with which versions this was computed."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    versions = ", ".join(f"{name} {installed(name)}" for name in names)
    return f"{date.today().isoformat()}, Python {python_version()}, {versions}"


def read_best(rows: Sequence[Row], records: Iterable[Record], folder: Path) -> Iterable[Exhibit]:
    """Yield the exhibit of each method at its best k, where there is one."""
    first = {(r["method"], r["k"]): r["key"] for r in records if r["fold"] == 0}
    for method in dict.fromkeys(row.method for row in rows):
        best = best_row(row for row in rows if row.method == method)
        key = None if best is None else first.get((method, best.k))
        exhibit = None if key is None else read_exhibit(exhibit_path(folder, key))
        if exhibit is not None:
            yield exhibit


def describe_source(source: Source) -> str:
    """Say where a known data set comes from; a table of the user's own needs no telling."""
    if source.path is not None or source.held:
        return ""
    entry = get_entry(source.name)
    parts = (entry.title, entry.source.page, entry.licence, f"cited as {entry.citation}")
    return "; ".join(part for part in parts if part)


def describe_protocol(setting: Setting, n_folds: int) -> str:
    """Say in a few words which rows trained and which tested."""
    words = {
        "official": "official split",
        "kfold": f"{n_folds}-fold cross-validation",
        "repeated": f"{n_folds} random split{'s' * (n_folds > 1)}",
        "grouped": f"{n_folds}-fold cross-validation by group",
        "time": f"{n_folds} stretches of time, each learned from all before it",
    }
    made = setting.folds.get("n_folds", n_folds)
    if n_folds < made:
        return f"the first of {made} folds"
    if n_folds > made:
        whole = describe_protocol(setting, made)
        return f"{n_folds // made} rounds of {whole}"
    return words.get(setting.protocol, setting.protocol)


def describe_preparation(preparation: Mapping[str, Any]) -> str:
    """Say in a few words how the features were prepared."""
    words = {
        "zscore": "z-scored",
        "histogram": "rows divided by their sums",
        "unit": "rows divided by their lengths",
        "none": "raw",
    }[preparation["scale"]]
    n_components = preparation.get("n_components")
    return words if n_components is None else f"{words}, {n_components} principal components"


def _notes_on_rows(plan: ComparisonPlan) -> list[str]:
    source, notes = plan.setting.source, []
    if source.path is None and not source.held and (note := get_entry(source.name).note):
        notes.append(f"About {plan.facts.name}: {note}.")
    if source.limit is not None:
        notes.append(f"Measured on a random sample of {plan.facts.n_rows:,} rows.")
    if source.impute:
        notes.append("Missing values were filled in from each training part.")
    return notes


def _failed_exhibits(records: Iterable[Record], rows: Iterable[Row]) -> list[str]:
    """Why what was learned could not be shown, once a method."""
    titles = {row.method: row.title for row in rows}
    reasons = {titles[r["method"]]: r["exhibit_error"] for r in records if r.get("exhibit_error")}
    return [f"What {title} learned could not be shown: {why}" for title, why in reasons.items()]
