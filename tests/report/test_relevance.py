from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from vicinal._types import Exhibit
from vicinal.report._relevance import as_shares, count_for, draw_relevance, draw_spectrum

MakeExhibit = Callable[..., Exhibit]


def test_shares_sum_to_one_and_ignore_what_is_no_weight() -> None:
    shares = as_shares(np.array([3.0, -1.0, np.nan, 1.0]))
    assert shares.tolist() == [0.75, 0.0, 0.0, 0.25]
    assert as_shares(np.full(4, 1e308)).tolist() == [0.25] * 4
    assert as_shares(np.zeros(3)).tolist() == [0.0] * 3


@pytest.mark.parametrize(("part", "n"), [(0.5, 1), (0.6, 2), (0.8, 2), (0.81, 3), (1.0, 3)])
def test_how_many_shares_reach_a_part(part: float, n: int) -> None:
    assert count_for(np.array([0.2, 0.5, 0.3]), part) == n


def test_the_twenty_most_relevant_of_ten_thousand_and_one_features(
    make_exhibit: MakeExhibit,
) -> None:
    relevance = np.arange(10_001.0)
    names = tuple(f"x{i}" for i in range(10_001))
    plot = draw_relevance(make_exhibit(relevance=relevance, feature_names=names))
    assert plot is not None
    assert [bar.name for bar in plot.bars] == [f"x{i}" for i in range(10_000, 9_980, -1)]
    assert plot.bars[0].length == 100
    assert "the 20 most relevant of 10,001\u00a0features" in plot.caption
    assert "Most relevant: x10000" in plot.alt


def test_missing_names_are_made_up(make_exhibit: MakeExhibit) -> None:
    plot = draw_relevance(make_exhibit(relevance=np.array([1.0, 3.0]), feature_names=("width",)))
    assert plot is not None
    assert [(bar.name, bar.share) for bar in plot.bars] == [
        ("feature 1", "75\u00a0%"),
        ("width", "25\u00a0%"),
    ]
    assert plot.caption == "Share of the total."


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (200, 130)])
def test_pixels_become_a_picture_whose_alt_text_names_the_brightest(
    shape: tuple[int, ...], make_exhibit: MakeExhibit
) -> None:
    relevance = np.full(shape, 0.001)
    relevance[2, 4] = 5
    plot = draw_relevance(make_exhibit(relevance=relevance.ravel(), image_shape=shape))
    assert plot is not None
    assert plot.picture.startswith("data:image/png;base64,")
    assert "row 3, column 5" in plot.alt
    assert f"{shape[0]} × {shape[1]} pixels" in plot.alt
    assert len(plot.picture) < 10_000


def test_a_shape_that_does_not_fit_falls_back_to_bars(make_exhibit: MakeExhibit) -> None:
    plot = draw_relevance(make_exhibit(relevance=np.ones(10), image_shape=(8, 8)))
    assert plot is not None
    assert len(plot.bars) == 10


def test_the_spectrum_says_how_many_directions_count(make_exhibit: MakeExhibit) -> None:
    plot = draw_spectrum(make_exhibit(spectrum=np.array([0.0, 1.0, 5.0, 4.0])))
    assert plot is not None
    heights = [height for *_, height in plot.bars]
    assert heights == sorted(heights, reverse=True)
    assert "It takes 2 of 4\u00a0directions to carry 90\u00a0%" in plot.caption
    assert f"effectively it uses {100 / 42:.1f}" in plot.caption
    assert "The first carries 50\u00a0%" in plot.alt


def test_equal_eigenvalues_use_all_directions_and_long_spectra_are_cut(
    make_exhibit: MakeExhibit,
) -> None:
    plot = draw_spectrum(make_exhibit(spectrum=np.ones(784)))
    assert plot is not None
    assert len(plot.bars) == 40
    assert "effectively it uses 784.0" in plot.caption
    assert len(plot.x_ticks) <= 10
    assert len({tick.label for tick in plot.y_ticks}) == len(plot.y_ticks)


def test_nothing_known_draws_nothing(make_exhibit: MakeExhibit) -> None:
    for values in (np.empty(0), np.zeros(5)):
        assert draw_relevance(make_exhibit(relevance=values)) is None
        assert draw_spectrum(make_exhibit(spectrum=values)) is None
