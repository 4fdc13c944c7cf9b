"""The rival that goes back and forth: correlations in Fourier space, ReLU on the rotation group."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import (
    SO3Transform,
    SphericalTransform,
    euler_to_matrix,
    so3_correlation,
    spherical_grid,
    spherical_harmonics,
    wigner_d_all,
)
from vicinal.sphere.nn import InvariantBatchNorm, saveable


class SphereCorrelation(nn.Module):
    """Correlate signals on the sphere with filters that live on rings around the north pole.

    ĥ_l^m = Σ_p w_p conj Y_l^m(x_p), and [h ⋆ f]_l = f̂_l ĥ_l†.

    Parameters
    ----------
    n_in, n_out : int
        Channels of the signals and filters.
    l_max : int
    rings : tuple of float, default=(0.12, 0.24, 0.36)
        Colatitudes of the filters' points, eight on each ring.
    """

    harmonics: Tensor

    def __init__(
        self, n_in: int, n_out: int, l_max: int, rings: tuple[float, ...] = (0.12, 0.24, 0.36)
    ) -> None:
        super().__init__()
        theta, phi = torch.meshgrid(
            torch.tensor(rings, dtype=torch.float64),
            torch.arange(8, dtype=torch.float64) * (math.pi / 4),
            indexing="ij",
        )
        table = spherical_harmonics(l_max, theta.flatten(), phi.flatten()).conj().resolve_conj()
        self.register_buffer("harmonics", torch.view_as_real(table).float(), persistent=False)
        n_points = theta.numel()
        self.weight = nn.Parameter(torch.randn(n_out, n_in, n_points) / math.sqrt(n_points * n_in))
        self.l_max = l_max

    def forward(self, coefficients: list[Tensor]) -> list[Tensor]:
        """Return Fourier matrices (batch, n_out, 2l+1, 2l+1) of f̂_l (batch, 2l+1, n_in)."""
        table = torch.view_as_complex(self.harmonics)
        filters = torch.einsum("oip,pk->oik", self.weight.to(table.dtype), table)
        return [
            torch.einsum("bmi,oin->bomn", f, filters[:, :, l * l : (l + 1) ** 2].conj())
            for l, f in enumerate(coefficients)
        ]


class RotationCorrelation(nn.Module):
    """Correlate functions on SO(3) with filters that live near the identity.

    H_l = (2l + 1) Σ_p w_p D^l(R_p), and [h ⋆ f]_l = Σ_c F_cl H_cl† / (2l + 1).

    Parameters
    ----------
    n_in, n_out : int
    l_max : int
    tilts : tuple of float, default=(0.18, 0.36)
        The middle Euler angles of the filters' points; the outer ones take six values each.
    """

    matrices: Tensor

    def __init__(
        self, n_in: int, n_out: int, l_max: int, tilts: tuple[float, ...] = (0.18, 0.36)
    ) -> None:
        super().__init__()
        turns = torch.arange(6, dtype=torch.float64) * (math.pi / 3)
        angles = torch.meshgrid(
            turns, torch.tensor(tilts, dtype=torch.float64), turns, indexing="ij"
        )
        points = euler_to_matrix(*(of.flatten() for of in angles))
        matrices = [(2 * l + 1) * D.flatten(1) for l, D in enumerate(wigner_d_all(l_max, points))]
        table = torch.view_as_real(torch.cat(matrices, 1))
        self.register_buffer("matrices", table.float(), persistent=False)
        n_points = len(points)
        self.weight = nn.Parameter(torch.randn(n_out, n_in, n_points) / math.sqrt(n_points * n_in))
        self.sizes = [(2 * l + 1) ** 2 for l in range(l_max + 1)]

    def forward(self, matrices: list[Tensor]) -> list[Tensor]:
        """Return Fourier matrices (batch, n_out, 2l+1, 2l+1)."""
        table = torch.view_as_complex(self.matrices)
        filters = torch.einsum("oip,pk->oik", self.weight.to(table.dtype), table)
        parts = [
            part.unflatten(2, (2 * l + 1, 2 * l + 1))
            for l, part in enumerate(filters.split(self.sizes, dim=2))
        ]
        return so3_correlation(matrices, parts)


@saveable
class CorrelationNet(nn.Module):
    """Two correlations with ReLU between them, in the manner of spherical CNNs [cohen2018].

    A correlation on the sphere, one on the rotation group, each followed by batch norm and a ReLU
    on the group's grid; then the mean over the group, batch norm and a linear layer. Equivariant
    up to what the ReLU puts beyond the bandwidth: approximately, where a `ClebschGordanNet` is
    exact.

    Parameters
    ----------
    n_outputs : int, default=10
    channels : pair of int, default=(20, 40)
    bandwidth : int, default=30
        Of the signals' grid.
    inner : pair of int, default=(10, 6)
        Bandwidths after the first and second correlation.
    """

    def __init__(
        self,
        n_outputs: int = 10,
        channels: tuple[int, int] = (20, 40),
        bandwidth: int = 30,
        inner: tuple[int, int] = (10, 6),
    ) -> None:
        super().__init__()
        (first, second), (wide, narrow) = channels, inner
        self.settings = {
            "n_outputs": n_outputs,
            "channels": [first, second],
            "bandwidth": bandwidth,
            "inner": [wide, narrow],
        }
        self.transform = SphericalTransform(bandwidth, wide - 1)
        self.sphere = SphereCorrelation(1, first, wide - 1)
        self.to_wide_grid = SO3Transform(wide, wide - 1)
        self.first_norm = InvariantBatchNorm(first)
        self.from_wide_grid = SO3Transform(wide, narrow - 1)
        self.rotations = RotationCorrelation(first, second, narrow - 1)
        self.to_narrow_grid = SO3Transform(narrow, narrow - 1)
        self.second_norm = InvariantBatchNorm(second)
        weights = spherical_grid(narrow).weights
        self.register_buffer("areas", (weights / weights.sum()).float(), persistent=False)
        # Means over the group differ little between samples: without a norm the head learns slowly.
        self.head = nn.Sequential(InvariantBatchNorm(second), nn.Linear(second, n_outputs))

    def forward(self, signals: Tensor) -> Tensor:
        """Return scores (batch, n_outputs) of signals (batch, 1, 2b, 2b)."""
        matrices = self.sphere(self.transform(signals).to_complex())
        values = self.to_wide_grid.inverse(matrices, real=True)
        values = torch.relu(self.first_norm(values))
        matrices = self.rotations(self.from_wide_grid(values))
        values = self.to_narrow_grid.inverse(matrices, real=True)
        values = torch.relu(self.second_norm(values))
        means = torch.einsum("bcikj,k->bc", values, self.areas) / values.shape[2] ** 2
        return self.head(means)
