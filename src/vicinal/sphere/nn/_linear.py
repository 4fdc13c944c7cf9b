"""The covariant linear map: channels of one degree mixed with each other."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input


class CovariantLinear(nn.Module):
    """Mix the channels of each degree: F_l ↦ F_l W_l.

    Degrees (irreps, of another group than SO(3)) are never mixed with each other, and only l = 0,
    which no rotation moves, may have a bias; so the map commutes with every rotation.

    Parameters
    ----------
    type_in, type_out : FragmentType
        Each degree of ``type_out`` must have fragments in ``type_in``.
    bias : bool
        Add a learned number to each channel of degree 0.
    real : bool
        Real weights, which keep the symmetry f_l^{−m} = (−1)^m conj f_l^m of real signals.

    Attributes
    ----------
    weight : Parameter of shape (n, 2), or (n,) where ``real``
        All W_l, one after the other; ``weight_matrix(l)`` is one, complex (τ_l in, τ_l out).
    bias : Parameter of shape (τ_0, 2), or (τ_0,) where ``real``, or None

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import CovariantLinear, Fragments, FragmentType
    >>> mix = CovariantLinear(FragmentType([3, 2]), FragmentType([4, 5]))
    >>> mix(Fragments.randn(mix.type_in, batch=7))
    Fragments(4x0+5x1, batch=7, float32, requires_grad)
    """

    bias: nn.Parameter | None

    def __init__(
        self,
        type_in: FragmentType,
        type_out: FragmentType,
        *,
        bias: bool = False,
        real: bool = False,
    ) -> None:
        super().__init__()
        self.type_in, self.type_out = FragmentType(type_in), FragmentType(type_out)
        self.real = real = real or self.type_in.real
        check_groups(self.type_in, self.type_out, real=real)
        for irrep, t in zip(self.type_out.irreps, self.type_out.tau, strict=True):
            if t and not self.type_in.count(irrep):
                raise ValueError(
                    f"{self.type_out} asks for degree {irrep}, of which {self.type_in} has none, "
                    "and a linear map cannot make it."
                )
        self._counts = [self.type_in.count(irrep) for irrep in self.type_out.irreps]
        self._sizes = [n * t for n, t in zip(self._counts, self.type_out.tau, strict=True)]
        last = () if real else (2,)
        self.weight = nn.Parameter(torch.empty(sum(self._sizes), *last))
        scalars = self.type_out.count(self.type_out.group.trivial)
        self.bias = nn.Parameter(torch.zeros(scalars, *last)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights that keep the mean square of the fragments: variance 1 / τ_l in."""
        with torch.no_grad():
            for l, part in enumerate(self.weight.split(self._sizes)):
                if len(part):
                    part.normal_(0, 1 / math.sqrt((1 if self.real else 2) * self._counts[l]))
            if self.bias is not None:
                self.bias.zero_()

    def weight_matrix(self, l: int) -> Tensor:
        """Return W_l, complex (τ_l in, τ_l out)."""
        return torch.view_as_complex(self._planes(l))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return F_l W_l of each degree, plus the bias at degree 0."""
        check_input("CovariantLinear", self.type_in, fragments, self.weight)
        batch, planes = fragments.batch_size, fragments.all_planes()
        mixed, kind = [], self.type_out
        for l, (irrep, t) in enumerate(zip(kind.irreps, kind.tau, strict=True)):
            if t:
                place = self.type_in.place(irrep)
                assert place is not None
                rows = planes[place].reshape(kind.n_planes * self._counts[l], kind.dims[l] * batch)
                part = (self._matrix(l) @ rows).view(-1, batch)
                if self.bias is not None and irrep == kind.group.trivial:
                    bias = self.bias if kind.real else _planes_of(self.bias, self.real)
                    part = part + bias.reshape(-1, 1)
                mixed.append(part)
        return Fragments(kind, torch.cat(mixed))

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        extras = (", bias" if self.bias is not None else "") + (", real" if self.real else "")
        return f"{self.type_in.to_irreps()} -> {self.type_out.to_irreps()}{extras}"

    def _matrix(self, l: int) -> Tensor:
        """Return W_lᵀ as it acts on the rows of all planes."""
        if not self.type_in.real:
            return real_matrix(self._planes(l))
        part = self.weight.split(self._sizes)[l]
        return part.view(self._counts[l], self.type_out[l]).T

    def _planes(self, l: int) -> Tensor:
        part = self.weight.split(self._sizes)[l]
        return _planes_of(part, self.real).view(self._counts[l], self.type_out[l], 2)


def check_groups(type_in: FragmentType, type_out: FragmentType, *, real: bool) -> None:
    """Refuse types of two groups, and real weights where they keep nothing."""
    if type_in.real != type_out.real:
        raise ValueError(f"{type_in} and {type_out}: fragments of real functions stay real.")
    if type_in.group != type_out.group:
        raise ValueError(
            f"{type_in} has irreps of {type_in.group} and {type_out} of {type_out.group}: a layer "
            "commutes with one group."
        )
    if real and any(type_in.group.degree(irrep) is None for irrep in type_in.irreps):
        raise ValueError(
            f"real=True is for functions on the sphere, whose symmetry it keeps: SO3 or O3, not "
            f"{type_in.group}."
        )


def real_matrix(weight: Tensor) -> Tensor:
    """Return the real (2 n_out, 2 n_in) form of the transpose of a complex (n_in, n_out, 2) matrix.

    Rows and columns run over [channel][re, im], as packed planes do.
    """
    n_in, n_out, _ = weight.shape
    turns = weight.new_tensor([[1.0, 0.0, 0.0, 1.0], [0.0, -1.0, 1.0, 0.0]])  # of 1 and of i
    blocks = (weight.reshape(-1, 2) @ turns).view(n_in, n_out, 2, 2)
    return blocks.permute(1, 2, 0, 3).reshape(2 * n_out, 2 * n_in)


def _planes_of(values: Tensor, real: bool) -> Tensor:
    """Return real and imaginary parts, (…, 2)."""
    return torch.stack([values, torch.zeros_like(values)], dim=-1) if real else values
