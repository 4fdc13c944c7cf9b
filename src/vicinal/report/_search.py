"""What an adapter gained, on one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._page import FORBIDDEN, template


@dataclass(frozen=True)
class SearchExample:
    """A held-out query, its document, and the document's place before and after.

    A place of 0 is none among the first ten.
    """

    query: str
    document: str
    before: int
    after: int


def render_search(
    report: Sequence[Mapping[str, Any]],
    leaderboard: Sequence[Mapping[str, Any]],
    *,
    title: str,
    advice: Sequence[str],
    notes: Sequence[str],
    gained: Sequence[SearchExample],
    lost: Sequence[SearchExample],
) -> str:
    """Return the page: advice, gains with intervals, queries that moved most, settings tried."""
    page = template("search.html").render(
        report=report, leaderboard=leaderboard, title=title, advice=advice, notes=notes,
        examples=[("Queries that gained most", gained), ("Queries that lost most", lost)],
    )  # fmt: skip
    return page.translate(FORBIDDEN)
