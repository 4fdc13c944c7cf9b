"""Settings all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import settings

# Workers that run tests side by side share the processors: said before a library with threads of
# its own is loaded, since those of all workers together would wait for each other.
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if WORKERS > 1:
    share = max(1, (os.cpu_count() or 1) // WORKERS)
    os.environ.setdefault("OMP_NUM_THREADS", str(share))

# What needs the extra torch is left out where it is not installed.
if find_spec("torch") is None:
    collect_ignore = ["equivariance", "losses", "test_testing.py", "oracles/test_clebsch_gordan.py"]
    collect_ignore += [
        f"sphere/{room}"
        for room in ("digits", "groups", "harmonic", "molecules", "nn", "shapes", "worlds")
    ]
    collect_ignore += ["sphere/training", "sphere/test_doctests.py"]
    collect_ignore_glob = ["cli/test_cmd_sphere*.py"]

# The first call of a kernel compiles it, so the time of one example says nothing.
settings.register_profile("vicinal", deadline=None)
settings.load_profile("vicinal")


@pytest.fixture(autouse=True, scope="module")
def threads_stay_as_they_were() -> Iterator[None]:
    """Refuse a test that leaves a number of threads behind: later ones would work in as many."""
    before = _thread_settings()
    yield
    assert _thread_settings() == before


def _thread_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}


def answer_here(n: int) -> Any:
    """Return what answers the requests of a run in this process, in place of so many workers."""
    from vicinal.comparison import Measurer
    from vicinal.runs import ThisProcess

    return ThisProcess(Measurer().answer)


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs answer their own requests, where processes are not what is claimed."""
    for module in ("vicinal.comparison._compare", "vicinal.published._reproduce"):
        monkeypatch.setattr(f"{module}.WorkerPool", answer_here)
