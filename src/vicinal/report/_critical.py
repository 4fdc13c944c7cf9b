"""Mean ranks on a line, and which of them chance may have put in that order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray
from ._figures import ACCENT, INK, QUIET, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_critical_differences(
    methods: Sequence[str],
    mean_ranks: FloatArray,
    critical_difference: float,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ranks as points, the best on top, and bars over those chance may have ordered.

    Parameters
    ----------
    methods : sequence of str of length M
    mean_ranks : ndarray of shape (M,)
    critical_difference : float
        Methods whose mean ranks lie no farther apart are joined by a bar.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_for(ax)
    order = np.argsort(mean_ranks, kind="stable")
    ranks = np.asarray(mean_ranks, float)[order]
    at = np.arange(len(ranks))
    for first, last in groups_within(ranks, critical_difference):
        ax.plot(ranks[[first, first]], [first, last], color=QUIET, linewidth=4, alpha=0.35)
    ax.plot(ranks, at, "o", color=ACCENT)
    for place, (rank, name) in enumerate(zip(ranks, (methods[i] for i in order), strict=True)):
        ax.annotate(
            f"{name}  {rank:.2f}", (rank, place), xytext=(8, 0), textcoords="offset points",
            va="center", color=INK,
        )  # fmt: skip
    ax.set_ylim(len(ranks) - 0.5, -0.5)
    ax.margins(x=0.25)
    ax.set_yticks([])
    ax.set_xlabel(f"mean rank (critical difference {critical_difference:.2f})")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def groups_within(ranks: FloatArray, difference: float) -> list[tuple[int, int]]:
    """Return the widest runs (first, last) of ascending ranks that lie within a difference."""
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
