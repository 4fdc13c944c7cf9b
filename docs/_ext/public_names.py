"""Write the API page from the package's own tables of public names, before Sphinx reads pages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import vicinal

SECTIONS = {
    "vicinal.data": "Data",
    "vicinal.metric": "Metric learners and inference",
    "vicinal.neural": "Neural maps",
    "vicinal.combine": "Tools over any learner",
    "vicinal.search": "Search under a learned map",
    "vicinal.scale": "Distributed fits",
    "vicinal.report": "Plots",
    "vicinal.rivals": "Rivals",
    "vicinal.index": "Search",
    "vicinal.predict": "Prediction and model files",
}
# Doors of their own: modules whose names are not imported from ``vicinal`` itself.
DOORS = {
    "vicinal.data": "Data: folds, preparation and errors",
    "vicinal.losses": "Losses for torch networks",
    "vicinal.sphere": "Networks on the sphere",
    "vicinal.testing": "Checks for your own tests",
}
INTRODUCTION = """\
API reference
=============

The names below are imported from ``vicinal`` itself, on first use, unless a section says otherwise.

.. currentmodule:: vicinal

"""


def table(title: str, names: list[str], told: str = "") -> str:
    """Return the reStructuredText of one titled table."""
    lines = "\n".join(f"   {name}" for name in names)
    summary = f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{lines}\n"
    return f"{title}\n{'-' * len(title)}\n\n{told}{summary}"


def top_sections() -> list[str]:
    """Return a table for each stage that public names come from."""
    return [table(SECTIONS.get(home, home), list(names)) for home, names in vicinal._HOMES.items()]


def door_section(door: str) -> str:
    """Return the table of a module's own names, empty where there is no such module."""
    try:
        module = import_module(door)
    except ModuleNotFoundError as error:
        if error.name != door:
            raise  # the module is there, and something it needs is not
        return ""
    names = [name for name in module.__all__ if name not in vicinal.__all__]
    told = f"The names below are imported from ``{door}``.\n\n.. currentmodule:: {door}\n\n"
    return table(DOORS[door], names, told)


def api_page() -> str:
    """Return the whole page."""
    return INTRODUCTION + "\n".join([*top_sections(), *filter(None, map(door_section, DOORS))])


def write_api_page(app: Any, config: Any) -> None:
    target = Path(app.srcdir) / "api" / "generated" / "index.rst"
    target.parent.mkdir(parents=True, exist_ok=True)
    page = api_page()
    if not target.exists() or target.read_text(encoding="utf-8") != page:
        target.write_text(page, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_api_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
