"""The covariant linear map: channels of one degree mixed with each other."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input


class CovariantLinear(nn.Module):
    """Mix the channels of each degree: F_l ↦ F_l W_l.

    Degrees are never mixed with each other, and only l = 0, which no rotation moves, may have a
    bias; so the map commutes with every rotation.

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
    Fragments(4x0e+5x1e, batch=7, float32, requires_grad)
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
        self.type_in, self.type_out, self.real = FragmentType(type_in), FragmentType(type_out), real
        for l, t in enumerate(self.type_out.tau):
            if t and (l > self.type_in.l_max or not self.type_in[l]):
                raise ValueError(
                    f"{self.type_out} asks for degree {l}, of which {self.type_in} has none, "
                    "and a linear map cannot make it."
                )
        self._sizes = [self.type_in[l] * t if t else 0 for l, t in enumerate(self.type_out.tau)]
        last = () if real else (2,)
        self.weight = nn.Parameter(torch.empty(sum(self._sizes), *last))
        self.bias = nn.Parameter(torch.zeros(self.type_out[0], *last)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights that keep the mean square of the fragments: variance 1 / τ_l in."""
        with torch.no_grad():
            for l, part in enumerate(self.weight.split(self._sizes)):
                if len(part):
                    part.normal_(0, 1 / math.sqrt((1 if self.real else 2) * self.type_in[l]))
            if self.bias is not None:
                self.bias.zero_()

    def weight_matrix(self, l: int) -> Tensor:
        """Return W_l, complex (τ_l in, τ_l out)."""
        return torch.view_as_complex(self._planes(l))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return F_l W_l of each degree, plus the bias at degree 0."""
        check_input("CovariantLinear", self.type_in, fragments, self.weight)
        batch, planes = fragments.batch_size, fragments.all_planes()
        mixed = []
        for l, t in enumerate(self.type_out.tau):
            if t:
                rows = planes[l].reshape(2 * self.type_in[l], (2 * l + 1) * batch)
                mixed.append((real_matrix(self._planes(l)) @ rows).view(-1, batch))
        if self.bias is not None and self.type_out[0]:
            mixed[0] = mixed[0] + _planes_of(self.bias, self.real).reshape(-1, 1)
        return Fragments(self.type_out, torch.cat(mixed))

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        extras = (", bias" if self.bias is not None else "") + (", real" if self.real else "")
        return f"{self.type_in.to_irreps()} -> {self.type_out.to_irreps()}{extras}"

    def _planes(self, l: int) -> Tensor:
        part = self.weight.split(self._sizes)[l]
        return _planes_of(part, self.real).view(self.type_in[l], self.type_out[l], 2)


def real_matrix(weight: Tensor) -> Tensor:
    """Return the real (2 n_out, 2 n_in) form of the transpose of a complex (n_in, n_out, 2) matrix.

    Rows and columns run over [channel][re, im], as packed planes do.
    """
    real, imaginary = weight[..., 0].T, weight[..., 1].T
    rows = torch.stack([torch.stack([real, -imaginary], -1), torch.stack([imaginary, real], -1)], 1)
    return rows.reshape(2 * real.shape[0], 2 * real.shape[1])


def _planes_of(values: Tensor, real: bool) -> Tensor:
    """Return real and imaginary parts, (…, 2)."""
    return torch.stack([values, torch.zeros_like(values)], dim=-1) if real else values
