"""Plain arrays drawn into matplotlib Axes, in the colours of the report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from ._numbers import NBSP, format_share, shorten
from ._palette import LIGHT, N_COLOURS
from ._smooth import density, smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


@dataclass(frozen=True)
class ErrorLine:
    """A method's mean errors and their spreads at some k."""

    title: str
    ks: tuple[int, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]


ACCENT, INK, QUIET = LIGHT[0], "#1b1d21", "#565b63"
CURVE = LIGHT[1]
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*", "<", ">", "p", "h")
MAX_CLASSES = 12
_RIDGE_HEIGHT = 1.6  # rows a ridge may reach over


def axes_for(ax: Axes | None) -> Axes:
    """Return the Axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5.6, 3.8), layout="constrained")[1]


def draw_columns(ax: Axes, values: FloatArray, intervals: FloatArray | None) -> None:
    """Columns of the values (p,), each with its interval (p, 2) as a whisker where given."""
    from matplotlib.ticker import MaxNLocator

    at = np.arange(1, len(values) + 1)
    ax.bar(at, values, width=0.72, color=ACCENT)
    if intervals is not None:
        for x, (low, high) in zip(at, intervals, strict=True):
            ax.plot([x, x], [low, high], color=INK, linewidth=1.6, solid_capstyle="butt")
    ax.set_ylim(bottom=0)
    ax.set_xlim(0.4, len(values) + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1))
    _finish(ax, ax.yaxis)


def draw_epochs(ax: Axes, curves: Mapping[str, Sequence[float | None]]) -> None:
    """Curves of errors against epochs on a logarithmic scale; what is zero or None is left out."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    for (title, errors), colour in zip(curves.items(), LIGHT, strict=False):
        shown = [(number, error) for number, error in enumerate(errors, start=1) if error]
        ax.plot(*zip(*shown, strict=True), marker="o", color=colour, label=title)
    ax.set(yscale="log", xlabel="epoch", ylabel="error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.legend(frameon=False)
    _finish(ax)


def draw_misses(ax: Axes, values: FloatArray, errors: FloatArray, unit: str) -> None:
    """Points of errors (n,) against true values, about a line at zero."""
    ax.axhline(0, color=QUIET, linewidth=1)
    ax.scatter(values, errors, s=_size(len(values)), color=ACCENT, alpha=0.45, linewidths=0)
    ax.set(xlabel=f"true energy ({unit})", ylabel=f"error ({unit})")
    _finish(ax, ax.xaxis, ax.yaxis)


def draw_bars(ax: Axes, shares: FloatArray, names: Sequence[str]) -> None:
    """Horizontal bars of shares (p,), the first on top, each with its percentage."""
    at = np.arange(len(shares))
    ax.barh(at, shares, height=0.72, color=ACCENT)
    ax.set_yticks(at, [shorten(name, 32) for name in names])
    ax.invert_yaxis()
    for y, share in zip(at, shares, strict=True):
        ax.annotate(
            format_share(float(share)).replace(NBSP, " "),
            (share, y),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=QUIET,
            fontsize="small",
        )
    ax.set_xlim(0, 1.15 * float(shares.max(initial=0.0)) or 1.0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    _finish(ax, ax.xaxis)


def draw_heat(ax: Axes, grid: FloatArray) -> None:
    """A picture (h, w) of values from zero up, bright where they are large."""
    ax.imshow(grid, cmap="viridis", vmin=0.0, interpolation="nearest")
    ax.set_axis_off()


def draw_errors(ax: Axes, lines: Sequence[ErrorLine], ks: Sequence[int]) -> None:
    """Errors against k, a line a method with its spread; neighbouring whiskers stand apart."""
    for number, line in enumerate(lines):
        shift = min(0.1, 0.5 / len(lines)) * (number - (len(lines) - 1) / 2)
        at = np.array([ks.index(k) for k in line.ks]) + shift
        style: dict[str, Any] = {
            "color": LIGHT[number % N_COLOURS],
            "marker": MARKERS[number % len(MARKERS)],
        }
        dash = ("-", "--", ":")[number // N_COLOURS % 3]  # colours come round again
        label = shorten(line.title, 32)
        ax.errorbar(at, line.means, line.spreads, label=label, linestyle=dash, **style)
    ax.set_xticks(range(len(ks)), [str(k) for k in ks])
    ax.margins(x=0.08)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.grid(axis="y", linewidth=0.5, alpha=0.5)
    _finish(ax, ax.yaxis)


def draw_dots(ax: Axes, lines: Sequence[ErrorLine]) -> None:
    """One error a method with its spread, the smallest on top."""
    order = sorted(lines, key=lambda line: line.means[0])
    for y, line in enumerate(order):
        colour = ACCENT if y == 0 else QUIET
        mean, spread = line.means[0], line.spreads[0]
        ax.errorbar(mean, y, xerr=spread, color=colour, marker="o", linestyle="none")
    ax.set_yticks(range(len(order)), [shorten(line.title, 32) for line in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="x", linewidth=0.5, alpha=0.5)
    _finish(ax, ax.xaxis)


def draw_curve(ax: Axes, x: FloatArray, y: FloatArray) -> None:
    """Points of y against x, and a smooth curve with the share of variance it explains."""
    ax.scatter(x, y, s=_size(len(x)), color=ACCENT, alpha=0.45, linewidths=0)
    curve = smooth(x, y)
    finite = np.isfinite(curve.explained)
    label = f"explains {format_share(max(curve.explained, 0.0))}" if finite else "mean"
    ax.plot(curve.x, curve.y, color="white", linewidth=4.5)
    ax.plot(curve.x, curve.y, color=CURVE, linewidth=2.4, label=label.replace(NBSP, " "))
    ax.legend(frameon=False, loc="best")
    _finish(ax, ax.xaxis, ax.yaxis)


def draw_sureness(ax: Axes, curves: Mapping[str, tuple[FloatArray, FloatArray, float]]) -> None:
    """Curves of hit rates against sureness, about the diagonal."""
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1)
    for (title, (sure, hits, _)), colour in zip(curves.items(), LIGHT, strict=False):
        ax.plot(sure, hits, marker="o", color=colour, label=shorten(title, 24))
    ax.set(xlabel="share of the winner", ylabel="share of right answers")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.legend(frameon=False, loc="best")
    _finish(ax)


def draw_ridges(ax: Axes, x: FloatArray, labels: AnyArray) -> None:
    """One density of x for each class, the classes above one another."""
    names, codes, n_left_out = largest_classes(labels)
    grid = np.linspace(x.min(), x.max(), 200)
    heights = [density(x[codes == code], grid) for code in range(len(names))]
    unit = _RIDGE_HEIGHT / (max(float(h.max()) for h in heights) or 1.0)
    for code in reversed(range(len(names))):
        height, base, colour = heights[code] * unit, code, LIGHT[code % N_COLOURS]
        ax.fill_between(grid, base, base + height, color=colour, alpha=0.55, linewidth=0)
        ax.plot(grid, base + height, color=colour, linewidth=1.6)
    ax.set_yticks(np.arange(len(names)), [shorten(name, 24) for name in names])
    _say_left_out(ax, n_left_out)
    _finish(ax, ax.xaxis)


def draw_flat(
    ax: Axes, places: FloatArray, targets: AnyArray, classes: bool, name: str | None
) -> None:
    """Places (n, 2) coloured by class or by number, with a legend or a colour bar if named."""
    size = _size(len(places))
    if not classes:
        low, high = np.quantile(targets.astype(np.float64), [0.02, 0.98])
        x, y = places.T
        points = ax.scatter(x, y, c=targets, s=size, cmap="viridis", linewidths=0)
        points.set_clim(float(low), float(high))
        if name is not None:
            ax.figure.colorbar(points, ax=ax, label=name, extend="both")
    else:
        names, codes, n_left_out = largest_classes(targets)
        for code, label in enumerate(names):
            marker, colour = MARKERS[code % len(MARKERS)], LIGHT[code % N_COLOURS]
            own = places[codes == code]
            dots = ax.scatter(own[:, 0], own[:, 1], s=1.3 * size, color=colour, marker=marker)
            dots.set(alpha=0.7, linewidth=0, label=shorten(label, 24))
        if name is not None:
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        _say_left_out(ax, n_left_out)
    _finish(ax, ax.xaxis, ax.yaxis)


def draw_map(
    ax: Axes, places: FloatArray, targets: AnyArray, classes: bool, name: str | None
) -> None:
    """As :func:`draw_flat`, with both axes alike and without numbers, which mean nothing here."""
    draw_flat(ax, places, targets, classes, name)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_adjustable("datalim")
    ax.spines[["top", "right"]].set_visible(True)
    ax.spines[:].set_color(QUIET)
    ax.spines[:].set_alpha(0.3)


def largest_classes(labels: AnyArray) -> tuple[list[str], IntArray, int]:
    """Return the names of the largest classes, each row's class (−1: none), how many are left out.

    At most ``MAX_CLASSES`` are kept, in their own order.
    """
    names, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    largest = np.sort(np.argsort(-counts, kind="stable")[:MAX_CLASSES])
    rank = np.full(len(names), -1)
    rank[largest] = np.arange(len(largest))
    return [str(names[i]) for i in largest], rank[codes], len(names) - len(largest)


def _say_left_out(ax: Axes, n_left_out: int) -> None:
    if n_left_out:
        ax.set_title(
            f"the {MAX_CLASSES} largest of {MAX_CLASSES + n_left_out} classes",
            fontsize="small",
            color=QUIET,
        )


def _size(n: int) -> float:
    """Smaller dots for more of them."""
    return float(np.clip(9000 / max(n, 1), 8, 24))


def _finish(ax: Axes, *numbered: Axis) -> None:
    """As many ticks whatever the size, so that names decide nothing, and two spines."""
    from matplotlib.ticker import MaxNLocator

    for axis in numbered:
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    ax.spines[["top", "right"]].set_visible(False)
