"""Records of folds → rows of a table: means, gains over the Euclidean distance, duels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vicinal.comparison._packing import unpack_bits, unpack_floats
from vicinal.comparison._significance import corrected_t_test, mcnemar_test
from vicinal.methods import EUCLIDEAN, Method
from vicinal.report import Duel, Row, best_neighbors, best_row, mark_best, same_error
from vicinal.runs import Record

MEASURED = ("fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds")


Folds = dict[tuple[str, int | None], list[Record]]


def summarize_records(
    records: Iterable[Record],
    methods: Sequence[Method],
    ks: Sequence[int],
    dataset: str,
    loss: str = "error",
) -> tuple[tuple[Row, ...], tuple[Duel, ...]]:
    """Return one row for each k and method, in that order, then the references and their duels.

    A row's times are means over its folds and its memory is the largest of them; the gain and
    its test compare the folds that this method and the Euclidean distance both have. Errors are
    the values of the ``loss``.
    """
    folds: Folds = {}
    for record in (ranked_by(loss, each) for each in records):
        folds.setdefault((record["method"], record["k"]), []).append(record)
    rows: list[Row] = []
    for k in ks:
        plain = _ok(folds.get((EUCLIDEAN, k), []))
        asking = [m for m in methods if not m.reference]
        rows += mark_best(_row(folds.get((m.name, k), []), m, k, dataset, plain) for m in asking)
    references = [method for method in methods if method.reference]
    euclidean = best_row(row for row in rows if row.method == EUCLIDEAN)
    plain = {} if euclidean is None else _ok(folds[EUCLIDEAN, euclidean.k])
    more = [_row(folds.get((m.name, None), []), m, None, dataset, plain) for m in references]
    return (*rows, *more), _duels(rows, more, folds)


def ranked_by(loss: str, record: Record) -> Record:
    """Return a record whose error is the loss asked for, with what its rows tell of that."""
    if loss == "error" or record["status"] != "ok":
        return record
    facts = {"wrong": None, "power": 1 if loss == "mae" else 2}
    return {**record, "error": record["scores"].get(loss, math.nan), **facts}


def summarize_majority(records: Iterable[Record]) -> dict[str, float]:
    """Return the mean losses of a model that looks at no feature, over the folds measured."""
    folds = {r["fold"]: r["majority"] for r in records if r["status"] == "ok" and "majority" in r}
    names: Iterable[str] = next(iter(folds.values()), {})
    return {name: _mean([each[name] for each in folds.values()]) for name in names}


def _duels(rows: Iterable[Row], references: Iterable[Row], folds: Folds) -> tuple[Duel, ...]:
    """The best of the rows against each reference, on the folds both have."""
    best = best_neighbors(rows)
    if best is None:
        return ()
    ours = _ok(folds[best.method, best.k])
    plain = best_row(row for row in rows if row.method == EUCLIDEAN)
    references = [*references, *([plain] if plain and best.method != EUCLIDEAN else [])]
    return tuple(
        Duel(row.method, compare_folds(ours, _ok(folds[row.method, row.k]))[1])
        for row in references
        if row.measured
    )


def _ok(records: Iterable[Record]) -> dict[int, Record]:
    """The results by fold."""
    return {r["fold"]: r for r in records if r["status"] == "ok"}


def _row(
    records: list[Record],
    method: Method,
    k: int | None,
    dataset: str,
    plain: Mapping[int, Record],
) -> Row:
    ok = _ok(records)
    results = [ok[fold] for fold in sorted(ok)]
    errors = tuple(float(r["error"]) for r in results)
    gain, p_value = (None, None) if method.name == EUCLIDEAN else compare_folds(ok, plain)
    return Row(
        dataset=dataset,
        method=method.name,
        title=method.title,
        k=k,
        errors=errors,
        error_mean=_mean(errors),
        error_sd=float(np.std(errors, ddof=1)) if len(errors) > 1 else math.nan,
        gain=gain,
        p_value=p_value,
        peak_mb=max((_number(r["peak_mb"]) for r in results), default=math.nan),
        n_train=round(_mean([r["n_train"] for r in results])) if results else 0,
        n_test=round(_mean([r["n_test"] for r in results])) if results else 0,
        best=False,
        status=_status(len(results), len(records)),
        message=_failure(records),
        notes=distinct_notes(note for r in results for note in r["notes"]),
        reference=method.reference,
        scores=_mean_scores(results),
        confusion=_sum_confusions(results),
        calibration=_sum_calibrations(results),
        **{name: _mean([r[name] for r in results]) for name in MEASURED},
    )


def _mean_scores(results: Sequence[Record]) -> dict[str, float]:
    names = [n for n in (results[0].get("scores", {}) if results else {}) if _all_have(results, n)]
    return {name: _mean([r["scores"][name] for r in results]) for name in names}


def _all_have(results: Sequence[Record], name: str) -> bool:
    return all(name in r["scores"] for r in results)


def _sum_calibrations(results: Sequence[Record]) -> tuple[tuple[float, ...], ...]:
    bins = [r["calibration"] for r in results if r.get("calibration") is not None]
    summed = np.sum(bins, axis=0).tolist() if bins else []
    return tuple(tuple(each) for each in summed)


def _sum_confusions(results: Sequence[Record]) -> tuple[tuple[int, ...], ...]:
    counts = [r["confusion"] for r in results if r.get("confusion") is not None]
    summed = np.sum(counts, axis=0).tolist() if counts else []
    return tuple(tuple(row) for row in summed)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _status(n_ok: int, n_records: int) -> str:
    if n_ok == 0:
        return "failed"
    return "ok" if n_ok == n_records else "partial"


def _failure(records: Iterable[Record]) -> str:
    """The first failure's message, with its fold where others may have gone well."""
    failed = [r for r in records if r["status"] != "ok"]
    if not failed:
        return ""
    messages = {r["message"] for r in failed}
    more = f" (and {len(messages) - 1} other reasons)" if len(messages) > 1 else ""
    return f"{failed[0]['message']}{more}"


