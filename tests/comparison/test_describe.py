"""What a comparison says of its data in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from vicinal.comparison import Question, plan_comparison
from vicinal.comparison._describe import (
    describe_comparison,
    describe_preparation,
    describe_source,
)
from vicinal.data import SCALES
from vicinal.runs import Source


def test_a_known_data_set_names_its_home_its_licence_and_its_reference():
    told = describe_source(Source("wine"))
    assert "archive.ics.uci.edu" in told
    assert "CC BY 4.0" in told
    assert "cited as " in told


@pytest.mark.parametrize("source", [Source("mine.csv", path="mine.csv"), Source("data", held=True)])
def test_rows_of_ones_own_have_no_source_to_name(source):
    assert describe_source(source) == ""


def notes_of(source: Source) -> tuple[str, ...]:
    plan = plan_comparison(Question(source, ("euclidean",), (3,)))
    return describe_comparison(plan, [], Path("nowhere")).notes


def test_what_a_user_should_know_of_the_data_is_noted():
    assert "About digits: the test part of the original set." in notes_of(Source("digits"))


def test_a_sample_is_said_to_be_one():
    assert "Measured on a random sample of 60 rows." in notes_of(Source("wine", limit=60))
    assert not any("sample" in note for note in notes_of(Source("wine")))


def test_every_scaling_is_told_in_words_of_its_own():
    told = {scale: describe_preparation({"scale": scale}) for scale in SCALES}
    assert told["unit"] == "rows divided by their lengths"
    assert len(set(told.values())) == len(SCALES)
    assert not {"unit", "zscore", "histogram", "none"} & set(told.values())
    assert describe_preparation({"scale": "zscore", "n_components": 5}) == (
        "z-scored, 5 principal components"
    )
