from __future__ import annotations

import math

import pytest

from vicinal.report._numbers import (
    MISSING,
    count_of,
    format_distance,
    format_error,
    format_error_bare,
    format_error_pair,
    format_memory,
    format_p,
    format_seconds,
    format_share,
    format_value,
    is_known,
    join_words,
    phrase_cpu_seconds,
    phrase_p,
    shorten,
)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_number_that_is_not_there_is_a_dash_everywhere(value: float | None) -> None:
    assert not is_known(value)
    assert format_error(value, "classification") == MISSING
    assert format_error_bare(value, "regression") == MISSING
    assert format_p(value) == format_seconds(value) == format_memory(value) == MISSING


def test_errors_are_percentages_for_classes_and_shares_of_variance_for_numbers() -> None:
    assert plain(format_error(0.0493, "classification")) == "4.9 %"
    assert plain(format_error(0.0493, "regression")) == "0.049"
    assert format_error_bare(0.0493, "classification") == "4.93"
    assert format_error_bare(0.0493, "regression") == "0.0493"


def test_gains_carry_their_sign_and_nothing_is_minus_zero() -> None:
    assert format_error_bare(0.0283, "classification", plus=True) == "+2.83"
    assert format_error_bare(-0.0283, "classification", plus=True) == "−2.83"
    assert format_error_bare(-1e-9, "classification", plus=True) == "0.00"


@pytest.mark.parametrize(
    ("pair", "shown"),
    [
        ((0.049, 0.021), ("4.9 %", "2.1 %")),
        ((0.0283, 0.0281), ("2.83 %", "2.81 %")),
        ((0.02831, 0.02830), ("2.831 %", "2.830 %")),
        ((0.05, 0.05), ("5.0 %", "5.0 %")),
    ],
)
def test_two_errors_get_the_decimals_that_tell_them_apart(
    pair: tuple[float, float], shown: tuple[str, str]
) -> None:
    first, second = format_error_pair(*pair, "classification")
    assert (plain(first), plain(second)) == shown


@pytest.mark.parametrize(
    ("p_value", "shown"),
    [(0.0, "p < 0.001"), (0.0004, "p < 0.001"), (0.001, "p = 0.001"), (0.0449, "p = 0.045"),
     (0.3, "p = 0.30"), (1.0, "p = 1.00")],
)  # fmt: skip
def test_p_values_read_as_in_a_paper(p_value: float, shown: str) -> None:
    assert plain(phrase_p(p_value)) == shown


@pytest.mark.parametrize(
    ("seconds", "cell", "words"),
    [
        (0.0, "0.000", "less than 0.01 CPU-seconds"),
        (0.25, "0.250", "0.25 CPU-seconds"),
        (3.21, "3.21", "3.2 CPU-seconds"),
        (45.67, "45.7", "45.7 CPU-seconds"),
        (12345.6, "12,346", "12,346 CPU-seconds"),
    ],
)
def test_seconds_keep_about_three_figures(seconds: float, cell: str, words: str) -> None:
    assert format_seconds(seconds) == cell
    assert plain(phrase_cpu_seconds(seconds)) == words


def test_shares_memory_distances_and_values() -> None:
    assert [plain(format_share(s)) for s in (0, 0.0001, 0.042, 0.0999, 0.5)] == [
        "0 %", "< 0.1 %", "4.2 %", "10 %", "50 %",
    ]  # fmt: skip
    assert [format_memory(m) for m in (1.25, 120.4, 2048.0)] == ["1.2", "120", "2,048"]
    assert [format_distance(d) for d in (4.0, 0.12345, 1234.5)] == ["4.00", "0.123", "1,234"]
    assert [format_value(v) for v in (-3.14159, 25000.0, 1e9)] == ["−3.14", "25,000", "1e+09"]


def test_counts_and_lists_read_as_sentences() -> None:
    assert plain(count_of(1, "fold")) == "1 fold"
    assert plain(count_of(1797, "class", "classes")) == "1,797 classes"
    assert join_words([]) == ""
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert join_words(list("abcdefghijkl"), limit=3) == "a, b, c and 9 more"
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
