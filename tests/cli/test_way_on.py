"""The way on from a comparison: fit what it found, predict, and see why."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome, run_here
from tests.conftest import answer_here
from tests.data.tables import strangers


def run(*words: object, folder: Path) -> Outcome:
    """Run a command in this process and this folder, its cells too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("vicinal.comparison._compare.WorkerPool", answer_here)
        return run_here(*words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a table, a comparison of it, and the model fitted from that."""
    place = tmp_path_factory.mktemp("way on")
    strangers.counts().to_csv(place / "counts.csv", index=False)
    compared = run(
        "compare", "counts.csv", "--target", "score", "--methods", "covariance", "--drop", "s2",
        "--out", "run", "--no-report", folder=place,
    )  # fmt: skip
    assert compared.code == 0, compared.err
    (place / "said.txt").write_text(compared.out)
    fitted = run("fit", "run", "--out", "counts.vicinal", folder=place)
    assert fitted.code == 0, fitted.err
    (place / "fitted.txt").write_text(fitted.out)
    (place / "new.csv").write_text("bmi,bp,s1\n0.1,0.2,0.3\n-1.4,0.9,0\n")
    return place


def test_compare_ends_with_the_next_command(folder):
    last = (folder / "said.txt").read_text().strip().splitlines()[-1]
    assert last == "next: vicinal fit run --out counts.vicinal"


def test_fit_takes_method_k_and_columns_from_the_run(folder):
    said = (folder / "fitted.txt").read_text()
    records = json.loads((folder / "run" / "results.json").read_text())["records"]
    best = min(records, key=lambda record: record["error_mean"])
    assert said.startswith(
        f"{best['method']}, k = {best['k']}, fitted on 442 rows of counts.csv (3"
    )


def test_a_run_whose_table_has_changed_is_not_fitted(folder, tmp_path):
    (tmp_path / "counts.csv").write_text((folder / "counts.csv").read_text())
    done = run(
        "compare", "counts.csv", "--target", "score", "--methods", "covariance", "--out", "run",
        "--no-report", folder=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    with (tmp_path / "counts.csv").open("a") as file:
        file.write("0,0,0,0,100\n")
    refused = run("fit", "run", "--out", "m.vicinal", folder=tmp_path)
    assert refused.code == 2
    assert "has changed since it was compared" in refused.err


def test_a_folder_without_a_run_is_refused(tmp_path):
    refused = run("fit", tmp_path, "--out", tmp_path / "m.vicinal", folder=tmp_path)
    assert refused.code == 2
    assert "a directory without a comparison that ended" in refused.err


def test_predictions_stand_beside_the_table_on_request(folder):
    done = run("predict", "counts.vicinal", "new.csv", "--append", folder=folder)
    assert done.code == 0, done.err
    rows = list(csv.DictReader(done.out.splitlines()))
    assert list(rows[0]) == ["bmi", "bp", "s1", "predicted score"]
    assert rows[1]["bmi"] == "-1.4"
    assert all(len(row["predicted score"]) < 9 for row in rows)


def test_rows_the_model_learned_from_are_said_to_be(folder):
    lines = (folder / "counts.csv").read_text().splitlines()
    (folder / "some.csv").write_text("\n".join(lines[:31]))
    done = run("predict", "counts.vicinal", "some.csv", "--out", "p.csv", folder=folder)
    assert "30 of them equal a row that the model learned from" in done.out
    (folder / "other.csv").write_text("bmi,bp,s1,score\n0.1,0.2,0.3,150\n-1.4,0.9,0,80\n")
    fresh = run("predict", "counts.vicinal", "other.csv", "--out", "p.csv", folder=folder)
    assert "learned from" not in fresh.out + fresh.err


def test_an_answer_is_explained_by_the_neighbours_own_columns(folder):
    done = run("predict", "counts.vicinal", "new.csv", "--explain", "why.html", folder=folder)
    assert done.code == 0, done.err
    page = (folder / "why.html").read_text()
    assert "Row 0: score = " in page
    assert "The mean of" in page
    assert page.count('<tr class="asked">') == 2
    assert "<mark>" in page
    listed = run("neighbors", "counts.vicinal", "new.csv", "--row", "1", folder=folder)
    assert listed.code == 0, listed.err
    assert {"bmi", "bp", "s1"} <= set(listed.out.splitlines()[0].split())
    assert "-1.4" in listed.out


def test_names_on_the_page_of_answers_are_shown_and_not_obeyed(tmp_path):
    frame = strangers.counts().rename(columns={"bmi": "<script>alert(1)</script>"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", "t.csv", "--target", "score", "-o", "m.vicinal", "--method", "covariance",
               "--no-error", folder=tmp_path)  # fmt: skip
    assert done.code == 0, done.err
    run("neighbors", "m.vicinal", "t.csv", "--row", "0", "--html", "n.html", folder=tmp_path)
    assert "<script>" not in (tmp_path / "n.html").read_text()
