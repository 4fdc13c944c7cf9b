"""Tables as users have them: what is read, and what is refused in which words."""

from __future__ import annotations

import gzip
import os
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.data import Imputer, TableEncoder, UnusableColumns, imputer_for, read_frame, read_table


@pytest.fixture
def write(tmp_path):
    def put(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


# What is read ---------------------------------------------------------------------------------


def test_numbers_stay_and_text_becomes_one_feature_a_value(write):
    dataset = read_table(write("a,colour,y\n1.5,red,u\n2,blue,v\n3,red,u\n"), "y")
    assert dataset.feature_names == ("a", "colour=blue", "colour=red")
    np.testing.assert_array_equal(dataset.X, [[1.5, 0, 1], [2, 1, 0], [3, 0, 1]])
    assert dataset.classes == ("u", "v")
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.task == "classification"
    assert dataset.name == "table.csv"
    assert dataset.extras["blocks"].tolist() == [[0, 1, 1]]


def test_flags_become_two_features(write):
    dataset = read_table(write("flag,y\nTrue,0\nfalse,1\n"), "y")
    assert dataset.feature_names == ("flag=False", "flag=True")
    np.testing.assert_array_equal(dataset.X, [[0, 1], [1, 0]])


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_usual_separators_are_recognised(write, mark):
    text = "a,b,y\n1,2,u\n3,4,v\n".replace(",", mark)
    np.testing.assert_array_equal(read_table(write(text), "y").X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"a\tb\ty\n1\t2\tu\n3\t4\tv\n", "t.tsv"),
        (gzip.compress(b"a,b,y\n1,2,u\n3,4,v\n", mtime=0), "t.csv.gz"),
        (b"\xef\xbb\xbfa,b,y\r\n1,2,u\r\n3,4,v\r\n", "t.csv"),
        (b"\n\na, b ,y\n\n 1, 2, u\n3,4,v\n\n", "T.CSV"),
        (b'a,b,y\n1,"2","u"\n3,4,v', "t.csv"),
    ],
)
def test_variants_of_csv_give_the_same_data(write, content, name):
    dataset = read_table(write(content, name), "y")
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.feature_names == ("a", "b")
    assert dataset.classes == ("u", "v")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_csv_gives_back_every_float_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("floats") / "t.csv"
    rows = [f"{value!r},{i % 2}" for i, value in enumerate(values)]
    path.write_text("\n".join(["a,y", *rows]))
    np.testing.assert_array_equal(read_table(path, "y", keep="a").X[:, 0], values)


def test_large_numbers_do_not_make_a_column_text(write):
    path = write("a,b,y\n1,x,u\n-1e308,1,v\n123456789012345678901234.5,2,u\n?,3,v\n")
    X = read_table(path, "y", impute=True).X
    np.testing.assert_array_equal(X[:, 0], [1, -1e308, 123456789012345678901234.5, np.nan])
    assert list(read_frame(path)["b"]) == ["x", "1", "2", "3"]
    said = read_frame(write("a,y\n18446744073709551615,u\n-1,v\n"), text_columns=["a"])["a"]
    assert list(said) == ["18446744073709551615", "-1"]


def test_without_pyarrow_the_message_names_the_extra(monkeypatch, write):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"t.parquet: .* pip install 'vicinal\[parquet\]'"):
        read_table(write(b"PAR1", "t.parquet"), "y")


def test_parquet_keeps_categories_and_turns_decimals_into_floats(tmp_path):
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["s", "m", "s"]),
            "code": pd.Categorical([10, 20, 10]),
            "n": np.array([1, 2, 3], dtype=np.uint8),
            "price": [Decimal("0.10"), Decimal("2.25"), Decimal("3.00")],
            "y": [0.5, 1.25, 3.0],
        },
        index=["r1", "r2", "r3"],
    )
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    frame.to_parquet(tmp_path / "t.parquet")
    dataset = read_table(tmp_path / "t.parquet", "y")
    assert dataset.feature_names == ("size=m", "size=s", "code=10", "code=20", "n", "price")
    np.testing.assert_array_equal(dataset.X[:, 5], [0.1, 2.25, 3.0])
    np.testing.assert_array_equal(dataset.X[:, 0], [0, 1, 0])
    np.testing.assert_array_equal(dataset.y, [0.5, 1.25, 3.0])
    assert dataset.task == "regression"


