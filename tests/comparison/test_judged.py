"""How many folds are judged: one where its rows are enough, and then its rows are tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_rel
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal.comparison._held import hold_rows, source_of
from vicinal.comparison._packing import pack_floats, unpack_floats
from vicinal.comparison._plan import Question, plan_comparison
from vicinal.comparison._rows import FoldKeeper
from vicinal.data import Roles

ENOUGH, TOO_FEW = 6250, 6240


def frame_of(n_rows: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 3))
    frame = pd.DataFrame(X.round(4), columns=["a", "b", "c"])
    frame["site"] = random.integers(0, 3, n_rows)
    frame["count"] = random.integers(1, 4, n_rows)
    frame["size"] = (X[:, 0] + 0.3 * random.normal(size=n_rows)).round(4)
    return frame.assign(label=np.where(frame["size"] > 0, "yes", "no"))


def plan(n_rows=ENOUGH, target="label", roles=None, methods=(), **asked):
    frame = frame_of(n_rows)
    given = Roles(features=("a", "b", "c"), **(roles or {}))
    held = hold_rows(frame, target, groups=None, task=None, impute=False, roles=given)
    question = Question(source_of(held, None), methods, **asked)
    return plan_comparison(question, FoldKeeper(held))


def test_one_fold_is_judged_where_it_has_rows_enough_and_a_line_says_so():
    found = plan()
    assert (found.n_folds, found.setting.folds) == (1, {"n_folds": 5})
    assert {cell.fold for cell in found.cells} == {0}
    line = "one of 5 folds is judged: its 1,250 rows tell an error to within 1.4 points; ask for 5"
    assert found.facts.notes[-1].startswith(line)
    assert plan(target="size").n_folds == 1
    assert plan(protocol="repeated").n_folds == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"n_rows": TOO_FEW},
        {"n_folds": 5},
        {"score": "balanced"},
        {"roles": {"weights": "count"}},
    ],
)
def test_all_folds_are_judged_where_rows_are_few_or_could_not_be_tested(asked):
    found = plan(**asked)
    assert found.n_folds == 5
    assert not any("is judged" in note for note in found.facts.notes)


def test_groups_are_all_judged_in_no_more_folds_than_there_are_groups():
    assert plan(roles={"groups": "site"}).n_folds == 3


def test_all_folds_of_a_run_are_asked_for_where_the_first_one_was_judged(tmp_path):
    frame = frame_of(ENOUGH)[["a", "b", "label"]]
    asked = {"methods": ["lda"], "k": 3, "out": tmp_path / "run"}
    one = vicinal.compare(frame, "label", **asked)
    assert one.protocol == "the first of 5 folds"
    assert "n_folds" not in one.call
    seen: list[Any] = []
    every = vicinal.compare(frame, "label", n_folds=5, listener=seen.append, **asked)
    assert seen[0].n_done == 2
    assert "n_folds=5" in every.call
    for first, row in zip(one.rows, every.rows, strict=True):
        assert first.errors == row.errors[:1]
    assert one.rows[1].p_value is not None


@pytest.mark.parametrize(("score", "power"), [(None, 2), ("mae", 1)])
def test_numbers_of_one_fold_are_tested_row_by_row(score, power):
    frame = frame_of(ENOUGH)
    X, y = frame[["a", "b", "c"]].to_numpy() * [1, 1, 1.1], frame["size"].to_numpy()
    found = vicinal.compare(
        X, y, methods={"scaled": StandardScaler()}, k=7, scale="none", score=score
    )
    train, test = next(KFold(5, shuffle=True, random_state=0).split(X))

    def losses(Z):
        model = KNeighborsRegressor(7, algorithm="brute").fit(Z[train], y[train])
        return np.abs(model.predict(Z[test]) - y[test]) ** power

    scaled = StandardScaler().fit(X[train]).transform(X)
    expected = ttest_rel(losses(X), losses(scaled)).pvalue
    assert found.rows[1].p_value == pytest.approx(expected, rel=1e-3)
    assert 1e-6 < expected < 1


def test_numbers_packed_into_text_come_back_to_seven_digits():
    values = np.random.default_rng(0).normal(size=100) * 1e5
    assert_allclose(unpack_floats(pack_floats(values)), values, rtol=1e-6)


def test_folds_are_cut_ten_times_where_every_fit_costs_milliseconds():
    assert plan(n_rows=TOO_FEW, methods=("lda",)).n_folds == 50
    assert plan(n_rows=TOO_FEW, methods=("lda", "nca")).n_folds == 5, "a descent takes its time"
    assert plan(n_rows=TOO_FEW, methods=()).n_folds == 5, "there is nothing to test"
    assert plan(methods=("lda",)).n_folds == 1, "one large fold tells enough"
    assert plan(n_rows=TOO_FEW, methods=("nca",), n_repeats=3).n_folds == 15


@pytest.mark.parametrize("protocol", ["official", "time"])
def test_a_protocol_that_cuts_in_one_way_refuses_repeats(protocol):
    with pytest.raises(ValueError, match="n_repeats"):
        plan(protocol=protocol, n_repeats=3)


def test_who_asks_for_more_rounds_goes_on_from_the_first(tmp_path):
    X, y = make_classification(90, random_state=0)
    asked = {"methods": ["nca"], "k": 3, "out": tmp_path}
    first = vicinal.compare(X, y, **asked)
    seen: list[str] = []
    more = vicinal.compare(X, y, **asked, n_repeats=2, listener=lambda p: seen.append(str(p)))
    assert more.protocol == "2 rounds of 5-fold cross-validation"
    assert [row.errors[:5] for row in more.rows] == [row.errors for row in first.rows]
    assert len(more.rows[0].errors) == 10
    assert "n_repeats=2" in more.call
    chance = first.rows[1].p_value
    assert chance is not None
    assert any("n_repeats='10'" in note for note in first.notes) == (chance >= 0.05)
