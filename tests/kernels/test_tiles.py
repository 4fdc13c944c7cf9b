"""Tiles of rows in registers against sums in numpy."""

from __future__ import annotations

import numba as nb
import numpy as np
import pytest

from vicinal._kernels._tiles import (
    ROW_BYTES,
    complex_tile,
    dot_tile,
    multiply_diagonal,
    multiply_diagonal_back,
    real_tile,
)

real_3x2 = real_tile(3, 2)
complex_2, complex_2_conjugate = (
    complex_tile(2, conjugate=False, add=True),
    complex_tile(2, conjugate=True, add=False),
)
dot_2x3 = dot_tile(2, 3)


@nb.njit
def run_real(out, factors, rows, n):
    real_3x2(out, 1, 4, factors, 2, n, 1, rows, 3, 5, n)


@nb.njit
def run_complex(out, factors, rows, n):
    complex_2(out, 0, 2, 1, factors, 0, 2 * n, 2, rows, 0, 2, 1, n)


@nb.njit
def run_conjugate(out, factors, rows, n):
    complex_2_conjugate(out, 0, 2, 1, factors, 0, 2 * n, 2, rows, 0, 2, 1, n)


@nb.njit
def run_dot(out, left, right, n):
    dot_2x3(out, 0, 6, 2, left, 0, 2 * n, 2, 1, right, 0, 2 * n, 2, 1, n)


@nb.njit
def run_diagonal(out, rows, n):
    multiply_diagonal(out, 0, 2, rows, 0, n, 3 * n - 1, n, n)


@nb.njit
def run_diagonal_back(grad, rows, grad_rows, n):
    multiply_diagonal_back(grad, 0, 2, rows, grad_rows, 0, n, 3 * n - 1, n, n)


@pytest.fixture(params=[np.float32, np.float64])
def draw(request):
    generator = np.random.default_rng(0)

    def normal(*shape):
        return generator.standard_normal(shape).astype(request.param)

    normal.lanes = ROW_BYTES // np.dtype(request.param).itemsize  # type: ignore[attr-defined]
    return normal


def as_complex(rows: np.ndarray) -> np.ndarray:
    """Return complex rows of (real, imaginary) neighbours."""
    return rows[0::2] + 1j * rows[1::2]


@pytest.mark.parametrize("n", [0, 1, 7])
def test_real_tiles_are_matrix_products(draw, n):
    factors, rows = draw(2 + 3 * n), draw(3 + 5 * n, draw.lanes)
    out = np.zeros((12, draw.lanes), rows.dtype)
    run_real(out, factors, rows, n)
    matrix = factors[2:].reshape(3, n)
    expected = np.zeros_like(out)
    for a in range(3):
        for b in range(2):
            expected[1 + 4 * a + b] = sum(matrix[a, k] * rows[3 + 5 * k + b] for k in range(n))
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_complex_tiles_are_complex_matrix_products(draw, n):
    factors, rows, out = draw(4 * n), draw(2 * n, draw.lanes), draw(4, draw.lanes)
    matrix = as_complex(factors).reshape(2, n)
    before = as_complex(out)
    run_complex(out, factors, rows, n)
    np.testing.assert_allclose(
        as_complex(out), before + matrix @ as_complex(rows), rtol=1e-4, atol=1e-5
    )
    run_conjugate(out, factors, rows, n)
    np.testing.assert_allclose(
        as_complex(out), matrix.conj() @ as_complex(rows), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("n", [0, 1, 5])
def test_dot_tiles_sum_over_terms_and_lanes(draw, n):
    left, right, out = draw(4 * n, draw.lanes), draw(6 * n, draw.lanes), draw(12)
    before = as_complex(out).reshape(2, 3)
    run_dot(out, left, right, n)
    one = as_complex(left).reshape(2, n, draw.lanes)
    other = as_complex(right).reshape(3, n, draw.lanes)
    expected = before + np.einsum("akx,bkx->ab", one.conj(), other)
    np.testing.assert_allclose(as_complex(out).reshape(2, 3), expected, rtol=1e-4, atol=1e-4)


def test_diagonals_are_multiplied_and_their_gradients_are_the_products_of_conjugates(draw):
    n = 4
    rows, out = draw(4 * n, draw.lanes), np.zeros((2 * n, draw.lanes))
    out = out.astype(rows.dtype)
    run_diagonal(out, rows, n)
    x = rows[:n] + 1j * rows[n : 2 * n]
    y = rows[2 * n : 3 * n] + 1j * rows[3 * n :]
    np.testing.assert_allclose(as_complex(out), x * y[::-1], rtol=1e-4, atol=1e-5)
    grad, grad_rows = draw(2 * n, draw.lanes), np.zeros_like(rows)
    run_diagonal_back(grad, rows, grad_rows, n)
    g = as_complex(grad)
    found = grad_rows.reshape(2, 2, n, -1)
    np.testing.assert_allclose(
        found[0, 0] + 1j * found[0, 1], g * y[::-1].conj(), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(
        found[1, 0] + 1j * found[1, 1], (g * x.conj())[::-1], rtol=1e-4, atol=1e-5
    )
