from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.quantum.cg import CG
from tests.oracles import clebsch_gordan as oracle


@pytest.mark.parametrize(("l1", "l2", "degree"), [(1, 1, 1), (2, 1, 3), (2, 3, 2)])
def test_coefficients_are_those_of_sympy(l1, l2, degree):
    table = oracle.table(l1, l2, degree)
    for m1 in range(-l1, l1 + 1):
        for m2 in range(-l2, l2 + 1):
            if abs(m1 + m2) <= degree:
                expected = float(CG(l1, m1, l2, m2, degree, m1 + m2).doit())
                found = table[m1 + l1, m2 + l2, m1 + m2 + degree]
                assert found == pytest.approx(expected, abs=1e-14)


def test_a_product_with_a_scalar_scales():
    rng = np.random.default_rng(0)
    scalar = rng.standard_normal((2, 1, 1)) + 1j
    vector = rng.standard_normal((2, 3, 1)) + 1j * rng.standard_normal((2, 3, 1))
    out = oracle.product([scalar, vector], {(1, 1, 0): np.ones((1, 1, 1))}, [0, 1])
    np.testing.assert_allclose(out[1], scalar * vector)
