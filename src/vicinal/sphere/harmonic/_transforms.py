"""The spherical Fourier transform and its inverse."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from vicinal.sphere.harmonic._agreement import check_alike, check_finite
from vicinal.sphere.harmonic._constant_tables import ConstantTables
from vicinal.sphere.harmonic._fragment_type import FragmentType
from vicinal.sphere.harmonic._fragments import Fragments
from vicinal.sphere.harmonic._grids import check_bandwidth, spherical_grid
from vicinal.sphere.harmonic._harmonics import normalised_legendre
from vicinal.sphere.harmonic._real_signals import expansion, half_rows, other_plane, reduction

_LARGEST_DENSE = 300_000  # entries of the one-product matrix; above it rings are transformed first
METHODS = ("auto", "dense", "separable")


class SphericalTransform(ConstantTables):
    """The spherical Fourier transform of signals on a grid, and its inverse.

        f̂_l^m = ∫ f conj(Y_l^m) sinθ dθ dφ,        f = Σ_lm f̂_l^m Y_l^m

    The integral is a sum over the grid, exact for signals of degree below the bandwidth. Real
    signals cost half of complex ones. Small sizes are one dense real matrix product, O(b² L²) per
    signal; large ones an FFT along each ring and a Legendre sum for each m, O(b² log b + b L²).

    The module has no parameters and nothing in its ``state_dict``; ``.to(...)`` sets its device and
    precision, for which the tables are computed afresh, never rounded twice.

    Parameters
    ----------
    bandwidth : int
        b ≥ 1, of the grid (see :func:`spherical_grid`).
    l_max : int
        The highest degree L ≤ b − 1 that is computed.
    grid : {"driscoll-healy", "gauss-legendre"}
        2b × 2b or b × 2b samples.
    method : {"auto", "dense", "separable"}
        How it is computed; by size unless you say.

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import SphericalTransform
    >>> transform = SphericalTransform(bandwidth=10, l_max=4)
    >>> height = transform.points()[..., 2].expand(1, 1, 20, 20)  # f(x, y, z) = z
    >>> coefficients = transform(height)
    >>> coefficients.norms().round(decimals=3)  # only l = 1: z = √(4π/3) Y_1^0
    tensor([[0.0000, 2.0470, 0.0000, 0.0000, 0.0000]])
    """

    theta: Tensor
    phi: Tensor
    weights: Tensor
    analysis: Tensor
    synthesis: Tensor
    wave_rows: Tensor
    expand_rows: Tensor
    expand_signs: Tensor
    reduce_rows: Tensor
    reduce_mirrored: Tensor
    reduce_signs: Tensor
    turn_rows: Tensor
    turn_signs: Tensor

    def __init__(
        self, bandwidth: int, l_max: int, grid: str = "driscoll-healy", *, method: str = "auto"
    ) -> None:
        super().__init__()
        check_bandwidth(bandwidth, l_max)
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, but it is {method!r}")
        self.bandwidth, self.l_max, self.grid = int(bandwidth), int(l_max), grid
        self.grid_shape = spherical_grid(bandwidth, grid).shape
        size = self.grid_shape[0] * self.grid_shape[1] * (l_max + 1) ** 2
        self.method = method if method != "auto" else _method_for(size, int(l_max))
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        return _tables(self.bandwidth, self.l_max, self.grid, self.method)

    def fragment_type(self, channels: int = 1) -> FragmentType:
        """Return the type of the coefficients of signals with so many channels."""
        return FragmentType.uniform(channels, self.l_max)

    def points(self) -> Tensor:
        """Compute the grid as unit vectors, shape (n_theta, n_phi, 3)."""
        return spherical_grid(self.bandwidth, self.grid).points().to(self.theta)

    def forward(self, signal: Tensor) -> Fragments:
        """Compute the coefficients f̂_l^m, l ≤ l_max, of a batch of signals.

        Parameters
        ----------
        signal : Tensor of shape (batch, channels, n_theta, n_phi), real or complex
            ``signal[..., k, j]`` is the value at (``theta[k]``, ``phi[j]``).

        Returns
        -------
        Fragments of type (channels, …, channels)
        """
        self._check_signal(signal)
        if not signal.is_complex():
            full = self._expand(self._analyse(signal))
        else:
            full = self._expand(self._analyse(signal.real))
            imaginary = self._expand(self._analyse(signal.imag))
            full = full + self.turn_signs[:, None] * imaginary[self.turn_rows]
        return self._pack(full, *signal.shape[:2])

    def inverse(self, fragments: Fragments, *, real: bool = False) -> Tensor:
        """Compute the signals f = Σ_lm f̂_l^m Y_l^m on the grid.

        Parameters
        ----------
        fragments : Fragments
            The same number of channels for each degree up to ``l_max``.
        real : bool, default=False
            Return the real part only, at half the cost; for signals known to be real.

        Returns
        -------
        Tensor of shape (batch, channels, n_theta, n_phi)
            Complex, unless ``real``.
        """
        channels = self._check_fragments(fragments)
        full = self._unpack(fragments, channels)
        shape = (fragments.batch_size, channels, *self.grid_shape)
        real_part = self._synthesise(self._reduce(full)).reshape(shape)
        if real:
            return real_part
        turned = -self.turn_signs[:, None] * full[self.turn_rows]
        return torch.complex(real_part, self._synthesise(self._reduce(turned)).reshape(shape))

    def _analyse(self, signal: Tensor) -> Tensor:
        """Half coefficients ((L+1)², batch · channels) of real signals."""
        if self.method == "dense":
            return self.analysis @ signal.reshape(-1, self.analysis.shape[1]).mT
        waves = torch.fft.rfft(signal.reshape(-1, *self.grid_shape))[..., : self.l_max + 1]
        planes = torch.view_as_real(waves).permute(2, 1, 3, 0)  # (m, ring, re or im, sample)
        sums = self.analysis @ planes.flatten(2)  # (m, l, ·)
        return sums.reshape(-1, planes.shape[-1])[self.wave_rows]

    def _synthesise(self, half: Tensor) -> Tensor:
        """Real signals (batch · channels, n_theta, n_phi) of half coefficients."""
        if self.method == "dense":
            return (self.synthesis @ half).mT.unflatten(1, self.grid_shape)
        orders = self.l_max + 1
        sums = half.new_zeros(orders * orders * 2, half.shape[1])
        planes = sums.index_copy(0, self.wave_rows, half).reshape(orders, orders, -1)
        rings = (self.synthesis @ planes).unflatten(2, (2, -1)).permute(3, 1, 0, 2)
        waves = torch.view_as_complex(rings.contiguous())
        return torch.fft.irfft(waves, n=self.grid_shape[1], norm="forward")

    def _expand(self, half: Tensor) -> Tensor:
        return self.expand_signs[:, None] * half[self.expand_rows]

    def _reduce(self, full: Tensor) -> Tensor:
        mirrored = self.reduce_signs[:, None] * full[self.reduce_mirrored]
        return 0.5 * (full[self.reduce_rows] + mirrored)

    def _pack(self, full: Tensor, batch: int, channels: int) -> Fragments:
        """Rows [l][re, im][m] of (batch, channel) columns → rows [l][channel][re, im][m]."""
        planes = full.unflatten(1, (batch, channels))
        degrees = [
            planes[2 * l * l : 2 * (l + 1) ** 2].permute(2, 0, 1).reshape(-1, batch)
            for l in range(self.l_max + 1)
        ]
        return Fragments(self.fragment_type(channels), torch.cat(degrees))

    def _unpack(self, fragments: Fragments, channels: int) -> Tensor:
        degrees = [
            planes.reshape(channels, -1, fragments.batch_size).permute(1, 2, 0)
            for planes in fragments.all_planes()
        ]
        return torch.cat(degrees).flatten(1)

    def _check_signal(self, signal: Tensor) -> None:
        if signal.ndim != 4 or signal.shape[2:] != self.grid_shape:
            rows, columns = self.grid_shape
            raise ValueError(
                f"a {self.grid} grid of bandwidth {self.bandwidth} takes signals of shape "
                f"(batch, channels, {rows}, {columns}), got {tuple(signal.shape)}."
            )
        precision = signal.dtype.to_real() if signal.is_complex() else signal.dtype
        check_alike("the transform", self.theta, "the signal", precision, signal.device)
        check_finite("the signal", signal)

    def _check_fragments(self, fragments: Fragments) -> int:
        channels = fragments.type[0]
        if fragments.type != self.fragment_type(max(channels, 1)):
            raise ValueError(
                f"this transform takes equally many channels for each degree 0 to {self.l_max}, "
                f"got fragments of {fragments.type}."
            )
        packed = fragments.packed
        check_alike("the transform", self.theta, "the fragments", packed.dtype, packed.device)
        return channels

    def extra_repr(self) -> str:
        return f"bandwidth={self.bandwidth}, l_max={self.l_max}, grid={self.grid!r}"


def _method_for(size: int, l_max: int) -> str:
    """One dense product wins while its matrix stays in cache and has few columns."""
    return "dense" if size <= _LARGEST_DENSE and l_max < 10 else "separable"


@lru_cache(maxsize=8)
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _tables(bandwidth: int, l_max: int, kind: str, method: str) -> dict[str, Tensor]:
    """Every table of a transform, in double precision."""
    with torch.device("cpu"):
        grid = spherical_grid(bandwidth, kind)
        legendre = _legendre_table(l_max, grid.theta)
        build = _dense_tables if method == "dense" else _separable_tables
        tables: dict[str, Any] = {"theta": grid.theta, "phi": grid.phi, "weights": grid.weights}
        tables |= build(l_max, legendre, grid.phi, grid.weights)
        tables["expand_rows"], tables["expand_signs"] = expansion(l_max)
        tables["reduce_rows"], tables["reduce_mirrored"], signs = reduction(l_max)
        tables["reduce_signs"] = signs
        tables["turn_rows"], tables["turn_signs"] = other_plane(l_max)
    return tables


def _legendre_table(l_max: int, theta: Tensor) -> Tensor:
    """P̄_l^m(cos θ_k) as (m, l, ring), zero where l < m."""
    table = torch.zeros(l_max + 1, l_max + 1, len(theta), dtype=torch.float64)
    l, m = torch.tril_indices(l_max + 1, l_max + 1)
    table[m, l] = normalised_legendre(l_max, theta).mT
    return table


def _dense_tables(l_max: int, legendre: Tensor, phi: Tensor, weights: Tensor) -> dict[str, Tensor]:
    """Matrices (half coefficients, points) and (points, half coefficients)."""
    plane, l, m = torch.tensor(half_rows(l_max)).T
    angle = m[:, None] * phi
    waves = torch.where(plane[:, None] == 0, angle.cos(), -angle.sin())
    basis = legendre[m, l][:, :, None] * waves[:, None, :]  # (half, ring, longitude)
    analysis = basis * weights[:, None]
    twice = torch.where(m > 0, 2.0, 1.0).double()
    return {
        "analysis": analysis.flatten(1),
        "synthesis": (basis.flatten(1).mT * twice).contiguous(),
    }


def _separable_tables(
    l_max: int, legendre: Tensor, phi: Tensor, weights: Tensor
) -> dict[str, Tensor]:
    """Matrices (m, l, ring) and (m, ring, l), and where (m, l, plane) holds a half coefficient."""
    plane, l, m = torch.tensor(half_rows(l_max)).T
    return {
        "analysis": legendre * weights,
        "synthesis": legendre.mT.contiguous(),
        "wave_rows": (m * (l_max + 1) + l) * 2 + plane,
    }
