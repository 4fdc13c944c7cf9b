"""Tables of classes and of numbers small enough for fits in a second."""

from __future__ import annotations

import numpy as np
import pytest


def rings(n=300, seed=0):
    """Return two classes that differ in their distance from the middle, and a column of noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + y + 0.1 * rng.normal(size=n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle), rng.normal(size=n)], y


@pytest.fixture(scope="session")
def ring_rows():
    return rings()


@pytest.fixture(scope="session")
def wave_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 3))
    return X, 10 + 3 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)
