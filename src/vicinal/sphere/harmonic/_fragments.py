"""An activation of an equivariant network: fragments of several irreps, for a batch of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from vicinal.sphere.harmonic._fragment_type import FragmentType
from vicinal.sphere.harmonic._planes import (
    REAL_OF,
    check_parts,
    fill_orders,
    in_real_basis,
    real_part,
    to_complex_part,
    turn_planes,
)


class Fragments:
    """Fragments of one type for a batch of samples: real and imaginary planes, batch last.

    The rows of ``packed`` run over [l][channel][re, im][m] and its columns over the batch, so that
    one degree is a slice, a rotation or a product of fragments runs along the batch, and no
    complex numbers are stored. ``fragments[l]`` is the complex tensor (batch, 2l + 1, τ_l). Where
    the type is of another group than SO(3), l counts its irreps.

    Of real functions, where the type says so, rows are [l][channel][f^0, √2 Re f^1 … √2 Re f^l,
    √2 Im f^1 … √2 Im f^l]: the squares of all still add up to the power.

    Parameters
    ----------
    fragment_type : FragmentType
    packed : Tensor of shape (fragment_type.n_rows, batch), float32 or float64

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import Fragments
    >>> ones = [torch.ones(4, 2 * l + 1, 3, dtype=torch.complex64) for l in range(3)]
    >>> fragments = Fragments.from_complex(ones)
    >>> fragments
    Fragments(3x0+3x1+3x2, batch=4, float32)
    >>> fragments[1].shape
    torch.Size([4, 3, 3])
    """

    __slots__ = ("_type", "packed")

    def __init__(self, fragment_type: FragmentType, packed: Tensor) -> None:
        if packed.ndim != 2 or packed.shape[0] != fragment_type.n_rows:
            raise ValueError(
                f"{fragment_type} packs into ({fragment_type.n_rows}, batch), got a tensor of "
                f"shape {tuple(packed.shape)}."
            )
        if packed.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"fragments are float32 or float64, got {packed.dtype}.")
        self._type = fragment_type
        self.packed = packed

    @classmethod
    def from_complex(
        cls,
        parts: Sequence[Tensor],
        *,
        fragment_type: FragmentType | None = None,
        check: bool = True,
    ) -> Fragments:
        """Return the fragments of one complex tensor (batch, 2l + 1, τ_l) a degree.

        A ``fragment_type`` says of which irreps the tensors (batch, dim, τ) are, where they are not
        the degrees 0, 1, … of SO(3). ``check`` refuses numbers that are not finite.
        """
        if not parts:
            raise ValueError("from_complex needs one tensor for each degree, got none.")
        check_parts(parts, fragment_type)
        fragment_type = fragment_type or FragmentType(part.shape[2] for part in parts)
        batch = parts[0].shape[0]
        planes = (torch.view_as_real(part.resolve_conj()).permute(2, 3, 1, 0) for part in parts)
        packed = torch.cat([plane.reshape(-1, batch) for plane in planes])
        if check and not bool(torch.isfinite(packed).all()):
            degree = next(l for l, p in enumerate(parts) if not bool(torch.isfinite(p).all()))
            raise ValueError(
                f"the fragments of degree {degree} hold NaN or infinity: clean the signal first."
            )
        return cls(fragment_type, packed)

    @classmethod
    def from_real_waves(
        cls, parts: Sequence[Tensor], fragment_type: FragmentType | None = None
    ) -> Fragments:
        """Return the fragments of real functions from their coefficients with m ≥ 0.

        Parameters
        ----------
        parts : sequence of Tensor, the l-th of shape (batch, 2l + 1, τ_l)
            Re f^0, …, Re f^l, Im f^1, …, Im f^l, as sums of `real_waves` are.
        fragment_type : FragmentType, optional
            Where it is not of SO(3).
        """
        kind = fragment_type or FragmentType(part.shape[2] for part in parts)
        rows = []
        for part in parts:
            scale = part.new_full((part.shape[1], 1), 2**0.5)
            scale[0] = 1
            rows.append((part.permute(2, 1, 0) * scale).flatten(0, 1))
        return cls(kind.as_real(), torch.cat(rows))

    @classmethod
    def zeros(
        cls,
        fragment_type: FragmentType,
        batch: int,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Fragments:
        """Return fragments that are all zero."""
        return cls(
            fragment_type, torch.zeros(fragment_type.n_rows, batch, dtype=dtype, device=device)
        )

    @classmethod
    def randn(
        cls,
        fragment_type: FragmentType,
        batch: int,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        generator: torch.Generator | None = None,
    ) -> Fragments:
        """Return standard normal fragments: E |f|² = 1 for each complex entry."""
        shape = (fragment_type.n_rows, batch)
        packed = torch.randn(shape, dtype=dtype, device=device, generator=generator)
        return cls(fragment_type, packed * fragment_type.n_planes**-0.5)

    @property
    def type(self) -> FragmentType:
        """How many fragments there are of each degree."""
        return self._type

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return int(self.packed.shape[1])

    @property
    def dtype(self) -> torch.dtype:
        """The precision of each plane, float32 or float64."""
        return self.packed.dtype

    @property
    def device(self) -> torch.device:
        """Where the numbers are."""
        return self.packed.device

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow back to these numbers."""
        return self.packed.requires_grad

    @property
    def grad(self) -> Fragments | None:
        """The gradient, as fragments: ∂/∂re in the real plane and ∂/∂im in the imaginary one."""
        gradient = self.packed.grad
        return None if gradient is None else Fragments(self._type, gradient)

    def planes(self, l: int) -> Tensor:
        """Return the view (τ_l, 2, 2l + 1, batch) of one degree: channel, re or im, m, sample.

        Of real functions it is (τ_l, 1, 2l + 1, batch).
        """
        if not 0 <= l < len(self._type):
            raise IndexError(f"no degree {l} in {self._type}: degrees are 0 to {len(self) - 1}.")
        starts = self._type.row_starts()
        return self.packed[starts[l] : starts[l + 1]].view(
            self._type[l], self._type.n_planes, self._type.dims[l], self.batch_size
        )

    def all_planes(self) -> tuple[Tensor, ...]:
        """Return the views of all degrees, cut in one operation.

        The gradient of a cut fills a tensor of the whole's size: once here, with ``planes`` once
        for each degree.
        """
        starts = self._type.row_starts()
        rows = self.packed.split([end - start for start, end in pairwise(starts)])
        return tuple(
            part.view(t, self._type.n_planes, dim, self.batch_size)
            for t, dim, part in zip(self._type.tau, self._type.dims, rows, strict=True)
        )

    def __getitem__(self, l: int) -> Tensor:
        """Return the complex tensor (batch, 2l + 1, τ_l) of one degree."""
        return to_complex_part(self.planes(l))

    def __len__(self) -> int:
        return len(self._type)

    def __iter__(self) -> Iterator[Tensor]:
        return map(to_complex_part, self.all_planes())

    def to_complex(self) -> list[Tensor]:
        """Return one complex tensor (batch, 2l + 1, τ_l) for each degree."""
        return list(self)

    def to_real(self) -> Fragments:
        """Return the fragments of the signals' real parts, m ≥ 0 alone: half the numbers.

        Of real signals nothing is lost. The real part is ½ (f^m + (−1)^m conj f^{−m}).
        """
        if self._type.real:
            return self
        parts = [real_part(planes).flatten(0, 1) for planes in self.all_planes()]
        return Fragments(self._type.as_real(), torch.cat(parts))

    def to_full(self) -> Fragments:
        """Return all coefficients, m < 0 too, of real functions; others are as they are."""
        if not self._type.real:
            return self
        rows = [fill_orders(planes[:, 0]).flatten(0, 2) for planes in self.all_planes()]
        return Fragments(self._type.as_complex(), torch.cat(rows))

    def rotate(self, rotations: Any) -> Fragments:
        """Return the fragments of the rotated signals, f_l ↦ D^l(R) f_l.

        Parameters
        ----------
        rotations : Tensor of shape (3, 3) or (batch, 3, 3), or elements of the type's own group
            One rotation for all samples, or one for each.
        """
        irreps = self._type.irreps
        # Matrices are made in double precision: their rounding would pass for an error of the
        # network that is being tested.
        matrices = self._type.group.matrices(irreps, rotations)
        if matrices[0].shape[:-2] not in ((), (self.batch_size,)):
            raise ValueError(
                f"rotations must be one, or {self.batch_size} for a batch of {self.batch_size}, "
                f"got {tuple(matrices[0].shape[:-2])}."
            )
        if self._type.real:
            matrices = [in_real_basis(of) for of in matrices]
        parts = zip(self.all_planes(), matrices, strict=True)
        turned = [turn_planes(planes, of.to(self.device)) for planes, of in parts if len(planes)]
        return Fragments(self._type, torch.cat(turned))

    def power_spectrum(self) -> Tensor:
        """Return Σ_m |f_l^m|² of each fragment, degree by degree: (batch, n_channels)."""
        powers = [planes.square().sum(dim=(1, 2)) for planes in self.all_planes()]
        return torch.cat(powers).T

    def cross_spectrum(self) -> Tensor:
        """Return Re Σ_m f_l^m conj(g_l^m) of each pair of fragments of a degree, (batch, n_pairs).

        Degree by degree, the τ_l (τ_l + 1) / 2 pairs with g not before f, f running slowest.
        """
        parts = []
        for planes in self.all_planes():
            rows = planes.flatten(1, 2)
            first, second = torch.triu_indices(len(rows), len(rows), device=self.device)
            parts.append((rows[first] * rows[second]).sum(1))
        return torch.cat(parts).T

    def norms(self) -> Tensor:
        """Return the norm of each fragment, degree by degree: (batch, n_channels)."""
        norms = [torch.linalg.vector_norm(planes, dim=(1, 2)) for planes in self.all_planes()]
        return torch.cat(norms).T

    def to(self, *args: Any, **kwargs: Any) -> Fragments:
        """Return the fragments in another precision or on another device, as ``Tensor.to`` does.

        A complex precision means that of its planes.
        """
        args = tuple(REAL_OF.get(a, a) if isinstance(a, torch.dtype) else a for a in args)
        if "dtype" in kwargs:
            kwargs["dtype"] = REAL_OF.get(kwargs["dtype"], kwargs["dtype"])
        return Fragments(self._type, self.packed.to(*args, **kwargs))

    def requires_grad_(self, requires_grad: bool = True) -> Fragments:
        """Ask for gradients of these numbers, in place; return the fragments themselves."""
        self.packed.requires_grad_(requires_grad)
        return self

    def detach(self) -> Fragments:
        """Return the same numbers without their history."""
        return Fragments(self._type, self.packed.detach())

    def clone(self) -> Fragments:
        """Return a copy that shares no memory."""
        return Fragments(self._type, self.packed.clone())

    def __add__(self, other: Fragments) -> Fragments:
        if not isinstance(other, Fragments):
            return NotImplemented
        check_alike(self, other)
        return Fragments(self._type, self.packed + other.packed)

    def __mul__(self, factor: float) -> Fragments:
        if not isinstance(factor, int | float):
            return NotImplemented
        return Fragments(self._type, self.packed * factor)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        facts = [self._type.to_irreps(), f"batch={self.batch_size}"]
        facts.append(str(self.dtype).removeprefix("torch."))
        facts += [] if self.device.type == "cpu" else [str(self.device)]
        facts += ["requires_grad"] if self.requires_grad else []
        return f"Fragments({', '.join(facts)})"


