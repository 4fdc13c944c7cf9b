"""Checks for your own pieces, to call in your own tests.

Examples
--------
>>> from vicinal.sphere import CovariantLinear, FragmentType
>>> from vicinal.testing import assert_equivariant
>>> kind = FragmentType([2, 2, 1])
>>> assert_equivariant(CovariantLinear(kind, kind), kind)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal.sphere import Fragments, FragmentType

__all__ = ["assert_equivariant"]

_TOLERANCES = {"torch.float32": 1e-5, "torch.float64": 1e-12}


def assert_equivariant(
    module: Callable[[Fragments], Any],
    type_in: FragmentType,
    *,
    tolerance: float | None = None,
    n_rotations: int = 16,
    seed: int = 0,
) -> None:
    """Raise an AssertionError where a layer or network does not commute with its group.

    Parameters
    ----------
    module : a module or function of Fragments
        One that gives Fragments must be equivariant, one that gives a tensor invariant.
    type_in : FragmentType
        What it takes.
    tolerance : float, optional
        The largest relative error, see :func:`vicinal.sphere.equivariance_error`; 1e-5 for a
        module in float32 and 1e-12 in float64.
    n_rotations : int, default=16
    seed : int, default=0
        Of rotations and inputs.
    """
    from vicinal.sphere import equivariance_error
    from vicinal.sphere.nn import precision_of

    dtype, _ = precision_of(module)
    limit = _TOLERANCES[str(dtype)] if tolerance is None else tolerance
    error = equivariance_error(module, type_in, n_rotations=n_rotations, seed=seed)
    if not error <= limit:
        name = getattr(module, "__name__", type(module).__name__)
        raise AssertionError(
            f"{name} does not commute with {type_in.group}: over {n_rotations} random elements its "
            f"relative error is {error:.1e}, above {limit:.0e} for {dtype}."
        )
