"""Settings all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

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
