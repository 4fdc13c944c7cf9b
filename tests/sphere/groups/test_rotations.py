from __future__ import annotations

from math import pi

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests.oracles.harmonics import rotation

from vicinal.sphere import (
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
    wigner_d,
)

# Poles, half turns and their neighbourhoods, where conversions break, are drawn often.
SPECIAL = [0.0, 1e-300, 1e-17, 1e-9, pi / 2, pi - 1e-9, pi, 3 * pi / 2, 2 * pi - 1e-16]
ANGLES = st.one_of(st.sampled_from(SPECIAL), st.floats(0, 2 * pi))
COLATITUDES = st.one_of(st.sampled_from([s for s in SPECIAL if s <= pi]), st.floats(0, pi))


def tensors(*numbers):
    return [torch.tensor(x, dtype=torch.float64) for x in numbers]


@given(ANGLES, COLATITUDES, ANGLES)
def test_every_conversion_keeps_the_rotation(alpha, beta, gamma):
    R = torch.from_numpy(rotation(alpha, beta, gamma))
    quaternion = Rotation.from_matrix(R.numpy()).as_quat(scalar_first=True)
    found = [
        euler_to_matrix(*tensors(alpha, beta, gamma)),
        quaternion_to_matrix(torch.from_numpy(quaternion)),
    ]
    for one in found:
        torch.testing.assert_close(one, R, rtol=0, atol=1e-14)


def test_euler_angles_broadcast():
    turns = torch.linspace(0, 6, 4, dtype=torch.float64)
    assert euler_to_matrix(turns[:, None], turns / 2, turns[0]).shape == (4, 4, 3, 3)


def test_a_generator_makes_the_same_rotations_again():
    one, other = (random_rotations(3, torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(one, other)
    assert random_rotations(0).shape == (0, 3, 3)


def test_random_rotations_are_rotations_in_the_precision_asked_for():
    R = random_rotations(200)
    assert R.dtype == torch.float64
    identity = torch.eye(3, dtype=torch.float64).expand(200, 3, 3)
    torch.testing.assert_close(R @ R.mT, identity, rtol=0, atol=1e-14)
    torch.testing.assert_close(torch.linalg.det(R), torch.ones(200, dtype=torch.float64))
    assert random_rotations(2, dtype=torch.float32).dtype == torch.float32


def test_what_is_not_a_rotation_is_refused_with_its_fault():
    eye = torch.eye(3)
    with pytest.raises(ValueError, match=r"\(..., 3, 3\), but it is \(3, 2\)"):
        wigner_d(1, eye[:, :2])
    with pytest.raises(ValueError, match=r"some R Rᵀ is 0\.21 from the identity"):
        wigner_d(1, 1.1 * eye)
    with pytest.raises(ValueError, match=r"some R Rᵀ is nan from the identity"):
        wigner_d(1, eye * float("nan"))
    with pytest.raises(ValueError, match="some are reflections"):
        wigner_d(1, -eye)
    with pytest.raises(ValueError, match=r"float32 or float64, but they are torch\.int64"):
        wigner_d(1, eye.long())
    with pytest.raises(TypeError, match="a torch tensor, but this is a list"):
        wigner_d(1, [[1.0]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite and not zero"):
        quaternion_to_matrix(torch.zeros(4))
    with pytest.raises(ValueError, match=r"\(..., 4\), but it is \(3,\)"):
        quaternion_to_matrix(torch.ones(3))
    with pytest.raises(ValueError, match="n = -1"):
        random_rotations(-1)


def test_mixed_precisions_are_refused_by_both_names():
    with pytest.raises(ValueError, match=r"torch\.float32 on cpu and torch\.float64 on cpu"):
        euler_to_matrix(torch.tensor(0.1), *tensors(0.2, 0.3))
