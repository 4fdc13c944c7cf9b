"""The errors of a comparison as a plot for matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._figures import ErrorLine, axes_for, draw_dots, draw_errors
from ._records import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._comparison import Comparison


def plot_errors(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the errors of a comparison: against k, or side by side where there is one k.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    lines = error_lines(comparison.rows)
    if not lines:
        raise ValueError("nothing was measured, so there is nothing to draw.")
    ks = sorted({k for line in lines for k in line.ks})
    unit = "error" if comparison.task == "classification" else "error (nMSE)"
    ax = axes_for(ax)
    if len(ks) > 1:
        draw_errors(ax, lines, ks)
        ax.set(xlabel="k, the number of neighbours", ylabel=unit)
    else:
        draw_dots(ax, lines)
        ax.set(xlabel=unit)
    if comparison.task == "classification":
        axis = ax.yaxis if len(ks) > 1 else ax.xaxis
        axis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    return ax


def error_lines(rows: Sequence[Row]) -> list[ErrorLine]:
    """Return a line for each method that was measured, ascending in k.

    A reference, which has no k, has the same error at every k there is.
    """
    every = sorted({row.k for row in rows if row.measured and row.k is not None}) or [0]
    points: dict[str, list[tuple[int, Row]]] = {}
    for row in sorted((row for row in rows if row.measured), key=lambda row: row.k or 0):
        at = every if row.k is None else [row.k]
        points.setdefault(row.method, []).extend((k, row) for k in at)
    methods = dict.fromkeys(row.method for row in rows if row.measured)
    return [
        ErrorLine(
            points[method][0][1].title,
            tuple(k for k, _ in points[method]),
            tuple(row.error_mean for _, row in points[method]),
            tuple(_spread(row) for _, row in points[method]),
        )
        for method in methods
    ]


def _spread(row: Row) -> float:
    return row.error_sd if np.isfinite(row.error_sd) else 0.0
