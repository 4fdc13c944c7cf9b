"""Fill the results page from the records in ``results/``, whichever files are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MARK = "<!-- results -->"


def fill(app: Any, docname: str, source: list[str]) -> None:
    if MARK not in source[0]:
        return
    from vicinal.experiments._results_page import read_results, results_markdown

    records = read_results(Path(app.srcdir) / "results")
    source[0] = source[0].replace(MARK, results_markdown(records))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
