"""Many tables: figures that count tables, written out; what fails is named and in no mean."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.comparison import (
    benchmark_page,
    count_folds,
    critical_difference,
    find_tables,
    mean_ranks,
    plan_benchmark,
    summarize_benchmark,
)
from vicinal.report._critical import groups_within, plot_critical_differences


def record(table, method, error, *, fold=0, status="ok", numbers=False, seconds=1.0):
    scores = {"error": error} | ({"rmse": 1.0, "mae": 1.0} if numbers else {"balanced": error})
    return {
        "dataset": table, "method": method, "k": 5, "fold": fold, "status": status,
        "scores": scores, "message": "it would not do.", "fit_cpu_seconds": seconds,
    }  # fmt: skip


def test_ranks_are_means_over_tables_and_ties_share():
    errors = np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1]])
    assert_array_equal(mean_ranks(errors), [(1 + 2.5) / 2, (2 + 2.5) / 2, (3 + 1) / 2])


def test_the_critical_difference_is_nemenyis():
    # Demšar 2006, table 5: q is 2.569 for four methods; 14 tables.
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_differences_are_paired_by_table_with_the_best_rank():
    rows = [("a", 0.10, 0.12), ("b", 0.30, 0.31), ("c", 0.20, 0.26)]
    records = [
        record(table, method, error)
        for table, *errors in rows
        for method, error in zip(("good", "worse"), errors, strict=True)
    ]
    (summary,) = summarize_benchmark(records)
    assert summary.methods == ("good", "worse")
    gaps, noise = summary.differences()
    assert_allclose(gaps, [0, 3])
    assert_allclose(noise, [0, np.std([2, 1, 6], ddof=1) / np.sqrt(3)])
    assert_allclose(summary.scores["balanced"], summary.errors)


def test_folds_are_averaged_first_and_numbers_are_compared_by_ratios():
    records = [record("a", "m", e, fold=f, numbers=True) for f, e in enumerate((0.1, 0.3))]
    records += [record("a", "n", 0.4, numbers=True), record("b", "m", 0.01, numbers=True)]
    records += [record("b", "n", 0.04, numbers=True), record("c", "m", 0.5)]
    classes, numbers = summarize_benchmark(records)
    assert classes.task == "classification"
    assert classes.tables == ("c",)
    assert_allclose(numbers.errors[:, 0], [0.2, 0.01])
    assert_allclose(numbers.differences()[0], [0, (np.log(2) + np.log(4)) / 2])


def test_a_table_that_a_method_failed_on_is_in_no_mean_and_named():
    records = [record("a", "m", 0.1), record("a", "n", 0.2), record("b", "m", 0.3)]
    records += [{**record("b", "n", 0.0), "status": "failed"}]
    (summary,) = summarize_benchmark(records)
    assert summary.tables == ("a",)
    assert summary.left_out == (("n", "b", "it would not do."),)


def test_votes_of_one_metric_are_told_apart():
    rows = [("lda", 5, 0.2), ("lda", "auto", 0.1), ("svm", None, 0.3)]
    records = [{**record("a", m, e), "k": k, "coverage": 0.9} for m, k, e in rows]
    del records[2]["coverage"]
    (summary,) = summarize_benchmark(records)
    assert summary.methods == ("lda, chosen vote", "lda, vote of 5", "svm")
    assert_array_equal(summary.scores["coverage"], [[0.9, 0.9, np.nan]])
    assert "| LDA, chosen vote | 1.00 |" in benchmark_page([summary])


@pytest.mark.parametrize(("n_rows", "n_folds"), [(1499, 5), (1500, 3), (5999, 3), (6000, 1)])
def test_small_tables_are_measured_on_more_folds(n_rows, n_folds):
    assert count_folds("auto", n_rows) == n_folds
    assert count_folds(2, n_rows) == 2


def write_tables(folder):
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
        X[:, 0] += 3 * y
        X[:, 3] = np.arange(60) % 3
        np.savez(folder / f"{name}.npz", X=X, y=y, categorical=np.arange(4) == 3)
    X = rng.normal(size=(60, 3))
    y = np.round(3 * X[:, 0]).astype(int)  # which are classes, unless the file says otherwise
    np.savez(folder / "number.npz", X=X, y=y, task="reg", categorical=np.arange(3) < 1)
    (folder / "readme.md").write_text("not a table")


def test_each_method_runs_on_the_tables_of_its_tasks(tmp_path):
    write_tables(tmp_path)
    sources = find_tables(tmp_path, None, None)
    assert [source.name for source in sources] == ["number.npz", "one.npz", "two.npz"]
    assert sources[1].roles == {"categories": ("x3",)}
    assert sources[0].task == "regression"
    cells = plan_benchmark(sources, ["lda", "egop", "forest"], ks=[3])
    ran = {(cell.setting.source.name, cell.method) for cell in cells}
    assert ran == {
        ("number.npz", "euclidean"), ("number.npz", "egop"), ("number.npz", "forest"),
        *((name, m) for name in ("one.npz", "two.npz") for m in ("euclidean", "lda", "forest")),
    }  # fmt: skip
    assert len(plan_benchmark(sources[1:2], ["lda"], folds=5)) == 10
    votes = plan_benchmark(sources[1:2], ["lda", "forest"], ks=[3, "learned", "auto"], fold_seed=7)
    assert [cell.ks for cell in votes if cell.method == "lda"] == [(3,), ("learned",), ("auto",)]
    assert [cell.ks for cell in votes if cell.method == "forest"] == [(None,)]
    assert {(cell.setting.seed, cell.setting.folds["seed"]) for cell in votes} == {(0, 7)}
    usual = {cell.method for cell in plan_benchmark(sources[1:2], None)}
    assert usual >= {"euclidean", "mlng", "neural", "auto", "hgb", "forest", "svm", "logistic"}


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no tables"):
        find_tables(tmp_path, None, None)
    with pytest.raises(ValueError, match="is no folder"):
        find_tables(tmp_path / "nowhere", None, None)


def test_bars_join_what_chance_may_have_ordered():
    ranks = np.array([1.0, 1.5, 2.2, 4.0])
    assert groups_within(ranks, 1.0) == [(0, 1), (1, 2)]
    assert groups_within(ranks, 0.1) == []
    ax = plot_critical_differences(["d", "a", "b", "c"], np.array([4.0, 1.0, 1.5, 2.2]), 1.0)
    told = [text.get_text() for text in ax.texts]
    assert told == ["a  1.00", "b  1.50", "c  2.20", "d  4.00"]


def test_a_score_that_a_method_has_not_is_no_number_and_costs_the_others_nothing():
    rows = [record("a", "lda", 0.1), record("a", "svm", 0.2)]
    rows[0]["scores"]["log-loss"] = 0.5
    (summary,) = summarize_benchmark(rows)
    assert_array_equal(summary.scores["log-loss"], [[0.5, np.nan]])


def test_the_page_has_every_figure_and_the_lowest_in_bold():
    records = [record("one.npz", "lda", 0.1), record("one.npz", "svm", 0.2, seconds=3.0)]
    records += [record("two.npz", "lda", 0.3), record("two.npz", "svm", 0.1, seconds=5.0)]
    records += [record("n", "linear", 0.25, numbers=True), record("n", "svm", 0.5, numbers=True)]
    for each in records[::2]:
        each["scores"]["log-loss"] = 0.4
    page = benchmark_page(summarize_benchmark(records))
    lines = page.splitlines()
    assert "### 2 tables of classes" in lines
    assert "### 1 table of numbers" in lines
    assert "| LDA | 1.50 | 20.00 |  | 0.400 | 1.0 |" in lines
    assert "| SVM | 1.50 | 15.00 | -5.00 ± 15.00 | – | 4.0 |" in lines
    assert "| one | **10.00** | 20.00 |" in lines
    assert "| n | **0.2500** | 0.5000 |" in lines
