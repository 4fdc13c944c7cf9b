"""Settings all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Workers that run tests side by side share the processors: said before a library with threads of
# its own is loaded, since those of all workers together would wait for each other.
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if WORKERS > 1:
    share = max(1, (os.cpu_count() or 1) // WORKERS)
    os.environ.setdefault("OMP_NUM_THREADS", str(share))

# The first call of a kernel compiles it, so the time of one example says nothing.
settings.register_profile("vicinal", deadline=None)
settings.load_profile("vicinal")


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs answer their own requests, where processes are not what is claimed."""
    from vicinal.comparison import Measurer
    from vicinal.runs import ThisProcess

    for module in ("vicinal.comparison._compare", "vicinal.published._reproduce"):
        monkeypatch.setattr(f"{module}.WorkerPool", lambda n: ThisProcess(Measurer().answer))
