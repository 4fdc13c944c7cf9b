"""What the learned metric looks at: relevance of features, and how many directions it uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Exhibit, FloatArray, Portrait
from ._images import MAX_SIDE, as_picture, data_address, unit_range
from ._numbers import NBSP, count_of, format_share, join_words, shorten
from ._palette import sequential_rgb
from ._scales import Scale, Tick, decimals_for, round_steps

MAX_BARS = 20
MAX_DIRECTIONS = 40
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 440, 300, 58, 8, 10, 46


@dataclass(frozen=True)
class Bar:
    """A named share of the whole; ``length`` in percent of the longest."""

    name: str
    share: str
    length: float


@dataclass(frozen=True)
class RelevancePlot:
    """Bars of the most relevant features, or a picture of all where they are pixels."""

    alt: str
    caption: str
    bars: tuple[Bar, ...] = ()
    picture: str = ""
    aspect: str = ""


@dataclass(frozen=True)
class SpectrumPlot:
    """Bars of eigenvalues: positions (x, y, width, height) on paper; whiskers (x, y, y)."""

    alt: str
    caption: str
    bars: tuple[tuple[float, float, float, float], ...]
    whiskers: tuple[tuple[float, float, float], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: float = _LEFT
    right: float = _WIDTH - _RIGHT
    top: float = _TOP
    bottom: float = _HEIGHT - _BOTTOM


def as_shares(values: FloatArray) -> FloatArray:
    """Non-negative values divided by their sum (all zero where the sum is)."""
    values = np.clip(np.nan_to_num(np.asarray(values, dtype=float).ravel(), posinf=0.0), 0, None)
    # Scaled first, so that values near the largest float do not overflow in the sum.
    values = values / (values.max(initial=0.0) or 1.0)
    return values / (values.sum() or 1.0)


def count_for(shares: FloatArray, part: float) -> int:
    """How many of the largest shares it takes to reach ``part`` of the whole."""
    cumulated = np.cumsum(np.sort(shares)[::-1])
    return int(np.searchsorted(cumulated, part - 1e-12) + 1) if shares.size else 0


def draw_relevance(exhibit: Exhibit | Portrait) -> RelevancePlot | None:
    """Lay out the relevances; None where none are known or all are zero."""
    shares = as_shares(exhibit.relevance)
    if not shares.any():
        return None
    shape = exhibit.image_shape
    if shape is not None and len(shape) in (2, 3) and shares.size == int(np.prod(shape)):
        return _as_heat_map(shares.reshape(shape))
    return _as_bars(shares, exhibit.feature_names)


def _as_bars(shares: FloatArray, names: tuple[str, ...]) -> RelevancePlot:
    order = np.argsort(-shares, kind="stable")[:MAX_BARS]
    longest = shares[order[0]]
    bars = tuple(
        Bar(
            name=str(names[i]) if i < len(names) else f"feature {i}",
            share=format_share(shares[i]),
            length=round(100 * float(shares[i] / longest), 1),
        )
        for i in order
    )
    top = [f"{shorten(bar.name, 40)} ({bar.share})" for bar in bars[:3]]
    together = format_share(shares[order].sum())
    shown = "" if len(bars) == shares.size else f", the {len(bars)} most relevant of"
    head = f"Bar chart of the relevance of {count_of(shares.size, 'feature')}"
    caption = f"Share of the total{shown}"
    caption += f" {count_of(shares.size, 'feature')} ({together} together)." if shown else "."
    return RelevancePlot(
        alt=f"{head}. Most relevant: {join_words(top)}. {_phrase_concentration(shares, 'feature')}",
        caption=caption,
        bars=bars,
    )


def _as_heat_map(shares: FloatArray) -> RelevancePlot:
    # Colour channels of a pixel are added up; a large picture is summed over square blocks.
    grid = shares if shares.ndim == 2 else shares.sum(axis=2)
    peak = np.unravel_index(int(grid.argmax()), grid.shape)
    height, width = grid.shape
    picture = as_picture(_sum_blocks(grid))
    assert picture is not None  # a two-dimensional grid always is one
    words = _phrase_concentration(grid.ravel(), "pixel")
    return RelevancePlot(
        alt=f"Heat map of the relevance of {height} × {width} pixels. The most relevant is in row "
        f"{peak[0] + 1}, column {peak[1] + 1}, with {format_share(grid.max())}. {words}",
        caption=f"Bright pixels count most. {words}",
        picture=data_address(sequential_rgb(unit_range(picture)).round()),
        aspect=f"{picture.shape[1]} / {picture.shape[0]}",
    )


def _sum_blocks(grid: FloatArray) -> FloatArray:
    step = -(-max(grid.shape) // MAX_SIDE)
    if step == 1:
        return grid
    padded = np.pad(grid, [(0, -side % step) for side in grid.shape])
    height, width = (side // step for side in padded.shape)
    return np.asarray(padded.reshape(height, step, width, step).sum(axis=(1, 3)))


def _phrase_concentration(shares: FloatArray, noun: str) -> str:
    n = count_for(shares, 0.8)
    return f"80{NBSP}% of the relevance lies in {n:,} of {count_of(shares.size, noun)}."


def draw_spectrum(shown: Exhibit | Portrait) -> SpectrumPlot | None:
    """Lay out the eigenvalues as shares of their sum; None where all are zero or none known."""
    if isinstance(shown, Exhibit):
        return _as_columns(shown.spectrum, np.empty((0, 2)), "the metric", 0)
    return _as_columns(shown.eigenvalues, shown.intervals, shown.carries, shown.n_evaluations)


def _as_columns(
    eigenvalues: FloatArray, intervals: FloatArray, carries: str, n_points: int
) -> SpectrumPlot | None:
    shares = np.sort(as_shares(eigenvalues))[::-1]
    if not shares.any():
        return None
    shown = shares[:MAX_DIRECTIONS]
    # Intervals are of the eigenvalues themselves; bars are shares.
    spans = np.asarray(intervals, float)[: len(shown)] * (shares[0] / np.max(eigenvalues))
    values = round_steps(0.0, float(max(shown[0], spans.max(initial=0.0))), 4)
    scale = Scale(0.0, values[-1], _HEIGHT - _BOTTOM, _TOP)
    slot = (_WIDTH - _RIGHT - _LEFT) / len(shown)
    width = round(min(0.72 * slot, 40.0), 1)
    centres = [_LEFT + (i + 0.5) * slot for i in range(len(shown))]
    every = -(-len(shown) // 10)
    decimals = decimals_for(100 * values[1])
    words = _phrase_directions(shares, carries)
    head = f"Bar chart of {count_of(len(shown), 'eigenvalue')} of the metric, descending"
    return SpectrumPlot(
        alt=f"{head}. The first carries {format_share(shares[0])}{_phrase_span(spans)}. {words}",
        caption=words + _phrase_intervals(len(spans), n_points),
        bars=tuple(
            (round(x - width / 2, 1), scale(s), width, round(scale(0.0) - scale(s), 1))
            for x, s in zip(centres, shown, strict=True)
        ),
        whiskers=tuple(
            (round(x, 1), scale(low), scale(high))
            for x, (low, high) in zip(centres, spans, strict=False)
        ),
        x_ticks=tuple(
            Tick(round(x, 1), str(i + 1)) for i, x in enumerate(centres) if i % every == 0
        ),
        y_ticks=tuple(Tick(scale(v), f"{100 * v:.{decimals}f}{NBSP}%") for v in values),
    )


def _phrase_directions(shares: FloatArray, carries: str) -> str:
    effective = 1 / float((shares**2).sum())
    return (
        f"It takes {count_for(shares, 0.9):,} of {count_of(shares.size, 'direction')} to carry "
        f"90{NBSP}% of {carries}; effectively it uses {effective:.1f}."
    )


def _phrase_span(spans: FloatArray) -> str:
    if not len(spans):
        return ""
    return f", between {format_share(spans[0, 0])} and {format_share(spans[0, 1])}"


def _phrase_intervals(n_spans: int, n_points: int) -> str:
    if not n_spans:
        return ""
    points = count_of(n_points, "point")
    return f" Lines are 95{NBSP}% bootstrap intervals over {points} with a gradient each."
