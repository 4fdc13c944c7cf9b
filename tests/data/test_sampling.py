"""Rows of a large text drawn at random: what the csv module calls a row, in bounded memory."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal
from vicinal.data.tables import _sampling, read_raw
from vicinal.data.tables._sampling import is_large_text, sample_records

CELLS = st.text(alphabet='ab "\n,;', max_size=6)


@pytest.fixture
def small_blocks(monkeypatch):
    """Files of a few bytes are large, and read in blocks that cut through records."""
    monkeypatch.setattr(_sampling, "LARGE", 40)
    monkeypatch.setattr(_sampling, "BLOCK", 7)
    monkeypatch.setattr(_sampling, "HEAD", 2)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(table=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), seed=st.integers(0, 5))
def test_records_are_the_rows_of_the_csv_module(table, seed, tmp_path_factory):
    path = tmp_path_factory.mktemp("drawn") / "t.csv"
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(table)
    path.write_text(text.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sampling, "BLOCK", 7)
        patch.setattr(_sampling, "HEAD", 2)
        patch.setattr(_sampling, "MOST_BYTES", 10**6)
        data, total = sample_records(path, max(1, len(table) // 2), seed)
    assert total == len(table)
    drawn, everything = rows_of(data.decode()), rows_of(text.getvalue())
    assert len(drawn) == max(1, len(table) // 2)
    left = iter(everything)
    assert all(row in left for row in drawn), "in the order of the file, none twice"
    assert drawn[:2] == everything[: min(2, len(drawn))]


def test_every_row_is_as_likely_as_another(tmp_path, small_blocks):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(60)))
    drawn = [sample_records(path, 12, seed)[0].split()[2:] for seed in range(400)]
    counts = np.bincount([int(x) for row in drawn for x in row], minlength=60)
    assert counts[0] == 0, "the head is drawn always"
    expected = 400 * 10 / 59
    chi_squared = np.sum((counts[1:] - expected) ** 2 / expected)
    assert chi_squared < 100  # 58 degrees of freedom: one in two thousand is above 101


def test_json_lines_have_no_quotes_to_respect(tmp_path, small_blocks):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"a": i, "b": 'half a "quote'}) + "\n" for i in range(30)))
    frame = read_raw(path, n_rows=10).frame
    assert len(frame) == 10
    assert frame["a"].is_monotonic_increasing


def test_packed_and_wide_texts_and_small_ones_are_read_whole(tmp_path, small_blocks):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa;b\n1;2\n".encode("utf-16"))
    assert not is_large_text(path)
    path.write_text("a,b\n" + "1,2\n" * 20)
    assert is_large_text(path)
    assert len(read_raw(path).frame) == 20
    assert not is_large_text(tmp_path / "t.parquet")


def test_a_large_table_is_compared_by_a_sample_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(_sampling, "LARGE", 100_000)
    monkeypatch.setattr("vicinal.comparison._compare.SAMPLE", 900)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(5000, 3)), columns=list("abc"))
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame["said"] = 'two\nlines, "quoted"'
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = vicinal.compare(tmp_path / "t.csv", "kind", methods=["lda"], k=3)
    assert 890 <= found.n_rows <= 900
    assert any("of the 5,000 rows" in note and "at random" in note for note in found.notes)
    assert "limit=900" in found.call
    more = vicinal.compare(tmp_path / "t.csv", "kind", methods=[], k=3, limit=2000)
    assert 1990 <= more.n_rows <= 2000


def test_memory_follows_the_sample_and_not_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,c\n" + b"1.25,2.5,3.75\n" * 3_000_000)
    tracemalloc.start()
    data, total = sample_records(path, 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (total, data.count(b"\n")) == (3_000_001, 1000)
    assert peak < 6 * _sampling.BLOCK
    assert peak < path.stat().st_size
