"""From a plan to records: everything once, failures again, time left by experience."""

from __future__ import annotations

import pytest

from vicinal.comparison import plan_cells
from vicinal.methods import get_method
from vicinal.runs import RunFolder, RunProgress, Setting, Source, run_cells
from vicinal.runs._runner import estimate_seconds, unmeasured

TABLE = "a,b,c,y\n" + "".join(f"{i % 11},{i % 7},{i % 5},{'xz'[i % 2]}\n" for i in range(61))


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    setting = Setting(Source("table.csv", str(path), "y"), {}, "kfold", {"n_folds": 4})
    names = ("euclidean", "misbehaving:OddFolds", "misbehaving:Neighborly")
    return plan_cells(setting, [get_method(name) for name in names], (1, 3), 4)


def test_everything_is_measured_once_and_only_failures_again(cells, tmp_path):
    heard: list[RunProgress] = []
    with RunFolder(tmp_path / "run") as folder:
        records = run_cells(cells, folder, listener=heard.append)
    assert len(records) == 4 * (2 + 2 + 2)
    failed = [r for r in records if r["status"] == "failed"]
    assert {(r["method"], r["message"]) for r in failed} == {
        ("misbehaving:OddFolds", "an odd number of rows")
    }
    # 61 rows in 4 folds: three training parts of 46 rows, one of 45.
    assert len(failed) == 2
    assert heard[0].n_done == 0
    assert heard[-1].n_done == heard[-1].n_cells == len(cells)
    assert heard[-1].n_failed == 1
    assert sum(progress.ended is not None for progress in heard) == len(cells)

    with RunFolder(tmp_path / "run") as folder:
        left = unmeasured(cells, folder)
        assert [(c.method, c.ks) for c in left] == [("misbehaving:OddFolds", (1, 3))]
        again = run_cells(cells, folder, jobs=3, listener=heard.append)
    assert heard[-1].n_done == len(cells)
    kept = [r for r in records if r["status"] == "ok"]
    assert [r for r in again if r["status"] == "ok"] == kept, "not even measured anew"


def test_a_learner_that_takes_k_gets_it(cells, tmp_path):
    with RunFolder(tmp_path / "run") as folder:
        records = run_cells(cells[-2:], folder)
    assert [(r["method"], r["k"]) for r in records] == [
        ("misbehaving:Neighborly", 1),
        ("misbehaving:Neighborly", 3),
    ]


def test_time_left_goes_by_what_each_method_took():
    taken = {"fast": [1.0, 3.0], "slow": [10.0]}
    assert estimate_seconds(["fast", "slow", "slow"], taken, 1) == pytest.approx(22.0)
    assert estimate_seconds(["fast", "slow", "slow"], taken, 2) == pytest.approx(11.0)
    assert estimate_seconds(["new"], taken, 1) == pytest.approx(14 / 3)
    assert estimate_seconds(["fast"], {}, 1) is None
