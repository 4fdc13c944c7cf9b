"""Compact groups: elements, unitary matrices, and how products of irreps fall apart.

.. code-block:: text

    Group ── sample, compose ──> elements ── matrix ──> ρ(g)          (what turns a fragment)
      │ product (the selection rule)                     │
      └──────────── cg: closed form (spins), or the null space over a few ρ(g)   (what multiplies)

`SO2`, `O2`, `SO3`, `O3` and `SU2` are here, direct products, and what a group of one's own
inherits. Rotations of space have more: Wigner matrices, Euler angles, quaternions.
"""

from vicinal.sphere.groups._clebsch_gordan import clebsch_gordan
from vicinal.sphere.groups._compact import O2, O3, SO2, SO3, SU2, DirectProduct, spin_matrix
from vicinal.sphere.groups._group import Group, Path
from vicinal.sphere.groups._rotations import (
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
)
from vicinal.sphere.groups._wigner import wigner_d, wigner_d_all

__all__ = [
    "O2",
    "O3",
    "SO2",
    "SO3",
    "SU2",
    "DirectProduct",
    "Group",
    "Path",
    "clebsch_gordan",
    "euler_to_matrix",
    "quaternion_to_matrix",
    "random_rotations",
    "spin_matrix",
    "wigner_d",
    "wigner_d_all",
]
