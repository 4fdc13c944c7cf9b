"""Single test points with their nearest neighbours before and after, votes marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._types import AnyArray, Task
from ._images import as_picture, data_address, to_bytes
from ._numbers import format_distance, format_value
from ._records import Example, Exhibit, Neighbor

MAX_EXAMPLES = 8
MAX_NEIGHBORS = 11
MAX_VALUES = 12
_MARKS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class NeighborView:
    """A neighbour as shown: its mark is a sign and a word, never a colour alone."""

    label: str
    row: int
    distance: str
    right: bool
    mark: str
    word: str
    picture: str


@dataclass(frozen=True)
class VoteView:
    """What one distance says: its neighbours, the outcome and whether that is right."""

    heading: str
    neighbors: tuple[NeighborView, ...]
    predicted: str
    right: bool | None
    outcome: str
    n_more: int


@dataclass(frozen=True)
class Column:
    """A neighbour's column in the table of values: its side, rank and mark."""

    side: str
    rank: int
    mark: str


@dataclass(frozen=True)
class ExampleView:
    """A test point, both votes, and the values to compare where there are no pictures."""

    row: int
    label: str
    picture: str
    before: VoteView
    after: VoteView
    verdict: str
    columns: tuple[Column, ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]


def show_examples(exhibit: Exhibit, task: Task) -> tuple[ExampleView, ...]:
    """The first few examples of an exhibit, ready to be laid out."""
    chosen = exhibit.examples[:MAX_EXAMPLES]
    limits = _grey_limits(chosen)
    return tuple(_show(example, exhibit, task, limits) for example in chosen)


def _show(
    example: Example, exhibit: Exhibit, task: Task, limits: tuple[float, float]
) -> ExampleView:
    before = _show_vote("Before: plain distance", example, False, exhibit, task, limits)
    after = _show_vote(f"After: {exhibit.title}", example, True, exhibit, task, limits)
    columns, values = _value_table(example)
    return ExampleView(
        row=example.row,
        label=example.label,
        picture=_picture(example.query_image, exhibit.image_shape, limits),
        before=before,
        after=after,
        verdict=_verdict(before.right, after.right),
        columns=columns,
        values=values,
    )


def _show_vote(
    heading: str,
    example: Example,
    learned: bool,
    exhibit: Exhibit,
    task: Task,
    limits: tuple[float, float],
) -> VoteView:
    neighbors = example.after if learned else example.before
    predicted = example.predicted_after if learned else example.predicted_before
    right = predicted == example.label if task == "classification" else None
    views = tuple(
        _show_neighbor(n, _picture(example.images.get(n.row), exhibit.image_shape, limits), task)
        for n in neighbors[:MAX_NEIGHBORS]
    )
    return VoteView(
        heading=heading,
        neighbors=views,
        predicted=predicted,
        right=right,
        outcome=_outcome(predicted, example.label, right),
        n_more=len(neighbors) - len(views),
    )


def _show_neighbor(neighbor: Neighbor, picture: str, task: Task) -> NeighborView:
    words = ("right", "wrong") if task == "classification" else ("close", "far off")
    return NeighborView(
        label=neighbor.label,
        row=neighbor.row,
        distance=format_distance(neighbor.distance),
        right=neighbor.right,
        mark=_MARKS[neighbor.right],
        word=words[0] if neighbor.right else words[1],
        picture=picture,
    )


def _outcome(predicted: str, label: str, right: bool | None) -> str:
    if right is not None:
        return "right" if right else "wrong"
    try:
        return f"off by {format_value(abs(float(predicted) - float(label)))}"
    except ValueError:
        return ""


def _verdict(before: bool | None, after: bool | None) -> str:
    words = {
        (False, True): "put right",
        (True, False): "spoilt",
        (True, True): "right both times",
        (False, False): "wrong both times",
    }
    return words[before, after] if before is not None and after is not None else ""


def _picture(
    values: AnyArray | None, shape: tuple[int, ...] | None, limits: tuple[float, float]
) -> str:
    pixels = None if values is None else as_picture(values, shape)
    return "" if pixels is None else data_address(to_bytes(pixels, *limits))


def _grey_limits(examples: Iterable[Example]) -> tuple[float, float]:
    """Dark and bright over all pictures shown, so that they compare; a few outliers saturate."""
    arrays = [np.asarray(a, dtype=float).ravel() for e in examples for a in e.images.values()]
    values = np.concatenate([np.empty(0), *arrays])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = np.quantile(values, [0.005, 0.995])
    return float(low), float(high)


def _value_table(
    example: Example,
) -> tuple[tuple[Column, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Features by rows; the test point and its neighbours (where values are known) by columns."""
    if example.query_image is not None:
        return (), ()
    known = [
        (Column(side, i + 1, _MARKS[n.right]), n.values)
        for side, group in (("before", example.before), ("after", example.after))
        for i, n in enumerate(group[:MAX_NEIGHBORS])
        if n.values
    ]
    rows = tuple(
        (name, (value, *(values[i] if i < len(values) else "" for _, values in known)))
        for i, (name, value) in enumerate(example.values[:MAX_VALUES])
    )
    return tuple(column for column, _ in known), rows