def distinct_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return each note once; those that differ in numbers only count as one."""
    first: dict[str, str] = {}
    for note in notes:
        first.setdefault(re.sub(r"\d+", "#", note), note)
    return tuple(first.values())


def compare_folds(
    ours: Mapping[int, Record], plain: Mapping[int, Record]
) -> tuple[float | None, float | None]:
    """Return how much smaller our error is on the folds both have, and the paired test of it.

    Several folds: the corrected t-test. One fold: a test on its rows, McNemar's exact one for
    classes, a paired t-test for numbers.
    """
    shared = sorted(ours.keys() & plain.keys())
    if not shared:
        return None, None
    pairs = [(plain[fold]["error"], ours[fold]["error"]) for fold in shared]
    differences = [0.0 if same_error(a, b) else a - b for a, b in pairs]
    share = _mean([ours[fold]["n_test"] / ours[fold]["n_train"] for fold in shared])
    gain = _mean(differences)
    if len(shared) > 1:
        return gain, corrected_t_test(differences, share)
    return gain, _test_rows(ours[shared[0]], plain[shared[0]])


def _test_rows(ours: Mapping[str, Any], plain: Mapping[str, Any]) -> float | None:
    both, n = (ours, plain), ours["n_test"]
    if all(record["wrong"] is not None for record in both):
        return mcnemar_test(*(unpack_bits(record["wrong"], n) for record in both))
    if any(record.get("residuals") is None for record in both):
        return None
    first, second = (np.abs(unpack_floats(record["residuals"])) for record in both)
    power = ours.get("power", 2)
    # Rows do not overlap as training parts do: without that correction it is Student's test.
    return corrected_t_test(second**power - first**power, 0.0)
