"""A network that looks at each signal from the signal's own frame."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input, spherical_harmonics
from vicinal.sphere.nn._head import InvariantBatchNorm, make_head
from vicinal.sphere.nn._network import ClebschGordanNet
from vicinal.sphere.nn._own_frame import own_angle, turn_about_pole, turn_to_pole


class RingConvolution(nn.Module):
    """Convolve (batch, channels, rings, sectors) with filters that go round along the rings.

    Parameters
    ----------
    n_in, n_out : int
        Channels.
    n_rings, n_sectors : int
        The filter's size; ``n_sectors`` is odd.
    padding : int, default=0
        Rings of zeros inside and outside.
    """

    def __init__(
        self, n_in: int, n_out: int, n_rings: int, n_sectors: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(
            n_in, n_out, (n_rings, n_sectors), padding=(padding, 0), bias=False
        )
        self.wrap = n_sectors // 2

    def forward(self, views: Tensor) -> Tensor:
        """Return the responses; the number of sectors stays."""
        around = nn.functional.pad(views, (self.wrap, self.wrap, 0, 0), mode="circular")
        return self.convolution(around)


class FrameNet(nn.Module):
    """Convolutions round the centroid of a real signal: invariant, with an eye for detail.

    The signal is turned until its centroid lies above the pole and is drawn on rings round it,
    from the coefficients, by one matrix product. Convolutions go round the rings and the maximum
    over sectors is taken, so that turning by the four sectors that pooling joins changes nothing;
    an angle that turns with the signal [puny2022] settles the rest. The scores of a rotated signal
    are the scores of the signal, exactly.

    Products of fragments see a signal as a whole and have to learn what is next to what; on the
    rings neighbourhood is given. In exchange a signal whose centroid is at the sphere's centre
    has no frame. With ``hidden`` both look: the head reads the invariants of Clebsch–Gordan
    layers, too.

    Parameters
    ----------
    l_max : int, default=18
        Degrees that are read.
    n_outputs : int, default=10
    n_channels : int, default=1
        Of the signal; they share the frame of their sum.
    hidden : sequence of FragmentType, default=()
        Types of the residual Clebsch–Gordan layers beside the rings; none if empty.
    widths : three int, default=(16, 32, 64)
        Channels of the convolutions, the last two of two layers each.
    around : sequence of int, default=()
        Channels of further convolutions along the one ring that is left, with filters that reach
        half round it and then nearly all round: what lies on opposite sides meets.
    n_rings, n_sectors : int, default=20, 48
        Points of the view, to the equator; multiples of four.
    n_views : int, default=4
        In evaluation, the mean is taken over so many views, turned within the four sectors that
        pooling joins. In training the angle is random.
    width : int, default=128
        Of the head's hidden layer.
    dropout : float, default=0.1
        In the head.

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import Fragments, FrameNet, random_rotations
    >>> net = FrameNet(l_max=6, n_outputs=3, n_rings=8, n_sectors=16).eval()
    >>> signals = Fragments.randn(net.type_in, batch=5)
    >>> turned = signals.rotate(random_rotations(5))
    >>> bool(torch.allclose(net(signals), net(turned), atol=1e-4))
    True
    """

    drawing: Tensor

    def __init__(
        self,
        l_max: int = 18,
        n_outputs: int = 10,
        n_channels: int = 1,
        *,
        hidden: Iterable[FragmentType] = (),
        widths: tuple[int, int, int] = (16, 32, 64),
        around: Iterable[int] = (),
        n_rings: int = 20,
        n_sectors: int = 48,
        n_views: int = 4,
        width: int = 128,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        around = tuple(around)
        _check_sizes(l_max, n_rings, n_sectors, n_views, (*widths, *around))
        self.type_in = FragmentType.uniform(n_channels, l_max)
        self.n_rings, self.n_sectors, self.n_views = n_rings, n_sectors, n_views
        drawing = _drawing_matrix(l_max, n_rings, n_sectors).float()
        self.register_buffer("drawing", drawing, persistent=False)
        first, second, third = widths
        self.features = nn.Sequential(
            InvariantBatchNorm(n_channels),
            *_layer(n_channels, first, 5, 5, 2),
            nn.MaxPool2d(2),
            *_layer(first, second, 3, 3, 1),
            *_layer(second, second, 3, 3, 1),
            nn.MaxPool2d(2),
            *_layer(second, third, 3, 3, 1),
            *_layer(third, third, n_rings // 4, 3, 0),
            *_layers_around((third, *around), n_sectors // 4),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
        )
        self.products = _product_layers(self.type_in, tuple(hidden))
        n_features = (third, *around)[-1]
        if self.products is not None:
            n_features += self.products.invariants.n_features
        self.head = make_head(n_features, width, n_outputs, dropout)

    def view(self, fragments: Fragments, angle: float = 0.0) -> Tensor:
        """Return (batch, channels, rings, sectors): signals in their frames, turned by an angle.

        Rings go from the pole to the equator, at equal distances in Lambert's map.
        """
        check_input("FrameNet", self.type_in, fragments, self.drawing)
        coefficients = turn_to_pole(fragments)
        return self._draw(coefficients, angle - own_angle(coefficients))

    def forward(self, fragments: Fragments) -> Tensor:
        """Return the scores (batch, n_outputs); in evaluation they are mean log-probabilities."""
        check_input("FrameNet", self.type_in, fragments, self.drawing)
        coefficients = turn_to_pole(fragments)
        invariants = [] if self.products is None else [self.products(fragments)]
        if self.training:
            angle = torch.rand(fragments.batch_size, dtype=torch.float64) * (2 * math.pi)
            return self._score(coefficients, angle.to(fragments.device), invariants)
        angle = -own_angle(coefficients)
        step = 4 * 2 * math.pi / self.n_sectors / self.n_views
        views = [
            self._score(coefficients, angle + step * view, invariants).log_softmax(1)
            for view in range(self.n_views)
        ]
        return torch.stack(views).mean(0)

    def _score(self, coefficients: Tensor, angle: Tensor, invariants: list[Tensor]) -> Tensor:
        seen = self.features(self._draw(coefficients, angle))
        return self.head(torch.cat([seen, *invariants], 1))

    def _draw(self, coefficients: Tensor, angle: Tensor) -> Tensor:
        turned = turn_about_pole(coefficients, angle).mT
        planes = torch.cat([turned.real, turned.imag], 2)
        return (planes @ self.drawing).unflatten(2, (self.n_rings, self.n_sectors))


def _product_layers(
    type_in: FragmentType, hidden: tuple[FragmentType, ...]
) -> ClebschGordanNet | None:
    """Return layers from fragments to their invariants: a network without its head."""
    if not hidden:
        return None
    network = ClebschGordanNet(
        type_in, hidden, pairs="unordered", invariants="power", residual=True
    )
    network.head = nn.Sequential()
    return network


def _layer(
    n_in: int, n_out: int, n_rings: int, n_sectors: int, padding: int
) -> tuple[nn.Module, nn.Module, nn.Module]:
    return (
        RingConvolution(n_in, n_out, n_rings, n_sectors, padding),
        InvariantBatchNorm(n_out),
        nn.ReLU(),
    )


def _layers_around(widths: tuple[int, ...], n_sectors: int) -> list[nn.Module]:
    """Return convolutions along one ring, of odd filters up to half of it, then up to all of it."""
    reaches = [n_sectors // 2, *[n_sectors] * len(widths)]
    return [
        part
        for n_in, n_out, reach in zip(widths, widths[1:], reaches, strict=False)
        for part in _layer(n_in, n_out, 1, reach - 1 + reach % 2, 0)
    ]


def _drawing_matrix(l_max: int, n_rings: int, n_sectors: int) -> Tensor:
    """From f̂_l^m, m ≥ 0, real and imaginary, to f = Re Σ_lm (2 − δ_m0) f̂_l^m Y_l^m on the rings."""
    radius = (torch.arange(n_rings, dtype=torch.float64) + 0.5) / n_rings
    sectors = torch.arange(n_sectors, dtype=torch.float64) * (2 * math.pi / n_sectors)
    theta, phi = torch.meshgrid(torch.arccos(1 - radius.square()), sectors, indexing="ij")
    harmonics = spherical_harmonics(l_max, theta.flatten(), phi.flatten())
    weights = torch.cat([torch.tensor([1.0] + [2.0] * l) for l in range(l_max + 1)])
    half = torch.cat([harmonics[:, l * l + l : (l + 1) ** 2] for l in range(l_max + 1)], 1)
    half = (half * weights).T
    return torch.cat([half.real, -half.imag])


def _check_sizes(
    l_max: int, n_rings: int, n_sectors: int, n_views: int, channels: tuple[int, ...]
) -> None:
    if l_max < 2:
        raise ValueError(f"l_max={l_max}: a signal shows its frame in degrees one and two.")
    for name, value in (("n_rings", n_rings), ("n_sectors", n_sectors)):
        if value < 4 or value % 4:
            raise ValueError(f"{name}={value} must be a multiple of four, for two poolings by two.")
    if n_views < 1:
        raise ValueError(f"n_views={n_views} must be one or more.")
    if min(channels) < 1:
        raise ValueError(f"a layer of {min(channels)} channels: each needs one or more.")
