"""The plots of a metric as drawings inside the page: matplotlib's SVG, in the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from .._types import FloatArray, Task
from ._errors import error_lines, plot_errors
from ._figures import (
    INK,
    QUIET,
    draw_bars,
    draw_columns,
    draw_curve,
    draw_flat,
    draw_heat,
    draw_ridges,
    draw_sureness,
)
from ._fitted import sum_by_column
from ._numbers import NBSP, count_of, format_share, format_value
from ._palette import LIGHT
from ._records import Exhibit, best_row
from ._shares import as_shares, phrase_concentration, phrase_directions, phrase_top
from ._smooth import smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._comparison import Comparison

MAX_BARS = 20
MAX_CURVES = 4
MAX_DIRECTIONS = 40
_COLOURS = {code: f"var(--c{i})" for i, code in enumerate(LIGHT)} | {
    INK: "var(--ink-1)",
    QUIET: "var(--ink-2)",
    "#ffffff": "var(--paper)",
}
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.size": 9.0,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": QUIET,
    "grid.color": QUIET,
    "text.color": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
}


@dataclass(frozen=True)
class PageDrawing:
    """A drawing for the page, and what it shows in words."""

    svg: Markup
    caption: str


def draw_comparison(comparison: Comparison) -> PageDrawing | None:
    """Draw the errors of all methods; None where none was measured."""
    lines = error_lines(comparison.rows)
    if not lines:
        return None
    sentences = (
        f"{line.title} {', '.join(_phrase_error(m, comparison.task) for m in line.means)}"
        for line in lines[:12]
    )
    ks = sorted({k for line in lines for k in line.ks})
    alt = f"Plot of the error at k = {', '.join(map(str, ks))}. {'; '.join(sentences)}."
    height = 2.9 if len(ks) > 1 else 0.8 + 0.3 * len(lines)

    def draw(ax: Axes) -> None:
        plot_errors(comparison, ax)

    caption = "Mean error over the test parts; whiskers are one standard deviation."
    return PageDrawing(
        render_svg(draw, "errors", alt, (6.4, height)), f"{caption} Lower is better."
    )


def draw_calibration(comparison: Comparison) -> PageDrawing | None:
    """Draw how often each method is right against how sure it is; None where none says."""
    best = [
        best_row(row for row in comparison.rows if row.method == method)
        for method in dict.fromkeys(row.method for row in comparison.rows)
    ]
    rows = sorted((r for r in best if r is not None and r.calibration), key=lambda r: r.error_mean)
    if not rows:
        return None
    curves = {row.title: calibration_curve(row.calibration) for row in rows[:MAX_CURVES]}
    phrases = (f"{title}: off by {off:.1%} on average" for title, (_, _, off) in curves.items())
    alt = f"Calibration curves. {'; '.join(phrases)}."
    svg = render_svg(lambda ax: draw_sureness(ax, curves), "calibration", alt, (4.6, 3.4))
    return PageDrawing(
        svg, "On the diagonal, what is said to be 80 % sure is right in 80 % of cases."
    )


def calibration_curve(bins: Sequence[Sequence[float]]) -> tuple[FloatArray, FloatArray, float]:
    """Return mean sureness and hit rate of the bins with rows, and their mean distance by rows."""
    counts, sure, hits = np.array([each for each in bins if each[0] > 0], np.float64).T
    means, rates = sure / counts, hits / counts
    return means, rates, float(np.average(np.abs(means - rates), weights=counts))


def _phrase_error(error: float, task: Task) -> str:
    return f"{100 * error:.2f}{NBSP}%" if task == "classification" else f"{error:.3f}"


def draw_relevance(exhibit: Exhibit) -> PageDrawing | None:
    """Draw the relevance of the features; None where none are known or all are zero."""
    shares = as_shares(exhibit.relevance)
    if not shares.any():
        return None
    shape = exhibit.image_shape
    if shape is not None and len(shape) in (2, 3) and shares.size == int(np.prod(shape)):
        return _draw_pixels(shares.reshape(shape), exhibit.method)
    columns, noun = exhibit.feature_names, "feature"
    if len(set(exhibit.columns)) < len(exhibit.columns) == shares.size:
        shares, columns = sum_by_column(shares, exhibit.columns)
        noun = "column"
    order = np.argsort(-shares, kind="stable")[:MAX_BARS]
    names = [_readable(columns[i]) for i in order]
    features = count_of(shares.size, noun)
    words = phrase_concentration(shares, noun)
    caption = f"Share of the total. {words}"
    if len(order) < shares.size:
        together = format_share(float(shares[order].sum()))
        caption = f"The {len(order)} most relevant of {features} ({together} together). {words}"
    top = phrase_top(shares, columns)
    alt = f"Bar chart of the relevance of {features}. Most relevant: {top}. {words}"
    size = (4.6, 0.7 + 0.19 * len(order))
    svg = render_svg(lambda ax: draw_bars(ax, shares[order], names), exhibit.method, alt, size)
    return PageDrawing(svg, caption)


def _readable(text: str) -> str:
    """A name as text that can be written: one that was no valid text has question marks."""
    return text.encode("utf-8", errors="replace").decode()


def _draw_pixels(shares: FloatArray, name: str) -> PageDrawing:
    # Colour channels of a pixel are added up.
    grid = shares if shares.ndim == 2 else shares.sum(axis=2)
    row, column = np.unravel_index(int(grid.argmax()), grid.shape)
    words = phrase_concentration(grid.ravel(), "pixel")
    alt = (
        f"Heat map of the relevance of {grid.shape[0]} × {grid.shape[1]} pixels. The most relevant "
        f"is in row {row + 1}, column {column + 1}, with {format_share(float(grid.max()))}. {words}"
    )
    size = (3.2, 3.2 * grid.shape[0] / grid.shape[1])
    svg = render_svg(lambda ax: draw_heat(ax, grid), name, alt, size)
    return PageDrawing(svg, f"Bright pixels count most. {words}")


def draw_spectrum(exhibit: Exhibit) -> PageDrawing | None:
    """Draw the eigenvalues as shares of their sum; None where all are zero or none known."""
    shares = np.sort(as_shares(exhibit.eigenvalues))[::-1]
    if not shares.any():
        return None
    shown = shares[:MAX_DIRECTIONS]
    # Intervals are of the eigenvalues themselves; columns are shares.
    unit = float(shares[0] / np.max(exhibit.eigenvalues))
    spans = np.asarray(exhibit.intervals, float)[: len(shown)] * unit
    words = phrase_directions(shares, exhibit.carries)
    span = ""
    caption = words
    if len(spans):
        span = f", between {format_share(spans[0, 0])} and {format_share(spans[0, 1])}"
        points = count_of(exhibit.n_evaluations, "point")
        caption += f" Lines are 95{NBSP}% bootstrap intervals over {points} with a gradient each."
    alt = (
        f"Bar chart of {count_of(len(shown), 'eigenvalue')} of the metric, descending. The first "
        f"carries {format_share(float(shares[0]))}{span}. {words}"
    )

    def draw(ax: Axes) -> None:
        draw_columns(ax, shown, spans if len(spans) else None)
        ax.set(xlabel="direction", ylabel="share")
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")

    return PageDrawing(render_svg(draw, exhibit.method, alt, (4.6, 3.0)), caption)


def draw_summary(exhibit: Exhibit, task: Task) -> list[PageDrawing]:
    """Draw the target along the leading directions: one, and where there are more, two."""
    places, targets = np.asarray(exhibit.places, float), np.asarray(exhibit.targets)
    if places.ndim != 2 or places.shape[1] == 0 or len(places) < 3:
        return []
    drawings = [_draw_along(places[:, 0], targets, exhibit, task)]
    if places.shape[1] > 1:
        drawings.append(_draw_plane(places[:, :2], targets, exhibit, task))
    return drawings


def _draw_along(x: FloatArray, targets: FloatArray, exhibit: Exhibit, task: Task) -> PageDrawing:
    rows, direction = count_of(len(x), "training row"), _readable(exhibit.directions[0])
    alt = f"Summary plot of {rows} of the first fold along the direction {direction}."
    caption = f"{rows} of the first fold."
    if task == "regression":
        y = targets.astype(float)
        share = smooth(x, y).explained
        if np.isfinite(share):
            caption += (
                f" The curve explains {format_share(max(share, 0.0))} of the variance of the "
                "target (each row left out in turn)."
            )
        alt += f" The target lies between {format_value(y.min())} and {format_value(y.max())}."

    def draw(ax: Axes) -> None:
        if task == "regression":
            draw_curve(ax, x, targets.astype(float))
        else:
            draw_ridges(ax, x, targets)
        ax.set(xlabel=direction, ylabel="target" if task == "regression" else "")

    return PageDrawing(render_svg(draw, exhibit.method, f"{alt} {caption}", (4.6, 3.8)), caption)


def _draw_plane(
    places: FloatArray, targets: FloatArray, exhibit: Exhibit, task: Task
) -> PageDrawing:
    def draw(ax: Axes) -> None:
        draw_flat(ax, places, targets, task == "classification", "target")
        across, up = map(_readable, exhibit.directions[:2])
        ax.set(xlabel=across, ylabel=up)

    alt = f"{count_of(len(places), 'training row')} along two directions, coloured by target."
    svg = render_svg(draw, exhibit.method, alt, (5.2, 3.8))
    return PageDrawing(svg, "The same rows along two directions.")


def render_svg(
    draw: Callable[[Axes], object], name: str, alt: str, size: tuple[float, float]
) -> Markup:
    """Return a drawing as SVG inside HTML: themed, without ids that two drawings could share.

    Parameters
    ----------
    draw : callable
        Draws into an Axes.
    name : str
        Goes into the ids of clipping paths and markers.
    alt : str
        The drawing in words.
    size : pair of float
        Inches.
    """
    alt = _readable(alt)
    import matplotlib
    from matplotlib.figure import Figure

    text = io.StringIO()
    style: Any = {**_STYLE, "svg.hashsalt": f"{name} {alt}"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are the browser's to draw.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        _lay_out(figure)
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return Markup(_adapt(text.getvalue(), alt, width=size[0]))


def _lay_out(figure: Figure) -> None:
    """Find the places of all parts once: saving would draw a figure twice to find them."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def _adapt(svg: str, alt: str, width: float) -> str:
    """Fit matplotlib's file into a page."""
    box = re.search(r'viewBox="[^"]*"', svg)
    assert box is not None
    body = svg[svg.index("</metadata>") + len("</metadata>") :].rpartition("</svg>")[0]
    body = re.sub(r"<style.*?</style>", "", body, flags=re.S)  # it would style the whole page
    body = body.replace("xlink:href", "href")
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", body)
    body = re.sub(r'<g( clip-path="[^"]*")>((?:\s*<use [^>]*/>)+)', _share_style, body)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    body = re.sub(r' (d|x|y|transform)="[^"]*"', _shorten_numbers, body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    for code, variable in _COLOURS.items():
        body = body.replace(code, variable)
    body = body.replace("'", "&#39;")  # names stand in text, and leave it by no quote
    place = f'{box[0]} style="max-width:{7 * width:.1f}rem"'
    return f'<svg role="img" aria-label="{escape(alt)}" {place}>{body}</svg>'


def _share_style(group: re.Match[str]) -> str:
    """Points of one kind name their style once, in their group."""
    styles = set(re.findall(r' style="[^"]*"', group[2]))
    if len(styles) != 1:
        return group[0]
    (style,) = styles
    return f"<g{group[1]}{style}>{group[2].replace(style, '')}"


def _shorten_numbers(attribute: re.Match[str]) -> str:
    return re.sub(r"(\d+\.\d)\d+", r"\1", attribute[0])