def test_npz_reads_x_and_y_and_leaves_other_arrays_alone(tmp_path):
    X = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    np.savez(
        tmp_path / "t.npz",
        X=X,
        y=np.array(["u", "v", "u"]),
        is_test=[0, 0, 1],
        feature_names=np.array(["width", "height"]),
    )
    dataset = read_table(tmp_path / "t.npz")
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.feature_names == ("width", "height")
    assert dataset.classes == ("u", "v")


def test_npz_features_without_names_are_numbered_and_the_target_may_be_chosen(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=[0, 0], other=[0, 1])
    dataset = read_table(tmp_path / "t.npz", "other")
    assert dataset.feature_names == ("x0", "x1")
    assert dataset.y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        ("3,1,3", "classification", (1, 3)),
        ("1.0,2.0,1.0", "classification", (1, 2)),
        ("True,False,True", "classification", (False, True)),
        ("no,yes,no", "classification", ("no", "yes")),
        ("0.5,0.25,0.5", "regression", ()),
        ("1e3,2.5,7", "regression", ()),
    ],
)
def test_the_task_follows_from_the_target(write, values, task, classes):
    rows = "".join(f"{i},{value}\n" for i, value in enumerate(values.split(",")))
    dataset = read_table(write("a,y\n" + rows), "y")
    assert dataset.task == task
    assert dataset.classes == classes


def test_whole_numbers_that_hardly_repeat_are_a_quantity_unless_the_user_says_otherwise(write):
    path = write("a,y\n" + "".join(f"{i % 7},{i + 1000}\n" for i in range(101)))
    assert read_table(path, "y").task == "regression"
    assert (
        "101 different numbers of 'y' are taken for a quantity" in read_table(path, "y").notes[-1]
    )
    with pytest.raises(ValueError, match="task must be classification or regression"):
        read_table(path, "y", task="sort")  # type: ignore[arg-type]
    assert len(read_table(path, "y", task="classification").classes) == 101


def test_duplicate_rows_are_fine_and_constant_columns_left_out(write):
    dataset = read_table(write("a,c,t,y\n1,7,k,u\n1,7,k,v\n2,7,k,u\n"), "y")
    np.testing.assert_array_equal(dataset.X, [[1], [1], [2]])
    assert dataset.notes == (
        "read 1 number, 0 categories → 1 feature",
        "left out: 'c' is 7 in every row; 't' is 'k' in every row. Bring them back by name (keep).",
    )
    kept = read_table(write("a,c,t,y\n1,7,k,u\n1,7,k,v\n2,7,k,u\n"), "y", keep=("c", "t"))
    np.testing.assert_array_equal(kept.X, [[1, 7, 1], [1, 7, 1], [2, 7, 1]])


def test_ten_thousand_and_one_columns_are_read_without_quadratic_cost(write):
    def seconds(n_columns: int) -> float:
        values = np.random.default_rng(0).integers(0, 99, (8, n_columns))
        lines = [",".join(map(str, row)) + f",{i % 2}" for i, row in enumerate(values)]
        header = ",".join(f"c{i}" for i in range(n_columns)) + ",y"
        path = write("\n".join([header, *lines]))
        start = time.process_time()
        dataset = read_table(path, "y")
        np.testing.assert_array_equal(dataset.X, values)
        return time.process_time() - start

    seconds(10)
    few, many = seconds(2_000), seconds(10_001)
    assert many < 10
    assert many < 5 * 5 * max(few, 0.05)


