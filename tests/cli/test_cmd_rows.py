"""``vicinal rows``: rows join and leave a model file, and what the file tells goes with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from vicinal import load_model, read_metadata


@pytest.fixture
def tables(tmp_path) -> dict[str, Path]:
    frame = load_wine(as_frame=True).frame
    frame["target"] = [f"kind {value}" for value in frame["target"]]
    frame.insert(0, "name", [f"n{i}" for i in range(len(frame))])
    parts = {"first": frame[:150], "more": frame[150:], "some": frame[10:13]}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    return {name: tmp_path / f"{name}.csv" for name in parts}


def fitted(run, tables, *more) -> Path:
    path = tables["first"].parent / "m.vicinal"
    how = ("--target", "target", "--method", "lda", "--no-error", "-o", path)
    assert run("fit", tables["first"], *how, *more).code == 0
    return path


@pytest.mark.parametrize("roles", [("--id", "name"), ("--drop", "name")], ids=["by id", "by value"])
def test_rows_join_and_leave_with_all_that_the_file_tells_of_them(run, tables, roles):
    path = fitted(run, tables, *roles)
    done = run("rows", "add", path, tables["more"])
    assert done.code == 0, done.err
    assert "28 rows joined 150" in done.out
    assert read_metadata(path)["n_train"] == 178
    assert load_model(path)[-1].classes_.tolist() == ["kind 0", "kind 1", "kind 2"]
    done = run("rows", "remove", path, tables["some"])
    assert done.code == 0, done.err
    assert "3 rows left; 175 stay" in done.out
    facts = read_metadata(path)
    assert all(len(texts) == 175 for texts in facts["cells"].values())
    if "ids" in facts:
        assert not {"n10", "n11", "n12"} & set(facts["ids"])
    again = run("rows", "remove", path, tables["some"])
    assert again.code == 2
    assert "no row of the model" in again.err
    found = run("neighbors", path, tables["more"], "--row", 0, "--k", 1, "--format", "json")
    (near,) = json.loads(found.out)["neighbors"][0]["neighbors"]
    assert near["row"] == 147
    assert near["distance"] < 1e-6


def test_the_model_may_be_written_elsewhere(run, tables):
    path = fitted(run, tables)
    before = path.read_bytes()
    other = path.with_name("other.vicinal")
    assert run("rows", "add", path, tables["more"], "--out", other).code == 0
    assert path.read_bytes() == before
    assert load_model(other)[-1].n_samples_fit_ == 178


def test_rows_without_a_target_or_a_model_are_refused(run, tables):
    path = fitted(run, tables)
    bare = path.with_name("bare.csv")
    lines = tables["more"].read_text().splitlines()
    bare.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    done = run("rows", "add", path, bare)
    assert done.code == 2
    assert "need their target" in done.err
    assert run("rows", "add", path.with_name("none.vicinal"), bare).code == 2
    assert run("rows", "remove", path, tables["first"]).code == 2
