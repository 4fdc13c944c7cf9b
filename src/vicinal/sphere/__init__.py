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

from vicinal.sphere.groups import O2, O3, SO2, SO3, SU2, DirectProduct, Group
from vicinal.sphere.harmonic import (
    Fragments,
    FragmentType,
    SO3Transform,
    SphericalGrid,
    SphericalTransform,
    clebsch_gordan,
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
    so3_correlation,
    spherical_correlation,
    spherical_grid,
    spherical_harmonics,
    to_e3nn_basis,
    wigner_d,
    wigner_d_all,
)
from vicinal.sphere.nn import (
    ClebschGordanLayer,
    ClebschGordanNet,
    CovariantBatchNorm,
    CovariantLinear,
    Invariants,
    SampleNorm,
    equivariance_error,
    load_network,
)

__all__ = [
    "O2",
    "O3",
    "SO2",
    "SO3",
    "SU2",
    "ClebschGordanLayer",
    "ClebschGordanNet",
    "CovariantBatchNorm",
    "CovariantLinear",
    "DirectProduct",
    "FragmentType",
    "Fragments",
    "Group",
    "Invariants",
    "SO3Transform",
    "SampleNorm",
    "SphericalGrid",
    "SphericalTransform",
    "clebsch_gordan",
    "equivariance_error",
    "euler_to_matrix",
    "load_network",
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
