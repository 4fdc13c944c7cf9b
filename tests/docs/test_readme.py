"""The first example of the README prints what it says there."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt

README = Path(__file__).parents[2] / "README.md"


def test_the_first_example_prints_what_stands_below_it(capsys):
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    exec(code.group(1), {})
    plt.close("all")
    (expected,) = re.findall(r"^# (.*learned)$", code.group(1), re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == [expected]


def test_no_page_waits_for_a_figure():
    pages = [README, *(README.parent / "docs").rglob("*.md")]
    waiting = [page.name for page in pages if re.search(r"@[A-Z]+@", page.read_text("utf-8"))]
    assert waiting == []
