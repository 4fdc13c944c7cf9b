"""Rows in the order of a time, of groups, or nearly copies: said where it is so, and only there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vicinal.data import read_table


def judged(tmp_path, frame: pd.DataFrame, target: str):
    frame.to_csv(tmp_path / "table.csv", index=False)
    dataset = read_table(tmp_path / "table.csv", target)
    return dataset.protocol, "\n".join(dataset.notes)


def walks(n_series: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_series, n)).cumsum(axis=1)


def stores(sort_by: str) -> pd.DataFrame:
    """Twelve stores of 80 days: each has its level, and walks from there."""
    rng = np.random.default_rng(1)
    days = pd.date_range("2024-01-01", periods=80).strftime("%Y-%m-%d")
    frame = pd.DataFrame({
        "store": np.repeat([f"S{i:02d}" for i in range(12)], 80),
        "date": np.tile(days, 12),
        "promo": rng.integers(0, 2, 960),
        "sales": (100 + walks(12, 80) + 30 * rng.normal(size=(12, 1))).ravel().round(2),
    })  # fmt: skip
    return frame.sort_values(sort_by, kind="stable")


@pytest.mark.parametrize("sort_by", ["store", "date"])
def test_several_series_are_judged_by_time_however_they_are_laid_out(tmp_path, sort_by):
    protocol, said = judged(tmp_path, stores(sort_by), "sales")
    assert protocol == "time"
    assert "in the order of 'date'" in said


def test_series_that_only_differ_in_level_have_no_time_that_matters(tmp_path):
    frame = stores("store")
    frame["sales"] = frame.groupby("store")["sales"].transform("first")
    frame["sales"] += np.random.default_rng(2).normal(size=960).round(2)
    assert judged(tmp_path, frame, "sales")[0] != "time"


@pytest.mark.parametrize("name", ["timestamp", "year", "unix_time"])
def test_numbers_called_a_moment_are_one(tmp_path, name):
    frame = pd.DataFrame({name: 1000 + np.arange(300), "y": walks(1, 300)[0].round(3)})
    frame["x"] = np.random.default_rng(0).normal(size=300).round(3)
    assert judged(tmp_path, frame, "y")[0] == "time"
    protocol, said = judged(tmp_path, frame.sample(frac=1, random_state=0), "y")
    assert protocol == "kfold"
    assert f"in order of {name!r}" in said
    assert "(protocol='time')" in said


def test_a_time_that_may_be_a_duration_gets_a_line(tmp_path):
    rng = np.random.default_rng(0)
    time = np.sort(rng.gamma(2, 50, 300)).round()
    frame = pd.DataFrame({"time": time, "age": rng.integers(30, 90, 300)})
    frame["event"] = np.where(time + 40 * rng.normal(size=300) < 60, "died", "lives")
    protocol, said = judged(tmp_path, frame, "event")
    assert protocol == "kfold"
    assert "rows come in the order of 'time': if later rows" in said


def test_the_order_of_the_file_is_offered_where_targets_follow_one_another(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300).round(3), "y": walks(1, 300)[0].round(3)})
    assert "rows next to each other" in judged(tmp_path, frame, "y")[1]
    dataset = read_table(tmp_path / "table.csv", "y")
    np.testing.assert_array_equal(dataset.times, np.arange(300))
    assert "rows next" not in judged(tmp_path, frame.sample(frac=1, random_state=0), "y")[1]


def test_rows_sorted_by_their_class_or_a_column_come_in_no_order_of_time(tmp_path):
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=300))
    frame = pd.DataFrame({"x": x.round(6), "z": rng.normal(size=300).round(3)})
    frame["kind"] = np.where(x + rng.normal(size=300) > 0, "a", "b")
    assert "rows next" not in judged(tmp_path, frame, "kind")[1]
    frame = frame.sample(frac=1, random_state=0).sort_values("kind", kind="stable")
    assert "rows next" not in judged(tmp_path, frame, "kind")[1]


def test_frames_of_films_are_told_by_their_neighbours(tmp_path):
    rng = np.random.default_rng(0)
    film = np.repeat(np.arange(15), 20)
    frame = pd.DataFrame((3 * rng.normal(size=(15, 6)))[film] + rng.normal(size=(300, 6)))
    frame = frame.round(3).add_prefix("e")
    frame["kind"] = np.array(["cat", "dog", "cow"])[rng.integers(0, 3, 15)][film]
    assert "rows next to each other" in judged(tmp_path, frame, "kind")[1]


def test_rows_that_are_nearly_copies_are_told(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), rng.choice(["p", "q"], 100)
    versions = np.repeat(X, 4, axis=0) + 1e-3 * rng.normal(size=(400, 5))
    order = rng.permutation(400)
    frame = pd.DataFrame(versions[order]).add_prefix("x").assign(kind=np.repeat(y, 4)[order])
    assert "10 times nearer" in judged(tmp_path, frame, "kind")[1]
    apart = pd.DataFrame(rng.normal(size=(400, 5))).add_prefix("x").assign(kind=frame["kind"])
    assert "nearer" not in judged(tmp_path, apart, "kind")[1]


def test_what_is_made_from_a_number_is_told_though_rounded_or_bent(tmp_path):
    rng = np.random.default_rng(0)
    price = np.exp(rng.normal(size=200) + 5).round(2)
    frame = pd.DataFrame({"size": (np.log(price) + rng.normal(size=200)).round(3)})
    frame["dollars"], frame["log"] = (1.07 * price).round(1), np.log(price)
    frame["rest"] = -np.floor(price / 50)
    frame["price"] = price
    said = judged(tmp_path, frame, "price")[1]
    assert "'dollars', 'log', 'rest' tell, each alone, 'price' in order" in said
