"""A comparison as one self-contained HTML page: no network, no script but its own."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from .._trainings import show_energy
from .._types import AnyArray
from .._writing import write_atomically
from . import _drawings, _maps, _neighbors, _numbers, _palette, _sentences
from ._comparison import Comparison
from ._records import Example, Exhibit, best_row

# Characters that no HTML page may hold, as they could come in by a file's or a column's name.
FORBIDDEN = dict.fromkeys((*range(9), 11, *range(14, 32), *range(127, 160)), "\ufffd")


@dataclass(frozen=True)
class MethodView:
    """What one fitted metric shows."""

    title: str
    k: int
    maps: _maps.MapPair | None
    relevance: _drawings.PageDrawing | None
    spectrum: _drawings.PageDrawing | None
    summary: list[_drawings.PageDrawing]
    examples: tuple[Example, ...]
    picture: Callable[[AnyArray | None], str]


def render_page(comparison: Comparison) -> str:
    """The report page of a comparison as HTML text."""
    script = _source("page.js")
    page = _environment().get_template("page.html").render(
        comparison=comparison,
        summary=_sentences.summarize(comparison),
        caveats=_sentences.list_caveats(comparison),
        errors=_drawings.draw_comparison(comparison),
        calibration=_drawings.draw_calibration(comparison),
        methods=[_view(exhibit, comparison) for exhibit in _best_first(comparison)],
        n_folds=max((len(row.errors) for row in comparison.rows), default=0),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )  # fmt: skip
    return page.translate(FORBIDDEN)


def write_page(comparison: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the report page; an existing one is replaced only once the new one is complete.

    Parameters
    ----------
    comparison : Comparison
    path : path of the HTML file; its folder is created when missing

    Returns
    -------
    Path
        Where the page was written.
    """
    path = Path(path)
    # A file name that is not valid text reaches us as lone surrogates, which UTF-8 cannot hold.
    content = render_page(comparison).encode("utf-8", errors="replace")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return path


def render_fragment(comparison: Comparison) -> str:
    """The finding and the table of a comparison as HTML, for a notebook's cell."""
    return (
        _environment()
        .get_template("notebook.html")
        .render(comparison=comparison, caveats=_sentences.list_caveats(comparison))
        .translate(FORBIDDEN)
    )


def template(name: str) -> Template:
    """Return a template of the report's own, which escapes what it shows."""
    return _environment().get_template(name)


def _view(exhibit: Exhibit, comparison: Comparison) -> MethodView:
    return MethodView(
        title=exhibit.title,
        k=exhibit.k,
        maps=_maps.draw_maps(exhibit, comparison.task),
        relevance=_drawings.draw_relevance(exhibit),
        spectrum=_drawings.draw_spectrum(exhibit),
        summary=_drawings.draw_summary(exhibit, comparison.task),
        examples=exhibit.examples[: _neighbors.MAX_EXAMPLES],
        picture=_neighbors.picture_maker(exhibit),
    )


def _best_first(comparison: Comparison) -> list[Exhibit]:
    """Methods with something to show, the best first."""

    def least_error(exhibit: Exhibit) -> float:
        best = best_row(row for row in comparison.rows if row.method == exhibit.method)
        return float("inf") if best is None else best.error_mean

    return sorted(comparison.exhibits, key=least_error)


def _sort_value(value: Any) -> str:
    """A number for the script to sort by; empty where there is none."""
    return repr(float(value)) if _numbers.is_known(value) else ""


@cache
def _environment() -> Environment:
    loader = PackageLoader("vicinal.report")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "bare": _numbers.format_error_bare,
        "change": _neighbors.phrase_change,
        "count_of": _numbers.count_of,
        "distance": _numbers.format_distance,
        "energy": show_energy,
        "judge": _neighbors.judge,
        "memory": _numbers.format_memory,
        "p_value": _numbers.format_p,
        "seconds": _numbers.format_seconds,
        "shorten": _numbers.shorten,
        "sort_value": _sort_value,
    }
    environment.globals |= {
        "style": Markup(loader.get_source(environment, "style.css")[0]),
        "light": Markup(_palette.css_variables(dark=False)),
        "dark": Markup(_palette.css_variables(dark=True)),
        "n_steps": _palette.N_STEPS,
        "n_colours": _palette.N_COLOURS,
        "map_size": _maps.SIZE,
        "max_neighbors": _neighbors.MAX_NEIGHBORS,
        "max_values": _neighbors.MAX_VALUES,
    }
    return environment


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]
