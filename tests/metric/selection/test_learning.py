"""Learning a problem whose scores are known: successive halving, then a fit of all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from vicinal.metric.descent import Descent, Progress
from vicinal.metric.selection import choose, learn
from vicinal.metric.selection._learning import rungs
from vicinal.rows import Rows


@dataclass(frozen=True)
class Named:
    name: str

    def label(self) -> str:
        return f"setting {self.name}"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}


@dataclass
class Fake:
    """Held-out scores by setting and epoch; a "map" is the setting's number and the epoch."""

    curves: dict[str, list[float]]
    weights: Any = None
    begun: list[Any] = field(default_factory=list)
    walked: dict[str, int] = field(default_factory=dict)
    n_epochs: int = 8
    tol: float = -1.0

    @property
    def rows(self) -> Rows:
        return Rows(np.zeros((4, 1)))

    def settings(self) -> list[Named]:
        return [Named(name) for name in self.curves]

    def on(self, rows: Any) -> Any:
        return self

    def begin(self, setting: Any, seed: Any) -> Any:
        self.begun.append((setting.name, tuple(seed)))
        return Walk(self, setting.name)

    def score(self, components: Any, held: Any) -> Any:
        name, epoch = components
        # The rows differ, and their plain mean is what the curve says.
        return self.curves[name][epoch - 1] + np.array([-0.1, 0.1, -0.1, 0.1])


class Walk(Descent):
    """A descent that counts its epochs."""

    def __init__(self, problem: Fake, name: str) -> None:
        self.problem, self.name, self.epoch, self.losses = problem, name, 0, []
        self.n_epochs, self.tol = problem.n_epochs, problem.tol

    @property
    def components(self) -> Any:
        return self.name, self.epoch

    def advance(self) -> float:
        self.epoch += 1
        self.problem.walked[self.name] = self.epoch
        self.losses.append(1 / self.epoch)
        return self.losses[-1]


def never(progress: object) -> bool:
    return False


def choose_among(curves, watch=never, weights=None, max_iter=8) -> tuple[Any, Fake]:
    problem: Any = Fake(curves, weights, n_epochs=max_iter)
    return choose([(problem, problem)], problem.settings(), 0, watch), problem


CURVES = {
    "bad": [0.9] * 8,
    "good": [0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.2, 0.3],
    "quick": [0.4, 0.35, 0.34, 0.36, 0.36, 0.36, 0.36, 0.36],
    "worse": [0.8] * 8,
}


def test_the_setting_with_the_lowest_score_is_chosen_with_its_epoch():
    choice, problem = choose_among(CURVES)
    assert choice.setting == Named("good")
    assert choice.n_epochs == 6
    assert problem.walked == {"bad": 2, "worse": 2, "quick": 4, "good": 8}


def test_a_lucky_epoch_among_bad_ones_is_not_taken():
    lucky = [0.5, 0.5, 0.5, 0.22, 0.5, 0.5, 0.5, 0.5]
    steady = [0.5, 0.4, 0.3, 0.3, 0.29, 0.25, 0.29, 0.3]
    choice, _ = choose_among({"steady": steady, "lucky": lucky, "bad": [0.9] * 8})
    assert choice.setting == Named("steady")
    assert choice.n_epochs == 4


def test_half_of_a_score_is_that_of_the_epochs_beside_it():
    choice, _ = choose_among({"falls": [0.5, 0.4, 0.3, 0.2], "flat": [0.45] * 4}, max_iter=4)
    assert choice.n_epochs == 4
    assert choice.tried[0]["score"] == pytest.approx((0.3 + 3 * 0.2) / 4)
    choice, _ = choose_among({"turns": [0.5, 0.3, 0.4, 0.5], "flat": [0.6] * 4}, max_iter=4)
    assert choice.n_epochs == 2
    assert choice.tried[0]["score"] == pytest.approx((0.5 + 2 * 0.3 + 0.4) / 4)


def test_all_that_was_tried_is_told_and_one_is_chosen():
    choice, _ = choose_among(CURVES)
    assert [tried["name"] for tried in choice.tried] == list(CURVES)
    assert [tried["chosen"] for tried in choice.tried] == [False, True, False, False]
    good = choice.tried[1]
    assert good["scores"] == pytest.approx(CURVES["good"])
    assert good["score"] == pytest.approx((0.2 + 2 * 0.15 + 0.2) / 4)
    assert (good["n_epochs"], good["epochs_tried"]) == (6, 8)
    assert choice.tried[0]["epochs_tried"] == 2


