from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.clebsch_gordan import table

from vicinal.sphere import clebsch_gordan

DEGREES = st.integers(0, 6)


@given(DEGREES, DEGREES, st.data())
@settings(max_examples=40)
def test_coefficients_are_those_of_racahs_formula(l1, l2, data):
    l = data.draw(st.integers(abs(l1 - l2), l1 + l2))
    np.testing.assert_allclose(clebsch_gordan(l1, l2, l), table(l1, l2, l), rtol=0, atol=1e-13)


def test_every_digit_is_right_at_high_degrees():
    """Against sympy's exact root of a rational, to one unit in the last place."""
    from sympy.physics.quantum.cg import CG

    C = clebsch_gordan(20, 18, 16)
    for m1, m2 in [(0, 0), (-20, 18), (7, -3), (13, -11), (-5, -6)]:
        expected = float(CG(20, m1, 18, m2, 16, m1 + m2).doit().evalf(30))
        assert abs(float(C[m1 + 20, m2 + 18, m1 + m2 + 16]) - expected) <= 2 * np.spacing(
            abs(expected)
        )


@pytest.mark.parametrize(
    "degrees",
    [(20, 21, 21), (21, 21, 21), (64, 64, 64)],
    ids=["sums of 62 bits", "of 63", "terms beyond any float"],
)
def test_columns_are_orthonormal_whatever_the_size_of_the_sums(degrees):
    C = clebsch_gordan(*degrees).flatten(0, 1)
    eye = torch.eye(C.shape[1], dtype=torch.float64)
    torch.testing.assert_close(C.T @ C, eye, rtol=0, atol=1e-14)


def test_writing_into_a_result_does_not_spoil_the_next():
    clebsch_gordan(1, 1, 2).fill_(7)
    assert float(clebsch_gordan(1, 1, 2)[2, 2, 4]) == 1


def test_numpy_takes_them_as_an_array():
    assert np.asarray(clebsch_gordan(2, 3, 4)).shape == (5, 7, 9)


@pytest.mark.parametrize(
    ("degrees", "message"),
    [
        ((1, 2, 4), "here 1 to 3 for l1 = 1 and l2 = 2, but l = 4"),
        ((3, 1, 1), "here 2 to 4 for l1 = 3 and l2 = 1, but l = 1"),
        ((-1, 1, 1), r"must not be negative, but \(l1, l2, l\) = \(-1, 1, 1\)"),
        ((0.5, 0.5, 1), r"whole numbers, but \(l1, l2, l\) = \(0.5, 0.5, 1\)"),
    ],
)
def test_degrees_outside_the_triangle_are_refused(degrees, message):
    with pytest.raises(ValueError, match=message):
        clebsch_gordan(*degrees)
