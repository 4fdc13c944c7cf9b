"""Harmonic analysis of functions on the sphere and on the rotation group.

.. code-block:: text

    rotations ── wigner_d ─────────────┐
                                       │ rotate
    signal on a grid ── SphericalTransform ──> Fragments ── clebsch_gordan ──> products (in nn)
                                                   │
                                                   └─ spherical_correlation ──> functions on SO(3)
                                                              SO3Transform, so3_correlation

Nothing here is learned. `Fragments`, the coefficients that the transform makes, live here too, with
their type: the layers of ``sphere.nn`` take and return them.
"""

from vicinal.sphere.groups._clebsch_gordan import clebsch_gordan
from vicinal.sphere.groups._rotations import (
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
)
from vicinal.sphere.groups._wigner import wigner_d, wigner_d_all
from vicinal.sphere.harmonic._correlation import so3_correlation, spherical_correlation
from vicinal.sphere.harmonic._fragment_type import FragmentType
from vicinal.sphere.harmonic._fragments import Fragments, check_input
from vicinal.sphere.harmonic._grids import SphericalGrid, spherical_grid
from vicinal.sphere.harmonic._harmonics import real_waves, spherical_harmonics
from vicinal.sphere.harmonic._real_basis import to_e3nn_basis
from vicinal.sphere.harmonic._so3 import SO3Transform
from vicinal.sphere.harmonic._transforms import SphericalTransform

__all__ = [
    "FragmentType",
    "Fragments",
    "SO3Transform",
    "SphericalGrid",
    "SphericalTransform",
    "check_input",
    "clebsch_gordan",
    "euler_to_matrix",
    "quaternion_to_matrix",
    "random_rotations",
    "real_waves",
    "so3_correlation",
    "spherical_correlation",
    "spherical_grid",
    "spherical_harmonics",
    "to_e3nn_basis",
    "wigner_d",
    "wigner_d_all",
]