def _flatten(fragments: Fragments) -> tuple[list[Tensor], FragmentType]:
    return [fragments.packed], fragments.type


def _unflatten(leaves: Iterable[Any], fragment_type: FragmentType) -> Fragments:
    # Torch puts all kinds of leaves where a tensor was, so nothing is checked.
    fragments = object.__new__(Fragments)
    fragments._type = fragment_type
    (fragments.packed,) = leaves
    return fragments


# Lets torch.export return fragments, and DistributedDataParallel find the tensor in them.
_pytree.register_pytree_node(Fragments, _flatten, _unflatten)


def check_alike(first: Fragments, second: Fragments) -> None:
    """Raise where two activations differ in type, batch, precision or device."""
    for what in ("type", "batch_size", "dtype", "device"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            raise ValueError(
                f"fragments differ in {what.replace('_', ' ')}: {one} on one side, "
                f"{other} on the other."
            )


def check_input(
    module: str, expected: FragmentType, fragments: object, like: Tensor | None = None
) -> None:
    """Raise where a layer cannot take these fragments; name both sides.

    ``like`` is one of the layer's own tensors, whose precision and device must be met.
    """
    if not isinstance(fragments, Fragments):
        raise TypeError(
            f"{module} takes Fragments of {expected}, got {type(fragments).__name__}; "
            "make them with Fragments.from_complex or SphericalTransform."
        )
    if fragments.type != expected:
        raise ValueError(f"{module} takes {expected}, got fragments of {fragments.type}.")
    if like is None:
        return
    if fragments.dtype != like.dtype:
        raise ValueError(
            f"{module} is in {like.dtype}, its input in {fragments.dtype}: "
            f"call .to({like.dtype}) on the fragments or .to({fragments.dtype}) on the module."
        )
    if fragments.device != like.device:
        raise ValueError(
            f"{module} is on {like.device}, its input on {fragments.device}: "
            "move one of them with .to(device)."
        )
