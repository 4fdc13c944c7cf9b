"""Functions on the rotation group: their Fourier transform and its inverse.

A function g on SO(3) is sampled at the ZYZ Euler angles α_i = πi/b, β_k = π(2k+1)/(4b), γ_j = πj/b;
its Fourier matrices are one complex tensor (..., 2l+1, 2l+1) for each degree l, indexed by
(m + l, n + l).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import pi

import torch
from torch import Tensor
from torch.nn.functional import pad

from vicinal.sphere.groups._rotations import euler_to_matrix
from vicinal.sphere.groups._wigner import wigner_d_all
from vicinal.sphere.harmonic._agreement import check_alike, check_degrees, check_finite
from vicinal.sphere.harmonic._constant_tables import ConstantTables
from vicinal.sphere.harmonic._grids import check_bandwidth, spherical_grid


class SO3Transform(ConstantTables):
    """The Fourier transform of functions on SO(3), and its inverse.

        G_l = (2l + 1) ∫ g(R) D^l(R) dμ(R),        g(R) = Σ_l Tr[G_l D^l(R)†]

    with μ the Haar measure of total mass 1. With this normalisation the correlation of two signals
    on the sphere has the matrices f̂_l ĥ_l† (see :func:`spherical_correlation`). The integral is a
    sum over the grid, exact for functions of degree below the bandwidth. Matrix products over γ and
    α, at b = 10 faster than FFTs, are followed by one over β for each (m, n): O(b³ L) a signal, and
    tables of O(b L³) numbers. Real signals cost half of complex ones.

    As in :class:`SphericalTransform`, nothing is learned and ``.to(...)`` sets the precision.

    Parameters
    ----------
    bandwidth : int
        b ≥ 1: the grid has 2b × 2b × 2b points.
    l_max : int
        The highest degree L ≤ b − 1 that is computed.

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import SO3Transform
    >>> transform = SO3Transform(bandwidth=4, l_max=3)
    >>> matrices = transform(torch.ones(1, 8, 8, 8))
    >>> [round(float(G.abs().sum()), 4) for G in matrices]  # a constant has degree 0 only
    [1.0, 0.0, 0.0, 0.0]
    """

    waves: Tensor
    twice: Tensor
    turns: Tensor
    analysis: Tensor
    synthesis: Tensor

    def __init__(self, bandwidth: int, l_max: int) -> None:
        super().__init__()
        check_bandwidth(bandwidth, l_max)
        self.bandwidth, self.l_max = int(bandwidth), int(l_max)
        self.grid_shape = (2 * self.bandwidth,) * 3
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        return _tables(self.bandwidth, self.l_max)

    def rotations(self) -> Tensor:
        """Compute the grid as rotation matrices, shape (2b, 2b, 2b, 3, 3), in double precision."""
        grid = spherical_grid(self.bandwidth)
        alpha, beta, gamma = grid.phi[:, None, None], grid.theta[:, None], grid.phi
        return euler_to_matrix(alpha, beta, gamma).to(self.analysis.device)

    def forward(self, signal: Tensor) -> list[Tensor]:
        """Compute the Fourier matrices G_0 … G_L of signals on the grid.

        Parameters
        ----------
        signal : Tensor of shape (..., 2b, 2b, 2b), real or complex
            ``signal[..., i, k, j]`` is the value at R(α_i, β_k, γ_j).

        Returns
        -------
        list of Tensor, the l-th of shape (..., 2l+1, 2l+1)
        """
        self._check_signal(signal)
        samples = signal.reshape(-1, *self.grid_shape)
        if signal.is_complex():
            real, imaginary = self._analyse(samples.real), self._analyse(samples.imag)
            matrices = [u + 1j * v for u, v in zip(real, imaginary, strict=True)]
        else:
            matrices = self._analyse(samples)
        return [G.reshape(*signal.shape[:-3], *G.shape[1:]) for G in matrices]

    def inverse(self, matrices: Sequence[Tensor], *, real: bool = False) -> Tensor:
        """Compute the signal g(R) = Σ_l Tr[G_l D^l(R)†] on the grid.

        Parameters
        ----------
        matrices : sequence of Tensor, the l-th of shape (..., 2l+1, 2l+1), complex
            One for each degree 0 to ``l_max``.
        real : bool, default=False
            Return the real part only, at half the cost; for signals known to be real.

        Returns
        -------
        Tensor of shape (..., 2b, 2b, 2b)
            Complex, unless ``real``.
        """
        self._check_matrices(matrices)
        leading = matrices[0].shape[:-2]
        flat = [G.reshape(-1, *G.shape[-2:]) for G in matrices]
        signal = self._synthesise([_real_part(G) for G in flat])
        if not real:
            signal = torch.complex(signal, self._synthesise([_real_part(-1j * G) for G in flat]))
        return signal.reshape(*leading, *self.grid_shape)

    def _analyse(self, samples: Tensor) -> list[Tensor]:
        """Fourier matrices of real signals (N, α, β, γ)."""
        waves = torch.view_as_complex((samples @ self.waves).unflatten(3, (-1, 2)))
        waves = waves.permute(1, 3, 2, 0)  # (N, α, β, n) → (α, n, β, N)
        waves = torch.tensordot(torch.view_as_complex(self.turns), waves, dims=1)  # (m, n, β, N)
        half = _real_product(self.analysis, waves).permute(2, 3, 0, 1)  # (l, N, m, n)
        L = self.l_max
        return [_mirror(half[l, :, L - l : L + l + 1, : l + 1]) for l in range(L + 1)]

    def _synthesise(self, halves: list[Tensor]) -> Tensor:
        """Real signals (N, α, β, γ) of Fourier matrices with n ≥ 0, each (N, 2l+1, l+1)."""
        L = self.l_max
        padded = [pad(G, (0, L - l, L - l, L - l)) for l, G in enumerate(halves)]
        waves = _real_product(self.synthesis, torch.stack(padded).permute(2, 3, 0, 1))
        rings = torch.tensordot(torch.view_as_complex(self.turns).mH, waves, dims=1)
        rings = rings.permute(3, 0, 2, 1).contiguous()  # (α, n, β, N) → (N, α, β, n)
        return torch.view_as_real(rings).flatten(3) @ (self.twice * self.waves).mT

    def _check_signal(self, signal: Tensor) -> None:
        if signal.ndim < 3 or signal.shape[-3:] != self.grid_shape:
            side = 2 * self.bandwidth
            raise ValueError(
                f"a grid of bandwidth {self.bandwidth} takes signals of shape "
                f"(..., {side}, {side}, {side}), got {tuple(signal.shape)}."
            )
        precision = signal.dtype.to_real() if signal.is_complex() else signal.dtype
        check_alike("the transform", self.analysis, "the signal", precision, signal.device)
        check_finite("the signal", signal)

    def _check_matrices(self, matrices: Sequence[Tensor]) -> None:
        check_degrees(matrices)
        if len(matrices) != self.l_max + 1:
            raise ValueError(
                f"this transform takes matrices of each degree 0 to {self.l_max}, got those of "
                f"degrees 0 to {len(matrices) - 1}."
            )
        like = matrices[0]
        check_alike(
            "the transform", self.analysis, "the matrices", like.dtype.to_real(), like.device
        )

    def extra_repr(self) -> str:
        return f"bandwidth={self.bandwidth}, l_max={self.l_max}"


def _real_product(table: Tensor, waves: Tensor) -> Tensor:
    """Sum a real table (m, n, i, k) with complex columns (m, n, k, N) over k."""
    columns = torch.view_as_real(waves.contiguous()).flatten(3)
    return torch.view_as_complex((table @ columns).unflatten(3, (-1, 2)))


def _checkerboard(rows: int, columns: int, like: Tensor) -> Tensor:
    """(−1)^(row + column), the sign of the mirror image of a matrix of a real signal."""
    row, column = (torch.arange(n, device=like.device) for n in (rows, columns))
    return 1 - 2 * ((row[:, None] + column) % 2)


def _mirror(half: Tensor) -> Tensor:
    """Complete the columns n < 0 of a real signal: G_{−m,−n} = (−1)^(m−n) conj G_mn."""
    l = half.shape[-1] - 1
    signs = _checkerboard(2 * l + 1, l + 1, half)[:, 1:] * (-1) ** l
    return torch.cat([(signs * half[..., 1:].conj()).flip(-2, -1), half], dim=-1)


def _real_part(G: Tensor) -> Tensor:
    """Columns n ≥ 0 of the Fourier matrix of a signal's real part."""
    l = G.shape[-1] // 2
    signs = _checkerboard(2 * l + 1, l + 1, G) * (-1) ** l
    return 0.5 * (G[..., l:] + signs * G[..., : l + 1].flip(-2, -1).conj())