def test_a_setting_left_behind_is_chosen_if_no_other_reaches_its_score():
    curves = {"a": [0.2, 0.1, 0.5, 0.5], "b": [0.2, 0.05, 0.9, 0.9], "c": [0.2, 0.3] * 2}
    choice, _ = choose_among(curves, max_iter=4)
    assert choice.setting == Named("a")
    assert choice.n_epochs == 2


def test_a_true_answer_ends_the_search_with_what_is_known():
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 2

    choice, problem = choose_among(CURVES, stop)
    assert problem.walked == {"bad": 2, "good": 2}
    assert choice.setting == Named("good")
    assert choice.n_epochs == 2
    assert [tried["name"] for tried in choice.tried] == ["bad", "good"]


def test_the_watch_is_told_of_every_trial():
    seen: list[Progress] = []

    def tell(progress: Progress) -> bool:
        seen.append(progress)
        return False

    choose_among(CURVES, tell)
    assert [p.setting for p in seen[:4]] == [f"setting {name}" for name in CURVES]
    assert [p.epoch for p in seen] == [2] * 4 + [4] * 2 + [8]
    assert {p.stage for p in seen} == {"settings"}
    assert seen[1].inner_error == pytest.approx(0.4)
    assert seen[1].loss == 0.5
    assert "inner error 0.4000" in seen[1].describe()


def test_weights_of_held_out_rows_reach_the_score():
    weights = np.array([0.0, 1.0, 0.0, 1.0])
    choice, _ = choose_among(CURVES, weights=weights)
    assert min(choice.tried[1]["scores"]) == pytest.approx(0.15 + 0.1)


def test_scores_of_all_splits_are_pooled():
    one: Any = Fake({"a": [0.1], "b": [0.3]}, n_epochs=1)
    other: Any = Fake({"a": [0.9], "b": [0.5]}, n_epochs=1)
    splits = [(one, one), (other, other)]
    choice = choose(splits, [Named("a"), Named("b")], 7, never)
    assert choice.setting == Named("b")
    assert choice.tried[0]["score"] == pytest.approx(0.5)
    # Every setting begins a split from the same seed.
    assert one.begun == [("a", (7, 0)), ("b", (7, 0))]
    assert other.begun == [("a", (7, 1)), ("b", (7, 1))]


@pytest.mark.parametrize(
    ("n_settings", "max_iter", "expected"),
    [
        (1, 12, [12]),
        (2, 12, [6, 12]),
        (8, 16, [2, 4, 8, 16]),
        (12, 12, [1, 3, 6, 12]),
        (9, 2, [1, 2]),
        (4, 1, [1]),
    ],
)
def test_rungs_halve_the_epochs_as_often_as_the_settings(n_settings, max_iter, expected):
    assert rungs(n_settings, max_iter) == expected


def test_what_is_chosen_is_fitted_to_its_epoch_and_all_is_told():
    seen: list[Progress] = []

    def tell(progress: Progress) -> bool:
        seen.append(progress)
        return False

    problem: Any = Fake(CURVES)
    learned = learn(problem, 0, tell)
    assert learned.setting == {"name": "good"}
    assert learned.components == ("good", 6)
    assert learned.losses == [1 / epoch for epoch in range(1, 7)]
    assert [tried["chosen"] for tried in learned.tried] == [False, True, False, False]
    fit = [p for p in seen if p.stage == "fit"]
    assert [(p.setting, p.epoch, p.n_epochs) for p in fit] == [
        ("setting good", epoch, 6) for epoch in range(1, 7)
    ]
    assert fit[-1].seconds_left == 0
    assert "fit, setting good: epoch 6 of 6, loss" in fit[-1].describe()


def test_a_single_setting_is_fitted_without_splits():
    problem: Any = Fake({"only": [0.1] * 8})
    learned = learn(problem, 0, never)
    assert problem.begun == [("only", (0, 1 << 20))]
    assert learned.tried == [{"name": "only", "n_epochs": 8, "chosen": True}]


def test_a_fit_ends_when_told_or_when_nothing_is_left_to_learn():
    stopped: Any = Fake({"only": [0.1] * 8})
    assert learn(stopped, 0, lambda progress: progress.epoch == 2).components == ("only", 2)
    done: Any = Fake({"only": [0.1] * 8}, tol=0.25)
    assert learn(done, 0, never).components == ("only", 4)
