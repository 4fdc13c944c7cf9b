"""Every published experiment file is whole, and names pick the ones a reader would expect."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml

from vicinal.comparison._synthetic import SYNTHETIC
from vicinal.data import list_datasets
from vicinal.experiments import _published
from vicinal.experiments._published import (
    Experiment,
    parse_experiment,
    published_experiments,
    select_experiments,
)
from vicinal.methods._table import get_method, list_methods

FOLDER = Path(_published.__file__).parent / "published"
FILES = sorted(FOLDER.glob("*.yaml"))
DOCS = Path(__file__).parents[2] / "docs"
SETS = ("isolet", "usps", "letter", "dslr", "amazon", "webcam", "caltech10")
SURF = SETS[3:]
# Guessing among ten classes errs at 90 %, the mean of the target at an nMSE of 1.
POSSIBLE = {"percent": (0.1, 95.0), "share": (0.001, 0.5), "nmse": (0.01, 1.0)}
REGRESSION = (
    *("delta_ailerons", "concrete", "boston_housing", "wine_white", "barrett_1", "barrett_5"),
    *("sarcos_gpml_1", "sarcos_gpml_5", "parkinsons_motor", "parkinsons_total", "pol_telecomm"),
)
BINARY = ("covtype", "magic", "page_blocks", "shuttle", "musk2", "ijcnn1", "codrna")
WORDS = {"knn": "knn", "hnn": "hnn"}


def fields_of(file: Path) -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


@cache
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
        {**good, "h": "cv"},
        {**{key: value for key, value in good.items() if key != "k"}, "h": 0.5},
        {**good, "view": {"sides": "all"}},
        {**good, "published": {"spread": 0.1, "unit": "percent"}},
        {**good, "dubts": []},
        {**good, "published": {"error": "2.3", "unit": "percent"}},
        {**good, "protocol": {"name": "leave-one-out"}},
        {key: value for key, value in good.items() if key != "citation"},
    ):
        assert not checker.is_valid(spoiled)


@pytest.mark.parametrize("experiment", published_experiments(), ids=lambda e: e.name)
def test_every_file_names_things_that_exist(experiment: Experiment) -> None:
    keys = citation_keys()
    assert experiment.dataset in {*list_datasets(), *SYNTHETIC}
    assert get_method(experiment.method).name == experiment.method
    assert {experiment.citation, experiment.document} <= keys
    assert experiment.name.startswith(f"{experiment.citation}_{experiment.method}_")
    assert f"_{experiment.dataset}_" in experiment.name
    ending = WORDS.get(str(experiment.k), f"k{experiment.k}")
    assert re.search(rf"_{ending}(_n{experiment.n_train})?$", experiment.name)


@pytest.mark.parametrize("experiment", published_experiments(), ids=lambda e: e.name)
def test_published_figures_are_plausible(experiment: Experiment) -> None:
    least, most = POSSIBLE[experiment.unit]
    printed = () if experiment.error is None else (experiment.error,)
    assert all(least < figure < most for figure in (*printed, *experiment.others.values()))
    assert experiment.method not in experiment.others
    assert experiment.spread is None or experiment.spread < 1.2 * (experiment.error or 0)
    several = experiment.error is not None and experiment.protocol != "official"
    assert (experiment.spread is not None) == several
    assert experiment.k in WORDS or int(experiment.k) < 100
    assert experiment.line is not None


def test_names_and_cells_are_unique() -> None:
    experiments = published_experiments()
    names = Counter(experiment.name for experiment in experiments)
    assert max(names.values()) == 1
    assert {re.sub(r"_n\d+$", "", name) for name in names} == {file.stem for file in FILES}
    cells = Counter(
        (e.citation, e.method, e.dataset, str(sorted(e.preparation.items())), e.k)
        for e in experiments
        if e.error is not None
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
        ("trivedi2014egop_egop_delta_ailerons_hnn", 0.3264, 0.0095, 3436),
        ("trivedi2014egop_gw_parkinsons_total_hnn", 0.398, 0.0738, 3445),
        ("trivedi2014egop_egop_pol_telecomm_hnn", 0.038, 0.0059, 3446),
        ("trivedi2014egop_euclidean_concrete_knn", 0.2884, 0.0311, 3453),
        ("trivedi2014egop_egop_parkinsons_motor_knn", 0.3211, 0.0479, 3461),
        ("trivedi2014egop_relieff_covtype_hnn", 0.1806, 0.0165, 3481),
        ("trivedi2014egop_gw_shuttle_hnn", 0.0297, 0.0327, 3484),
        ("trivedi2014egop_egop_codrna_knn", 0.0627, 0.0057, 3498),
        ("trivedi2018_ejop_mnist_raw_k7", 2.37, None, 4390),
        ("trivedi2018_euclidean_dslr_zscore_knn", 84.85, 4.8, 4416),
        ("trivedi2018_ejop_webcam_zscore_hnn", 24.86, 1.2, 4420),
        ("trivedi2018_ejop_caltech10_zscore_knn", 52.86, 3.1, 4422),
    ],
)
def test_figures_are_those_of_the_source(
    name: str, error: float, spread: float | None, line: int
) -> None:
    (experiment,) = select_experiments([name])
    assert (experiment.error, experiment.spread, experiment.line) == (error, spread, line)


@pytest.mark.parametrize("kind", ["knn", "hnn"])
@pytest.mark.parametrize(
    ("sets", "methods"),
    [
        (REGRESSION, ("euclidean", "gw", "egop")),
        (BINARY, ("euclidean", "gw", "egop", "relieff")),
    ],
)
def test_every_cell_of_the_gradient_tables_is_there(
    sets: tuple[str, ...], methods: tuple[str, ...], kind: str
) -> None:
    for name in sets:
        row = [select_experiments([f"trivedi2014egop_{m}_{name}_{kind}"])[0] for m in methods]
        assert len({experiment.line for experiment in row}) == 1
        for cell in row:
            others = {e.method: e.error for e in row if e is not cell}
            assert cell.others == others
            assert cell.folds["n_repeats"] == 10


def test_rows_that_are_not_independent_are_also_kept_together() -> None:
    grouped = select_experiments(["grouped"])
    assert {e.dataset for e in grouped} == {
        *("barrett_1", "barrett_5", "sarcos_ias_1", "sarcos_ias_5"),
        *("parkinsons_motor", "parkinsons_total", "musk2", "isolet"),
    }
    assert all(e.protocol == "grouped" and e.error is None for e in grouped)
    assert all(any("keep together" in doubt for doubt in e.doubts) for e in grouped)


def test_a_file_with_several_sizes_is_a_curve() -> None:
    curve = select_experiments(["trivedi2014egop_egop_barrett_1_llr_knn_*"])
    assert [e.n_train for e in curve] == [375, 750, 1500, 3000]
    assert [e.seconds for e in curve] == [None, None, None, 1650.55]
    assert all(e.error is None and "train_sizes" not in e.folds for e in curve)


def test_a_printed_row_that_repeats_another_is_doubted() -> None:
    (musk,) = select_experiments(["trivedi2014egop_egop_musk2_knn"])
    (cover,) = select_experiments(["trivedi2014egop_egop_covtype_knn"])
    assert musk.error == cover.error
    assert "Cover Type" in musk.doubts[0]


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
