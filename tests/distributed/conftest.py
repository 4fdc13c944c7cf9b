"""What tests with processes of Dask share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def same_environment() -> Iterator[None]:
    """Put the environment back: Dask sets the threads of its workers in that of their parent."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
