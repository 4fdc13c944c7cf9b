"""Ordinary but awkward tables: whatever could be misread is read rightly, said, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vicinal._types import Dataset
from vicinal.data import TableError, read_table

N = 60
random = np.random.default_rng(0)
CLASS = random.permutation(N) % 2
LABEL = np.array(["low risk", "high risk"])[CLASS]
X = (random.normal(size=N) + CLASS).round(3)
DAYS = np.datetime64("2020-01-01") + random.integers(0, 900, N)


def read(tmp_path: Any, separator: str = ",", end: str = "\n", **columns: Any) -> Dataset:
    """Write the columns (the last is predicted) and read them; quotes are the caller's."""
    lines = [
        separator.join(columns),
        *(separator.join(map(str, r)) for r in zip(*columns.values(), strict=True)),
    ]
    path = tmp_path / "t.csv"
    path.write_bytes(end.join([*lines, ""]).encode())
    return read_table(path, list(columns)[-1], impute=True)


def cycle(*values: Any) -> list[Any]:
    return [values[i % len(values)] for i in range(N)]


def said(dataset: Dataset) -> str:
    return "\n".join(dataset.notes)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("%Y-%m-%d", "year first"),
        ("%d.%m.%Y", "day first"),
        ("%m/%d/%y", "month first"),
        ("%d %B %Y", "month named"),
        ("%Y-%m-%dT10:30:00.000Z", "year first"),
        ("%Y%m%d", "digits"),
    ],
)
def test_dates_of_every_usual_format_are_days(tmp_path, pattern, says):
    when = [day.astype(object).strftime(pattern) for day in DAYS]
    dataset = read(tmp_path, x=X, when=when, y=LABEL)
    assert dataset.feature_names[1:] == ("when", "when: month", "when: weekday")
    expected = (DAYS - np.datetime64("1970-01-01")).astype(float)
    assert np.ptp(dataset.X[:, 1] - expected) < 1e-6
    assert says in said(dataset)


@pytest.mark.parametrize("pattern", ["%Y-%m", "%m/%Y", "%m.%Y"])
def test_a_month_of_a_year_is_a_date_without_weekday(tmp_path, pattern):
    when = [day.astype(object).strftime(pattern) for day in DAYS]
    dataset = read(tmp_path, x=X, when=when, y=LABEL)
    assert dataset.feature_names == ("x", "when", "when: month")


def test_numbers_are_months_only_where_all_of_them_end_in_years(tmp_path):
    months = ["3.2021", "12.1999", *cycle("01.2020", "10.2020")[2:]]
    dataset = read(tmp_path, separator=";", x=X, when=months, y=LABEL)
    assert dataset.feature_names == ("x", "when", "when: month")
    assert dataset.X[:2, 2].tolist() == [3, 12]
    assert "month and year" in said(dataset)
    for other in ("13.2021", "3.202", "3.2150", "0.2021"):
        dataset = read(tmp_path, x=X, when=[*months[1:], other], y=LABEL)
        assert dataset.feature_names == ("x", "when")
        assert dataset.X[0, 1] == 12.1999


def test_dates_written_in_several_ways_are_left_out_and_named(tmp_path):
    patterns = cycle("%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y")
    when = [d.astype(object).strftime(p) for d, p in zip(DAYS, patterns, strict=True)]
    dataset = read(tmp_path, separator="|", x=X, when=when, y=LABEL)
    assert dataset.feature_names == ("x",)
    assert "'when' holds dates written in several ways" in said(dataset)


def test_columns_may_differ_in_their_decimal_mark_but_cells_may_not(tmp_path):
    comma = [str(x).replace(".", ",") for x in X]
    dataset = read(tmp_path, separator=";", a=comma, b=X, y=LABEL)
    assert np.array_equal(dataset.X[:, 0], X)
    assert np.array_equal(dataset.X[:, 1], X)
    assert "decimal comma ('a')" in said(dataset)
    mixed = [c if i % 2 else x for i, (c, x) in enumerate(zip(comma, X, strict=True))]
    with pytest.raises(ValueError, match=r"'a' holds several ways to write numbers"):
        read(tmp_path, separator=";", a=mixed, b=X, y=LABEL)


def test_blanks_between_thousands_leave_no_doubt(tmp_path):
    grouped = [f"{1000 + 7 * i % 999:,}".replace(",", "\u202f") for i in range(N)]
    dataset = read(tmp_path, separator=";", a=grouped, b=X, y=LABEL)
    assert "two ways" not in said(dataset)
    commas = [f"{1000 + 7 * i % 999:,}" for i in range(N)]
    doubtful = read(tmp_path, separator=";", a=commas, y=LABEL)
    assert "'a' could be read in two ways; '1,000' is taken as 1" in said(doubtful)


