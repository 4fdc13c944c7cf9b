"""The Clebsch–Gordan layer: products of fragments, projected on degrees and mixed down."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input
from vicinal.sphere.nn import _product_torch
from vicinal.sphere.nn._grid_product import GridProduct
from vicinal.sphere.nn._linear import CovariantLinear, check_groups
from vicinal.sphere.nn._pairs import Pairing, make_pairing
from vicinal.sphere.nn._zonal import ZonalWeights, check_filters

BACKENDS = ("auto", "numba", "torch")


class ClebschGordanLayer(nn.Module):
    """Multiply fragments with each other, project on degrees and mix the products down.

    out_l = Σ_{l1, l2} C_{l1,l2,l}ᵀ [f_l1 ⊗ f_l2] W_l,    |l1 − l2| ≤ l ≤ min(l1 + l2, L)

    the only non-linearity a spherical network needs: it commutes with every rotation exactly
    [kondor2018]. Products are made, mixed and dropped a pair of degrees at a time, and made again
    for the gradient, so memory grows with the activations, not with the products.

    Parameters
    ----------
    type_in, type_out : FragmentType
    pairs : {"ordered", "unordered", "channelwise"}
        Which fragments meet. "ordered" has a weight for each pair in either order, as published;
        swapping the factors only changes the sign by (−1)^(l1+l2−l), so the two weights are added
        before the product and it costs what "unordered" costs, which has one weight for both.
        "channelwise" multiplies channel i with channel i only. "grid" makes ``rank`` products of
        mixed channels on a grid, see `GridProduct`: for degrees from some 16 on.
    rank, odd
        Of products on a grid.
    filters : {"free", "zonal"}
        "zonal", of grid and channelwise products: the weights of all degrees are those of radial
        profiles, see `GridProduct` and `ZonalWeights`.
    support : float, optional
        The angle, in (0, π], beyond which profiles are zero; π unless told.
    residual : bool
        Add the input to the output: as it is where both types are equal, else through a
        CovariantLinear on the degrees they share.
    real : bool
        Real weights, and a factor i where l1 + l2 − l is odd: keeps f_l^{−m} = (−1)^m conj f_l^m.
        So they are where the types are of real functions, which costs half.
    backend : {"auto", "numba", "torch"}
        "numba": compiled kernels for the CPU; "torch": plain operations, any device; "auto":
        "numba" on the CPU for SO(3) and O(3), else "torch". Both give the same numbers to
        rounding.

    Attributes
    ----------
    weight : Parameter of shape (n, 2), or (n,) where ``real``
        The W_l one after the other, where they are free; ``weight_matrix(l)`` is one of them,
        complex (fan-in, τ_l).

    Examples
    --------
    >>> from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType
    >>> layer = ClebschGordanLayer(FragmentType([4, 3, 2]), FragmentType([5, 2]))
    >>> layer(Fragments.randn(layer.type_in, batch=6))
    Fragments(5x0+2x1, batch=6, float32, requires_grad)
    """

    def __init__(
        self,
        type_in: FragmentType,
        type_out: FragmentType,
        *,
        pairs: str = "ordered",
        residual: bool = False,
        real: bool = False,
        backend: str = "auto",
        rank: int | None = None,
        odd: bool = False,
        filters: str = "free",
        support: float | None = None,
    ) -> None:
        super().__init__()
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}.")
        self.type_in, self.type_out = FragmentType(type_in), FragmentType(type_out)
        real = real or self.type_in.real
        self.pairs, self.residual, self.real, self.backend = pairs, residual, real, backend
        check_groups(self.type_in, self.type_out, real=real)
        self.skip = _make_skip(self.type_in, self.type_out, real) if residual else None
        self.on_grid: GridProduct | None = None
        if pairs == "grid":
            if rank is None:
                raise ValueError("pairs='grid' needs a rank: how many products are made.")
            self.on_grid = GridProduct(
                self.type_in, self.type_out, rank=rank, odd=odd, filters=filters, support=support
            )
            return
        if rank is not None or odd:
            raise ValueError(f"rank and odd are for pairs='grid', not {pairs!r}.")
        check_filters(filters, support)
        self.pairing: Pairing = make_pairing(self.type_in, self.type_out, pairs)
        self.zonal: ZonalWeights | None = None
        if filters == "zonal":
            if pairs != "channelwise":
                raise ValueError(
                    f"zonal filters are for grid and channelwise products, not {pairs!r}."
                )
            self.zonal = ZonalWeights(self.pairing, support or math.pi, real=real)
        else:
            shape = (self.pairing.n_weights,) if real else (self.pairing.n_weights, 2)
            self.weight = nn.Parameter(torch.empty(shape))
        self._by_degrees = has_degrees(self.type_in)
        if backend == "numba" and not self._by_degrees:
            raise ValueError(
                f"the numba backend is for SO3 and O3, not {self.type_in.group}: use 'auto'."
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights W ~ N(0, 1 / (2 fan-in)) for each part, so that variances add up to one."""
        if self.on_grid is not None:
            self.on_grid.reset_parameters()
        elif self.zonal is not None:
            self.zonal.reset_parameters()
        else:
            self._draw_weights()
        if isinstance(self.skip, CovariantLinear):
            self.skip.reset_parameters()

    def _draw_weights(self) -> None:
        starts = self.pairing.weight_starts
        with torch.no_grad():
            for l, fan_in in enumerate(self.pairing.fan_in):
                part = self.weight[starts[l] : starts[l + 1]]
                if len(part):
                    part.normal_(0, 1 / math.sqrt((1 if self.real else 2) * fan_in))

    def weight_matrix(self, l: int) -> Tensor:
        """Return W_l, complex (fan-in, τ_l); rows run over [l1, l2][i][j]."""
        starts = self.pairing.weight_starts
        part = self._weights()[starts[l] : starts[l + 1]]
        if self.real:
            part = torch.stack([part, torch.zeros_like(part)], dim=-1)
        return torch.view_as_complex(part).view(self.pairing.fan_in[l], self.type_out[l])

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the mixed products of the fragments, plus the input where ``residual``."""
        check_input("ClebschGordanLayer", self.type_in, fragments, next(self.parameters()))
        # A compiled graph calls the product as it is; importing the compiler costs a second and a
        # half, so that is left to those who use it.
        multiply = self._multiply if self.on_grid is None else self.on_grid
        if torch.compiler.is_compiling():
            multiply = torch.compiler.disable(multiply)
        mixed = multiply(fragments)
        return mixed if self.skip is None else mixed + _skip(self.skip, fragments, self.type_out)

    def _weights(self) -> Tensor:
        return self.weight if self.zonal is None else self.zonal()

    def _multiply(self, fragments: Fragments) -> Fragments:
        on_cpu = fragments.device.type == "cpu"
        if self.backend == "numba" and not on_cpu:
            raise ValueError(
                f"the numba backend runs on the CPU, the fragments are on {fragments.device}: "
                "use backend='auto'."
            )
        if self.backend == "torch" or not on_cpu or not self._by_degrees:
            folded = fold(self._weights(), self.pairing)
            return _product_torch.multiply_and_mix(fragments, folded, self.pairing)
        from vicinal.sphere.nn import _product_numba  # slow to import, and may not be needed

        return _product_numba.multiply_and_mix(fragments, self._weights(), self.pairing)

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        types = f"{self.type_in.to_irreps()} -> {self.type_out.to_irreps()}"
        extras = (", residual" if self.residual else "") + (", real" if self.real else "")
        return f"{types}, pairs={self.pairs!r}{extras}"


def fold(weight: Tensor, pairing: Pairing) -> Tensor:
    """Return the folded weights V = W[first] ± W[second], (n_folded, 2); i V for real odd ones."""
    first, second, sign, odd = (
        torch.from_numpy(table).to(weight.device)
        for table in (pairing.first, pairing.second, pairing.sign, pairing.odd)
    )
    if weight.ndim == 2:
        return weight[first] + sign.to(weight.dtype)[:, None] * weight[second]
    folded = weight[first] + sign.to(weight.dtype) * weight[second]
    zero = torch.zeros_like(folded)
    return torch.stack([torch.where(odd, zero, folded), torch.where(odd, folded, zero)], dim=-1)


def has_degrees(kind: FragmentType) -> bool:
    """Tell whether rotations act on all fragments of a type by Wigner matrices."""
    return all(kind.group.degree(irrep) is not None for irrep in kind.irreps)


def _make_skip(type_in: FragmentType, type_out: FragmentType, real: bool) -> nn.Module:
    if type_in == type_out:
        return nn.Identity()
    pairs = zip(type_out.irreps, type_out.tau, strict=True)
    shared = {irrep: t if type_in.count(irrep) else 0 for irrep, t in pairs}
    if not any(shared.values()):
        raise ValueError(f"no residual from {type_in} to {type_out}: they share no degree.")
    shared_type = FragmentType(shared, type_out.group, real=type_out.real)
    return CovariantLinear(type_in, shared_type, real=real)


def _skip(skip: nn.Module, fragments: Fragments, type_out: FragmentType) -> Fragments:
    """Return the input in the output's type, zero where the input has no such degree."""
    carried: Fragments = skip(fragments)
    if carried.type == type_out:
        return carried
    batch = fragments.batch_size
    parts = [
        planes.reshape(-1, batch)
        if len(planes)
        else carried.packed.new_zeros(type_out.n_planes * t * dim, batch)
        for planes, t, dim in zip(carried.all_planes(), type_out.tau, type_out.dims, strict=True)
    ]
    return Fragments(type_out, torch.cat(parts))
