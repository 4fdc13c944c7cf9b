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
    "vicinal.rivals": "Rivals",
    "vicinal.index": "Search",
    "vicinal.predict": "Prediction and model files",
}
INTRODUCTION = """\
API reference
=============

The names below are imported from ``vicinal`` itself, on first use.
"""


def present(name: str) -> bool:
    """Say whether a public name can be imported here (an extra may be missing)."""
    try:
        return getattr(vicinal, name, None) is not None
    except ImportError:
        return False


def section(home: str, names: tuple[str, ...]) -> str:
    """Return the reStructuredText of one stage's table, empty where none of its names exist."""
    return table(SECTIONS.get(home, home), [name for name in names if present(name)])


def table(title: str, names: list[str]) -> str:
    """Return the reStructuredText of one titled table, empty without names."""
    lines = "\n".join(f"   {name}" for name in names)
    summary = f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{lines}\n"
    return f"{title}\n{'-' * len(title)}\n\n{summary}" if lines else ""


def sphere_section() -> str:
    """Return the table of `vicinal.sphere`, empty without PyTorch."""
    try:
        from vicinal import sphere
    except ImportError:
        return ""
    moved = "The names below are imported from ``vicinal.sphere`` (extra ``torch``)."
    return table("Networks on the sphere", list(sphere.__all__)).replace(
        ".. autosummary", f"{moved}\n\n.. currentmodule:: vicinal.sphere\n\n.. autosummary", 1
    )


def api_page() -> str:
    """Return the whole page."""
    tables = [section(home, names) for home, names in vicinal._HOMES.items()]
    tables.append(sphere_section())
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
