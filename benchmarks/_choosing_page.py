"""The tables and the figure of "how to choose", from records of :mod:`benchmarks._choosing`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks._choosing import CLASSES, FOLDER, MANY, NUMBERS

Record = Mapping[str, Any]
PAGE = FOLDER.parent / "docs" / "results" / "choosing.inc"
FIGURE = FOLDER.parent / "docs" / "_static" / "choosing.svg"
PLAIN = "euclidean"
HEADS = {"boston_housing": "boston", "waveform_40": "waveform"}
# Where a name may stand beside its point, in points: the first place that is free is taken.
PLACES = [(x, y) for y in (8, -8, 0, 16, -16, 24, -24) for x in (6, -6)]


def write(records: Sequence[Record]) -> None:
    """Write the tables that the page includes, and its figure."""
    parts = []
    for sets, what in ((CLASSES, "classes"), (NUMBERS, "numbers")):
        cells = {(r["method"], r["dataset"]): r for r in records if r["dataset"] in sets}
        if not cells:
            continue
        unit = "Error in percent" if sets == CLASSES else "nMSE, in percent"
        order = _by_gain(cells, sets)
        seconds, megabytes = (
            _table(cells, sets, order, lambda r, key=key: f"{r[key]:.3g}")
            for key in ("cpu_seconds", "peak_mb")
        )
        parts += [
            f"### Data sets of {what}",
            f"{unit}; the lowest of each data set in bold.",
            _table(cells, sets, order, _error, best=True),
            "CPU-seconds of the fit:", seconds,
            "Memory of the fit, in MB above the data:", megabytes,
        ]  # fmt: skip
    many = [r for r in records if r["dataset"] == MANY]
    if many:
        parts += ["### Sixty thousand rows", _many(many)]
    PAGE.write_text("\n\n".join(parts) + "\n")
    _draw(records)


def gains(cells: Mapping[tuple[str, str], Record], sets: Sequence[str]) -> dict[str, tuple]:
    """Return by learner: mean error over the plain one's, mean seconds, number of sets.

    Means are geometric. An error of nothing counts as half a row.
    """
    found = {}
    for method in dict.fromkeys(method for method, _ in cells):
        pairs = [(cells.get((method, s)), cells.get((PLAIN, s))) for s in sets]
        own = [(a, b) for a, b in pairs if a and b and a["error"] is not None]
        if own:
            ratios = [_some(a) / _some(b) for a, b in own]
            seconds = [max(a["cpu_seconds"], 0.01) for a, _ in own]
            found[method] = (*(float(np.exp(np.mean(np.log(v)))) for v in (ratios, seconds)),
                             len(own))  # fmt: skip
    return found


def _some(record: Record) -> float:
    return max(record["error"], 0.5 / record["asked"])


def _by_gain(cells: Mapping[tuple[str, str], Record], sets: Sequence[str]) -> list[str]:
    found = gains(cells, sets)
    return sorted(found, key=lambda method: (found[method][0], method))


def _error(record: Record) -> str:
    return f"{100 * record['error']:.1f}"


def _table(
    cells: Mapping[tuple[str, str], Record],
    sets: Sequence[str],
    order: Sequence[str],
    show: Callable[[Record], str],
    *,
    best: bool = False,
) -> str:
    """Return a line a learner and a column a set, the best learner first."""
    heads = [HEADS.get(name, name) for name in (s.rpartition("/")[2] for s in sets)]
    lines = [["learner", *heads], ["---", *["---:"] * len(sets)]]
    known = [
        [r for m in order if (r := cells.get((m, s))) and r["error"] is not None] for s in sets
    ]
    lowest = [min((_error(r) for r in column), key=float, default="") for column in known]
    for method in order:
        line = [_title(method)]
        for name, least in zip(sets, lowest, strict=True):
            text = _shown(cells.get((method, name)), show)
            line.append(f"**{text}**" if best and text and text == least else text)
        lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _shown(record: Record | None, show: Callable[[Record], str]) -> str:
    if record is None:
        return ""
    if record["error"] is None:
        return f"> {record['over_cpu_seconds']} s" if "over_cpu_seconds" in record else "refused"
    return show(record)


def _many(records: Sequence[Record]) -> str:
    """Return a line a learner: error, seconds, memory, and what it said."""
    heads = ["learner", "error, %", "CPU-seconds", "MB in all", "what it says"]
    lines = [heads, ["---", "---:", "---:", "---:", "---"]]
    for record in sorted(records, key=lambda r: (r["error"] is None, r["error"], r["method"])):
        costs = [
            f"{record[key]:.4g}" if key in record else "" for key in ("cpu_seconds", "process_mb")
        ]
        words = record.get("refused") or " ".join(record.get("said", ()))
        said = words.replace("|", "\\|").replace("\n", " ")
        lines.append([_title(record["method"]), _shown(record, _error), *costs, said])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _title(method: str) -> str:
    from vicinal.methods import get_method

    return get_method(method).title


def _draw(records: Sequence[Record]) -> None:
    """Draw what each learner gains over the plain distance against what a fit of it costs."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "choosing"
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(2, 1, figsize=(8, 9), height_ratios=(3, 2), layout="constrained")
    for axes, sets, title in (
        (both[0], CLASSES, "classes"),
        (both[1], NUMBERS, "numbers"),
    ):
        cells = {(r["method"], r["dataset"]): r for r in records if r["dataset"] in sets}
        found = gains(cells, sets)
        found.pop(PLAIN, None)
        _points(axes, found, len(sets))
        _ticks(axes, title)
    for axes in both:
        _name(axes)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


def _points(axes: Any, found: Mapping[str, tuple], n_sets: int) -> None:
    for method, (share, seconds, n) in found.items():
        full = "C0" if n == n_sets else "white"
        axes.plot(seconds, share, "o", color="C0", markerfacecolor=full, label=_title(method))
    axes.margins(x=0.12, y=0.08)

    cheapest, best = [], np.inf
    for share, seconds, _ in sorted(found.values(), key=lambda gain: gain[1]):
        if share < best:
            cheapest.append((seconds, share))
            best = share
    if cheapest:
        axes.step(*zip(*cheapest, strict=True), where="post", color="C1", linewidth=0.8, zorder=0)


def _ticks(axes: Any, title: str) -> None:
    """Write powers and shares as plain numbers."""
    axes.set(xscale="log", yscale="log", title=f"Data sets of {title}")
    axes.set(xlabel="CPU-seconds of a fit", ylabel="error / that of the plain distance")
    axes.axhline(1, color="grey", linewidth=0.8)
    low, high = axes.get_ylim()
    marks = [m for m in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.5, 2, 3) if low < m < high]
    axes.set_yticks(marks, labels=[f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _name(axes: Any) -> None:
    """Write each point's name where it covers neither a point nor another name."""
    figure = axes.figure
    figure.canvas.draw()
    points = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    taken = [line.get_window_extent().padded(1) for line in points]
    for line in sorted(points, key=lambda line: line.get_ydata()[0]):
        at = (line.get_xdata()[0], line.get_ydata()[0])
        for x, y in PLACES:
            text = axes.annotate(
                line.get_label(), at, (x, y), textcoords="offset points", va="center", fontsize=9,
                ha="left" if x > 0 else "right",
                arrowprops={"arrowstyle": "-", "linewidth": 0.4} if abs(y) > 8 else None,
            )  # fmt: skip
            box = text.get_window_extent()
            inside = axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1
            if inside and not any(box.overlaps(other) for other in taken):
                break
            if (x, y) != PLACES[-1]:
                text.remove()
        taken.append(box)