# What is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[str | bytes, str]] = [
    ("", "empty"),
    ("  \n\n", "empty"),
    ("a,b,y\n", "no rows"),
    ("a,b,y\n1,2,u\n3,4,5,v\n", r"line 3 has 4 values, but there are 3 columns"),
    ("a,b,y\n1,2,u,9\n3,4,v,9\n", r"line 2 has 4 values, but there are 3 columns"),
    ("a,b,y\n1,2,u\n3,4\n", r"line 3 has 2 values, but there are 3 columns"),
    ('a,b,y\n"1,2,u\n3,4,v\n', "quotation mark"),
    ('a,b,y\n1,2,u\n3,"4,v\n', "quotation mark"),
    ("a,b,y\n1,2,u\n3,4,u\n", r"one class \('u'\) in all 2 rows"),
    ("y\nu\nv\n", "no feature columns"),
    ("a,b,y\n1,,u\n,8,v\n2,9,u\n", r"Missing values in 2 columns: 'a' \(1\), 'b' \(1\).*impute"),
    ("a,b,y\n1,?,u\n2,3,v\n3,4,u\n", r"Missing values in 1 column: 'b' \(1\)"),
    ("a,b,y\n1,?,u\n1,3,v\n1,3,u\n", "No column is left as a feature: 'a' is 1 in every row; 'b'"),
    (
        "a,b,y\n1,2,u\n-inf,3,v\n",
        r"'a' holds infinite values \(first in row 1, counting from 0: -inf\)",
    ),
    ("a,b,y\n1,2,u\n1e999,3,v\n", "'a' holds infinite values"),
    ("a,b,y\n1,2,u\n3,4,\n5,6,\n", r"target 'y' is missing in 2 rows \(1, 2"),
    ("a,y\n9007199254740993,u\n1,v\n", r"'a' holds whole numbers beyond 2\^53"),
    ("a,y\n123456789012345678901234,u\n1,v\n", r"'a' holds whole numbers beyond 2\^53"),
    ("a,y\n18446744073709551615,u\n-1,v\n", r"'a' holds whole numbers beyond 2\^53"),
    ("a,y\n123456789012345678901234,u\n1.5,v\n-1e999,u\n", "'a' holds infinite values"),
    (f"a,y\n{'9' * 5000},u\n1,v\n", "'a' holds infinite values"),
    (b"a,y\n1,caf\x81\n", "neither UTF-8 nor Windows-1252 .byte 0x81 at offset 9.*iconv"),
    ("a,y\n1,u\n2,v\n".encode("utf-16")[:-1], "neither UTF-8 nor UTF-16"),
    (b"\x00\xff\xfe\x01", "not a text file"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_a_wrong_csv_file_is_refused_in_words(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(content), "y")


def test_all_unusable_columns_are_named_at_once(write):
    rows = "".join(
        f"{'tall' if i == 4 else i * 7 % 31},{'inf' if i == 2 else i % 3},"
        f"{'$' if i % 2 else '€'}{i % 4},{i % 5},{i % 2}\n"
        for i in range(30)
    )
    with pytest.raises(UnusableColumns) as caught:
        read_table(write("a,b,c,d,y\n" + rows), "y")
    assert caught.value.names == ("a", "b", "c")
    said = str(caught.value)
    assert "3 columns cannot be used" in said
    assert "'a' is of numbers but for 'tall' (first in row 4" in said
    assert "'b' holds infinite values (first in row 2" in said
    assert "'c' holds different units ($, €)" in said
    used = read_table(write("a,b,c,d,y\n" + rows), "y", drop=caught.value.names)
    assert used.feature_names == ("d",)


@pytest.mark.parametrize(
    ("target", "meant"), [("specis", "species"), ("SPECIES", "species"), ("Lenght", "length")]
)
def test_a_wrong_target_gets_the_nearest_name_and_the_list(write, target, meant):
    path = write("length,species\n1,u\n2,v\n")
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'.*'length', 'species'"):
        read_table(path, target)


def test_a_target_that_resembles_nothing_gets_the_list_alone(write):
    with pytest.raises(ValueError, match=r"no column 'qqq'\. The columns are 'a', 'y'"):
        read_table(write("a,y\n1,u\n2,v\n"), "qqq")


def test_a_csv_file_without_a_target_is_refused_with_its_columns(write):
    with pytest.raises(ValueError, match=r"\(target\).*'a', 'y'"):
        read_table(write("a,y\n1,u\n2,v\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,y\n1,u\n2,v\n", r"row 0 \(counting from 0\) holds 'u'"),
        ("a,y\n1,3\n2,3\n", "3.0 in every row"),
    ],
)
def test_a_regression_target_must_be_numbers_that_vary(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(content), "y", task="regression")


def test_paths_that_are_no_tables_are_refused(tmp_path, write):
    with pytest.raises(ValueError, match="no such file"):
        read_table(tmp_path / "nowhere.csv", "y")
    with pytest.raises(ValueError, match="is a directory"):
        read_table(tmp_path, "y")
    with pytest.raises(ValueError, match=r"must end in one of \.csv"):
        read_table(write("a,y\n1,2\n", "table.doc"), "y")
    fifo = tmp_path / "pipe.csv"
    os.mkfifo(fifo)
    with pytest.raises(ValueError, match="not a regular file"):
        read_table(fifo, "y")


