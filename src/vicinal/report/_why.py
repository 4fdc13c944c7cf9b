"""Why a model says what it says: its neighbours as they stand in the table, on one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._page import FORBIDDEN, template


@dataclass(frozen=True)
class WhyCell:
    """A value as the table has it, and whether it is far from the one asked about."""

    text: str
    differs: bool = False


@dataclass(frozen=True)
class Voter:
    """A neighbour: what it is called, how far it is, what it votes for, and its own columns."""

    name: str
    distance: float
    label: str
    cells: tuple[WhyCell, ...]


@dataclass(frozen=True)
class Answer:
    """A row that was asked about, what was answered, and who voted, nearest first."""

    name: str
    answer: str
    votes: str
    cells: tuple[str, ...]
    voters: tuple[Voter, ...]


def render_answers(
    answers: Sequence[Answer], *, title: str, target: str, columns: Sequence[tuple[str, float]]
) -> str:
    """Return the page: a table for each answer, columns by their share in the distance.

    Parameters
    ----------
    answers : sequence of Answer
    title : str
        What was asked of which model.
    target : str
        What is predicted.
    columns : sequence of (str, float)
        The columns shown, and their share in the learned squared distance (NaN where unknown).
    """
    page = template("why.html").render(
        answers=answers, title=title, target=target, columns=list(columns)
    )
    return page.translate(FORBIDDEN)
