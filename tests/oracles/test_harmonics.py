from __future__ import annotations

import numpy as np
from scipy.linalg import expm
from tests.oracles import harmonics as oracle

ANGLES = (0.4, 1.3, 5.0)


def test_the_rule_integrates_harmonics():
    points, weights = oracle.sphere_nodes(5)
    Y = oracle.harmonics(4, *oracle.angles(points))
    np.testing.assert_allclose(Y.conj().T @ (weights[:, None] * Y), np.eye(25), atol=1e-13)


def test_a_rotation_turns_axes_the_right_way():
    np.testing.assert_allclose(oracle.rotation(np.pi / 2, 0, 0) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(oracle.rotation(0, np.pi / 2, 0) @ [0, 0, 1], [1, 0, 0], atol=1e-15)


def test_harmonics_of_rotated_points_are_mixed_by_the_matrix():
    """Y_l^n(R⁻¹x) = Σ_m D_mn Y_l^m(x), the definition of D."""
    points, _ = oracle.sphere_nodes(4)
    R = oracle.rotation(*ANGLES)
    for degree in range(5):
        part = slice(degree**2, (degree + 1) ** 2)
        turned = oracle.harmonics(degree, *oracle.angles(points @ R))[:, part]
        plain = oracle.harmonics(degree, *oracle.angles(points))[:, part]
        np.testing.assert_allclose(turned, plain @ oracle.wigner(degree, *ANGLES), atol=1e-13)


def test_the_matrix_is_a_product_of_exponentials():
    J_y, J_z = oracle.generators(3)
    a, b, c = (expm(-1j * t * J) for t, J in zip(ANGLES, (J_z, J_y, J_z), strict=True))
    np.testing.assert_allclose(oracle.wigner(3, *ANGLES), a @ b @ c, atol=1e-12)