@lru_cache(maxsize=8)
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _tables(bandwidth: int, l_max: int) -> dict[str, Tensor]:
    """d^l_mn(β_k) as (m, n ≥ 0, l, k) with the weights of the integral, and as (m, n, k, l)."""
    with torch.device("cpu"):
        grid = spherical_grid(bandwidth)
        zero = torch.zeros((), dtype=torch.float64)
        table = torch.zeros(2 * l_max + 1, l_max + 1, l_max + 1, 2 * bandwidth, dtype=torch.float64)
        for l, D in enumerate(wigner_d_all(l_max, euler_to_matrix(zero, grid.theta, zero))):
            columns = D.real[:, :, l:].permute(1, 2, 0)
            table[l_max - l : l_max + l + 1, : l + 1, l] = columns
        scale = (2 * torch.arange(l_max + 1) + 1)[:, None] * grid.weights / (8 * pi * bandwidth)
        angles = torch.arange(-l_max, l_max + 1)[:, None] * grid.phi
        turns = torch.stack([angles.cos(), -angles.sin()], dim=-1)  # exp(−imα) as (m, α, re or im)
        waves = turns[l_max:].movedim(0, 1).flatten(1)  # exp(−inγ) as (γ, [n ≥ 0][re, im])
        twice = torch.tensor([1.0, 1.0] + [2.0, 2.0] * l_max)  # n < 0 is the conjugate of n > 0
    products = {"analysis": table * scale, "synthesis": table.mT.contiguous()}
    return {"waves": waves, "twice": twice, "turns": turns, **products}
