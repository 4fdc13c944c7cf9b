"""What the user means by a word: a known data set, a file, or a slip of the pen."""

from __future__ import annotations

import pytest

from vicinal.comparison import find_source


def test_a_known_name_is_itself():
    source = find_source("digits", limit=100)
    assert (source.name, source.path, source.limit) == ("digits", None, 100)


def test_a_short_name_stands_for_the_full_one():
    assert find_source("parkinsons").name == "parkinsons_motor"


def test_a_file_is_known_by_its_contents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,y\n1,x\n")
    source = find_source("table.csv", target="y")
    assert source.name == "table.csv"
    assert source.path == str(tmp_path / "table.csv")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "table.csv").write_text("a,y\n1,x\n")
    assert find_source("copy/table.csv", target="y").digest == source.digest
    (tmp_path / "table.csv").write_text("a,y\n2,x\n")
    assert find_source("table.csv", target="y").digest != source.digest


def test_a_known_name_comes_before_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wine").write_text("a,y\n1,x\n")
    assert find_source("wine").path is None
    assert find_source("./wine", target="y").path == str(tmp_path / "wine")


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ("lettre", {}, "Did you mean letter"),
        ("wine", {"target": "kind"}, "a target of its own"),
        ("wine", {"impute": True}, "impute"),
        ("wine", {"task": "regression"}, "task"),
        ("table.csv", {"task": "ranking"}, "'ranking'"),
        ("wine", {"limit": 0}, "at least 2"),
    ],
)
def test_what_makes_no_sense_is_refused(data, options, words):
    with pytest.raises(ValueError, match=words):
        find_source(data, **options)


def test_whatever_the_reader_of_tables_reads_is_taken_for_a_table():
    for suffix in (".csv", ".tsv.gz", ".txt", ".parquet", ".npz"):
        with pytest.raises(ValueError, match="no such file"):
            find_source(f"nowhere{suffix}", target="y")
