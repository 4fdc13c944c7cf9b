from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vicinal.report import Comparison, Example, Exhibit, Neighbor
from vicinal.report._neighbors import MAX_EXAMPLES, MAX_NEIGHBORS, show_examples

MakeExhibit = Callable[..., Exhibit]


def example(**changes: Any) -> Example:
    right = Neighbor(row=4, distance=1.5, label="a", right=True)
    wrong = Neighbor(row=9, distance=2.0, label="b", right=False)
    point = Example(
        row=7, label="a", before=(wrong, right), after=(right,),
        predicted_before="b", predicted_after="a",
    )  # fmt: skip
    return replace(point, **changes)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [("b", "a", "put right"), ("a", "b", "spoilt"), ("a", "a", "right both times"),
     ("b", "b", "wrong both times")],
)  # fmt: skip
def test_the_verdict_tells_what_learning_did(
    before: str, after: str, verdict: str, make_exhibit: MakeExhibit
) -> None:
    point = example(predicted_before=before, predicted_after=after)
    (view,) = show_examples(make_exhibit(examples=(point,)), "classification")
    assert view.verdict == verdict
    assert (view.before.right, view.after.right) == (before == "a", after == "a")


def test_votes_are_marked_by_sign_and_word(make_exhibit: MakeExhibit) -> None:
    (view,) = show_examples(make_exhibit(examples=(example(),)), "classification")
    assert [(n.mark, n.word, n.label) for n in view.before.neighbors] == [
        ("✗", "wrong", "b"),
        ("✓", "right", "a"),
    ]
    assert view.before.heading == "Before: plain distance"
    assert view.after.heading == "After: MLNG"


def test_regression_says_how_far_off(make_exhibit: MakeExhibit) -> None:
    point = example(label="10", predicted_before="12.5", predicted_after="not a number")
    (view,) = show_examples(make_exhibit(examples=(point,)), "regression")
    assert view.verdict == ""
    assert (view.before.outcome, view.after.outcome) == ("off by 2.5", "")
    assert [n.word for n in view.before.neighbors] == ["far off", "close"]


def test_pictures_are_shown_where_there_are_any(digits_comparison: Comparison) -> None:
    views = show_examples(digits_comparison.exhibits[0], "classification")
    assert len(views) == 6
    for view in views:
        assert view.picture
        assert view.values == ()
        assert all(n.picture for n in (*view.before.neighbors, *view.after.neighbors))


def test_a_missing_or_odd_picture_is_simply_left_out(make_exhibit: MakeExhibit) -> None:
    point = example(query_image=np.arange(5.0), images={4: np.eye(3)})
    (view,) = show_examples(make_exhibit(examples=(point,)), "classification")
    assert view.picture == ""
    assert [bool(n.picture) for n in view.before.neighbors] == [False, True]


def test_values_of_a_point_stand_beside_its_neighbours(wine_comparison: Comparison) -> None:
    exhibit = wine_comparison.exhibits[0]
    view = show_examples(exhibit, "classification")[0]
    assert [(c.side, c.rank) for c in view.columns] == [
        ("before", 1), ("before", 2), ("before", 3), ("after", 1), ("after", 2), ("after", 3),
    ]  # fmt: skip
    name, cells = view.values[0]
    assert name == "alcohol"
    source = exhibit.examples[0]
    assert cells == (
        source.values[0][1],
        *(n.values[0] for n in (*source.before, *source.after)),
    )


def test_values_alone_are_shown_where_neighbours_have_none(make_exhibit: MakeExhibit) -> None:
    point = example(values=(("width", "3"), ("height", "4")))
    (view,) = show_examples(make_exhibit(examples=(point,)), "classification")
    assert view.columns == ()
    assert view.values == (("width", ("3",)), ("height", ("4",)))


def test_the_page_stays_bounded(make_exhibit: MakeExhibit) -> None:
    crowd = tuple(Neighbor(row=i, distance=1.0, label="a", right=True) for i in range(50))
    point = example(before=crowd, values=tuple((f"x{i}", "1") for i in range(10_001)))
    views = show_examples(make_exhibit(examples=(point,) * 40), "classification")
    assert len(views) == MAX_EXAMPLES
    assert len(views[0].before.neighbors) == MAX_NEIGHBORS
    assert views[0].before.n_more == 50 - MAX_NEIGHBORS
    assert len(views[0].values) == 12
