"""Fill the results pages from the records in ``results/``, whichever files are there.

``<!-- results trivedi2014 -->`` becomes the tables of the records that cite one of the works
named, or stand in one of the tables named.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

MARK = re.compile(r"<!-- results ([\w ]+) -->")


def fill(app: Any, docname: str, source: list[str]) -> None:
    mark = MARK.search(source[0])
    if mark is None:
        return
    from vicinal.published import read_results, records_citing, results_markdown

    records = records_citing(read_results(Path(app.srcdir) / "results"), mark[1].split())
    source[0] = source[0].replace(mark[0], results_markdown(records))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
