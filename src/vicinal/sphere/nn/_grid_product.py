"""Products on a grid: functions mixed, multiplied point by point, and mixed again.

.. code-block:: text

    F ── mix ──> R pairs (a, b) ── synthesis ──> a(x) b(x), {a, b}(x) ── analysis ── mix ──> out

A product of degrees l1 and l2 has on the grid the part of degree l with the factor

    √((2l1 + 1)(2l2 + 1) / 4π(2l + 1)) · C(l1 0 l2 0 | l 0),           l1 + l2 + l even,
    i √(l1 (l1 + 1) l2 (l2 + 1)) · the same with C(l1 1 l2 −1 | l 0),  l1 + l2 + l odd,

the second by the Poisson bracket {a, b} = (∂θ a ∂φ b − ∂φ a ∂θ b) / sin θ. Only R products are
made of all the pairs of channels, and each has one weight for all pairs of degrees: what the exact
product learns for each (l1, l2, l) apart, this cannot.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType
from vicinal.sphere.harmonic._constant_tables import ConstantTables
from vicinal.sphere.harmonic._harmonics import normalised_legendre
from vicinal.sphere.nn._linear import real_matrix
from vicinal.sphere.nn._zonal import check_degrees, check_filters, profiles


class _Grid(ConstantTables):
    """Synthesis of values and slopes on a Gauss–Legendre grid, and analysis, exact for products.

    Coefficients are (m, plane, l, columns), values (plane, longitude, ring, columns); of real
    functions m runs from 0 and values have one plane.
    """

    synthesis: Tensor
    slopes: Tensor
    analysis: Tensor
    waves_in: Tensor
    waves_out: Tensor
    inverse_sine: Tensor

    def __init__(self, l_in: int, l_out: int, real: bool) -> None:
        super().__init__()
        self.l_in, self.l_out, self.real = l_in, l_out, real
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        return _grid_tables(self.l_in, self.l_out, self.real)

    def values(self, coefficients: Tensor, table: Tensor) -> Tensor:
        """Return Σ_lm coefficient · table · exp(imφ)."""
        n_orders, planes, _, columns = coefficients.shape
        rings = table[:, None] @ coefficients
        summed = self.waves_in @ rings.view(n_orders * planes, -1)
        return summed.view(1 if self.real else 2, -1, table.shape[1], columns)

    def coefficients(self, values: Tensor) -> Tensor:
        """Return ∫ values · conj Y_l^m, the transpose of the synthesis with areas."""
        _, _, n_rings, columns = values.shape
        waves = self.waves_out @ values.reshape(self.waves_out.shape[1], -1)
        return self.analysis[:, None] @ waves.view(len(self.analysis), 2, n_rings, columns)

    def turned(self, coefficients: Tensor) -> Tensor:
        """Return ∂φ: i m times the coefficients."""
        low = 0 if self.real else -self.l_in
        orders = torch.arange(low, self.l_in + 1, device=coefficients.device)
        m = orders.to(coefficients.dtype)[:, None, None]
        return torch.stack([-m * coefficients[:, 1], m * coefficients[:, 0]], 1)


@lru_cache(maxsize=8)
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _grid_tables(l_in: int, l_out: int, real: bool) -> dict[str, Tensor]:
    """Tables (m, ring, l) and (m, l, ring), and waves between (longitude) and (m, plane)."""
    degree = 2 * l_in + l_out
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    theta = torch.from_numpy(np.arccos(nodes[::-1].copy()))
    n_phi = degree + 1
    area = torch.from_numpy(weights[::-1].copy()) * (2 * math.pi / n_phi)
    top = max(l_in, l_out)
    values = _by_order(top, theta)  # (m, l, ring)
    slopes = _slopes(values, theta)
    inside, outside = (slice(top - (0 if real else l), top + l + 1) for l in (l_in, l_out))
    return {
        "synthesis": values[inside, : l_in + 1].mT.contiguous(),
        "slopes": slopes[inside, : l_in + 1].mT.contiguous(),
        "analysis": (values[outside, : l_out + 1] * area).contiguous(),
        "waves_in": _waves(l_in, n_phi, real),
        "waves_out": _waves(l_out, n_phi, real).T.contiguous(),
        "inverse_sine": 1 / theta.sin(),
    }


def _waves(l_max: int, n_phi: int, real: bool) -> Tensor:
    """exp(imφ) as a real matrix from (m, plane) to (plane, longitude).

    Of real functions from m ≥ 0, rows m > 0 being √2 times the coefficients, to one plane.
    """
    phi = torch.arange(n_phi, dtype=torch.float64) * (2 * math.pi / n_phi)
    orders = torch.arange(0 if real else -l_max, l_max + 1, dtype=torch.float64)
    angles = phi[:, None] * orders
    upper = torch.stack([angles.cos(), -angles.sin()], -1)  # (longitude, m, plane)
    if real:
        upper = upper * torch.where(orders > 0, 2.0, 1.0).double().sqrt()[:, None]
        return upper.flatten(1)
    lower = torch.stack([angles.sin(), angles.cos()], -1)
    return torch.cat([upper, lower]).flatten(1)


def _by_order(l_max: int, theta: Tensor) -> Tensor:
    """P̄_l^m(cos θ) as (m from −L to L, l, ring), zero where l < |m|."""
    table = torch.zeros(2 * l_max + 1, l_max + 1, len(theta), dtype=torch.float64)
    l, m = torch.tril_indices(l_max + 1, l_max + 1)
    columns = normalised_legendre(l_max, theta).mT
    table[l_max + m, l] = columns
    table[l_max - m, l] = torch.where(m % 2 == 1, -1.0, 1.0).double()[:, None] * columns
    return table


def _slopes(values: Tensor, theta: Tensor) -> Tensor:
    """∂θ P̄_l^m = m cot θ P̄_l^m + √((l − m)(l + m + 1)) P̄_l^{m + 1}, of all orders."""
    n, n_degrees, _ = values.shape
    m = torch.arange(n, dtype=torch.float64)[:, None, None] - n // 2
    l = torch.arange(n_degrees, dtype=torch.float64)[None, :, None]
    above = torch.cat([values[1:], torch.zeros_like(values[:1])])
    root = ((l - m) * (l + m + 1)).clamp(min=0).sqrt()
    return m / theta.tan() * values + root * above


class GridProduct(nn.Module):
    """R products of mixed fragments, made on a grid and mixed down; see the module's page.

    Time O(R L³) a sample, memory O(R L²): for high degrees, where the exact product's time grows
    with L⁵. Plain torch operations: differentiable as often as one likes.

    Parameters
    ----------
    type_in, type_out : FragmentType of SO(3)
    rank : int
        R, how many products.
    odd : bool
        Make the Poisson brackets besides, l1 + l2 + l odd.
    filters : {"free", "zonal"}
        "free": a weight for each degree. "zonal": weights are those of a radial profile, the same
        function of the angle for all degrees, so that mixing is a sum of convolutions with learned
        zonal filters.
    support : float, optional
        The angle, in (0, π], beyond which profiles are zero; π unless told.
    """

    profile: Tensor

    def __init__(
        self,
        type_in: FragmentType,
        type_out: FragmentType,
        *,
        rank: int,
        odd: bool = False,
        filters: str = "free",
        support: float | None = None,
    ) -> None:
        super().__init__()
        _check(type_in, type_out, rank, filters, support)
        self.type_in, self.type_out = type_in, type_out
        self.rank, self.odd, self.filters, self.support = rank, odd, filters, support
        self.real = type_in.real
        self.grid = _Grid(type_in.l_max, type_out.l_max, type_in.real)
        self.n_streams = 2 if odd else 1
        last = () if self.real else (2,)
        highest = max(type_in.l_max, type_out.l_max)
        free = filters == "free"
        profile = torch.zeros(highest + 1, 0) if free else profiles(highest, support or math.pi)
        self.register_buffer("profile", profile.float(), persistent=False)
        sizes = _sizes(type_in, type_out, rank * self.n_streams, rank, profile.shape[1])
        self.mix_in = nn.ParameterList(nn.Parameter(torch.empty(*of, *last)) for of in sizes[0])
        self.mix_out = nn.ParameterList(nn.Parameter(torch.empty(*of, *last)) for of in sizes[1])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights so that products have about the size of the fragments."""
        parts = 1 if self.real else 2
        with torch.no_grad():
            for weight in (*self.mix_in, *self.mix_out):
                fan_in = weight.shape[-2 if self.real else -3]
                weight.normal_(0, 1 / math.sqrt(parts * max(1, fan_in)))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the mixed products."""
        grid, batch = self.grid, fragments.batch_size
        functions = self._mix(fragments)  # (m, plane, l, 2 rank · batch)
        values = grid.values(functions, grid.synthesis)
        half = self.rank * batch
        products = [_multiply(values[..., :half], values[..., half:])]
        if self.odd:
            down = grid.values(functions, grid.slopes)
            along = grid.values(grid.turned(functions), grid.synthesis)
            bracket = _multiply(down[..., :half], along[..., half:]) - _multiply(
                along[..., :half], down[..., half:]
            )
            products.append(bracket * grid.inverse_sine[:, None])
        return self._mix_down(grid.coefficients(torch.cat(products, -1)), batch)

    def _mix(self, fragments: Fragments) -> Tensor:
        """Return the functions to be multiplied, (m, plane, l, 2 rank · batch)."""
        L, batch, n = self.type_in.l_max, fragments.batch_size, 2 * self.rank
        degrees = []
        for l, planes in enumerate(fragments.all_planes()):
            if not len(planes):
                degrees.append(planes.new_zeros(n, 2, L + 1 if self.real else 2 * L + 1, batch))
                continue
            rows = planes.reshape(-1, (2 * l + 1) * batch)
            mixed = (self._matrix(self.mix_in, l, slice(len(planes)), slice(None)) @ rows).view(
                n, -1, 2 * l + 1, batch
            )
            if self.real:  # [f^0, √2 Re f^m, √2 Im f^m] to planes of m from 0 on
                real, imaginary = mixed[:, 0].split([l + 1, l], 1)
                mixed = torch.stack([real, nn.functional.pad(imaginary, (0, 0, 1, 0))], 1)
                degrees.append(nn.functional.pad(mixed, (0, 0, 0, L - l)))
            else:
                degrees.append(nn.functional.pad(mixed, (0, 0, L - l, L - l)))
        return torch.stack(degrees).permute(3, 2, 0, 1, 4).flatten(3)

    def _mix_down(self, products: Tensor, batch: int) -> Fragments:
        """Return the output of products' coefficients (m, plane, l, streams · rank · batch)."""
        L, rows = self.type_out.l_max, []
        for l, t in enumerate(self.type_out.tau):
            if not t:
                continue
            low = 0 if self.real else L - l
            part = products[low : low + (l + 1 if self.real else 2 * l + 1), :, l]
            part = part.unflatten(2, (-1, batch)).permute(2, 1, 0, 3)  # (products, plane, m, ·)
            if self.real:
                part = torch.cat([part[:, 0], part[:, 1, 1:]], 1)[:, None]
            matrix = self._matrix(self.mix_out, l, slice(None), slice(t))
            columns = part.reshape(-1, (2 * l + 1) * batch)
            rows.append((matrix @ columns).view(-1, batch))
        return Fragments(self.type_out, torch.cat(rows))

    def _matrix(self, weights: nn.ParameterList, l: int, rows: slice, columns: slice) -> Tensor:
        """Return the weights of a degree, transposed, as they act on rows of all planes."""
        if self.filters == "free":
            weight = weights[l]
        else:
            weight = torch.tensordot(self.profile[l].to(weights[0].dtype), weights[0], ([0], [0]))
            weight = weight[rows, columns]
        return weight.T if self.real else real_matrix(weight)


def _multiply(first: Tensor, second: Tensor) -> Tensor:
    """Return products of values (planes, …), complex where there are two planes."""
    if len(first) == 1:
        return first * second
    return torch.stack(
        [
            first[0] * second[0] - first[1] * second[1],
            first[0] * second[1] + first[1] * second[0],
        ]
    )


def _sizes(
    type_in: FragmentType, type_out: FragmentType, n_products: int, rank: int, bumps: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the shapes of weights: one for each degree, or one for all with a profile's bumps."""
    if bumps:
        into: list[tuple[int, ...]] = [(bumps, max(type_in.tau), 2 * rank)]
        return into, [(bumps, n_products, max(type_out.tau))]
    return [(t, 2 * rank) for t in type_in.tau], [(n_products, t) for t in type_out.tau]


def _check(
    type_in: FragmentType, type_out: FragmentType, rank: int, filters: str, support: float | None
) -> None:
    if isinstance(rank, bool) or int(rank) != rank or rank < 1:
        raise ValueError(f"rank={rank}: products on the grid need a whole number, 1 or more.")
    check_filters(filters, support)
    check_degrees(type_in, type_out)
