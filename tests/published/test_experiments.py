"""Names pick the experiments a reader would expect."""

from __future__ import annotations

import dataclasses

import pytest

from vicinal.published import published_experiments, published_tables, select_experiments


def test_the_best_rival_is_the_lowest_published_figure() -> None:
    (experiment,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])
    assert experiment.rival == ("gblmnn", 2.92)
    assert dataclasses.replace(experiment, others={}).rival is None


def test_a_group_is_a_word_of_the_name() -> None:
    assert {e.method for e in select_experiments(["mlng"])} == {"mlng"}
    assert {e.method for e in select_experiments(["egop"])} == {"egop"}
    assert {e.method for e in select_experiments(["ejop"])} == {"ejop"}
    assert {e.method for e in select_experiments(["gw"])} == {"gw"}
    assert {e.dataset for e in select_experiments(["letter"])} == {"letter"}
    assert {e.k for e in select_experiments(["k3"])} == {3}
    assert select_experiments(["all"]) == published_experiments()


def test_globs_and_several_names_give_the_union_once() -> None:
    both = select_experiments(["*_mlng_letter_zscore_*", "letter"])
    assert both == select_experiments(["letter"])
    assert [e.k for e in select_experiments(["*_mlng_letter_zscore_*"])] == [3, 7, 11]


def test_k_narrows_the_choice() -> None:
    assert {e.k for e in select_experiments(["letter"], ks=[3, 11])} == {3, 11}
    with pytest.raises(ValueError, match=r"k = 4; they have k = hnn, knn, 3, 7, 11"):
        select_experiments(["letter"], ks=[4])


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"'leter'; did you mean letter"):
        select_experiments(["leter"])
    with pytest.raises(ValueError, match=r"did you mean trivedi2014_mlng_letter_zscore_k3"):
        select_experiments(["trivedi2014_mlng_letters_zscore_k3"])
    with pytest.raises(ValueError, match="groups are"):
        select_experiments(["////"])


def test_the_name_of_a_table_picks_its_experiments() -> None:
    for table in published_tables():
        picked = {experiment.name for experiment in select_experiments([table.name])}
        assert picked == {experiment.name for experiment in table.experiments}


def test_names_joined_by_colons_pick_what_each_of_them_picks() -> None:
    (experiment,) = select_experiments(["trivedi2014_zscore:letter:mlng:k3"])
    assert experiment.name == "trivedi2014_mlng_letter_zscore_k3"
    assert {e.method for e in select_experiments(["letter:*_ejop_*"])} == {"ejop"}
    with pytest.raises(ValueError, match="picked by all parts of 'letter:egop'"):
        select_experiments(["letter:egop"])
    with pytest.raises(ValueError, match=r"'leter'; did you mean letter"):
        select_experiments(["trivedi2014_zscore:leter"])


def test_rivals_are_one_group_of_experiments():
    picked = {e.method for e in select_experiments(["rivals"])}
    assert {"lmnn", "gblmnn", "mlr", "itml", "nca", "knca"} <= picked
    assert not picked & {"mlng", "euclidean", "egop", "relieff"}
