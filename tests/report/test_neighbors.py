from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vicinal.report import Comparison, Example, Exhibit, Neighbor, render_page
from vicinal.report._neighbors import MAX_EXAMPLES, MAX_NEIGHBORS

MakeExhibit = Callable[..., Exhibit]
Show = Callable[..., list[str]]


@pytest.fixture
def show(make_exhibit: MakeExhibit, make_comparison: Callable[..., Comparison]) -> Show:
    """Render a page with these examples; return the HTML of each."""

    def render(*examples: Example, task: str = "classification") -> list[str]:
        exhibit = make_exhibit(examples=examples)
        return shown(make_comparison(exhibits=(exhibit,), task=task))

    return render


def shown(comparison: Comparison) -> list[str]:
    page = render_page(comparison).partition('id="method-2"')[0]
    return re.findall(r'<article class="example">.*?</article>', page, re.S)


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def marks(html: str) -> list[tuple[str, str]]:
    return re.findall(r'role="img" aria-label="([^"]*)">(.)<', html)


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
    before: str, after: str, verdict: str, show: Show
) -> None:
    (view,) = show(example(predicted_before=before, predicted_after=after))
    assert f'<p class="verdict">{verdict}</p>' in view
    outcomes = re.findall(r'class="outcome (\w+)"', view)
    assert outcomes == ["right" if p == "a" else "wrong" for p in (before, after)]


def test_votes_are_marked_by_sign_and_word(show: Show) -> None:
    (view,) = show(example())
    assert marks(view) == [("wrong", "✗"), ("right", "✓"), ("right", "✓")]
    assert re.search(r"Before: plain distance ✗ votes b , wrong ✗ b .* ✓ a", text_of(view))
    assert "After: MLNG ✓ votes a , right" in text_of(view)


def test_regression_says_how_far_off(show: Show) -> None:
    point = example(label="10", predicted_before="12.5", predicted_after="not a number")
    (view,) = show(point, task="regression")
    assert "verdict" not in view
    assert "predicts 12.5 , off by 2.5" in text_of(view)
    assert "predicts not a number ✓ a" in text_of(view)
    assert marks(view)[:2] == [("far off", "✗"), ("close", "✓")]


def test_pictures_are_shown_where_there_are_any(digits_comparison: Comparison) -> None:
    views = shown(digits_comparison)
    assert len(views) == 6
    for view in views:
        assert view.count("<img") == 1 + view.count('<li class="neighbor')
        assert "<table" not in view


def test_a_missing_or_odd_picture_is_simply_left_out(show: Show) -> None:
    (view,) = show(example(query_image=np.arange(5.0), images={4: np.eye(3)}))
    assert re.findall(r'<img[^>]*alt="([^"]*)"', view) == ["training row 4, a"] * 2


def test_values_of_a_point_stand_beside_its_neighbours(wine_comparison: Comparison) -> None:
    view = shown(wine_comparison)[0]
    source = wine_comparison.exhibits[0].examples[0]
    heads = re.findall(r'colspan="(\d)">(before|after)<', view)
    assert heads == [("3", "before"), ("3", "after")]
    first = re.search(r'<tr><th scope="row" title="alcohol">.*?</tr>', view)
    assert first is not None
    beside = [n.values[0] for n in (*source.before, *source.after)]
    assert re.findall(r"<td[^>]*>([^<]*)", first[0]) == [source.values[0][1], *beside]


def test_values_alone_are_shown_where_neighbours_have_none(show: Show) -> None:
    (view,) = show(example(values=(("width", "3"), ("height", "4"))))
    assert "colgroup" not in view
    assert text_of(view).endswith("feature this row width 3 height 4")


def test_the_page_stays_bounded(show: Show) -> None:
    crowd = tuple(Neighbor(row=i, distance=1.0, label="a", right=True) for i in range(50))
    point = example(before=crowd, values=tuple((f"x{i}", "1") for i in range(10_001)))
    views = show(*(point,) * 40)
    assert len(views) == MAX_EXAMPLES
    assert views[0].count('<li class="neighbor') == MAX_NEIGHBORS + 1
    assert f"and {50 - MAX_NEIGHBORS} more" in views[0]
    assert views[0].count('scope="row"') == 12
