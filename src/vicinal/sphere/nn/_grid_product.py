"""Products on a grid: functions mixed, multiplied point by point, and mixed again.

.. code-block:: text

    F ── mix ──> R pairs (a, b) ── synthesis ──> a(x) b(x), {a, b}(x) ── analysis ── mix ──> out

A product of degrees l1 and l2 has on the grid the part of degree l with the factor

    √((2l1 + 1)(2l2 + 1) / 4π(2l + 1)) · C(l1 0 l2 0 | l 0),           l1 + l2 + l even,
    i √(l1 (l1 + 1) l2 (l2 + 1)) · the same with C(l1 1 l2 −1 | l 0),  l1 + l2 + l odd,

the second by the Poisson bracket {a, b} = (∂θ a ∂φ b − ∂φ a ∂θ b) / sin θ. Only R products are
made of all the pairs of channels, and each has one weight for all pairs of degrees: what the exact
product learns for each (l1, l2, l) apart, this cannot. A complex function goes over the grid as two
real ones, its real and its imaginary part.
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
from vicinal.sphere.harmonic._planes import split_functions
from vicinal.sphere.nn._linear import real_matrix
from vicinal.sphere.nn._zonal import check_degrees, check_filters, profiles


class _Grid(ConstantTables):
    """Synthesis of values and slopes on a Gauss–Legendre grid, and analysis, exact for products.

    Of real functions: coefficients are (m, re or im, l, columns) from m = 0 on, values (longitude,
    ring, columns).
    """

    synthesis: Tensor
    slopes: Tensor
    analysis: Tensor
    waves_in: Tensor
    waves_out: Tensor
    inverse_sine: Tensor
    rows: Tensor

    def __init__(self, l_in: int, l_out: int, n_planes: int) -> None:
        super().__init__()
        self.l_in, self.l_out, self.n_planes = l_in, l_out, n_planes
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        rows = [_rows_table(l, self.n_planes) for l in range(max(self.l_in, self.l_out) + 1)]
        return {
            **_grid_tables(self.l_in, self.l_out),
            "rows": torch.cat([table.flatten() for table in rows]),
        }

    def row_tables(self) -> list[Tensor]:
        """Return, degree by degree, what takes rows of fragments to (part, re or im, m).

        Parts are the function, or the real and the imaginary part of a complex one; columns are
        orthonormal, so that the transpose leads back.
        """
        n = self.n_planes
        shapes = [(2 * n * (l + 1), n * (2 * l + 1))
                  for l in range(max(self.l_in, self.l_out) + 1)]  # fmt: skip
        tables = self.rows.split([height * width for height, width in shapes])
        return [table.view(shape) for table, shape in zip(tables, shapes, strict=True)]

    def values(self, coefficients: Tensor, table: Tensor) -> Tensor:
        """Return Σ_lm coefficient · table · exp(imφ)."""
        columns = coefficients.shape[3]
        rings = table[:, None] @ coefficients
        summed = self.waves_in @ rings.view(self.waves_in.shape[1], -1)
        return summed.view(-1, table.shape[1], columns)

    def coefficients(self, values: Tensor) -> Tensor:
        """Return ∫ values · conj Y_l^m, the transpose of the synthesis with areas."""
        _, n_rings, columns = values.shape
        waves = self.waves_out @ values.flatten(1)
        return self.analysis[:, None] @ waves.view(len(self.analysis), 2, n_rings, columns)

    def turned(self, coefficients: Tensor) -> Tensor:
        """Return ∂φ: i m times the coefficients."""
        orders = torch.arange(self.l_in + 1, device=coefficients.device)
        m = orders.to(coefficients.dtype)[:, None, None]
        return torch.stack([-m * coefficients[:, 1], m * coefficients[:, 0]], 1)


@lru_cache(maxsize=8)
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _grid_tables(l_in: int, l_out: int) -> dict[str, Tensor]:
    """Tables (m, ring, l) and (m, l, ring), and waves between (longitude) and (m, re or im)."""
    degree = 2 * l_in + l_out
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    theta = torch.from_numpy(np.arccos(nodes[::-1].copy()))
    n_phi = degree + 1
    area = torch.from_numpy(weights[::-1].copy()) * (2 * math.pi / n_phi)
    values = _by_order(max(l_in, l_out), theta)  # (m, l, ring)
    slopes = _slopes(values, theta)
    inside, outside = slice(l_in + 1), slice(l_out + 1)
    return {
        "synthesis": values[inside, inside].mT.contiguous(),
        "slopes": slopes[inside, inside].mT.contiguous(),
        "analysis": (values[outside, outside] * area).contiguous(),
        "waves_in": _waves(l_in, n_phi),
        "waves_out": _waves(l_out, n_phi).T.contiguous(),
        "inverse_sine": 1 / theta.sin(),
    }


@lru_cache(maxsize=256)
@torch.inference_mode(False)
def _rows_table(l: int, n_planes: int) -> Tensor:
    units = torch.eye(n_planes * (2 * l + 1), dtype=torch.float64)
    units = units.view(-1, n_planes, 2 * l + 1, 1)
    parts = units if n_planes == 1 else split_functions(units)
    real, imaginary = parts[..., 0].split([l + 1, l], 2)  # [f^0, √2 Re f^m, √2 Im f^m]
    pairs = torch.stack([real, nn.functional.pad(imaginary, (1, 0))], 2)
    return pairs.flatten(1).T.contiguous()


def _waves(l_max: int, n_phi: int) -> Tensor:
    """Re exp(imφ) as a matrix from (m, re or im) to longitudes; m > 0 are √2 times coefficients."""
    phi = torch.arange(n_phi, dtype=torch.float64) * (2 * math.pi / n_phi)
    orders = torch.arange(l_max + 1, dtype=torch.float64)
    angles = phi[:, None] * orders
    waves = torch.stack([angles.cos(), -angles.sin()], -1)
    return (waves * torch.where(orders > 0, 2.0, 1.0).double().sqrt()[:, None]).flatten(1)


def _by_order(l_max: int, theta: Tensor) -> Tensor:
    """P̄_l^m(cos θ) as (m, l, ring), zero where l < m."""
    table = torch.zeros(l_max + 1, l_max + 1, len(theta), dtype=torch.float64)
    l, m = torch.tril_indices(l_max + 1, l_max + 1)
    table[m, l] = normalised_legendre(l_max, theta).mT
    return table


def _slopes(values: Tensor, theta: Tensor) -> Tensor:
    """∂θ P̄_l^m = m cot θ P̄_l^m + √((l − m)(l + m + 1)) P̄_l^{m + 1}, of all orders."""
    m = torch.arange(len(values), dtype=torch.float64)[:, None, None]
    l = m.swapaxes(0, 1)
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
        self.grid = _Grid(type_in.l_max, type_out.l_max, type_in.n_planes)
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
        """Draw weights so that products have about the size of the fragments.

        Every degree has its share in the values that are multiplied: free weights are smaller by
        √(2l + 1), the number of its orders, as those of profiles are by themselves.
        """
        parts = 1 if self.real else 2
        with torch.no_grad():
            for weight in (*self.mix_in, *self.mix_out):
                fan_in = weight.shape[-2 if self.real else -3]
                weight.normal_(0, 1 / math.sqrt(parts * max(1, fan_in)))
            if self.filters == "free":
                for l, weight in enumerate(self.mix_in):
                    weight.mul_(math.sqrt(len(self.mix_in) / (2 * l + 1)))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the mixed products."""
        grid, batch = self.grid, fragments.batch_size
        factors = self._mix(fragments).chunk(2, -1)
        first, second = (grid.values(of, grid.synthesis) for of in factors)
        products = self._multiply(first, second)
        if self.odd:
            down_first, down_second = (grid.values(of, grid.slopes) for of in factors)
            along_first, along_second = (
                grid.values(grid.turned(of), grid.synthesis) for of in factors
            )
            bracket = self._multiply(down_first, along_second) - self._multiply(
                along_first, down_second
            )
            products = torch.cat([products, bracket * grid.inverse_sine[:, None]], -1)
        return self._mix_down(grid.coefficients(products), batch)

    def _mix(self, fragments: Fragments) -> Tensor:
        """Return the functions to be multiplied, (m, re or im, l, 2 rank · batch · parts)."""
        L, batch = self.type_in.l_max, fragments.batch_size
        n = 2 * self.rank * self.type_in.n_planes
        degrees, tables = [], self.grid.row_tables()
        for l, planes in enumerate(fragments.all_planes()):
            if not len(planes):
                degrees.append(planes.new_zeros(n, 2, L + 1, batch))
                continue
            parts = tables[l] @ planes.flatten(1, 2)
            matrix = self._matrix(self.mix_in, l, slice(len(planes)), slice(None))
            mixed = (matrix @ parts.view(-1, 2 * (l + 1) * batch)).view(n, 2, l + 1, batch)
            degrees.append(nn.functional.pad(mixed, (0, 0, 0, L - l)))
        functions = torch.stack(degrees).unflatten(1, (-1, self.type_in.n_planes))
        return functions.permute(4, 3, 0, 1, 5, 2).flatten(3)

    def _multiply(self, first: Tensor, second: Tensor) -> Tensor:
        """Return products of values, whose columns are (rank, batch, parts)."""
        if self.real:
            return first * second
        one, other = (torch.view_as_complex(of.unflatten(-1, (-1, 2))) for of in (first, second))
        return torch.view_as_real(one * other).flatten(-2)

    def _mix_down(self, products: Tensor, batch: int) -> Fragments:
        """Return the output of coefficients (m, re or im, l, streams · rank · batch · parts)."""
        rows, tables, n_parts = [], self.grid.row_tables(), self.type_in.n_planes
        # Cut in one operation: the gradient of a cut fills a tensor of the whole's size.
        for l, (t, degree) in enumerate(zip(self.type_out.tau, products.unbind(2), strict=True)):
            if not t:
                continue
            parts = degree[: l + 1].unflatten(2, (-1, batch, n_parts)).permute(2, 4, 1, 0, 3)
            matrix = self._matrix(self.mix_out, l, slice(None), slice(t))
            mixed = matrix @ parts.reshape(-1, 2 * (l + 1) * batch)
            planes = tables[l].T @ mixed.view(t, -1, batch)
            rows.append(planes.view(-1, batch))
        return Fragments(self.type_out, torch.cat(rows))

    def _matrix(self, weights: nn.ParameterList, l: int, rows: slice, columns: slice) -> Tensor:
        """Return the weights of a degree, transposed, as they act on rows of all planes."""
        if self.filters == "free":
            weight = weights[l]
        else:
            weight = torch.tensordot(self.profile[l].to(weights[0].dtype), weights[0], ([0], [0]))
            weight = weight[rows, columns]
        return weight.T if self.real else real_matrix(weight)


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
