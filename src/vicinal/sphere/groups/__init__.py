"""The group of rotations: elements, matrices, Clebsch–Gordan coefficients."""

from vicinal.sphere.groups._clebsch_gordan import clebsch_gordan
from vicinal.sphere.groups._rotations import (
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
)
from vicinal.sphere.groups._wigner import wigner_d, wigner_d_all

__all__ = [
    "clebsch_gordan",
    "euler_to_matrix",
    "quaternion_to_matrix",
    "random_rotations",
    "wigner_d",
    "wigner_d_all",
]
