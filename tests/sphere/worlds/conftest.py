from __future__ import annotations

from tests.cli.conftest import run  # noqa: F401
