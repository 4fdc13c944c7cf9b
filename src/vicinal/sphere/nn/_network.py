"""Networks that stay in Fourier space from the input's transform to the invariants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from vicinal.sphere.groups import SO3
from vicinal.sphere.harmonic import Fragments, FragmentType, check_input
from vicinal.sphere.nn._files import saveable
from vicinal.sphere.nn._head import make_head
from vicinal.sphere.nn._invariants import Invariants
from vicinal.sphere.nn._normalisation import CovariantBatchNorm, SampleNorm
from vicinal.sphere.nn._product import ClebschGordanLayer

NORMALISATIONS = ("both", "batch", "moving", "sample", "none")


@saveable
class ClebschGordanNet(nn.Module):
    """Clebsch–Gordan layers on fragments, their invariants, and ordinary layers on those.

    f⁰ → CG → norm → f¹ → … → f^S;   scores = head(invariants of f⁰, f¹, …, f^S)

    Products of fragments [kondor2018] and divisions by norms that no rotation changes are all that
    happens before the head, so the scores of a rotated signal are the scores of the signal,
    exactly. Without `SampleNorm` products are the only non-linearity before the invariants.

    Parameters
    ----------
    type_in : FragmentType
        The signal's coefficients: one fragment a channel and degree.
    hidden : FragmentType or sequence of FragmentType
        The type of every layer, or one for each.
    n_layers : int, optional
        How many Clebsch–Gordan layers; not needed where ``hidden`` lists them.
    n_outputs : int, default=10
    pairs : {"ordered", "unordered", "channelwise", "grid"}, default="ordered"
        Which fragments meet in a product, see `ClebschGordanLayer`.
    grid : mapping, optional
        What products on a grid take: rank, odd, filters, support; channelwise ones the last two.
    normalisation : {"both", "batch", "moving", "sample", "none"}, default="both"
        After every layer: `CovariantBatchNorm`, `SampleNorm`, or one after the other. Without the
        second the norms of single samples spread over orders of magnitude with depth. "moving" is
        the first with its running mean in training, too, as published.
    invariants : {"scalars", "power"}, default="scalars"
        What the head reads of every activation, see `Invariants`.
    residual : bool, default=False
        Add each layer's input to its output.
    real : bool, default=False
        Real weights, which keep the symmetry of real signals: then m ≥ 0 is all that is kept, and
        the network costs half. Of complex signals it sees the real part.
    width : int or sequence of int, default=256
        Of the head's hidden layers.
    activation : {"relu", "silu"}, default="relu"
        Between them.
    dropout : float, default=0
        In the head.
    backend : str, default="auto"
        Of the products, see `ClebschGordanLayer`.

    Examples
    --------
    >>> from vicinal.sphere import ClebschGordanNet, Fragments, FragmentType
    >>> net = ClebschGordanNet(FragmentType([1, 1, 1]), FragmentType([4, 3, 2]), 2, n_outputs=3)
    >>> net(Fragments.randn(net.type_in, batch=5)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        type_in: FragmentType,
        hidden: FragmentType | Iterable[FragmentType],
        n_layers: int | None = None,
        n_outputs: int = 10,
        *,
        pairs: str = "ordered",
        grid: Mapping[str, Any] | None = None,
        normalisation: str = "both",
        invariants: str = "scalars",
        residual: bool = False,
        real: bool = False,
        width: int | Sequence[int] = 256,
        activation: str = "relu",
        dropout: float = 0.0,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        widths = (width,) if isinstance(width, int) else tuple(width)
        self.type_in = FragmentType(type_in)
        real = real or self.type_in.real
        types = (self.type_in, *_list_types(hidden, n_layers))
        self.types = tuple(of.as_real() for of in types) if real else types
        self.settings = {
            "type_in": _plain(self.type_in),
            "hidden": [_plain(of) for of in self.types[1:]],
            "n_outputs": n_outputs,
            "pairs": pairs,
            "grid": None if grid is None else dict(grid),
            "normalisation": normalisation,
            "invariants": invariants,
            "residual": residual,
            "real": real,
            "width": list(widths),
            "activation": activation,
            "dropout": dropout,
        }
        self.input_norm = _make_norm(self.types[0], normalisation)
        self.layers = nn.ModuleList(
            ClebschGordanLayer(
                before,
                after,
                pairs=pairs,
                residual=residual,
                real=real,
                backend=backend,
                **(grid or {}),
            )
            for before, after in zip(self.types[:-1], self.types[1:], strict=True)
        )
        self.norms = nn.ModuleList(_make_norm(of, normalisation) for of in self.types[1:])
        self.invariants = Invariants(self.types, kind=invariants)
        self.head = make_head(
            self.invariants.n_features, widths, n_outputs, dropout=dropout, activation=activation
        )

    @classmethod
    def for_mnist(
        cls,
        *,
        l_max: int = 8,
        n_layers: int = 5,
        n_outputs: int = 10,
        normalisation: str = "both",
        backend: str = "auto",
    ) -> ClebschGordanNet:
        """Return the published network for spherical digits: τ_l = ⌈12 / √(2l + 1)⌉, 5 layers.

        With its defaults it has 342,086 parameters, complex weights counted twice.
        """
        hidden = FragmentType(math.ceil(12 / math.sqrt(2 * l + 1)) for l in range(l_max + 1))
        type_in = FragmentType.uniform(1, l_max)
        return cls(
            type_in, hidden, n_layers, n_outputs, normalisation=normalisation, backend=backend
        )

    def activations(self, fragments: Fragments) -> Iterator[Fragments]:
        """Yield the normalised input and the output of every layer."""
        check_input("ClebschGordanNet", self._expected(fragments), fragments)
        fragments = self.input_norm(fragments.to_real() if self.types[0].real else fragments)
        yield fragments
        for layer, norm in zip(self.layers, self.norms, strict=True):
            fragments = norm(layer(fragments))
            yield fragments

    def _expected(self, fragments: object) -> FragmentType:
        """Return the type to be given: a real network takes real fragments as well."""
        is_real = isinstance(fragments, Fragments) and fragments.type.real
        return self.types[0] if is_real and self.types[0].real else self.type_in

    def embed(self, fragments: Fragments) -> Tensor:
        """Return the invariants of all layers, (batch, n_features), as exact as the scores."""
        features: Tensor = self(fragments, scores=False)
        return features

    def forward(self, fragments: Fragments, *, scores: bool = True) -> Tensor:
        """Return the scores (batch, n_outputs), or the invariants that the head makes them of.

        In evaluation a network in float32 computes in double precision and rounds its answer:
        a square doubles the relative error of its argument, so that rounding in single precision
        would grow by up to two with every layer.

        Under ``torch.compile`` the network runs as it is: its time is spent in compiled kernels.
        """
        answer = self._answer
        if torch.compiler.is_compiling():
            answer = torch.compiler.disable(self._answer)
        return answer(fragments, scores)

    def _answer(self, fragments: Fragments, scores: bool) -> Tensor:
        if self.training or fragments.dtype != torch.float32:
            features: Tensor = self.invariants(tuple(self.activations(fragments)))
            return self.head(features) if scores else features
        expected = self._expected(fragments)
        check_input("ClebschGordanNet", expected, fragments, next(self.parameters()))
        state = {name: value.double() for name, value in _floating_state(self)}
        exact = (fragments.to(torch.float64),)
        answer: Tensor = functional_call(self, state, exact, {"scores": scores})
        return answer.float()


def _floating_state(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for name, value in (*module.named_parameters(), *module.named_buffers()):
        if value.is_floating_point():
            yield name, value


def _plain(kind: FragmentType) -> list[int] | str:
    """Return what a file says of a type: the numbers of degrees, or irreps of another group."""
    return list(kind.tau) if kind.group == SO3() else kind.to_irreps()


def _list_types(
    hidden: FragmentType | Iterable[FragmentType], n_layers: int | None
) -> tuple[FragmentType, ...]:
    if isinstance(hidden, FragmentType):
        if n_layers is None or n_layers < 1:
            raise ValueError(
                f"n_layers={n_layers}: say how many layers of {hidden} there are, at least one."
            )
        return (hidden,) * n_layers
    types = tuple(FragmentType(of) for of in hidden)
    if not types or n_layers not in (None, len(types)):
        raise ValueError(f"n_layers={n_layers}, but hidden lists {len(types)} types.")
    return types


def _make_norm(of: FragmentType, normalisation: str) -> nn.Module:
    if normalisation not in NORMALISATIONS:
        raise ValueError(
            f"normalisation must be one of {', '.join(NORMALISATIONS)}, got {normalisation!r}."
        )
    parts: list[nn.Module] = []
    if normalisation in ("both", "batch", "moving"):
        parts.append(CovariantBatchNorm(of, moving=normalisation == "moving"))
    if normalisation in ("both", "sample"):
        parts.append(SampleNorm(of))
    return nn.Sequential(*parts)
