"""What a comparison says of its data in words."""

from __future__ import annotations

from dataclasses import replace

from vicinal.comparison import plan_comparison
from vicinal.comparison._compare import describe_comparison, describe_source
from vicinal.runs import Source


def test_a_known_data_set_names_its_home_its_licence_and_its_reference():
    told = describe_source(Source("wine"))
    assert "archive.ics.uci.edu" in told
    assert "CC BY 4.0" in told
    assert "cited as " in told


def test_a_table_of_ones_own_has_no_source_to_name():
    assert describe_source(Source("mine.csv", path="mine.csv")) == ""


def test_what_a_user_should_know_of_the_data_is_noted():
    plan = plan_comparison(Source("digits"), methods=["euclidean"], ks=(3,))
    assert "About digits: the test part of the original set." in describe_comparison(plan, ()).notes


def test_a_sample_is_said_to_be_one():
    plan = plan_comparison(Source("wine", limit=60), methods=["euclidean"], ks=(3,))
    notes = describe_comparison(plan, ()).notes
    assert "Measured on a random sample of 60 rows (--limit)." in notes
    whole = replace(plan, setting=replace(plan.setting, source=Source("wine")))
    assert not any("sample" in note for note in describe_comparison(whole, ()).notes)
