from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from vicinal.report import Exhibit
from vicinal.report._maps import (
    MAX_POINTS,
    SIZE,
    agreement,
    draw_maps,
    first_two_components,
    free_places,
    make_key,
    nearest_others,
    place,
)

MakeExhibit = Callable[..., Exhibit]


def clouds(n_classes: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Well separated classes on a circle, and their labels."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    angle = 2 * np.pi * y / n_classes
    centre = 10 * n_classes * np.column_stack([np.cos(angle), np.sin(angle)])
    return centre + rng.normal(size=(n, 2)), y


def n_dots(panel: Any) -> int:
    return sum(path.count("M") for _, path in panel.dots)


def draw(make_exhibit: MakeExhibit, before: Any, after: Any, targets: Any, task: Any) -> Any:
    return draw_maps(make_exhibit(map_before=before, map_after=after, map_targets=targets), task)


def test_agreement_is_the_share_of_points_beside_their_own_class() -> None:
    line = np.column_stack([[0.0, 1.0, 10.0, 11.0, 20.0, 21.0], np.zeros(6)])
    targets = np.array(["a", "a", "b", "b", "a", "b"])
    assert agreement(line, make_key(targets, "classification"), targets) == pytest.approx(4 / 6)


def test_nearest_others_are_those_of_a_tree() -> None:
    points = np.random.default_rng(0).normal(size=(700, 5)) + 100
    expected = cKDTree(points).query(points, k=2)[1][:, 1]
    assert (nearest_others(points) == expected).all()


def test_the_caption_says_what_the_distances_themselves_do(make_exhibit: MakeExhibit) -> None:
    X, y = clouds(3)
    shown = {"map_before": X, "map_after": X}
    classes = make_exhibit(**shown, map_targets=y.astype(str), agreement=(0.712, 0.8), k=5)
    maps = draw_maps(classes, "classification")
    assert maps is not None
    caption = maps.caption
    assert "the share of the 5 nearest training rows that have a test row's class is 71" in caption
    assert caption.endswith("before and 80\u00a0% after.")
    numbers = make_exhibit(**shown, map_targets=X[:, 0], agreement=(0.5, 0.75))
    maps = draw_maps(numbers, "regression")
    assert maps is not None
    assert maps.caption.endswith("correlate by 0.50 before and 0.75 after.")


def test_agreement_is_right_where_points_coincide() -> None:
    points = np.zeros((6, 2))
    same = np.array(["a"] * 6)
    assert agreement(points, make_key(same, "classification"), same) == 1.0


def test_separated_classes_are_described_as_separated(make_exhibit: MakeExhibit) -> None:
    X, y = clouds(5)
    mixed = np.random.default_rng(1).normal(size=X.shape)
    maps = draw(make_exhibit, mixed, X, y.astype(str), "classification")
    assert "100\u00a0% of the points lie next to a point of their own class" in maps.after.alt
    assert maps.after.alt.startswith("Map, After: MLNG. 400\u00a0points")
    assert maps.caption == "400\u00a0test rows, two components of each space."
    assert n_dots(maps.before) == n_dots(maps.after) == 400


def test_no_map_shows_more_than_two_thousand_points(make_exhibit: MakeExhibit) -> None:
    X, y = clouds(3, n=50_000)
    maps = draw(make_exhibit, X, X, y, "classification")
    assert n_dots(maps.after) == MAX_POINTS
    assert "2,000\u00a0test rows of 50,000" in maps.caption


def test_an_outlier_does_not_squeeze_the_others_and_is_counted() -> None:
    points = np.random.default_rng(0).normal(size=(1000, 2))
    points[0] = [1e6, 0]
    paper, n_outside = place(points)
    assert n_outside == 1
    assert np.ptp(paper[1:, 0]) > 0.5 * SIZE
    assert ((paper >= 0) & (paper <= SIZE)).all()


def test_without_outliers_nothing_is_moved() -> None:
    points = np.random.default_rng(0).normal(size=(2000, 2))
    paper, n_outside = place(points)
    assert n_outside == 0
    scale = np.ptp(paper[:, 0]) / np.ptp(points[:, 0])
    shift = paper - scale * points * [1, -1]
    assert np.allclose(shift, shift[0])


def test_both_axes_have_the_same_scale_and_up_is_up() -> None:
    points = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    paper, _ = place(points)
    assert paper[1, 0] - paper[0, 0] == pytest.approx(4 * (paper[0, 1] - paper[2, 1]))


def test_classes_are_ordered_as_people_count() -> None:
    key = make_key(np.array(["10", "2", "b", "1", "a"]), "classification")
    assert key.names == ("1", "2", "10", "a", "b")
    assert key.codes.tolist() == [2, 1, 4, 0, 3]


@pytest.mark.parametrize(
    ("n_classes", "legend", "labels"),
    [(2, True, 0), (12, True, 0), (13, False, 13), (30, False, 30), (100, False, 0)],
)
def test_few_classes_have_a_legend_and_more_are_labelled_but_not_too_many(
    n_classes: int, legend: bool, labels: int, make_exhibit: MakeExhibit
) -> None:
    X, y = clouds(n_classes)
    maps = draw(make_exhibit, X, X, y, "classification")
    assert maps.key.in_legend == legend
    assert len(maps.after.labels) == labels


def test_regression_is_coloured_by_a_continuous_scale(make_exhibit: MakeExhibit) -> None:
    x = np.linspace(0, 1, 300)
    X = np.column_stack([x, np.zeros(300) + 0.01 * x**2])
    maps = draw(make_exhibit, X, X, 50 * x, "regression")
    assert maps.key.continuous
    assert (maps.key.codes[0], maps.key.codes[-1]) == (0, 7)
    assert (np.diff(maps.key.codes) >= 0).all()
    assert "coloured by target from 1 to 49" in maps.after.alt
    assert "correlate by 1.00" in maps.after.alt


def test_a_lone_component_is_spread_and_said_so(make_exhibit: MakeExhibit) -> None:
    line = np.random.default_rng(0).normal(size=100)
    flat = np.column_stack([line, np.zeros(100)])
    y = (line > 0).astype(str)
    for shape in (line, line[:, None], flat):
        maps = draw(make_exhibit, flat, shape, y, "classification")
        assert any("One component only" in remark for remark in maps.after.remarks)
        heights = {move.split()[1] for _, path in maps.after.dots for move in path.split("h0")[:-1]}
        assert len(heights) > 50


@pytest.mark.parametrize("n", [1, 2])
def test_a_point_or_two_are_drawn_without_claims(n: int, make_exhibit: MakeExhibit) -> None:
    X = np.zeros((n, 2))
    maps = draw(make_exhibit, X, X, np.array(["a", "b"][:n]), "classification")
    assert n_dots(maps.after) == n
    assert "too few points" in maps.after.alt


def test_points_that_are_not_numbers_are_left_out(make_exhibit: MakeExhibit) -> None:
    X, y = clouds(2, n=50)
    X[3, 0] = np.nan
    assert n_dots(draw(make_exhibit, X, X, y, "classification").before) == 49
    nothing = np.full((5, 2), np.nan)
    assert draw(make_exhibit, nothing, nothing, np.zeros(5), "regression") is None


def test_no_points_no_map(make_exhibit: MakeExhibit) -> None:
    assert draw_maps(make_exhibit(), "classification") is None


def covered(points: np.ndarray, label: np.ndarray, letters: int) -> int:
    away = np.abs(points - label)
    return int(((away[:, 0] < 4 * letters) & (away[:, 1] < 7)).sum())


def test_labels_stand_near_their_classes_on_no_point_and_apart() -> None:
    X, y = clouds(13, n=1300)
    paper, _ = place(X)
    middles = np.array([np.median(paper[y == code], axis=0) for code in range(13)])
    lengths = [1 + code % 9 for code in range(13)]
    places = free_places(paper, middles, lengths)
    assert [covered(paper, p, n) for p, n in zip(places, lengths, strict=True)] == [0] * 13
    assert (np.linalg.norm(places - middles, axis=1) < 60).all()
    same = free_places(np.empty((0, 2)), np.full((6, 2), 180.0), [1] * 6)
    gaps = np.abs(same[:, None] - same[None])
    apart = (gaps[..., 0] >= 8) | (gaps[..., 1] >= 12)
    assert apart[~np.eye(6, dtype=bool)].all()


def test_labels_of_a_full_map_stay_on_it() -> None:
    paper = np.random.default_rng(0).uniform(0, SIZE, (2000, 2))
    places = free_places(paper, paper[:30], [12] * 30)
    assert ((places > 40) & (places < SIZE - 8))[:, 0].all()
    assert ((places > 0) & (places < SIZE)).all()


@pytest.mark.parametrize("n", [20, 30, 300])
def test_two_outliers_neither_turn_the_map_nor_squeeze_it(n: int) -> None:
    """Two classes apart along the first of five features; two rows a thousand units off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.arange(n) % 2
    X[:, 0] += 6 * y
    X[:2, 3] = [1000, 1100]
    flat = first_two_components(X)
    paper, n_outside = place(flat)
    assert n_outside == 2
    assert np.ptp(paper[2:, 0]) > 0.4 * SIZE
    key = make_key(y.astype(str), "classification")
    assert agreement(flat, key, y) >= 0.9


def test_of_an_elliptical_cloud_the_components_are_the_principal_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) * [1.0, 5.0, 2.0]
    flat = first_two_components(X)
    assert abs(np.corrcoef(flat[:, 0], X[:, 1])[0, 1]) > 0.999
    assert abs(np.corrcoef(flat[:, 1], X[:, 2])[0, 1]) > 0.99


def test_drawing_twice_gives_the_same_map(make_exhibit: MakeExhibit) -> None:
    X, y = clouds(4)
    assert (
        draw(make_exhibit, X, X, y, "classification").after
        == draw(make_exhibit, X, X, y, "classification").after
    )