def test_leading_zeros_make_codes_not_numbers(tmp_path):
    dataset = read(tmp_path, x=X, plz=random.choice(["01067", "10115", "80331"], N), y=LABEL)
    assert dataset.feature_names == ("x", "plz=01067", "plz=10115", "plz=80331")
    assert read(tmp_path, x=X, y=cycle("01", "02", "10")).classes == ("01", "02", "10")


@pytest.mark.parametrize("words", [("yes", "no"), ("TRUE", "FALSE"), ("Y", "N"), ("ja", "nein")])
def test_boolean_words_are_two_categories(tmp_path, words):
    dataset = read(tmp_path, x=X, smoker=random.choice(words, N), y=LABEL)
    assert dataset.X.shape[1] == 3
    assert set(dataset.X[:, 1]) == {0.0, 1.0}
    assert len(read(tmp_path, x=X, y=np.array(words)[CLASS]).classes) == 2


def test_words_for_missing_values_are_missing_among_numbers(tmp_path):
    words = ["NA", "n/a", "unknown", "-", "NULL", "missing", "?", "", "None", "."]
    x = [words[i // 6] if i % 6 == 0 else X[i] for i in range(N)]
    assert np.isnan(read(tmp_path, x=x, y=LABEL).X[:, 0]).sum() == len(words)


def test_words_for_missing_values_are_said_among_categories(tmp_path):
    kind = random.choice(["a", "b", "unknown", "-"], N)
    found = said(read(tmp_path, x=X, kind=kind, y=LABEL))
    assert "'kind' takes '-', 'unknown' for values like any other" in found
    signs = said(read(tmp_path, x=X, sign=random.choice(["+", "-"], N), y=LABEL))
    assert "values like any other" not in signs


@pytest.mark.parametrize("code", [-999, 9999])
def test_nines_far_from_all_other_values_are_said(tmp_path, code):
    x = [code if i % 6 == 0 else X[i] for i in range(N)]
    assert f"'x' is {code} in 10 rows, far from all its other values" in said(
        read(tmp_path, x=x, y=LABEL)
    )
    assert "far from" not in said(read(tmp_path, age=random.integers(40, 100, N), x=X, y=LABEL))


def test_quoted_lines_and_windows_ends_stay_in_their_cells(tmp_path):
    note = random.choice(['"first\nsecond, line"', '"a ""quoted"" word"', "plain"], N)
    dataset = read(tmp_path, end="\r\n", x=X, note=note, y=LABEL)
    assert dataset.X.shape == (N, 4)
    assert "note=first\nsecond, line" in dataset.feature_names
    assert dataset.classes == ("high risk", "low risk")


def test_a_separator_at_the_end_of_every_line_is_no_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,\n" + "".join(f"{x},{y},\n" for x, y in zip(X, LABEL, strict=True)))
    assert read_table(path, "y").feature_names == ("x",)


def test_a_file_of_one_column_says_that_there_is_nothing_to_learn_from(tmp_path):
    with pytest.raises(ValueError, match="no feature columns beside the target"):
        read(tmp_path, y=LABEL)


def test_units_in_header_and_cells_are_said(tmp_path):
    columns: dict[str, Any] = {
        "length [cm]": X,
        "weight (kg)": [f"{70 + x:.2f} kg" for x in X],
        "y": LABEL,
    }
    dataset = read(tmp_path, **columns)
    assert dataset.feature_names == ("length [cm]", "weight (kg)")
    assert "in kg ('weight (kg)')" in said(dataset)


def test_a_numeric_target_is_taken_for_what_it_is_and_a_doubt_is_said(tmp_path):
    assert read(tmp_path, x=X, grade=cycle(1.0, 2.0, 3.0)).classes == (1, 2, 3)
    stars = read(tmp_path, x=X, stars=cycle(0.5, 1, 1.5, 2))
    assert stars.task == "regression"
    assert "the 4 different numbers of 'stars' are taken for a quantity" in said(stars)
    prices = read(tmp_path, x=X, price=random.permutation(900)[:N])
    assert prices.task == "regression"
    assert "different numbers of 'price' are taken for a quantity" in said(prices)


def test_blanks_around_class_names_are_nothing_but_capitals_are_said(tmp_path):
    dataset = read(tmp_path, x=X, y=cycle(" low risk", "low risk ", "Low risk", "high risk"))
    assert dataset.classes == ("Low risk", "high risk", "low risk")
    assert "the classes 'Low risk', 'low risk' of 'y' differ in capitals alone" in said(dataset)
    city = said(read(tmp_path, x=X, city=random.choice(["Bonn", "bonn", "Ulm"], N), y=LABEL))
    assert "'Bonn', 'bonn' of 'city' differ in capitals alone" in city


def test_a_class_of_one_row_is_said_and_names_are_no_classes(tmp_path):
    y = LABEL.astype(object).copy()
    y[3] = "Total"
    assert "1 class of 'y' ('Total') has one row" in said(read(tmp_path, x=X, y=y))
    with pytest.raises(ValueError, match="holds a value of its own in 60 of 60 rows"):
        read(tmp_path, x=X, y=[f"name {i}" for i in range(N)])
    with pytest.raises(ValueError, match="names or dates, not classes"):
        read(tmp_path, x=X, y=DAYS)


def test_copies_of_rows_and_of_columns_are_said(tmp_path):
    dataset = read(tmp_path, x=np.repeat(X[:20], 3), y=np.repeat(LABEL[:20], 3))
    assert "40 of 60 rows repeat an earlier one" in said(dataset)
    dataset = read(tmp_path, x=X, again=X, y=LABEL)
    assert "'again' repeats 'x', and so counts twice" in said(dataset)
    assert len(read(tmp_path, x=X, z=X**2, y=LABEL).notes) == 1


def test_a_different_whole_number_in_every_row_is_said(tmp_path):
    customer = random.choice(10**8, N, replace=False)
    assert "'customer' holds a different whole number in every row" in said(
        read(tmp_path, customer=customer, x=X, y=LABEL)
    )


def test_a_column_that_gives_the_class_away_is_said(tmp_path):
    letters = read(tmp_path, x=X, result=np.array(["L", "H"])[CLASS], y=LABEL)
    assert "'result' tells 'y' in every row" in said(letters)
    ranges = read(tmp_path, x=X, score=(10 * CLASS + random.random(N)).round(3), y=LABEL)
    assert "'score' tells 'y' in every row" in said(ranges)
    price = read(tmp_path, x=X, net=(X + 7).round(3), price=(1.19 * (X + 7)).round(6))
    assert "'x', 'net' tell, each alone, 'price' in order" in said(price)


@pytest.mark.parametrize("seed", range(5))
def test_chance_gives_no_class_away(tmp_path, seed):
    """Twelve rows, many columns: one of them parts the classes without a meaning."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"x{i}": rng.normal(size=12).round(3) for i in range(400)}
    assert "tell" not in said(read(tmp_path, **columns, y=["a", "b"] * 6))
    codes: dict[str, Any] = {f"c{i}": rng.choice(list("pqrs"), 12) for i in range(100)}
    assert "tell" not in said(read(tmp_path, **codes, y=["a", "b"] * 6))


def written(tmp_path: Any, *lines: str) -> Any:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


ROWS = [f"{x};{label}" for x, label in zip(X, LABEL, strict=True)]


def test_rows_and_columns_of_separators_alone_at_the_end_are_passed_over(tmp_path):
    path = written(tmp_path, "x;y;;", *(f"{row};;" for row in ROWS), ";;;", ";;;", ";;;")
    dataset = read_table(path, "y")
    assert dataset.X.shape == (N, 1)
    assert "passed over 3 empty rows at the end" in said(dataset)
    with pytest.raises(ValueError, match=r"'y' is missing in 1 row \(60,"):
        read_table(written(tmp_path, "x;y", *ROWS, ";", ROWS[0]), "y")


@pytest.mark.parametrize("word", ["Total", "SUMME", "average"])
def test_a_last_row_that_sums_up_the_others_is_pointed_out(tmp_path, word):
    sites = cycle("north", "south")
    rows = [f"{site};{row}" for site, row in zip(sites, ROWS, strict=True)]
    path = written(tmp_path, "site;x;y", *rows, f"{word};99.5;low risk")
    line = f"the last row seems to sum up the others ({word!r} in 'site'): remove it if it does"
    assert line in said(read_table(path, "y"))
    often = [row.replace("south", "total") for row in rows]  # a category like any other
    assert "sum up" not in said(read_table(written(tmp_path, "site;x;y", *often), "y"))


def test_a_header_of_two_lines_is_told_from_columns_with_stray_words(tmp_path):
    rows = [f"{x},{z},{label}" for x, z, label in zip(X, X[::-1], LABEL, strict=True)]
    path = written(tmp_path, "Blood,,Outcome", "sodium,potassium,risk", *rows)
    with pytest.raises(TableError, match="seems to take more than one line") as refused:
        read_table(path, "Outcome")
    assert not refused.value.remedy  # leaving all columns out is no way to mend it
    with pytest.raises(ValueError, match=r"'risk' stands in row 0 .* remove what is above the"):
        read_table(path, "risk")


def test_different_words_for_yes_in_one_column_are_pointed_out(tmp_path):
    dataset = read(tmp_path, x=X, stock=cycle("TRUE", "FALSE", "1", "0"), y=LABEL)
    assert "'1', 'TRUE' of 'stock' may mean the same: write them alike if so" in said(dataset)
    assert "'0', 'FALSE' of 'stock' may mean the same" in said(dataset)
    assert "mean the same" not in said(read(tmp_path, x=X, stock=cycle("yes", "no"), y=LABEL))
