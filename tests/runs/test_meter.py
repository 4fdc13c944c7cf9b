"""What a piece of work cost: time by two clocks, and the memory it added."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from vicinal.runs import _meter
from vicinal.runs._meter import Elapsed, PeakMemory, Stopwatch


def test_sleeping_takes_time_but_no_work():
    watch = Stopwatch()
    time.sleep(0.05)
    elapsed = watch.read()
    assert elapsed.wall >= 0.05
    assert elapsed.cpu < 0.05
    assert elapsed + elapsed == Elapsed(2 * elapsed.wall, 2 * elapsed.cpu)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_a_peak_is_seen_after_it_is_gone_and_not_carried_to_the_next():
    first = PeakMemory()
    np.ones(100_000_000, dtype=np.uint8).sum()
    assert 95 < first.read() < 130  # type: ignore[operator]
    second = PeakMemory()
    np.ones(10_000_000, dtype=np.uint8).sum()
    assert second.read() < 40  # type: ignore[operator]


def test_without_a_mark_to_set_back_the_rise_of_the_lifetime_peak_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(_meter, "STATUS", tmp_path / "none")
    monkeypatch.setattr(_meter, "RESET_PEAK", tmp_path / "neither" / "none")
    memory = PeakMemory()
    assert memory.read() == 0.0
    monkeypatch.setattr(_meter, "_lifetime_peak", lambda: None)
    assert PeakMemory().read() is None
