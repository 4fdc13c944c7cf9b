"""The change of basis between these conventions and those of e3nn."""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np
import torch
from torch import Tensor

from vicinal.sphere.groups._wigner import wigner_d


def to_e3nn_basis(l: int) -> Tensor:
    """Compute the unitary matrix U_l that takes coefficients f̂_l to those in e3nn's basis.

    e3nn expands functions in real harmonics whose polar axis is y: its Y_l(x, y, z) are the usual
    real harmonics, without the Condon–Shortley phase, at (z, x, y), so that those of degree 1 are
    x, y, z themselves. With U = U_l,

    - U f̂_l are the coefficients in e3nn's basis, real where the signal is real;
    - U D^l(R) U† = ``Irrep(l, 1).D_from_matrix(R)``;
    - conj(U) Y_l = ``spherical_harmonics(l, x, True, "integral")``;
    - (−i)^(l1+l2−l) / √(2l+1) times the Clebsch–Gordan coefficients, moved by U_l1, U_l2 and
      conj(U_l), are ``wigner_3j(l1, l2, l)``.

    Parameters
    ----------
    l : int
        The degree, zero or more.

    Returns
    -------
    Tensor of shape (2l+1, 2l+1), complex128

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import random_rotations, to_e3nn_basis, wigner_d
    >>> R, U = random_rotations(1)[0], to_e3nn_basis(1)
    >>> bool(torch.allclose(U @ wigner_d(1, R) @ U.mH, R + 0j))  # degree 1 is x, y, z
    True
    """
    if isinstance(l, bool) or int(l) != l or l < 0:
        raise ValueError(f"the degree l must be a whole number, zero or more, but it is {l}")
    return _basis(int(l)).clone()


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _basis(l: int) -> Tensor:
    cycle = torch.tensor([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=torch.float64, device="cpu")
    return _complex_to_real(l).conj() @ wigner_d(l, cycle)


def _complex_to_real(l: int) -> Tensor:
    """T with (T Y)_m = √2 (−1)^m Re Y^m for m > 0, Y^0, and √2 (−1)^m Im Y^|m| for m < 0."""
    half = sqrt(0.5)
    T = np.zeros((2 * l + 1, 2 * l + 1), dtype=np.complex128)
    T[l, l] = 1
    for m in range(1, l + 1):
        sign = (-1) ** m
        T[l + m, l + m], T[l + m, l - m] = sign * half, half
        T[l - m, l + m], T[l - m, l - m] = -1j * sign * half, 1j * half
    return torch.from_numpy(T)
