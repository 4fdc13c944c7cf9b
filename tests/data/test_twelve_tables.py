"""Ordinary tables as strangers have them: read rightly, or not at all.

The small ones lie in ``tables/`` as they came out of spreadsheets and exports; the large ones are
made here from a formula.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal.data import read_table

TABLES = Path(__file__).parent / "tables"


@dataclass(frozen=True)
class Expected:
    """What a table must be read as."""

    target: str
    n_features: int
    task: str = "classification"
    n_classes: int = 0
    says: tuple[str, ...] = ()
    options: Any = ()


FILES = {
    "german_iris.csv": Expected(
        "Art", 4, n_classes=3, says=("read 4 numbers, 0 categories → 4 features; decimal comma",)
    ),
    "money.csv": Expected(
        "churned",
        3,
        n_classes=2,
        says=(
            "commas between thousands, in $ ('income')",
            "in % ('rate')",
            "apostrophes between thousands, in CHF ('savings')",
        ),
    ),
    "ids.csv": Expected(
        "label",
        2,
        n_classes=2,
        says=("'PassengerId' numbers the rows", "'code' holds a code of its own in every row"),
    ),
    "titanic_like.csv": Expected(
        "Survived",
        42,
        n_classes=2,
        says=(
            "'PassengerId' numbers the rows",
            "'Ship' is 'Titanic' in every row",
            "read 3 numbers, 2 categories, 1 text, 1 date → 42 features",
        ),
        options=(("impute", True),),
    ),
    "no_header.csv": Expected("x4", 4, n_classes=3, says=("the file has no header",)),
    "semicolon_bom.csv": Expected("species", 4, n_classes=3, says=("read 4 numbers",)),
    "prices.csv": Expected(
        "price",
        7,
        "regression",
        says=("read 2 numbers, 2 categories → 7 features; decimal comma ('area')",),
    ),
}


def check(path: Path, expected: Expected) -> Any:
    dataset = read_table(path, expected.target, **dict(expected.options))
    assert dataset.X.shape[1] == expected.n_features, dataset.notes
    assert dataset.task == expected.task
    assert len(dataset.classes) == expected.n_classes
    said = "\n".join(dataset.notes)
    for line in expected.says:
        assert line in said
    return dataset


@pytest.mark.parametrize("name", FILES)
def test_the_small_tables_have_the_right_features(name):
    check(TABLES / name, FILES[name])


@pytest.mark.parametrize("name", ["german_iris.csv", "no_header.csv", "semicolon_bom.csv"])
def test_iris_is_iris_however_it_was_written(name):
    dataset = check(TABLES / name, FILES[name])
    X, y = load_iris(return_X_y=True)
    assert_allclose(dataset.X, X)
    assert dataset.y.tolist() == y.tolist()


def iris_frame() -> pd.DataFrame:
    loaded = load_iris(as_frame=True)
    return loaded.data.assign(species=np.array(loaded.target_names)[loaded.target])


def test_a_workbook_a_gzip_and_json_lines_of_iris_are_iris(tmp_path):
    frame = iris_frame()
    frame.to_csv(tmp_path / "iris.csv.gz", index=False)
    frame.to_json(tmp_path / "iris.jsonl", orient="records", lines=True)
    names = ["iris.csv.gz", "iris.jsonl"]
    (tmp_path / "iris.jsonl.gz").write_bytes(gzip.compress((tmp_path / "iris.jsonl").read_bytes()))
    names.append("iris.jsonl.gz")
    frame.to_csv(tmp_path / "iris.tsv", index=False, sep="\t")
    names.append("iris.tsv")
    if pytest.importorskip("openpyxl", reason="needs the extra excel"):
        frame.to_excel(tmp_path / "iris.xlsx", index=True)
        names.append("iris.xlsx")
    if pytest.importorskip("pyarrow", reason="needs the extra parquet"):
        frame.to_feather(tmp_path / "iris.feather")
        names.append("iris.feather")
    X, y = load_iris(return_X_y=True)
    for name in names:
        dataset = read_table(tmp_path / name, "species")
        assert_allclose(dataset.X, X, err_msg=name)
        assert dataset.y.tolist() == y.tolist()


def test_an_arff_file_is_read_by_its_declarations(tmp_path):
    lines = ["% a comment", "@RELATION fruit", "@ATTRIBUTE 'weight in g' REAL"]
    lines += ["@ATTRIBUTE colour {red, green}", "@ATTRIBUTE kind {apple,cherry}", "@DATA"]
    lines += ["150.5, red, apple", "5, ?, cherry", "% between", "160, green, apple"]
    (tmp_path / "fruit.arff").write_text("\n".join(lines))
    dataset = read_table(tmp_path / "fruit.arff", "kind", impute=True)
    names = ("weight in g", "colour=green", "colour=red", "colour: missing")
    assert dataset.feature_names == names
    rows = np.array([[150.5, 0, 1, 0], [5, 0, 0, 1], [160, 1, 0, 0]])
    assert_allclose(dataset.X, rows)
    (tmp_path / "bad.arff").write_text("@attribute a real\n@data\n{0 1}\n")
    with pytest.raises(ValueError, match=r"sparse ARFF is not read"):
        read_table(tmp_path / "bad.arff", "a")


def imbalanced(n_rows: int = 20_000) -> pd.DataFrame:
    """Twelve measurements, 2 % of a rare class, an account number and a shop."""
    random = np.random.default_rng(0)
    rare = random.random(n_rows) < 0.02
    values = random.normal(size=(n_rows, 12)) + 1.2 * rare[:, None]
    frame = pd.DataFrame(values.round(3), columns=[f"m{i}" for i in range(12)])
    frame.insert(0, "account_id", random.permutation(n_rows) + 100_000)
    frame["shop"] = random.choice(["north", "south", "web"], n_rows)
    return frame.assign(fraud=np.where(rare, "yes", "no"))


def wide(n_rows: int = 60, n_columns: int = 5000) -> pd.DataFrame:
    """More columns than rows; the first five differ between two classes."""
    random = np.random.default_rng(0)
    label = np.arange(n_rows) % 2
    values = random.normal(size=(n_rows, n_columns))
    values[:, :5] += 2.0 * label[:, None]
    frame = pd.DataFrame(values.round(4), columns=[f"g{i}" for i in range(n_columns)])
    return frame.assign(tissue=np.where(label, "tumour", "normal"))


def test_a_large_imbalanced_table_loses_its_account_numbers_alone(tmp_path):
    imbalanced().to_csv(tmp_path / "t.csv", index=False)
    dataset = check(tmp_path / "t.csv", Expected("fraud", 15, n_classes=2, says=("'account_id'",)))
    assert len(dataset.y) == 20_000


def test_every_measurement_of_a_wide_table_is_kept(tmp_path):
    wide().to_csv(tmp_path / "t.csv", index=False)
    check(tmp_path / "t.csv", Expected("tissue", 5000, n_classes=2))


def test_a_frame_of_unique_measurements_is_never_taken_for_identifiers():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.sort(random.normal(size=50)), "y": np.arange(50) % 2})
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False)
    from vicinal.data import recognise_columns

    assert recognise_columns(frame[["x"]])["x"].kind == "number"
