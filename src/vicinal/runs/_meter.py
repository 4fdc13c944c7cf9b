"""What a piece of work costs: wall-clock seconds, CPU seconds, and the memory it added."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Elapsed:
    """Seconds by the clock, and CPU seconds of all threads of the process."""

    wall: float
    cpu: float

    def __add__(self, other: Elapsed) -> Elapsed:
        return Elapsed(self.wall + other.wall, self.cpu + other.cpu)


class Stopwatch:
    """Time since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Elapsed:
        """Return what has passed."""
        return Elapsed(time.perf_counter() - self._wall, time.process_time() - self._cpu)


class PeakMemory:
    """The most memory the process has held since this was made, above what it held then.

    So neither the data nor the libraries count, only what the work itself needed. On Linux the
    system's high-water mark is set back first. Elsewhere the mark cannot be set back: the
    figure is how far the mark rose, which is too low after a piece of work that needed more.
    """

    def __init__(self) -> None:
        give_memory_back()
        with suppress(OSError):
            RESET_PEAK.write_text("5")
        self._before = _held_now()

    def read(self) -> float | None:
        """Return the rise in megabytes, None where the system does not tell."""
        peak = _peak()
        if peak is None or self._before is None:
            return None
        return max(0.0, peak - self._before) / 1e6


def give_memory_back() -> None:
    """Return freed memory to the system, so that its reuse shows in the next measurement.

    Of reference cycles only young ones are looked for, such as the last piece of work left: to
    look through all that the libraries hold takes longer than many a fit.
    """
    gc.collect(1)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _held_now() -> float | None:
    return _status("VmRSS") or _peak()


def _peak() -> float | None:
    return _status("VmHWM") or _lifetime_peak()


def _status(name: str) -> float | None:
    """Return a line of the process' status in bytes, where there is one."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith(name + ":"):
                return float(line.split()[1]) * 1024
    return None


def _lifetime_peak() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
