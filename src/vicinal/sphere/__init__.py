"""Functions on the sphere, and networks on them that are exactly rotation-equivariant (PyTorch).

.. code-block:: text

    signal on a grid ── SphericalTransform ──> Fragments (τ_0 … τ_L) ── layers ──> Fragments
                                                    │ rotate: D^l(R)       CG product, mixing
                                                    └─ l = 0 ──> invariants ──> class, energy, …

Every name below follows the conventions of the page "Conventions on the sphere".
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:  # pragma: no cover - exercised in a process without torch
    raise ImportError(
        "vicinal.sphere needs PyTorch, which is not installed: pip install 'vicinal[torch]'"
    ) from error

from vicinal.sphere._clebsch_gordan import clebsch_gordan
from vicinal.sphere._correlation import so3_correlation, spherical_correlation
from vicinal.sphere._equivariance import equivariance_error
from vicinal.sphere._fragment_type import FragmentType
from vicinal.sphere._fragments import Fragments
from vicinal.sphere._frame_net import FrameNet
from vicinal.sphere._grids import SphericalGrid, spherical_grid
from vicinal.sphere._harmonics import spherical_harmonics
from vicinal.sphere._invariants import Invariants
from vicinal.sphere._linear import CovariantLinear
from vicinal.sphere._network import ClebschGordanNet
from vicinal.sphere._normalisation import CovariantBatchNorm, SampleNorm
from vicinal.sphere._product import ClebschGordanLayer
from vicinal.sphere._real_basis import to_e3nn_basis
from vicinal.sphere._rotations import (
    euler_to_matrix,
    euler_to_quaternion,
    matrix_to_euler,
    matrix_to_quaternion,
    quaternion_to_euler,
    quaternion_to_matrix,
    random_rotations,
)
from vicinal.sphere._so3 import SO3Transform
from vicinal.sphere._transforms import SphericalTransform
from vicinal.sphere._wigner import wigner_d, wigner_d_all

__all__ = [
    "ClebschGordanLayer",
    "ClebschGordanNet",
    "CovariantBatchNorm",
    "CovariantLinear",
    "FragmentType",
    "Fragments",
    "FrameNet",
    "Invariants",
    "SO3Transform",
    "SampleNorm",
    "SphericalGrid",
    "SphericalTransform",
    "clebsch_gordan",
    "equivariance_error",
    "euler_to_matrix",
    "euler_to_quaternion",
    "matrix_to_euler",
    "matrix_to_quaternion",
    "quaternion_to_euler",
    "quaternion_to_matrix",
    "random_rotations",
    "so3_correlation",
    "spherical_correlation",
    "spherical_grid",
    "spherical_harmonics",
    "to_e3nn_basis",
    "wigner_d",
    "wigner_d_all",
]
