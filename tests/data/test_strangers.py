"""Fifteen strangers' tables: read rightly or refused with a remedy, and never flattered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.data.tables import strangers

import vicinal
from vicinal.data import TableError, read_table

OPTIONS: dict[str, dict[str, Any]] = {
    "loans": {"impute": True},
    "leaks": {"impute": True},
    "titanic_like": {"impute": True},
    "lab_values": {"impute": True, "missing": "<LOD"},
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[str, Path]:
    return strangers.write_tables(tmp_path_factory.mktemp("strangers"))


def read(paths: dict[str, Path], name: str, **options: Any) -> vicinal.Dataset:
    target = "sales" if name == "workbook" else strangers.TABLES[name][1]
    return read_table(paths[name], target, **(OPTIONS.get(name, {}) | options))


def said(dataset: vicinal.Dataset) -> str:
    return "\n".join(dataset.notes)


def error(paths: dict[str, Path], name: str, **options: Any) -> float:
    """Return the error of plain 5-NN under whatever protocol the table asks for."""
    target, asked = strangers.TABLES[name][1], OPTIONS.get(name, {}) | options
    found = vicinal.compare(paths[name], target, methods=[], k=5, **asked)
    return found.rows[0].error_mean


# Rows that are not independent ----------------------------------------------------------------


def test_a_daily_series_is_judged_by_what_came_before(paths):
    dataset = read(paths, "daily_series")
    assert dataset.protocol == "time"
    assert "rows come in the order of 'date'" in said(dataset)
    assert "(protocol='kfold')" in said(dataset)
    assert error(paths, "daily_series") > 1, "no better than the mean"
    assert error(paths, "daily_series", protocol="kfold") < 0.5, "as it was flattered"


def test_rows_of_a_subject_stay_together_and_name_no_feature(paths):
    dataset = read(paths, "subjects")
    assert dataset.protocol == "grouped"
    assert "subject" not in dataset.feature_names
    assert dataset.groups is not None
    assert len(np.unique(dataset.groups)) == 20
    assert "(groups='subject')" in said(dataset)
    assert "(keep='subject')" in said(dataset)
    assert error(paths, "subjects") > 0.5 > 0.2 > error(paths, "subjects", keep="subject")


@pytest.mark.parametrize("codes", [lambda s: s * 7 + 3, lambda s: "unit " + s.astype(str)])
def test_subjects_that_no_name_betrays_are_told_by_their_rows(tmp_path, codes):
    frame = strangers.subjects().rename(columns={"subject": "who"})
    frame["who"] = codes(frame["who"])
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    mixed = read_table(tmp_path / "mixed.csv", "state")  # a tenth of the answers differ
    assert mixed.protocol == "kfold"
    assert "each 'who' has several rows" in said(mixed)
    frame["state"] = frame.groupby("who")["state"].transform("first")
    frame.to_csv(tmp_path / "clean.csv", index=False)
    clean = read_table(tmp_path / "clean.csv", "state")
    assert clean.protocol == "grouped"
    assert "(groups='who')" in said(clean)


def test_a_quantity_that_others_tell_names_no_subjects(tmp_path):
    rng = np.random.default_rng(0)
    width = rng.normal(size=(1500, 1))
    frame = pd.DataFrame(width + 0.01 * rng.normal(size=(1500, 4))).add_prefix("side")
    frame["box"] = np.clip(np.round(5 * width[:, 0] + 15), 0, 30).astype(int)
    frame["kind"] = np.where(width[:, 0] + rng.normal(size=1500) > 0, "wide", "narrow")
    frame.to_csv(tmp_path / "boxes.csv", index=False)
    dataset = read_table(tmp_path / "boxes.csv", "kind")
    assert dataset.protocol == "kfold"
    assert "box" not in said(dataset)


def test_a_subject_that_is_asked_for_is_a_feature(paths):
    dataset = read(paths, "subjects", keep="subject")
    assert dataset.protocol == "kfold"
    assert dataset.groups is None
    assert "subject" in dataset.feature_names


def test_copies_stay_together(paths):
    dataset = read(paths, "copies")
    assert dataset.protocol == "grouped"
    assert "400 of 600 rows repeat an earlier one" in said(dataset)
    assert error(paths, "copies") > 0.45 > error(paths, "copies", protocol="kfold")
    asked = read(paths, "copies", groups="copies")
    assert asked.groups is not None
    assert len(np.unique(asked.groups)) == 200


@pytest.mark.parametrize("name", ["german_flats", "tickets", "ratings", "counts", "typos"])
def test_independent_rows_are_shuffled(paths, name):
    dataset = read(paths, name)
    assert dataset.protocol == "kfold"
    assert "flattered" not in said(dataset)


def test_a_series_out_of_order_gets_a_line_and_no_more(tmp_path):
    frame = strangers.daily_series().sample(frac=1.0, random_state=1)
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    dataset = read_table(tmp_path / "mixed.csv", "load")
    assert dataset.protocol == "kfold"
    assert "targets follow one another in order of 'date'" in said(dataset)
    assert vicinal.compare(
        tmp_path / "mixed.csv", "load", methods=[], k=5, protocol="time"
    ).protocol.startswith("5 stretches of time")


def test_dates_of_birth_make_no_series(tmp_path):
    rng = np.random.default_rng(0)
    born = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 18_000, 300), unit="D")
    frame = pd.DataFrame({"born": born.strftime("%Y-%m-%d"), "x": rng.normal(size=300)})
    frame.assign(y=np.where(born.year < 1975, "old", "young")).to_csv(
        tmp_path / "b.csv", index=False
    )
    assert read_table(tmp_path / "b.csv", "y").protocol == "kfold"


def test_python_judges_a_frame_as_the_command_judges_its_file(paths):
    frame = strangers.subjects()
    found = vicinal.compare(frame, "state", methods=[], k=5)
    assert found.protocol == "5-fold cross-validation by group"
    assert found.rows[0].error_mean == pytest.approx(error(paths, "subjects"))
    assert "stay together" in found._repr_html_()


# Categories, texts, holes ---------------------------------------------------------------------


def test_a_street_of_many_values_costs_little_beside_dropping_it(paths):
    dropped = error(paths, "german_flats", drop="Straße")
    assert error(paths, "german_flats") < dropped + 0.01
    assert error(paths, "cities") < 1.05 * error(paths, "cities", drop="city")


def test_free_text_holds_the_answer(paths):
    assert error(paths, "tickets", drop="text") > 0.5
    assert error(paths, "tickets") < 0.15


def test_spellings_of_one_job_are_near(paths):
    assert error(paths, "typos") < 0.2 < 1.0 < error(paths, "typos", drop="job")


def test_a_hidden_postcode_is_a_code_and_a_named_month_a_date(paths):
    dataset = read(paths, "loans")
    columns = set(np.ravel(dataset.extras["columns"]).tolist())
    assert {"zip", "issued"} <= columns
    assert "zip: letters 1" in dataset.feature_names
    assert "issued: month" in dataset.feature_names
    assert "month named and year" in said(dataset)


def test_a_number_that_is_often_missing_says_where(paths):
    dataset = read(paths, "loans")
    place = dataset.feature_names.index("income: missing")
    number = dataset.X[:, dataset.feature_names.index("income")]
    np.testing.assert_array_equal(dataset.X[:, place], np.isnan(number))


def test_the_leak_that_hides_in_a_gap_is_named_with_the_others(paths):
    assert "'closed', 'farewell', 'refund' tell, each alone, 'churned'" in said(
        read(paths, "leaks")
    )


def test_words_among_numbers_are_refused_with_the_option_that_mends_it(paths):
    with pytest.raises(TableError, match=r"'crp' is of numbers but for '<LOD'") as refused:
        read(paths, "lab_values", missing=())
    assert refused.value.remedy == {"missing": ("<LOD", "n.d."), "impute": True}
    dataset = read(paths, "lab_values", **refused.value.remedy)
    assert {"crp", "crp: missing", "iron"} <= set(dataset.feature_names)


def test_a_target_of_many_whole_numbers_is_a_quantity_and_said_so(paths, tmp_path):
    dataset = read(paths, "counts")
    assert dataset.task == "regression"
    assert "204 different numbers of 'score' are taken for a quantity" in said(dataset)
    strangers.prices().to_csv(tmp_path / "prices.csv", index=False)
    assert read_table(tmp_path / "prices.csv", "price").task == "regression"


def test_marks_from_three_to_eight_get_a_line(paths):
    dataset = read(paths, "ratings")
    assert dataset.task == "classification"
    assert "6 whole numbers of 'quality' (3 to 8) are taken for classes" in said(dataset)
    assert "taken for" not in said(read(paths, "ratings", task="classification"))


def test_a_workbook_is_read_below_its_title_and_above_its_total(paths):
    dataset = read(paths, "workbook")
    assert dataset.X.shape == (120, 5)
    assert "of the sheets 'About', 'Sales', 'Sales' was read" in said(dataset)
    assert "passed over 2 rows above the header" in said(dataset)
    assert "left out the last row, which sums up the others" in said(dataset)
    with pytest.raises(ValueError, match=r"'Mai' is no sheet of it; there are 'About', 'Sales'"):
        read(paths, "workbook", sheet="Mai")
    with pytest.raises(ValueError, match="Excel workbooks alone"):
        read(paths, "counts", sheet="Sales")


def test_a_name_holds_its_title(paths):
    assert error(paths, "titanic_like") < error(paths, "titanic_like", drop="Name")


def test_classes_of_two_rows_are_read_as_they_are(paths):
    dataset = read(paths, "classes_of_two")
    assert len(dataset.classes) == 30
    assert "most classes of 'kind' have two rows" in said(dataset)
    assert "(k='1')" in said(dataset)


def test_one_class_of_two_rows_is_offered_a_single_neighbour(tmp_path):
    frame = strangers.classes_of_two()
    frame["kind"] = ["rare"] * 2 + ["often"] * (len(frame) - 2)
    frame.to_csv(tmp_path / "rare.csv", index=False)
    assert "ask one, too (k='1,3')" in said(read_table(tmp_path / "rare.csv", "kind"))
