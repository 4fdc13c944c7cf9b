"""The spherical Fourier transform and its inverse."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from vicinal._types import IntArray
from vicinal.sphere.harmonic._agreement import check_alike, check_finite
from vicinal.sphere.harmonic._constant_tables import ConstantTables
from vicinal.sphere.harmonic._fragment_type import FragmentType
from vicinal.sphere.harmonic._fragments import Fragments
from vicinal.sphere.harmonic._grids import check_bandwidth, spherical_grid
from vicinal.sphere.harmonic._harmonics import normalised_legendre

_LARGEST_DENSE = 300_000  # entries of the one-product matrix; above it rings are transformed first
METHODS = ("auto", "dense", "separable")


class SphericalTransform(ConstantTables):
    """The spherical Fourier transform of signals on a grid, and its inverse.

        f̂_l^m = ∫ f conj(Y_l^m) sinθ dθ dφ,        f = Σ_lm f̂_l^m Y_l^m

    The integral is a sum over the grid, exact for signals of degree below the bandwidth. Real
    signals cost half of complex ones, and where ``real`` their fragments keep m ≥ 0 alone. Small
    sizes are one dense real matrix product, O(b² L²) per signal; large ones an FFT along each ring
    and a Legendre sum for each m, O(b² log b + b L²).

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
    real : bool
        Signals are real, and so are the types of their fragments: half the numbers, and nothing to
        fill in.
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

    def __init__(
        self,
        bandwidth: int,
        l_max: int,
        grid: str = "driscoll-healy",
        *,
        real: bool = False,
        method: str = "auto",
    ) -> None:
        super().__init__()
        check_bandwidth(bandwidth, l_max)
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, but it is {method!r}")
        self.bandwidth, self.l_max, self.grid, self.real = int(bandwidth), int(l_max), grid, real
        self.grid_shape = spherical_grid(bandwidth, grid).shape
        size = self.grid_shape[0] * self.grid_shape[1] * (l_max + 1) ** 2
        self.method = method if method != "auto" else _method_for(size, int(l_max))
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        return _tables(self.bandwidth, self.l_max, self.grid, self.method)

    def fragment_type(self, channels: int = 1) -> FragmentType:
        """Return the type of the coefficients of signals with so many channels."""
        kind = FragmentType.uniform(channels, self.l_max)
        return kind.as_real() if self.real else kind

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
            analysed = self._analyse(signal)
            return analysed if self.real else analysed.to_full()
        if self.real:
            raise ValueError("a transform of real signals takes no complex ones: real=False.")
        real, imaginary = (self._analyse(of).to_full() for of in (signal.real, signal.imag))
        return Fragments(real.type, real.packed + _times_i(imaginary).packed)

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
        self._check_fragments(fragments)
        real_part = self._synthesise(fragments.to_real())
        if real or fragments.type.real:
            return real_part
        # The imaginary part of a signal is the real part of −i times it.
        return torch.complex(real_part, -self._synthesise(_times_i(fragments).to_real()))

    def _analyse(self, signal: Tensor) -> Fragments:
        """Return the fragments, m ≥ 0, of real signals."""
        batch, channels = signal.shape[:2]
        kind = FragmentType.uniform(channels, self.l_max).as_real()
        columns = signal.transpose(0, 1)  # (channels, batch, …)
        if self.method == "dense":
            rows = self.analysis @ columns.reshape(-1, self.analysis.shape[1]).mT
            return Fragments(kind, _interleave(rows.reshape(-1, batch), self.l_max, channels))
        waves = torch.fft.rfft(columns)[..., : self.l_max + 1]
        planes = torch.view_as_real(waves).permute(3, 2, 4, 0, 1)  # (m, ring, plane, channel, ·)
        sums = self.analysis @ planes.flatten(2)  # (m, l, plane · channel · sample)
        there, back = _wave_rows(self.l_max, channels)
        return Fragments(kind, _Pick.apply(sums.view(-1, batch), there, back))

    def _synthesise(self, fragments: Fragments) -> Tensor:
        """Return the real signals (batch, channels, n_theta, n_phi) of fragments, m ≥ 0."""
        batch, channels = fragments.batch_size, fragments.type[0]
        if self.method == "dense":
            rows = _interleave(fragments.packed, self.l_max, channels, back=True)
            values = (self.synthesis @ rows.view(len(self.synthesis[0]), -1)).mT
            return values.reshape(channels, batch, *self.grid_shape).transpose(0, 1)
        there, back = _wave_rows(self.l_max, channels)
        planes = _Pick.apply(fragments.packed, back, there)
        orders = self.l_max + 1
        rings = self.synthesis @ planes.view(orders, orders, -1)
        rings = rings.unflatten(2, (2, channels, batch)).permute(4, 3, 1, 0, 2)
        waves = torch.view_as_complex(rings.contiguous())
        return torch.fft.irfft(waves, n=self.grid_shape[1], norm="forward")

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

    def _check_fragments(self, fragments: Fragments) -> None:
        channels = fragments.type[0]
        if fragments.type != self.fragment_type(max(channels, 1)):
            raise ValueError(
                f"this transform takes equally many channels for each degree 0 to {self.l_max}, "
                f"got fragments of {fragments.type}."
            )
        packed = fragments.packed
        check_alike("the transform", self.theta, "the fragments", packed.dtype, packed.device)

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
    return tables