def test_a_file_that_may_not_be_read_is_refused(write, monkeypatch):
    path = write("a,y\n1,u\n2,v\n")

    def denied(self: Path, *args: Any, **kwargs: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(ValueError, match="cannot be read: no permission"):
        read_table(path, "y")


@pytest.mark.parametrize("name", ["t.parquet", "t.npz", "t.csv.gz"])
def test_cut_short_and_foreign_files_are_refused(tmp_path, write, name):
    whole = tmp_path / f"whole-{name}"
    frame = pd.DataFrame({"a": np.arange(500.0), "y": np.arange(500) % 2})
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="needs the extra parquet")
        frame.to_parquet(whole)
    elif name.endswith("npz"):
        np.savez(whole, X=frame[["a"]], y=frame["y"])
    else:
        frame.to_csv(whole, index=False)
    data = whole.read_bytes()
    for wrong in (data[: len(data) // 2], b"junk" * 50, data[:10]):
        with pytest.raises(ValueError, match="not a whole"):
            read_table(write(wrong, name), "y")


def test_a_damaged_npz_is_refused(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(400.0).reshape(200, 2), y=np.arange(200) % 2)
    data = bytearray((tmp_path / "t.npz").read_bytes())
    data[1500] ^= 0xFF
    (tmp_path / "t.npz").write_bytes(data)
    with pytest.raises(ValueError, match="not a whole NPZ"):
        read_table(tmp_path / "t.npz")


class _Boobytrap:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (self.path, "w"))


@pytest.mark.parametrize("name", ["X", "y", "feature_names"])
def test_an_npz_with_pickled_objects_is_refused_and_runs_nothing(tmp_path, name):
    trap = tmp_path / "ran"
    arrays: dict[str, Any] = {"X": np.eye(2), "y": [0, 1], "feature_names": ["a", "b"]}
    arrays[name] = np.array([_Boobytrap(str(trap)), None], dtype=object)
    np.savez(tmp_path / "t.npz", allow_pickle=True, **arrays)
    with pytest.raises(ValueError, match="pickled Python objects"):
        read_table(tmp_path / "t.npz")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Z": np.eye(2)}, "no array named 'X'; found 'Z'"),
        ({"X": np.zeros((2, 2, 2)), "y": [0, 1]}, r"X must have shape \(rows, features\)"),
        ({"X": np.array([["a"], ["b"]]), "y": [0, 1]}, "X must hold numbers"),
        ({"X": np.eye(2), "y": [0, 1, 2]}, r"y must have shape \(2,\)"),
        ({"X": np.eye(2)}, "no column 'y'"),
        ({"X": np.eye(2), "y": [0, 1], "feature_names": ["a"]}, "X has 2 columns"),
        ({"X": np.eye(2), "y": [0, 1], "feature_names": ["a", "a"]}, "more than once"),
        ({"X": np.eye(2), "y": [0, 1], "feature_names": ["a", "y"]}, "both an array and a feature"),
        ({"X": np.zeros((0, 2)), "y": np.zeros(0)}, "no rows"),
        ({"X": np.zeros((2, 0)), "y": [0, 1]}, "no feature columns"),
        ({"X": np.array([[np.nan], [1], [2]]), "y": [0, 1, 1]}, r"'x0' \(1\)"),
    ],
)
def test_a_wrong_npz_file_is_refused_in_words(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "t.npz")


