"""The table in docs/datasets.md, from the registry: ``python -m tests.data.dataset_table``."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from vicinal.data._registry import DatasetEntry, registry

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"
MARKS = re.compile(r"(<!-- table: [^>]*-->\n).*(<!-- end of table -->)", re.DOTALL)
HEAD = "| name | what | rows × features | target | protocol | groups | source | licence | notes |"


def render_table() -> str:
    """Return the Markdown table, one line a set; a joint's number apart, arms share a line."""
    entries = sorted(registry().values(), key=lambda entry: (entry.task, entry.name))
    families = [list(family) for _, family in groupby(entries, key=_family)]
    lines = [HEAD, "|" + " --- |" * (HEAD.count("|") - 1), *map(_line, families)]
    return "\n".join(lines) + "\n"


def _family(entry: DatasetEntry) -> str:
    return re.sub(r"_[1-7]$", "_1", entry.name)


def _line(family: list[DatasetEntry]) -> str:
    first, last = family[0], family[-1]
    name = f"`{first.name}`" if first is last else f"`{first.name}` … `{last.name}`"
    title = first.title if first is last else first.title.replace("joint 1", "joint 1 … 7")
    rows = sorted({entry.measured.shape[0] for entry in family})
    n_rows = f"{rows[0]:,}" if len(rows) == 1 else f"{rows[0]:,}–{rows[-1]:,}"
    n_classes = len(first.measured.class_counts)
    cells = (
        name,
        f"{title} {{cite:p}}`{first.citation}`",
        f"{n_rows} × {first.measured.shape[1]}",
        f"{n_classes} classes" if n_classes else "real",
        first.protocol,
        f"{first.measured.n_groups} ({first.groups})" if first.groups else "",
        _source(first),
        first.licence,
        first.note,
    )
    return "| " + " | ".join(cells) + " |"


def _source(entry: DatasetEntry) -> str:
    page = f"[page]({entry.source.page})"
    openml = f", [OpenML {entry.source.openml}](https://www.openml.org/d/{entry.source.openml})"
    by_hand = entry.stored is not None and not any(file.url for file in entry.source.files)
    return page + (openml if entry.source.openml else "") + (", by hand" if by_hand else "")


def page_with_table(page: str) -> str:
    return MARKS.sub(lambda found: f"{found[1]}\n{render_table()}\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
