"""Write the API page from the package's own table of public names, before Sphinx reads pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vicinal

SECTIONS = {
    "vicinal.data": "Data",
    "vicinal.metric": "Metric learners and inference",
    "vicinal.scale": "Distributed fits",
    "vicinal.report": "Plots",
    "vicinal.baselines": "Rivals",
    "vicinal.index": "Search",
    "vicinal.predict": "Prediction and model files",
}
INTRODUCTION = """\
API reference
=============

Every name below is imported from ``vicinal`` itself, on first use.
"""


def present(name: str) -> bool:
    """Say whether a public name can be imported here (an extra may be missing)."""
    try:
        return getattr(vicinal, name, None) is not None
    except ImportError:
        return False


def section(home: str, names: tuple[str, ...]) -> str:
    """Return the reStructuredText of one stage's table, empty where none of its names exist."""
    title = SECTIONS.get(home, home)
    lines = "\n".join(f"   {name}" for name in names if present(name))
    table = f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{lines}\n"
    return f"{title}\n{'-' * len(title)}\n\n{table}" if lines else ""


def api_page() -> str:
    """Return the whole page."""
    tables = [section(home, names) for home, names in vicinal._HOMES.items()]
    return "\n".join([INTRODUCTION, ".. currentmodule:: vicinal\n", *filter(None, tables)])


def write_api_page(app: Any, config: Any) -> None:
    target = Path(app.srcdir) / "api" / "generated" / "index.rst"
    target.parent.mkdir(parents=True, exist_ok=True)
    page = api_page()
    if not target.exists() or target.read_text(encoding="utf-8") != page:
        target.write_text(page, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_api_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
