"""How the documentation is built: ``make docs``.

Nothing here needs a network. With ``DOCS_ONLINE=1 make docs`` the pages also link the names of
other libraries to their own documentation.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import vicinal

project = "vicinal"
author = "The vicinal developers"
copyright = "The vicinal developers"
version = release = vicinal.__version__

extensions = [
    "command_reference",
    "public_names",
    "results_tables",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "_templates", "examples", "results/*", "gallery/*.ipynb"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold a function

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types, in words
numpydoc_show_class_members = False
bibtex_bibfiles = ["references.bib"]

PEERS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "sklearn": "https://scikit-learn.org/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
    "torch": "https://docs.pytorch.org/docs/stable/",
}
online = os.environ.get("DOCS_ONLINE", "") not in ("", "0")
intersphinx_mapping = {name: (url, None) for name, url in PEERS.items()} if online else {}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "within_subsection_order": "gallery_order.GalleryOrder",
}

html_theme = "pydata_sphinx_theme"
html_title = f"vicinal {release}"
html_static_path = ["_static"]
html_show_sourcelink = False
html_sidebars = {  # pages without children have nothing to list beside them
    name: []
    for name in (
        *("quickstart", "how-to-choose", "cli", "datasets", "conventions", "results"),
        *("references", "changelog", "contributing"),
    )
}
html_theme_options = {
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def leave_out_the_inherited(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Skip what comes from scikit-learn or torch: they have their own documentation."""
    home = getattr(member, "__module__", None) or ""
    generated = name.startswith("set_") and name.endswith("_request")
    return True if generated or home.startswith(("sklearn.", "torch.")) else None


def keep_bars(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Let |x| in a docstring mean an absolute value: bars mark substitutions otherwise."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")) and "``" not in line:
            lines[number] = line.replace("|", r"\|")


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", leave_out_the_inherited)
    app.connect("autodoc-process-docstring", keep_bars, priority=900)  # after numpydoc
