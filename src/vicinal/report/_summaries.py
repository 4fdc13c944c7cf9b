"""Sufficient summary plots: the target against the leading directions of a metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray, IntArray, Portrait, Task
from ._maps import Key, MapPanel, agreement, draw_panel, make_key
from ._numbers import MINUS, NBSP, count_of, format_share, format_value, shorten
from ._palette import N_COLOURS
from ._scales import Scale, Tick, decimals_for, round_steps
from ._smooth import density, smooth

SIZE = 360
MAX_RIDGES = 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 28, 38
_RIDGE_ROWS = 1.7  # rows that the highest ridge reaches over
_N_GRID = 90


@dataclass(frozen=True)
class Ridge:
    """The density of one class along the direction: its outline above a base line."""

    name: str
    code: int
    colour: int
    path: str
    base: float


@dataclass(frozen=True)
class DirectionPanel:
    """The target along one direction: points and a curve, or a ridge for each class."""

    heading: str
    alt: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    remarks: tuple[str, ...]
    dots: str = ""
    curve: str = ""
    ridges: tuple[Ridge, ...] = ()
    width: int = SIZE
    height: int = SIZE
    left: float = _LEFT
    right: float = SIZE - _RIGHT
    top: float = _TOP
    bottom: float = SIZE - _BOTTOM


@dataclass(frozen=True)
class SummaryPlot:
    """Both panels (the second None where the metric has one direction), and their key."""

    one: DirectionPanel
    two: MapPanel | None
    key: Key
    caption: str


def draw_summary(portrait: Portrait, task: Task) -> SummaryPlot | None:
    """Lay out the summary plots; None where no rows or no directions were kept."""
    places, targets = np.asarray(portrait.places, float), np.asarray(portrait.targets)
    if places.ndim != 2 or places.shape[1] == 0 or len(places) < 3:
        return None
    key = make_key(targets, task)
    words = portrait.directions or ("", "")
    if task == "regression":
        one, caption = _draw_curve(places[:, 0], targets.astype(float), words[0])
    else:
        one, caption = _draw_ridges(places[:, 0], key, words[0]), ""
    two = None
    if places.shape[1] > 1:
        share = agreement(places[:, :2], key, targets)
        two = draw_panel("Along two directions", places[:, :2], key, share, f"Up: {words[1]}")
        caption = f"{caption} {_phrase_two(share, key)}".strip()
    rows = f"{count_of(len(places), 'training row')} of the first fold. {caption}"
    return SummaryPlot(one, two, key, rows.strip())


def _draw_curve(x: FloatArray, y: FloatArray, words: str) -> tuple[DirectionPanel, str]:
    """Points of y against x with a smooth curve, and what that curve explains."""
    across, x_ticks = _x_axis(x)
    low, high = np.quantile(y, [0.002, 0.998])
    values = round_steps(float(low), float(high), 5)
    up = Scale(values[0], values[-1], SIZE - _BOTTOM, _TOP)
    outside = int(((y < up.low) | (y > up.high) | (x < across.low) | (x > across.high)).sum())
    curve = smooth(x, y)
    line = _path(across, up, curve.x, np.clip(curve.y, up.low, up.high))
    pairs = zip(np.clip(x, across.low, across.high), np.clip(y, up.low, up.high), strict=True)
    known = np.isfinite(curve.explained)
    told = f"the curve explains {format_share(max(curve.explained, 0.0))} of the variance"
    what = f"{told} of the target (each row left out in turn)" if known else "the curve is level"
    panel = DirectionPanel(
        heading="Along the first direction",
        alt=f"Summary plot of {count_of(len(x), 'point')}: the target, from "
        f"{format_value(y.min())} to {format_value(y.max())}, against the direction {words}. "
        f"Smooth curve from {format_value(curve.y[0])} to {format_value(curve.y[-1])}; {what}.",
        x_ticks=x_ticks,
        y_ticks=_ticks(values, up),
        remarks=(f"Across: {words}", *_phrase_outside(outside)),
        dots="".join(f"M{across(a):g} {up(b):g}h0" for a, b in pairs),
        curve=line,
    )
    return panel, f"Along the first direction {what}." if known else ""


def _draw_ridges(x: FloatArray, key: Key, words: str) -> DirectionPanel:
    """One ridge a class, of the largest classes where there are many."""
    across, x_ticks = _x_axis(x)
    counts = np.bincount(key.codes, minlength=len(key.names))
    shown = np.sort(np.argsort(-counts, kind="stable")[:MAX_RIDGES])
    grid = np.linspace(across.low, across.high, _N_GRID)
    heights = [density(x[key.codes == code], grid) for code in shown]
    rows = _lay_out(heights, shown, key, across, grid)
    medians = [
        f"{shorten(key.names[c], 24)} {format_value(np.median(x[key.codes == c]))}" for c in shown
    ]
    left_out = len(key.names) - len(shown)
    many = f"The {len(shown)} largest of {len(key.names)} classes." if left_out else ""
    return DirectionPanel(
        heading="Along the first direction",
        alt=f"Summary plot: where the {count_of(len(x), 'point')} of each class lie along the "
        f"direction {words}. Medians: {', '.join(medians)}. {many}".strip(),
        x_ticks=x_ticks,
        y_ticks=(),
        remarks=tuple(filter(None, (f"Across: {words}", many))),
        ridges=rows,
    )


def _lay_out(
    heights: list[FloatArray], codes: IntArray, key: Key, across: Scale, grid: FloatArray
) -> tuple[Ridge, ...]:
    """Ridges from the first class on top to the last, as high as the frame has room for."""
    tops = np.array([float(height.max()) for height in heights])
    rows = _RIDGE_ROWS * tops / (tops.max() or 1.0)  # how high each is, in rows
    above = float((rows - np.arange(len(rows))).max())
    step = (SIZE - _BOTTOM - _TOP) / (len(rows) - 1 + above)
    unit = _RIDGE_ROWS * step / (tops.max() or 1.0)
    ridges = []
    for i, (height, code) in enumerate(zip(heights, codes, strict=True)):
        base = _TOP + (i + above) * step
        points = (f"{across(g):g} {base - unit * h:.1f}" for g, h in zip(grid, height, strict=True))
        name, colour = shorten(key.names[code], 9), int(code) % N_COLOURS
        ridges.append(Ridge(name, int(code), colour, "M" + "L".join(points), round(base, 1)))
    return tuple(ridges)


def _x_axis(x: FloatArray) -> tuple[Scale, tuple[Tick, ...]]:
    """A scale over all but the farthest points, and round numbers along it."""
    low, high = (float(v) for v in np.quantile(x, [0.002, 0.998]))
    room = 0.03 * (high - low) or 0.5
    scale = Scale(low - room, high + room, _LEFT, SIZE - _RIGHT)
    values = [v for v in round_steps(scale.low, scale.high, 5) if scale.low <= v <= scale.high]
    return scale, _ticks(values, scale)


def _ticks(values: list[float], scale: Scale) -> tuple[Tick, ...]:
    step = values[1] - values[0] if len(values) > 1 else 1.0
    decimals = decimals_for(step)
    return tuple(Tick(scale(v), _number(v, decimals)) for v in values)


def _number(value: float, decimals: int) -> str:
    if abs(value) >= 1e6 or decimals > 4:
        return format_value(value)
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", MINUS)


def _path(across: Scale, up: Scale, x: FloatArray, y: FloatArray) -> str:
    return "M" + "L".join(f"{across(a):g} {up(b):g}" for a, b in zip(x, y, strict=True))


def _phrase_outside(n: int) -> tuple[str, ...]:
    return (f"{count_of(n, 'far point')} {'is' if n == 1 else 'are'} drawn at the edge.",) * (n > 0)


def _phrase_two(share: float, key: Key) -> str:
    if np.isnan(share):
        return ""
    if key.continuous:
        return f"Along two, the targets of rows next to each other correlate by {share:.2f}."
    own = format_share(share).replace(" ", NBSP)
    return f"Along two directions alone {own} of the rows lie next to one of their own class."