def test_a_parquet_file_of_lists_is_refused(tmp_path):
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pd.DataFrame({"a": [[1, 2], [3]], "y": [0, 1]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"lists or records.*'a'"):
        read_table(tmp_path / "t.parquet", "y")


@pytest.mark.parametrize(
    ("column", "names", "values"),
    [
        (
            pd.to_datetime(["2020-01-01 00:00", "2020-02-02 12:00", "NaT"]),
            ("a", "a: month", "a: weekday", "a: hour"),
            [[18262, 1, 3, 0], [18294.5, 2, 7, 12], [np.nan] * 4],
        ),
        (pd.to_timedelta([1, 2, 4], unit="D"), ("a",), [[1], [2], [4]]),
    ],
)
def test_typed_dates_and_spans_become_days(tmp_path, column, names, values):
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pd.DataFrame({"a": column, "y": [0, 1, 1]}).to_parquet(tmp_path / "t.parquet")
    dataset = read_table(tmp_path / "t.parquet", "y", impute=True)
    assert dataset.feature_names == names
    np.testing.assert_allclose(dataset.X, values)


# The encoder on new rows ----------------------------------------------------------------------


@pytest.fixture
def encoder():
    frame = pd.DataFrame({"a": [1.0, 2.0], "colour": ["red", "01"], "flag": [True, False]})
    return TableEncoder().fit(frame)


def test_new_rows_are_matched_by_name_in_any_order(encoder):
    new = pd.DataFrame({"extra": [9], "flag": [True], "colour": ["red"], "a": [5]})
    assert encoder.get_feature_names_out().tolist() == [
        "a", "colour=01", "colour=red", "flag=False", "flag=True",
    ]  # fmt: skip
    np.testing.assert_array_equal(encoder.transform(new), [[5, 0, 1, 0, 1]])


def test_new_rows_without_a_column_are_refused_by_its_name(encoder):
    with pytest.raises(ValueError, match=r"lacks 1 of the 3 columns.*'colour'"):
        encoder.transform(pd.DataFrame({"a": [1], "flag": [True]}))


def test_a_value_no_training_row_has_is_none_of_the_known_and_said(encoder):
    new = pd.DataFrame({"a": [1], "colour": ["mauve"], "flag": [True]})
    with pytest.warns(UserWarning, match=r"'colour' holds 'mauve' in 1 row.*none of '01', 'red'"):
        values = encoder.transform(new)
    np.testing.assert_array_equal(values, [[1, 0, 0, 0, 1]])


def test_text_in_a_column_of_numbers_is_refused_by_row(encoder):
    new = pd.DataFrame({"a": ["1", "tall"], "colour": ["red", "red"], "flag": [True, True]})
    with pytest.raises(ValueError, match=r"'a' must hold numbers, but row 1 .* holds 'tall'"):
        encoder.transform(new)


def test_a_column_that_was_text_stays_text_in_a_file_of_digits(encoder, write):
    path = write("a,colour,flag\n1,01,TRUE\n")
    frame = read_frame(path, text_columns=encoder.text_columns())
    np.testing.assert_array_equal(encoder.transform(frame), [[1, 1, 0, 0, 1]])


# Imputation -----------------------------------------------------------------------------------


def test_missing_values_are_kept_for_the_folds_to_impute(write):
    path = write("a,t,y\n1,red,u\n,blue,v\n3,,u\n8,red,v\n")
    dataset = read_table(path, "y", impute=True)
    assert dataset.feature_names == ("a", "t=blue", "t=red", "t: missing")
    np.testing.assert_array_equal(
        dataset.X, [[1, 0, 1, 0], [np.nan, 1, 0, 0], [3, 0, 0, 1], [8, 0, 1, 0]]
    )
    imputer = imputer_for(dataset)
    assert imputer is not None
    filled = imputer.fit(dataset.X).transform(dataset.X)
    np.testing.assert_array_equal(filled[:, 0], [1, 3, 3, 8])


def test_the_fillings_come_from_the_training_rows_alone(write):
    dataset = read_table(write("a,y\n1,u\n3,v\n,u\n100,v\n"), "y", impute=True)
    imputer = imputer_for(dataset)
    assert imputer is not None
    imputer.fit(dataset.X[:2])
    np.testing.assert_array_equal(imputer.transform(dataset.X[2:]), [[2], [100]])


def test_a_table_without_holes_needs_no_imputer(write):
    assert imputer_for(read_table(write("a,y\n1,u\n3,v\n"), "y", impute=True)) is None


def test_a_column_without_any_value_is_left_out(write):
    dataset = read_table(write("a,b,y\n1,,u\n3,,v\n"), "y", impute=True)
    assert dataset.feature_names == ("a",)
    assert "left out: 'b' holds no value at all" in dataset.notes[1]


def test_infinity_is_refused_even_when_imputing(write):
    with pytest.raises(ValueError, match="infinite values"):
        read_table(write("a,y\ninf,u\n3,v\n"), "y", impute=True)


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.lists(
            st.lists(st.one_of(st.none(), st.floats(-9, 9)), min_size=d, max_size=d),
            min_size=1,
            max_size=9,
        )
    )
)
def test_the_imputer_fills_every_hole_and_changes_nothing_else(rows):
    X = np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float)
    filled = Imputer().fit(X).transform(X)
    holes = np.isnan(X)
    np.testing.assert_array_equal(filled[~holes], X[~holes])
    for j in range(X.shape[1]):
        present = X[~holes[:, j], j]
        expected = np.median(present) if len(present) else 0.0
        assert (filled[holes[:, j], j] == expected).all()
