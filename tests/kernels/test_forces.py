"""Forces between pairs: the kernel against a loop that can be read."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal._kernels._forces import add_forces


def sum_forces(mapped, queries, points, weights):
    """Each pair pulls its query by w (z_q − z_j), and its point by as much the other way."""
    out = np.zeros_like(mapped)
    for q, j, w in zip(queries, points, weights, strict=True):
        out[q] += w * (mapped[q] - mapped[j])
        out[j] -= w * (mapped[q] - mapped[j])
    return out


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_forces_are_those_of_a_plain_loop(dtype, rtol):
    rng = np.random.default_rng(0)
    mapped = rng.normal(size=(12, 3)).astype(dtype)
    queries, points = rng.integers(0, 12, (2, 50)).astype(np.int32)
    weights = rng.normal(size=50).astype(dtype)
    out = np.zeros_like(mapped)
    add_forces(mapped, mapped, queries, points, weights, out, out)
    assert_allclose(out, sum_forces(mapped, queries, points, weights), rtol=rtol, atol=rtol)
    assert_allclose(out.sum(axis=0), 0, atol=1e-12 if dtype == np.float64 else 1e-4)


def test_forces_are_added_to_what_is_there_and_no_pairs_add_none():
    mapped, out = np.array([[0.0], [2.0]]), np.array([[10.0], [20.0]])
    none = np.empty(0, np.int32)
    add_forces(mapped, mapped, none, none, np.empty(0), out, out)
    assert_array_equal(out, [[10.0], [20.0]])
    first, second = np.arange(2, dtype=np.int32)[:, None]
    add_forces(mapped, mapped, first, second, np.array([0.5]), out, out)
    assert_array_equal(out, [[9.0], [21.0]])
