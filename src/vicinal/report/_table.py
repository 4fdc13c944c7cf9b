"""A comparison as a table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from vicinal._printable import printable

from ._numbers import (
    count_of,
    format_error_bare,
    format_memory,
    format_p,
    format_seconds,
    is_known,
)
from ._records import Row
from ._sentences import list_blind, list_references, summarize

if TYPE_CHECKING:
    from ._comparison import Comparison

BEST = "bold green"
FAILED = "red"
LEGEND = " * best of its k; gain over Euclidean, p of its paired test; seconds and MB of one fold"


def render_table(comparison: Comparison) -> Group:
    """Return the comparison for a rich console: heading, table, remarks, the finding.

    One line for each method and k: error (mean ± standard deviation over the folds, the best of
    its k marked by a star), gain over the Euclidean distance with the p-value of its paired
    test, seconds of CPU and of wall-clock time for a fold (fitting and predicting), and the
    megabytes that took. Reasons of failures and other remarks stand below, numbered.
    """
    remarks = list_remarks(comparison)
    lines = [f" [{number}] {remark}" for number, remark in enumerate(remarks, start=1)]
    more = (*list_blind(comparison), *list_references(comparison), *comparison.notes)
    lines += [f" {note}" for note in more]
    return Group(
        Text(describe_data(comparison), style="bold"),
        _table(comparison, remarks),
        Text(LEGEND, style="dim"),
        *[Text(_plain(line)) for line in lines],
        Text(),
        Text(_plain(summarize(comparison))),
    )


def describe_data(comparison: Comparison) -> str:
    """Say what was measured on: "letter: 20,000 rows, 16 features, 26 classes; z-scored; ..."."""
    size = [count_of(comparison.n_rows, "row"), count_of(comparison.n_features, "feature")]
    if comparison.task == "classification":
        size.append(count_of(comparison.n_classes, "class", "classes"))
    how = f"{comparison.preparation}; {comparison.protocol}; seed {comparison.seed}"
    return _plain(f"{comparison.dataset}: {', '.join(size)}; {how}")


def list_remarks(comparison: Comparison) -> list[str]:
    """Return each failure's reason and each note once, in the order of the rows."""
    remarks = [remark for row in comparison.rows for remark in _remarks_of(row)]
    return list(dict.fromkeys(remarks))


def _remarks_of(row: Row) -> list[str]:
    kind = "failed" if row.status == "failed" else "failed on some folds"
    failure = [f"{row.title} {kind}: {row.message}"] if row.message else []
    return failure + [f"{row.title}: {note}" for note in row.notes]


def _table(comparison: Comparison, remarks: list[str]) -> Table:
    in_percent = comparison.task == "classification"
    unit = f"{comparison.measure}, %" if in_percent else f"error, {comparison.measure}"
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("k", justify="right")
    table.add_column("method")
    for heading in (unit, "gain", "p", "CPU s", "wall s", "MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    last = None
    for row in comparison.rows:
        if last is not None and row.k != last:
            table.add_row()
        style = BEST if row.best else FAILED if not row.measured else ""
        table.add_row(*[Text(_plain(c)) for c in _cells(row, comparison, remarks)], style=style)
        last = row.k
    blind = comparison.majority.get(comparison.loss)
    if blind is not None:
        table.add_row()
        error = f"{format_error_bare(blind, comparison.task)}  "
        table.add_row("–", name_blind(comparison), error, style="dim")
    return table


def name_blind(comparison: Comparison) -> str:
    """What a model that looks at no feature is called."""
    return "majority class" if comparison.task == "classification" else "mean"


def _cells(row: Row, comparison: Comparison, remarks: list[str]) -> list[str]:
    numbers = " ".join(f"[{remarks.index(remark) + 1}]" for remark in _remarks_of(row))
    if not row.measured:
        return [_name_k(row), row.title, "failed", *[""] * 5, numbers]
    task = comparison.task
    return [
        _name_k(row),
        row.title,
        _error(row, comparison),
        format_error_bare(row.gain, task, plus=True) if row.gain is not None else "",
        format_p(row.p_value) if row.gain is not None else "",
        format_seconds(row.fit_cpu_seconds + row.predict_cpu_seconds),
        format_seconds(row.fit_seconds + row.predict_seconds),
        format_memory(row.peak_mb),
        numbers,
    ]


def _name_k(row: Row) -> str:
    return "–" if row.k is None else str(row.k)


def _error(row: Row, comparison: Comparison) -> str:
    mean = format_error_bare(row.error_mean, comparison.task)
    spread = f" ± {format_error_bare(row.error_sd, comparison.task)}"
    return f"{mean}{spread if is_known(row.error_sd) else ''}{' *' if row.best else '  '}"


def _plain(text: str) -> str:
    """Terminals break lines by words alone; a hard space there is only a trap for searches."""
    return printable(text.replace("\u00a0", " "))
