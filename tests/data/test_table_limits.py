"""A small file that unpacks to a large table is refused before it fills the memory."""

from __future__ import annotations

import csv
import gzip
import time
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from vicinal.data import read_table
from vicinal.data.tables import read_frame
from vicinal.data.tables._arrow_sizes import unpacked_size

LIMIT = "VICINAL_LARGEST_TABLE"


def pack_lines(path, n_lines):
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * n_lines))


def pack_arrays(path, n_rows):
    np.savez_compressed(path, X=np.zeros((n_rows, 2)))


def pack_sheet(path, n_rows, column="B"):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    for row in range(2, n_rows + 2):
        book.active[f"A{row}"] = row
        book.active[f"{column}{row}"] = row
    book.save(path)


def pack_columns(path, n_rows):
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    table = pa.table({"a": np.zeros(n_rows), "b": np.zeros(n_rows)})
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, path)
    else:
        import pyarrow.feather as feather

        feather.write_feather(table, path, chunksize=1000)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.csv.gz", pack_lines),
        ("t.npz", pack_arrays),
        ("t.xlsx", pack_sheet),
        ("t.parquet", pack_columns),
        ("t.feather", pack_columns),
    ],
)
def test_a_table_beyond_the_limit_is_refused_and_one_within_it_read(
    tmp_path, monkeypatch, name, pack
):
    pack(tmp_path / name, 2000)
    monkeypatch.setenv(LIMIT, "7kB")
    with pytest.raises(ValueError, match=rf"{name}.* unpack to more than 0.007 MB.*{LIMIT}"):
        read_frame(tmp_path / name)
    monkeypatch.setenv(LIMIT, "1 MB")
    assert read_frame(tmp_path / name).shape == (2000, 2)


def test_a_megabyte_that_unpacks_to_900_is_refused_in_the_memory_of_the_limit(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 250_000) * 900)
    tracemalloc.start()
    with pytest.raises(ValueError, match="unpack to more than 100 MB"):
        read_frame(tmp_path / "t.csv.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250e6


def test_a_large_file_may_unpack_to_its_size_twenty_times(tmp_path, monkeypatch):
    monkeypatch.setattr("vicinal.data.tables._limits._USUAL", 10)
    lines = "".join(f"{a},{b}\n" for a, b in np.random.default_rng(0).random((500, 2)))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + lines.encode()))
    assert read_frame(tmp_path / "t.csv.gz").shape == (500, 2)


@pytest.mark.parametrize("size", ["large", "-1", "4 bytes"])
def test_a_limit_that_is_no_size_is_refused(tmp_path, monkeypatch, size):
    pack_lines(tmp_path / "t.csv.gz", 3)
    monkeypatch.setenv(LIMIT, size)
    with pytest.raises(ValueError, match=f"{LIMIT} must be a size such as 500MB"):
        read_frame(tmp_path / "t.csv.gz")


def test_an_array_that_claims_more_than_there_is_asks_for_no_memory(tmp_path):
    claim = {"shape": (10**6, 10**6), "fortran_order": False, "descr": "<f8"}
    with (
        zipfile.ZipFile(tmp_path / "t.npz", "w") as archive,
        archive.open("X.npy", "w") as file,
    ):
        np.lib.format.write_array_header_1_0(file, claim)
    with pytest.raises(ValueError, match="not of the size it claims"):
        read_frame(tmp_path / "t.npz")


def test_cells_at_the_far_end_of_a_sheet_are_not_padded_without_limit(tmp_path, monkeypatch):
    pack_sheet(tmp_path / "t.xlsx", 60, column="XFD")
    monkeypatch.setenv(LIMIT, "1MB")
    with pytest.raises(ValueError, match="unpack to more than 1 MB"):
        read_frame(tmp_path / "t.xlsx")


def test_a_workbook_that_is_no_xml_is_refused(tmp_path):
    pack_sheet(tmp_path / "whole.xlsx", 2)
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w") as changed,
    ):
        for name in whole.namelist():
            changed.writestr(name, "" if name.endswith("sheet1.xml") else whole.read(name))
    with pytest.raises(ValueError, match=r"t.xlsx: not a whole Excel workbook"):
        read_frame(tmp_path / "t.xlsx")


@pytest.mark.parametrize("packing", ["zstd", "lz4", "uncompressed"])
def test_a_feather_file_of_one_batch_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch, packing
):
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    import pyarrow.feather as feather

    words = pa.DictionaryArray.from_arrays(np.zeros(90_000, np.int32), ["word" * 10_000])
    table = pa.table({"a": np.zeros(90_000), "b": words, "c": ["x"] * 90_000})
    feather.write_feather(table, tmp_path / "t.feather", packing, chunksize=90_000)
    size = unpacked_size(tmp_path / "t.feather")
    assert 0.9 * table.nbytes < size < 1.1 * table.nbytes
    assert read_frame(tmp_path / "t.feather").shape == (90_000, 3)
    monkeypatch.setenv(LIMIT, "1MB")
    monkeypatch.setattr(pa.ipc, "open_file", None)
    with pytest.raises(ValueError, match="unpack to more than 1 MB"):
        read_frame(tmp_path / "t.feather")


def test_a_parquet_file_of_one_large_cell_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    import pyarrow.parquet as parquet

    table = pa.table({"a": ["x" * 3_000_000], "b": [1]})
    parquet.write_table(table, tmp_path / "t.parquet", use_dictionary=False, compression="zstd")
    monkeypatch.setenv(LIMIT, "1MB")
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    with pytest.raises(ValueError, match="unpack to more than 1 MB"):
        read_frame(tmp_path / "t.parquet")