def _legendre_table(l_max: int, theta: Tensor) -> Tensor:
    """P̄_l^m(cos θ_k) as (m, l, ring), zero where l < m."""
    table = torch.zeros(l_max + 1, l_max + 1, len(theta), dtype=torch.float64)
    l, m = torch.tril_indices(l_max + 1, l_max + 1)
    table[m, l] = normalised_legendre(l_max, theta).mT
    return table


def _half_rows(l_max: int) -> list[tuple[int, int, int]]:
    """List (plane, l, m) of the rows of a real function: [l][re m = 0 … l, im m = 1 … l]."""
    rows = []
    for l in range(l_max + 1):
        rows += [(0, l, m) for m in range(l + 1)] + [(1, l, m) for m in range(1, l + 1)]
    return rows


def _dense_tables(l_max: int, legendre: Tensor, phi: Tensor, weights: Tensor) -> dict[str, Tensor]:
    """Matrices (rows of a real function, points) and (points, rows)."""
    plane, l, m = torch.tensor(_half_rows(l_max)).T
    angle = m[:, None] * phi
    waves = torch.where(plane[:, None] == 0, angle.cos(), -angle.sin())
    basis = legendre[m, l][:, :, None] * waves[:, None, :]  # (row, ring, longitude)
    basis = basis * torch.where(m > 0, 2.0, 1.0).double().sqrt()[:, None, None]
    return {
        "analysis": (basis * weights[:, None]).flatten(1),
        "synthesis": basis.flatten(1).mT.contiguous(),
    }


def _separable_tables(
    l_max: int, legendre: Tensor, phi: Tensor, weights: Tensor
) -> dict[str, Tensor]:
    """Matrices (m, l, ring) and (m, ring, l), with the √2 of rows m > 0."""
    scale = torch.full((l_max + 1, 1, 1), 2**0.5, dtype=torch.float64)
    scale[0] = 1
    return {
        "analysis": legendre * weights * scale,
        "synthesis": (legendre / scale).mT.contiguous(),
    }


def _times_i(fragments: Fragments) -> Fragments:
    rows = [
        torch.stack([-planes[:, 1], planes[:, 0]], 1).view(-1, fragments.batch_size)
        for planes in fragments.all_planes()
    ]
    return Fragments(fragments.type, torch.cat(rows))


def _interleave(rows: Tensor, l_max: int, channels: int, *, back: bool = False) -> Tensor:
    """Return rows [row][channel] as [l][channel][row], or the other way."""
    if channels == 1:
        return rows
    ways = _channel_rows(l_max, channels)
    picked: Tensor = _Pick.apply(rows, *(reversed(ways) if back else ways))
    return picked


class _Way(NamedTuple):
    """Where rows come from, and which of them come from nowhere and are zero."""

    rows: IntArray
    empty: IntArray


class _Pick(torch.autograd.Function):
    """values[rows], whose gradient is gathered, not added up: no row is picked twice."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, way: _Way, back: _Way) -> Tensor:
        ctx.ways = back, way
        picked = values.index_select(0, torch.from_numpy(way.rows).to(values.device))
        if len(way.empty):
            picked.index_fill_(0, torch.from_numpy(way.empty).to(values.device), 0.0)
        return picked

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _Pick.apply(gradients[0], *ctx.ways), None, None


def _ways(sources: list[int], n_sources: int) -> tuple[_Way, _Way]:
    """Return the way from sources to rows, and the way back."""
    back = [-1] * n_sources
    for row, source in enumerate(sources):
        back[source] = row
    empty = [source for source, row in enumerate(back) if row < 0]
    there = _Way(np.array(sources, np.int64), np.array([], np.int64))
    return there, _Way(np.maximum(back, 0).astype(np.int64), np.array(empty, np.int64))


@cache  # of arrays: a tensor made while a graph is traced would be one of that graph
def _wave_rows(l_max: int, channels: int) -> tuple[_Way, _Way]:
    """Rows [l][channel][row] among (m, l, plane, channel), and the way back."""
    n, sources = l_max + 1, []
    rows = _half_rows(l_max)
    for degree, channel in product(range(n), range(channels)):
        for plane, l, m in rows[degree * degree : (degree + 1) ** 2]:
            sources.append(((m * n + l) * 2 + plane) * channels + channel)
    return _ways(sources, 2 * n * n * channels)


@cache
def _channel_rows(l_max: int, channels: int) -> tuple[_Way, _Way]:
    """Rows [l][channel][row] among [row][channel], and the way back."""
    sources = [
        row * channels + channel
        for l, channel in product(range(l_max + 1), range(channels))
        for row in range(l * l, (l + 1) ** 2)
    ]
    return _ways(sources, len(sources))
