"""Correlation of signals on the sphere and on the rotation group, by their Fourier theorems."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from vicinal.sphere.harmonic._agreement import check_alike, check_degrees
from vicinal.sphere.harmonic._fragments import Fragments


def spherical_correlation(signals: Fragments, filters: Fragments) -> list[Tensor]:
    """Correlate signals on the sphere with rotated filters: functions on SO(3).

        (h ⋆ f)(R) = Σ_c ∫ conj h_c(R⁻¹x) f_c(x) dx,        [h ⋆ f]_l = Σ_c f̂_cl ĥ_cl†

    Rotating the signal by Q multiplies the matrices by D^l(Q) from the left.

    Parameters
    ----------
    signals : Fragments, batch of N signals with C channels
        Coefficients f̂, the same number of channels for each degree.
    filters : Fragments, batch of M filters with C channels
        Coefficients ĥ.

    Returns
    -------
    list of Tensor, the l-th of shape (N, M, 2l+1, 2l+1), complex
        Fourier matrices in the convention of :class:`SO3Transform`; O(N M C l²) each.

    Examples
    --------
    >>> import torch
    >>> from vicinal.sphere import Fragments, FragmentType, SO3Transform, spherical_correlation
    >>> digit, pattern = (Fragments.randn(FragmentType([1, 1, 1]), n) for n in (5, 2))
    >>> matrices = spherical_correlation(digit, pattern)
    >>> SO3Transform(bandwidth=3, l_max=2).inverse(matrices).shape
    torch.Size([5, 2, 6, 6, 6])
    """
    if signals.type != filters.type:
        raise ValueError(
            f"signals and filters must have one type, got signals of {signals.type} and filters "
            f"of {filters.type}."
        )
    check_alike("the signal", signals.packed, "the filter", filters.dtype, filters.device)
    pairs = zip(signals.to_complex(), filters.to_complex(), strict=True)
    return [torch.einsum("amc,bnc->abmn", f, h.conj()) for f, h in pairs]


def so3_correlation(signals: Sequence[Tensor], filters: Sequence[Tensor]) -> list[Tensor]:
    """Correlate functions on SO(3) with rotated filters.

        (h ⋆ f)(R) = Σ_c ∫ conj h_c(R⁻¹S) f_c(S) dμ(S),    [h ⋆ f]_l = Σ_c F_cl H_cl† / (2l + 1)

    The factor 1/(2l + 1) belongs to the normalisation of :class:`SO3Transform`. Rotating the signal
    by Q multiplies the matrices by D^l(Q) from the left.

    Parameters
    ----------
    signals : sequence of Tensor, the l-th of shape (N, C, 2l+1, 2l+1), complex
        Fourier matrices of N signals with C channels.
    filters : sequence of Tensor, the l-th of shape (M, C, 2l+1, 2l+1), complex
        Fourier matrices of M filters.

    Returns
    -------
    list of Tensor, the l-th of shape (N, M, 2l+1, 2l+1)
        One matrix product of O(N M C l³) operations each.
    """
    check_degrees(signals)
    check_degrees(filters)
    _check_channels(signals, filters)
    check_alike("the signal", signals[0], "the filter", filters[0].dtype, filters[0].device)
    pairs = zip(signals, filters, strict=True)
    return [_products(F, H) / (2 * l + 1) for l, (F, H) in enumerate(pairs)]


def _check_channels(signals: Sequence[Tensor], filters: Sequence[Tensor]) -> None:
    if len(signals) != len(filters):
        raise ValueError(
            f"signals and filters must have one highest degree, got signals up to l = "
            f"{len(signals) - 1} and filters up to l = {len(filters) - 1}."
        )
    shapes = tuple(signals[0].shape), tuple(filters[0].shape)
    if any(len(shape) != 4 for shape in shapes) or shapes[0][1] != shapes[1][1]:
        raise ValueError(
            f"signals (N, C, 2l+1, 2l+1) and filters (M, C, 2l+1, 2l+1) must have one number of "
            f"channels, got {shapes[0]} and {shapes[1]} at l = 0."
        )


def _products(F: Tensor, H: Tensor) -> Tensor:
    """Σ_c F_c H_c† of all pairs, as one matrix product over (channel, column)."""
    rows = F.transpose(1, 2).flatten(2).flatten(0, 1)  # (N m, C k)
    columns = H.transpose(1, 2).flatten(2).flatten(0, 1)  # (M n, C k)
    size = F.shape[-1]
    product = (rows @ columns.mH).unflatten(0, (-1, size)).unflatten(2, (-1, size))
    return product.transpose(1, 2)
