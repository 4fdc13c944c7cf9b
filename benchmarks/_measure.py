"""Measuring one case: ours and the peer's in turn, and what memory ours takes."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import joblib

import vicinal


@dataclass(frozen=True)
class Case:
    """One comparison: two functions that do the same work.

    ``warm_up`` compiles and loads what either needs; ``check`` looks at both results and returns
    facts to record with the times, or raises. ``limits`` names recorded values and the most each
    may be.
    """

    name: str
    peer_name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    warm_up: Callable[[], Any]
    check: Callable[[Any, Any], Mapping[str, Any]]
    limits: Mapping[str, float] = field(default_factory=dict)


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Return the record of one case: medians over repeats, ours and the peer's taking turns."""
    case.warm_up()
    found, peak_mb = _peak_megabytes(case.ours)
    facts = case.check(found, case.peer())
    del found
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "peer": []}
    for _ in range(repeats):
        times["ours"].append(_seconds(case.ours))
        times["peer"].append(_seconds(case.peer))
    wall, cpu = (median(pair[i] for pair in times["ours"]) for i in (0, 1))
    peer_wall, peer_cpu = (median(pair[i] for pair in times["peer"]) for i in (0, 1))
    return {
        "case": case.name,
        "peer": case.peer_name,
        "wall_ratio": round(wall / peer_wall, 3),
        "cpu_ratio": round(cpu / peer_cpu, 3),
        "cpu_seconds": round(cpu, 3),
        "peer_cpu_seconds": round(peer_cpu, 3),
        "peak_mb": peak_mb,
        **facts,
        **circumstances(),
    }


def exceeded(case: Case, record: Mapping[str, Any]) -> list[str]:
    """Return in words which of the case's limits the record exceeds."""
    return [
        f"{name} {record[name]} > {most}"
        for name, most in case.limits.items()
        if record[name] is not None and record[name] > most
    ]


def _seconds(work: Callable[[], Any]) -> tuple[float, float]:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _peak_megabytes(work: Callable[[], Any]) -> tuple[Any, float | None]:
    """Return the result and how far memory rose above where it stood, in MB; None off Linux."""
    gc.collect()
    if not _forget_peak():
        return work(), None
    before = _status("VmRSS")
    result = work()
    return result, round((_status("VmHWM") - before) / 1024, 1)


def _forget_peak() -> bool:
    try:
        ctypes.CDLL(None).malloc_trim(0)  # or memory freed by earlier cases would be used unseen
        Path("/proc/self/clear_refs").write_text("5")
    except (AttributeError, OSError):
        return False
    return True


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


def circumstances() -> dict[str, Any]:
    """Return what a record was measured with."""
    return {
        "processor": _processor(),
        "threads": int(os.environ.get("OMP_NUM_THREADS", joblib.cpu_count())),
        "python": platform.python_version(),
        "vicinal": vicinal.__version__,
    }


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