def test_a_row_beyond_the_end_of_any_sheet_is_not_waited_for(tmp_path):
    pack_sheet(tmp_path / "t.xlsx", 3)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet].replace(b'<row r="3"', b'<row r="999999999"')
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="beyond the 1,048,576 that a sheet can have"):
        read_frame(tmp_path / "t.xlsx")


def test_a_cell_far_from_the_table_costs_no_more_than_it_holds(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
    book = openpyxl.Workbook()
    for row in (["a", "b", "y"], *([i * 0.7 % 1, i * 0.3 % 1, "xy"[i % 2]] for i in range(20))):
        book.active.append(row)
    book.active["XFD40"] = "!"
    book.save(tmp_path / "t.xlsx")
    began = time.process_time()
    table = read_frame(tmp_path / "t.xlsx")
    assert time.process_time() - began < 1.5
    assert table.shape == (21, 4)
    with pytest.raises(ValueError, match=r"'y' is missing in 1 row"):
        read_table(tmp_path / "t.xlsx", "y")
    book.active["C40"] = "x"
    book.save(tmp_path / "t.xlsx")
    said = read_table(tmp_path / "t.xlsx", "y", impute=True).notes[0]
    assert said == "passed over 18 empty rows and 16,380 empty columns of the sheet"


def test_a_parquet_text_that_many_rows_repeat_is_counted_as_often_as_they_do(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    import pyarrow.parquet as parquet

    table = pa.table({"a": ["x" * 100_000] * 100, "b": [1.5] * 100})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 5_000
    assert read_frame(tmp_path / "t.parquet").shape == (100, 2)
    monkeypatch.setenv(LIMIT, "5MB")
    with pytest.raises(ValueError, match="unpack to more than 5 MB"):
        read_frame(tmp_path / "t.parquet")


def write_npy_claim(path, shape: tuple[int, ...], version: tuple[int, int]) -> None:
    """Write an archive of a header alone, that claims a shape."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, b"\x93NUMPY" + bytes(version) + length + header.encode())


@pytest.mark.parametrize(
    ("shape", "version", "message"),
    [
        ((0, 10**11), (1, 0), "X has no rows"),
        ((10**6, 10**5), (3, 0), "holds no plain array"),
        ((10**11, 4), (2, 0), "not of the size it claims"),
    ],
)
def test_an_archive_that_claims_more_than_it_holds_is_refused(tmp_path, shape, version, message):
    write_npy_claim(tmp_path / "t.npz", shape, version)
    with pytest.raises(ValueError, match=message):
        read_frame(tmp_path / "t.npz")


def test_rows_times_keys_of_json_lines_count(tmp_path):
    lines = (f'{{"key{number}": 1}}' for number in range(5_000))
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="unpack to more than 100 MB"):
        read_frame(tmp_path / "t.jsonl")


def test_json_texts_may_hold_characters_that_end_lines_elsewhere(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"t": "a\u2028b\u0085c"}\n{"t": "d"}\n', encoding="utf-8")
    assert read_frame(tmp_path / "t.jsonl")["t"].tolist() == ["a\u2028b\u0085c", "d"]


def test_a_table_of_a_million_columns_is_refused_by_its_header(tmp_path):
    names = ",".join(f"c{number}" for number in range(100_001))
    (tmp_path / "t.csv").write_text(f"{names}\n{','.join('1' * 100_001)}\n")
    with pytest.raises(ValueError, match=r"has 100,001 columns, and at most 100,000"):
        read_frame(tmp_path / "t.csv")


def test_memory_that_runs_out_while_a_file_is_read_is_said_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("vicinal.data.tables._files._read", fail)
    with pytest.raises(ValueError, match="takes more memory than there is"):
        read_frame(tmp_path / "t.csv")


def test_a_field_too_long_for_arff_is_refused_by_name(tmp_path):
    lines = "@relation r\n@attribute a string\n@attribute y {u,v}\n@data\n"
    (tmp_path / "t.arff").write_text(lines + "'" + "x" * 200_000 + "',u\n")
    before = csv.field_size_limit(131_072)
    try:
        with pytest.raises(ValueError, match=r"a row after @data cannot be read \(field larger"):
            read_frame(tmp_path / "t.arff")
    finally:
        csv.field_size_limit(before)


def test_a_target_whose_square_is_no_number_is_refused(tmp_path):
    rows = "".join(f"{number}.5,{number % 7}.25e307\n" for number in range(40))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    with pytest.raises(ValueError, match="square no number can hold"):
        read_table(tmp_path / "t.csv", "y", task="regression")


def test_one_long_cell_does_not_make_all_others_as_wide(tmp_path):
    texts = [f"the {number} words of a cell" for number in range(3000)]
    texts[7] = "long " * 40_000
    frame = pd.DataFrame({"t": texts, "y": ["u", "v"] * 1500})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv", "y").X.shape == (3000, 30)
    with pytest.raises(ValueError, match="names no class"):
        read_table(tmp_path / "t.csv", "t")


def test_half_a_pair_of_surrogates_is_no_letter_of_a_name(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a\\ud800": 1, "b": "\\ud83d\\ude00"}\n')
    frame = read_frame(tmp_path / "t.jsonl")
    assert list(frame.columns) == ["a\ufffd", "b"]
    assert frame["b"].tolist() == ["😀"]
