"""Records of folds → rows of a table: means, gains over the Euclidean distance, the best."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vicinal._types import Row
from vicinal.comparison._packing import unpack_bits
from vicinal.comparison._significance import corrected_t_test, mcnemar_test
from vicinal.methods._table import EUCLIDEAN, Method
from vicinal.runs._journal import Record

MEASURED = ("fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds")


def summarize_records(
    records: Iterable[Record], methods: Sequence[Method], ks: Sequence[int], dataset: str
) -> tuple[Row, ...]:
    """Return one row for each k and method, in that order.

    A row's times are means over its folds and its memory is the largest of them; the gain and
    its test compare the folds that this method and the Euclidean distance both have.
    """
    folds: dict[tuple[str, int], list[Record]] = {}
    for record in records:
        folds.setdefault((record["method"], record["k"]), []).append(record)
    rows = []
    for k in ks:
        plain = _ok(folds.get((EUCLIDEAN, k), []))
        group = [_row(folds.get((m.name, k), []), m, k, dataset, plain) for m in methods]
        rows += mark_best(group)
    return tuple(rows)


def _ok(records: Iterable[Record]) -> dict[int, Record]:
    """The results by fold."""
    return {r["fold"]: r for r in records if r["status"] == "ok"}


def _row(
    records: list[Record], method: Method, k: int, dataset: str, plain: Mapping[int, Record]
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
        **{name: _mean([r[name] for r in results]) for name in MEASURED},
    )


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

    Several folds: the corrected t-test. One fold: McNemar's exact test on its rows, for
    classification.
    """
    shared = sorted(ours.keys() & plain.keys())
    if not shared:
        return None, None
    differences = [plain[fold]["error"] - ours[fold]["error"] for fold in shared]
    share = _mean([ours[fold]["n_test"] / ours[fold]["n_train"] for fold in shared])
    gain = _mean(differences)
    if len(shared) > 1:
        return gain, corrected_t_test(differences, share)
    return gain, _test_rows(ours[shared[0]], plain[shared[0]])


def _test_rows(ours: Mapping[str, Any], plain: Mapping[str, Any]) -> float | None:
    if ours["wrong"] is None or plain["wrong"] is None:
        return None
    n = ours["n_test"]
    return mcnemar_test(unpack_bits(ours["wrong"], n), unpack_bits(plain["wrong"], n))


def mark_best(rows: Sequence[Row]) -> list[Row]:
    """Mark the smallest error of one k; equal ones are all marked, partial ones never."""
    whole = [row.error_mean for row in rows if row.status == "ok"]
    best = min(whole, default=math.nan)
    return [replace(row, best=row.status == "ok" and row.error_mean == best) for row in rows]


def best_learned(rows: Iterable[Row]) -> Row | None:
    """Return the measured row of smallest error besides the Euclidean ones, if any."""
    learned = [row for row in rows if row.method != EUCLIDEAN and row.status != "failed"]
    return min(learned, key=lambda row: row.error_mean, default=None)
