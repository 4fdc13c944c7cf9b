"""Fill the results pages from the records in ``results/``, whichever files are there.

``<!-- results trivedi2014 -->`` becomes the tables of the records that cite one of the works
named, or stand in one of the tables named; ``<!-- cells trivedi2014 -->`` a picture of them, a
dot a cell. ``<!-- trainings sphere -->`` becomes the tables of networks, from the records in
``results/sphere``.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

MARK = re.compile(r"<!-- (results|cells|trainings) ([\w ]+) -->")


def fill(app: Any, docname: str, source: list[str]) -> None:
    from vicinal.published import (
        read_results,
        records_citing,
        results_markdown,
        trainings_markdown,
    )

    if not MARK.search(source[0]):
        return
    known = read_results(Path(app.srcdir) / "results")

    def replace(mark: re.Match[str]) -> str:
        if mark[1] == "trainings":
            return trainings_markdown(read_results(Path(app.srcdir) / "results" / mark[2]))
        records = records_citing(known, mark[2].split())
        if mark[1] == "results":
            return results_markdown(records)
        return picture(records, Path(app.srcdir), mark[2].replace(" ", "-"))

    source[0] = MARK.sub(replace, source[0])


def picture(records: Any, place: Path, name: str) -> str:
    """Draw the cells into a file of the site, anew where they changed; return the image's line."""
    from vicinal.published import draw_cells

    drawn = io.BytesIO()
    draw_cells(records).savefig(drawn, format="png", dpi=130)
    file = place / "_drawn" / f"{name}.png"
    file.parent.mkdir(exist_ok=True)
    if not file.exists() or file.read_bytes() != drawn.getvalue():
        file.write_bytes(drawn.getvalue())
    return f"![Published errors across, measured ones up, a dot a cell](_drawn/{file.name})"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
