"""Real signals in a frame of their own, which turns with them: what it shows never changes."""

from __future__ import annotations

from functools import cache
from math import sqrt

import torch
from torch import Tensor

from vicinal.sphere.harmonic import Fragments, wigner_d_all

HIGHEST_DEGREE_OF_ANGLE = 7  # finer detail would make the angle nervous


def turn_to_pole(fragments: Fragments) -> Tensor:
    """Turn each real signal so that its centroid lies above the north pole.

    The centroid ∫ f(x) x dx is what the coefficients of degree one say. Two turns bring it to the
    pole, f̂ ↦ D(R_y(−β) R_z(−α)) f̂, with D(R_y(β)) = J† exp(−imβ) J and J of a quarter turn about
    x, the same for all signals: O(L³) a signal, by matrix products.

    Parameters
    ----------
    fragments : Fragments of at least degree one, as many of each degree as channels
        The coefficients; of complex signals the real part is read. Channels turn together, with
        the centroid of their sum.

    Returns
    -------
    Tensor of shape (batch, (L + 1)(L + 2)/2, channels), complex
        f̂_l^m of the orders m ≥ 0, which say all of a real signal, at position l(l + 1)/2 + m.
        A turn about the pole by γ multiplies them by exp(−imγ): that angle alone still depends
        on how the sphere lay.
    """
    signals = [_real_part(part) for part in fragments]
    alpha, beta = _centroid_angles(signals[1].sum(2))
    quarter = _quarter_turns(fragments.type.l_max, signals[0].dtype, fragments.device)
    turned = []
    for l, signal in enumerate(signals):
        orders = torch.arange(-l, l + 1, dtype=torch.float64, device=fragments.device)
        signal = quarter[l] @ (signal * _phases(alpha, orders).to(signal.dtype))
        signal = quarter[l].mH @ (signal * _phases(beta, orders).to(signal.dtype))
        turned.append(signal[:, l:])
    return torch.cat(turned, 1)


def own_angle(coefficients: Tensor) -> Tensor:
    """Return the angle γ (batch,) that turns about the pole with the signal.

    γ = −arg Σ_l f̂_l^1 over 2 ≤ l ≤ 7: the heavier side of what the centroid leaves. Turning the
    signal by −γ about the pole puts it in its own frame.
    """
    n = coefficients.shape[1]
    places = [l * (l + 1) // 2 + 1 for l in range(2, HIGHEST_DEGREE_OF_ANGLE + 1)]
    chosen = [place for place in places if place < n]
    return -torch.angle(coefficients[:, chosen].sum((1, 2))).double()


def turn_about_pole(coefficients: Tensor, angle: Tensor) -> Tensor:
    """Return the coefficients of the signals, each turned about the pole by its angle (batch,)."""
    return coefficients * _phases(-angle, orders_of(coefficients)).to(coefficients.dtype)


def orders_of(coefficients: Tensor) -> Tensor:
    """Return m of each position of the coefficients of orders m ≥ 0."""
    places = torch.arange(coefficients.shape[1], dtype=torch.float64, device=coefficients.device)
    degrees = ((torch.sqrt(8 * places + 1) - 1) / 2).floor()
    return places - degrees * (degrees + 1) / 2


def _real_part(part: Tensor) -> Tensor:
    """Coefficients (batch, 2l+1, channels) of the real part: ½ (f̂^m + (−1)^m conj f̂^{−m})."""
    l = part.shape[1] // 2
    signs = 1.0 - 2.0 * (torch.arange(-l, l + 1, device=part.device) % 2)
    return 0.5 * (part + signs[:, None].to(part.dtype) * part.flip(1).conj())


def _centroid_angles(first: Tensor) -> tuple[Tensor, Tensor]:
    """Azimuth and colatitude of the vector whose coefficients of degree one these are."""
    x = -sqrt(2.0) * first[:, 2].real.double()
    y = sqrt(2.0) * first[:, 2].imag.double()
    z = first[:, 1].real.double()
    return torch.atan2(y, x), torch.atan2(torch.hypot(x, y), z)


def _phases(angle: Tensor, orders: Tensor) -> Tensor:
    """exp(imθ), (batch, orders, 1), of signals turned about the pole by −θ."""
    turns = angle[:, None, None] * orders[:, None]
    return torch.polar(torch.ones_like(turns), turns)


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _quarter_turns(l_max: int, dtype: torch.dtype, device: torch.device) -> list[Tensor]:
    about_x = torch.tensor([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=torch.float64)
    return [D.to(device, dtype) for D in wigner_d_all(l_max, about_x)]
