"""Published tables as pictures: bars, a colour a method; or published against measured, dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vicinal.published._experiments import Experiment
from vicinal.published._figures import column_title
from vicinal.published._tables import published_tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Record = Mapping[str, Any]
Bars = dict[str, dict[str, tuple[Experiment, Record]]]  # by row, then by column
MOST_ROWS = 6  # of a panel


def draw_results(records: Sequence[Record]) -> Figure:
    """Draw measured errors, a bar each with its spread; a line across it is the published one.

    Every table has panels of its own, of at most six rows.

    Raises
    ------
    ValueError
        Where no record holds a measured error.
    """
    from matplotlib.figure import Figure

    measured = {r["experiment"]: r for r in records if r["error_mean"] is not None}
    panels: list[tuple[str, str, Bars, list[str]]] = []
    for table in published_tables():
        twins = [(e, measured[e.name]) for e in table.experiments if e.name in measured]
        bars: Bars = {}
        for experiment, record in twins:
            bars.setdefault(_row(experiment), {})[column_title(experiment)] = experiment, record
        columns = list(dict.fromkeys(column_title(e) for e, _ in twins))
        rows = list(bars)
        n_panels = -(-len(rows) // MOST_ROWS)
        for number in range(n_panels):
            shown = rows[number * len(rows) // n_panels : (number + 1) * len(rows) // n_panels]
            part = {row: bars[row] for row in shown}
            panels.append((table.title, table.unit, part, columns))
    if not panels:
        raise ValueError("nothing was measured, so there is nothing to draw.")
    figure = Figure(figsize=(9, 3.1 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False)[:, 0]
    for ax, (title, unit, bars, columns) in zip(axes, panels, strict=True):
        _draw(ax, bars, columns)
        ax.set(title=title, ylabel="nMSE" if unit == "nmse" else "error (%)")
    return figure


def draw_cells(records: Sequence[Record]) -> Figure:
    """Draw a dot a cell, published error across and measured error up: below the line is better.

    Panels by the unit of the error, colours by method, both axes logarithmic. Cells that print no
    error, or where none was measured, have no dot.

    Raises
    ------
    ValueError
        Where there is no dot to draw.
    """
    from matplotlib.figure import Figure

    measured = {r["experiment"]: r for r in records if r["error_mean"]}
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for table in published_tables():
        for experiment in table.experiments:
            record = measured.get(experiment.name)
            if record is not None and record["published_error"] and not experiment.beside:
                label, factor = ("nMSE", 1) if table.unit == "nmse" else ("error (%)", 100)
                dot = factor * record["published_error"], factor * record["error_mean"]
                dots = panels.setdefault(label, {})
                dots.setdefault(column_title(experiment), []).append(dot)
    if not panels:
        raise ValueError("no cell has both a published and a measured error.")
    figure = Figure(figsize=(5.2 * len(panels), 4.8), layout="constrained")
    for ax, (label, dots) in zip(figure.subplots(ncols=len(panels), squeeze=False)[0],
                                 panels.items(), strict=True):  # fmt: skip
        _draw_dots(ax, dots)
        ax.set(xlabel=f"published {label}", ylabel=f"measured {label}")
    return figure


def _draw_dots(ax: Axes, dots: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    values = [value for some in dots.values() for dot in some for value in dot]
    ends = min(values) / 1.2, max(values) * 1.2
    ax.plot(ends, ends, "black", linewidth=0.8, label="_equal")
    for number, (title, some) in enumerate(dots.items()):
        across, up = zip(*some, strict=True)
        marker, colour = "osD^v"[number // 10 % 5], f"C{number % 10}"
        ax.scatter(across, up, 18, colour, marker=marker, label=title, alpha=0.75, linewidths=0)
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize="small", frameon=False, loc="upper left")


def _row(experiment: Experiment) -> str:
    return f"{experiment.dataset}\n{experiment.k}" if isinstance(experiment.k, int) else (
        experiment.dataset
    )  # fmt: skip


def _draw(ax: Axes, bars: Bars, columns: Sequence[str]) -> None:
    width = 0.85 / len(columns)
    for number, column in enumerate(columns):
        places, heights, spreads = [], [], []
        for row, cells in enumerate(bars.values()):
            if column not in cells:
                continue
            experiment, record = cells[column]
            factor = 1 if experiment.unit == "nmse" else 100
            place = row + (number - (len(columns) - 1) / 2) * width
            places.append(place)
            heights.append(factor * record["error_mean"])
            spreads.append(factor * (record["error_sd"] or 0.0))
            if record["published_error"] is not None:
                level = factor * record["published_error"]
                ends = place - width / 2, place + width / 2
                ax.hlines(level, *ends, "black", linewidth=1.5, label="_published")
        colour = f"C{number}" if number < 10 else "grey"
        ax.bar(
            places, heights, width, yerr=spreads, color=colour, label=column,
            error_kw={"linewidth": 0.8},
        )  # fmt: skip
    ax.set_xticks(range(len(bars)), list(bars))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize="small", ncols=min(len(columns), 7), loc="upper center",
              bbox_to_anchor=(0.5, -0.18), frameon=False)  # fmt: skip
