"""One of several workers compiles what the methods need; the others find it compiled."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_wine

from vicinal.comparison import _measurer
from vicinal.comparison._compare import warm_up
from vicinal.comparison._held import hold_rows, source_of
from vicinal.comparison._measurer import Measurer
from vicinal.comparison._plan import Question, plan_comparison
from vicinal.comparison._rows import FoldKeeper
from vicinal.data import Roles
from vicinal.runs import RunFolder, ThisProcess
from vicinal.runs._pool import Finished
from vicinal.runs._runner import cell_request


class Heard(ThisProcess):
    """Workers that note what they are asked, and die over it where told to."""

    def __init__(self, n_workers: int, *, dies: bool = False) -> None:
        super().__init__(lambda request: {})
        self.n_workers, self.dies = n_workers, dies
        self.requests: list[dict[str, Any]] = []

    def run(self, requests):
        self.requests += requests
        yield Finished(0, None if self.dies else {}, "it died.")


def plan_and_rows(*methods: str):
    X, y = load_wine(return_X_y=True)
    held = hold_rows(X, y, groups=None, task=None, impute=False, roles=Roles())
    question = Question(source_of(held, None), methods)
    return plan_comparison(question, FoldKeeper(held)), held


def test_one_cell_of_each_known_method_is_asked_for_where_there_are_several_workers(tmp_path):
    plan, _ = plan_and_rows("lda", "lmnn", "sklearn.decomposition:PCA")
    with RunFolder(tmp_path) as folder:
        for workers, wanted in ((Heard(2), ["euclidean", "lda", "lmnn"]), (Heard(1), [])):
            warm_up(workers, plan, folder)
            asked = [cell for request in workers.requests for cell in request["cells"]]
            assert [cell["method"] for cell in asked] == wanted
        warm_up(Heard(2, dies=True), plan, folder)  # the cell in which it dies again will say so


def test_a_method_that_was_warmed_up_is_not_again_with_its_cell(monkeypatch, tmp_path):
    plan, held = plan_and_rows("lda")
    warmed: list[str] = []
    monkeypatch.setattr(_measurer, "warm_up", lambda cell, *_: warmed.append(cell.method))
    measurer, workers = Measurer(held), Heard(2)
    with RunFolder(tmp_path) as folder:
        warm_up(workers, plan, folder)
    assert measurer.answer(workers.requests[0]) == {}
    assert warmed == ["euclidean", "lda"]
    assert measurer.answer(cell_request(plan.cells[0]))["records"][0]["status"] == "ok"
    assert warmed == ["euclidean", "lda"]
