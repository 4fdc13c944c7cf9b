"""Every published experiment file is whole, and names pick the ones a reader would expect."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml

from vicinal.data import list_datasets
from vicinal.experiments import _published
from vicinal.experiments._methods import get_method, list_methods
from vicinal.experiments._published import (
    Experiment,
    parse_experiment,
    published_experiments,
    select_experiments,
)

FOLDER = Path(_published.__file__).parent / "published"
FILES = sorted(FOLDER.glob("*.yaml"))
DOCS = Path(__file__).parents[2] / "docs"
SETS = ("isolet", "usps", "letter", "dslr", "amazon", "webcam", "caltech10")
SURF = SETS[3:]
BEST_POSSIBLE, WORST_POSSIBLE = 0.1, 95.0  # percent; guessing among ten classes errs at 90


def fields_of(file: Path) -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def citation_keys() -> set[str]:
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    return set(re.findall(r"^@\w+\{\s*([^,\s]+)", text, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def checker() -> jsonschema.Draft202012Validator:
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_follows_the_schema(
    file: Path, checker: jsonschema.Draft202012Validator
) -> None:
    problems = [
        f"{error.json_path}: {error.message}" for error in checker.iter_errors(fields_of(file))
    ]
    assert problems == []


def test_the_schema_refuses_what_it_should(checker: jsonschema.Draft202012Validator) -> None:
    good = fields_of(FILES[0])
    for spoiled in (
        {**good, "k": 0},
        {**good, "dubts": []},
        {**good, "published": {"error": "2.3", "unit": "percent"}},
        {**good, "protocol": {"name": "leave-one-out"}},
        {key: value for key, value in good.items() if key != "citation"},
    ):
        assert not checker.is_valid(spoiled)


@pytest.mark.parametrize("experiment", published_experiments(), ids=lambda e: e.name)
def test_every_file_names_things_that_exist(experiment: Experiment) -> None:
    keys = citation_keys()
    assert experiment.dataset in list_datasets()
    assert get_method(experiment.method).name == experiment.method
    assert {experiment.citation, experiment.document} <= keys
    assert experiment.name.startswith(f"{experiment.citation}_{experiment.method}_")
    assert f"_{experiment.dataset}_" in experiment.name
    assert experiment.name.endswith(f"_k{experiment.k}")


@pytest.mark.parametrize("experiment", published_experiments(), ids=lambda e: e.name)
def test_published_figures_are_plausible(experiment: Experiment) -> None:
    assert experiment.unit == "percent"
    figures = [experiment.error, *experiment.others.values()]
    assert all(BEST_POSSIBLE < figure < WORST_POSSIBLE for figure in figures)
    assert experiment.method not in experiment.others
    assert experiment.spread is None or experiment.spread < experiment.error
    assert (experiment.spread is None) == (experiment.protocol == "official")
    assert experiment.k < 100


def test_names_and_cells_are_unique() -> None:
    experiments = published_experiments()
    assert len(experiments) == len(FILES)
    cells = Counter(
        (e.citation, e.method, e.dataset, str(sorted(e.preparation.items())), e.k)
        for e in experiments
    )
    assert max(cells.values()) == 1


@pytest.mark.parametrize("method", ["mlng", "euclidean"])
@pytest.mark.parametrize(("word", "sets"), [("zscore", SETS), ("raw", SETS), ("histogram", SURF)])
def test_every_cell_of_the_three_tables_is_there(
    method: str, word: str, sets: tuple[str, ...]
) -> None:
    names = {experiment.name for experiment in published_experiments()}
    expected = {f"trivedi2014_{method}_{name}_{word}_k{k}" for name in sets for k in (3, 7, 11)}
    assert expected <= names


def test_a_cell_and_its_euclidean_twin_quote_each_other() -> None:
    named = {experiment.name: experiment for experiment in published_experiments()}
    pairs = [
        (named[name], named[name.replace("_mlng_", "_euclidean_")])
        for name in named
        if "_mlng_" in name
    ]
    assert len(pairs) == 54
    for ours, plain in pairs:
        assert ours.others["euclidean"] == plain.error
        assert plain.others["mlng"] == ours.error
        assert ours.line is not None
        assert plain.line is not None
        assert ours.line > plain.line


@pytest.mark.parametrize(
    ("name", "error", "spread", "line"),
    [  # read off the source by eye, not by the way the files were made
        ("trivedi2014_mlng_letter_zscore_k3", 2.32, 0.1, 1543),
        ("trivedi2014_mlng_dslr_zscore_k3", 17.18, 4.7, 1543),
        ("trivedi2014_mlng_caltech10_zscore_k11", 40.76, 1.8, 1596),
        ("trivedi2014_euclidean_webcam_zscore_k7", 57.29, 6.3, 1555),
        ("trivedi2014_mlng_amazon_histogram_k3", 28.08, 2.4, 1683),
        ("trivedi2014_mlng_isolet_raw_k7", 4.07, None, 1796),
        ("trivedi2014_euclidean_usps_raw_k11", 5.68, None, 1809),
    ],
)
def test_figures_are_those_of_the_source(
    name: str, error: float, spread: float | None, line: int
) -> None:
    (experiment,) = select_experiments([name])
    assert (experiment.error, experiment.spread, experiment.line) == (error, spread, line)


def test_doubts_say_what_the_source_leaves_open() -> None:
    (isolet,) = select_experiments(["trivedi2014_mlng_isolet_zscore_k3"])
    (letter,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])
    assert any("170" in doubt and "172" in doubt for doubt in isolet.doubts)
    assert any("fold" in doubt and "seed" in doubt for doubt in letter.doubts)
    assert all(experiment.doubts for experiment in published_experiments())


def test_raw_cells_say_that_mlng_scales_by_itself() -> None:
    for experiment in select_experiments(["*_mlng_*_raw_*"]):
        assert any("not a second measurement" in doubt for doubt in experiment.doubts)


def test_the_best_rival_is_the_lowest_published_figure() -> None:
    (experiment,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])
    assert experiment.rival == ("gblmnn", 2.92)
    assert dataclasses.replace(experiment, others={}).rival is None


def test_a_group_is_a_word_of_the_name() -> None:
    assert {e.method for e in select_experiments(["mlng"])} == {"mlng"}
    assert {e.dataset for e in select_experiments(["letter"])} == {"letter"}
    assert {e.k for e in select_experiments(["k3"])} == {3}
    assert select_experiments(["all"]) == published_experiments()


def test_globs_and_several_names_give_the_union_once() -> None:
    both = select_experiments(["*_mlng_letter_zscore_*", "letter"])
    assert both == select_experiments(["letter"])
    assert [e.k for e in select_experiments(["*_mlng_letter_zscore_*"])] == [3, 7, 11]


def test_k_narrows_the_choice() -> None:
    assert {e.k for e in select_experiments(["letter"], ks=[3, 11])} == {3, 11}
    with pytest.raises(ValueError, match=r"k = 4; they have k = 3, 7, 11"):
        select_experiments(["letter"], ks=[4])


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"'leter'; did you mean letter"):
        select_experiments(["leter"])
    with pytest.raises(ValueError, match=r"did you mean trivedi2014_mlng_letter_zscore_k3"):
        select_experiments(["trivedi2014_mlng_letters_zscore_k3"])
    with pytest.raises(ValueError, match="groups are"):
        select_experiments(["////"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", "cannot be read"),
        ("just words", "cannot be read"),
        ("name: x", "KeyError"),
        ("name: other", "calls itself 'other'"),
        ("name: !!python/object/apply:os.system ['true']", "cannot be read"),
    ],
)
def test_a_broken_file_is_named_in_the_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_experiment(text, "x")


def test_every_method_of_the_table_can_be_named_by_a_file() -> None:
    pattern = re.compile(r"^[a-z0-9]+$")
    assert all(pattern.match(method.name) for method in list_methods())
