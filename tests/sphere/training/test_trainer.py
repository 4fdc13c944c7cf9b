"""Claims about training: exact resume, early stopping, several processes."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from vicinal.sphere.training import (
    Epoch,
    Objective,
    TargetScaling,
    TrainingPlan,
    _trainer,
    classification,
    measure,
    predict,
    regression,
    retrieval,
)
from vicinal.sphere.training import train as train_for
from vicinal.sphere.training._plan import learning_rate_at, order_rows

PLAN = TrainingPlan(n_epochs=3, batch_size=20, learning_rate=0.02, averaging=0.9, seed=4)


class Rows:
    def __init__(self, n: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.inputs = torch.randn(n, 5, generator=generator)
        self.targets = (self.inputs[:, 0] * self.inputs[:, 1] > 0).long()

    def take(self, rows: torch.Tensor) -> torch.Tensor:
        return self.inputs[rows]


def train(
    model: nn.Module, rows_of: Any, validation: Any, plan: TrainingPlan, **options: Any
) -> tuple[nn.Module, list[Epoch]]:
    return train_for(model, rows_of, validation, plan, classification(), **options)


def measure_error(model: nn.Module, rows: Rows) -> float:
    return measure(model, rows, classification())


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2)
    )


def rows_of(epoch: int) -> Rows:
    return Rows(210, 10 + epoch)


class Stop(Exception):
    pass


def stop_at(epoch: int, step: int):
    def listen(progress: _trainer.Step) -> None:
        if (progress.epoch, progress.step) == (epoch, step) and progress.finished is None:
            raise Stop

    return listen


def same_weights(first: nn.Module, second: nn.Module) -> bool:
    a, b = first.state_dict(), second.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_training_learns():
    model, history = train(make_model(), rows_of, Rows(500, 1), replace(PLAN, n_epochs=15))
    assert measure_error(model, Rows(500, 2)) < 0.15
    assert history[-1].loss < history[0].loss


def test_a_training_stopped_anywhere_ends_with_the_same_weights(tmp_path, monkeypatch):
    whole, history = train(make_model(), rows_of, Rows(50, 1), PLAN)
    monkeypatch.setattr(_trainer, "CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "checkpoint.pt"
    for stop in ((0, 1), (0, 7), (1, 10), (2, 3), (2, 10)):
        model = make_model(0 if not path.exists() else 1)
        with pytest.raises(Stop):
            train(model, rows_of, Rows(50, 1), PLAN, checkpoint=path, listener=stop_at(*stop))
    resumed, again = train(make_model(2), rows_of, Rows(50, 1), PLAN, checkpoint=path)
    assert same_weights(whole, resumed)
    for a, b in zip(history, again, strict=True):
        assert replace(a, cpu_seconds=0, seconds=0) == replace(b, cpu_seconds=0, seconds=0)


def test_the_epoch_with_the_least_validation_error_is_kept():
    validation = Rows(60, 3)
    plan = replace(PLAN, n_epochs=12, averaging=None, learning_rate=0.3)
    model, history = train(make_model(), rows_of, validation, plan)
    errors = [epoch.validation_error for epoch in history]
    assert measure_error(model, validation) == min(error for error in errors if error is not None)


def test_patience_ends_a_training_that_no_longer_improves():
    plan = replace(PLAN, n_epochs=50, patience=3, learning_rate=1e-9, averaging=None)
    _, history = train(nn.Linear(5, 2), rows_of, Rows(60, 3), plan)
    assert len(history) == 4  # the first, and three that were no better


def test_averaged_weights_come_with_batch_statistics_of_their_own():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    rows = Rows(1200, 1)
    # Weights that run away from their mean: the newest statistics are not the mean's.
    plan = replace(PLAN, n_epochs=1, averaging=0.98, learning_rate=0.1)
    averaged, _ = train(model, lambda epoch: rows, None, plan)
    assert isinstance(averaged, nn.Sequential)
    spread = averaged[0](rows.inputs).var(0)
    newest = model[0](rows.inputs).var(0)
    assert (newest / spread).log().abs().max() > 0.4
    assert (averaged[1].running_var / spread).log().abs().max() < 0.15


def test_one_cycle_rises_then_falls():
    plan = replace(PLAN, schedule="one-cycle", learning_rate=1.0)
    rates = [learning_rate_at(plan, share) for share in (0.0, 0.1, 0.25, 0.6, 1.0)]
    assert rates == pytest.approx([0.1, rates[1], 1.0, rates[3], 1e-3])
    assert 0.1 < rates[1] < 1
    assert 1e-3 < rates[3] < 1
    assert learning_rate_at(replace(plan, schedule="constant"), 0.9) == 1.0


def test_other_settings_than_the_checkpoints_are_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    train(make_model(), rows_of, None, PLAN, checkpoint=path)
    with pytest.raises(ValueError, match=r"began with batch_size=20, not 30"):
        train(make_model(), rows_of, None, replace(PLAN, batch_size=30), checkpoint=path)
    with pytest.raises(ValueError, match="belong to another network"):
        train(nn.Linear(5, 2), rows_of, None, PLAN, checkpoint=path)


class Evil:
    def __reduce__(self):
        return (print, ("run",))


def test_a_checkpoint_never_runs_code(tmp_path, capsys):
    path = tmp_path / "checkpoint.pt"
    torch.save({"plan": Evil(), "model": {}, "counters": {}}, path)
    with pytest.raises(ValueError, match="no checkpoint"):
        train(make_model(), rows_of, None, PLAN, checkpoint=path)
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="no checkpoint"):
        train(make_model(), rows_of, None, PLAN, checkpoint=path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"text"])
def test_a_broken_checkpoint_is_named(tmp_path, content):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint\.pt is no checkpoint"):
        train(make_model(), rows_of, None, PLAN, checkpoint=path)


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match=r"batch_size=1000 is more than the 210"):
        train(make_model(), rows_of, None, replace(PLAN, batch_size=1000))


@pytest.mark.parametrize("field", ["n_epochs", "batch_size", "learning_rate"])
def test_a_plan_without_work_is_refused(field):
    nothing: dict[str, Any] = {field: 0}
    with pytest.raises(ValueError, match=f"{field}=0"):
        TrainingPlan(**nothing)


def test_progress_counts_steps_and_epochs():
    seen: list[_trainer.Step] = []
    train(make_model(), rows_of, None, replace(PLAN, n_epochs=2), listener=seen.append)
    assert [step.step for step in seen if step.finished is None] == [*range(1, 11)] * 2
    assert all(isinstance(s.finished, Epoch) for s in seen if s.step == 10 and s.finished)
    assert seen[9].seconds_left is not None


def test_the_loss_and_score_of_an_epoch_are_means_over_its_rows():
    seen: list[tuple[float, float]] = []

    def spy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss = nn.functional.cross_entropy(outputs, targets)
        wrong = (outputs.argmax(1) != targets).double().mean()
        seen.append((loss.item(), wrong.item()))
        return loss

    plan = replace(PLAN, n_epochs=1)
    objective = Objective(spy, classification().score)
    _, history = train_for(make_model(), rows_of, None, plan, objective)
    losses, wrong = zip(*seen, strict=True)
    assert history[0].loss == pytest.approx(sum(losses) / 10)
    assert history[0].train_error == pytest.approx(sum(wrong) / 10)


def test_making_the_rows_counts_as_time_of_the_epoch():
    def slow_rows(epoch: int) -> Rows:
        time.sleep(0.3)
        return rows_of(epoch)

    _, history = train(make_model(), slow_rows, None, replace(PLAN, n_epochs=2))
    assert all(epoch.seconds >= 0.3 for epoch in history)
    assert all(epoch.cpu_seconds > 0 for epoch in history)


def test_a_finished_training_run_again_tells_the_same_times(tmp_path):
    path = tmp_path / "checkpoint.pt"
    _, first = train(make_model(), rows_of, Rows(50, 1), PLAN, checkpoint=path)
    _, second = train(make_model(), rows_of, Rows(50, 1), PLAN, checkpoint=path)
    assert first == second


class Sets:
    """Sets of three to six points with one number each: the sum of their squared norms."""

    def __init__(self, n: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        sizes = torch.randint(3, 7, (n,), generator=generator)
        self.points = torch.randn(n, 6, 3, generator=generator)
        self.present = torch.arange(6) < sizes[:, None]
        squares = self.points.square().sum(-1) * self.present
        self.targets = -1500.0 + 40.0 * squares.sum(1)

    def take(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the points of all sets, one after the other, and the set of each."""
        present = self.present[rows]
        return self.points[rows][present], torch.arange(len(rows)).repeat_interleave(present.sum(1))


class SumOverPoints(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 1))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, given: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        points, owner = given
        sums = points.new_zeros(int(owner.max()) + 1)
        return self.offset + sums.index_add(0, owner, self.each(points)[:, 0])


def test_regression_over_sets_of_any_size_needs_no_other_trainer():
    training, validation = Sets(600, 0), Sets(200, 1)
    plan = TrainingPlan(n_epochs=15, batch_size=20, learning_rate=0.03, schedule="one-cycle")
    objective = regression(training.targets)
    torch.manual_seed(0)
    model, history = train_for(SumOverPoints(), lambda epoch: training, validation, plan, objective)
    spread = float(validation.targets.std())
    error = measure(model, validation, objective)  # in the targets' own units
    assert error < 0.2 * spread
    assert min(e.validation_error or 0 for e in history) == pytest.approx(error)
    outputs = objective.scaling.undo(predict(model, validation))
    assert float((outputs - validation.targets).abs().mean()) == pytest.approx(error)


def test_targets_are_learned_in_their_own_standard_units():
    targets = torch.tensor([-10.0, 0.0, 10.0, 20.0])
    scaling = regression(targets).scaling
    scaled = scaling.apply(targets)
    torch.testing.assert_close(scaled.mean(), torch.tensor(0.0))
    torch.testing.assert_close(scaled.std(correction=0), torch.tensor(1.0))
    torch.testing.assert_close(scaling.undo(scaled), targets)
    labels = torch.tensor([3, 1])
    assert TargetScaling().apply(labels) is labels
    with pytest.raises(ValueError, match="not all the same"):
        regression(torch.ones(5))


def test_another_scaling_than_the_checkpoints_is_refused(tmp_path):
    path, rows = tmp_path / "checkpoint.pt", Sets(60, 0)
    plan = TrainingPlan(n_epochs=1, batch_size=20)
    train_for(
        SumOverPoints(), lambda e: rows, None, plan, regression(rows.targets), checkpoint=path
    )
    other = regression(rows.targets + 1)
    with pytest.raises(ValueError, match="began with shift="):
        train_for(SumOverPoints(), lambda e: rows, None, plan, other, checkpoint=path)


class Clusters(Rows):
    """Four classes that two of five coordinates tell, the other three being noise."""

    def __init__(self, n: int, seed: int) -> None:
        super().__init__(n, seed)
        self.targets = (self.inputs[:, 0] > 0).long() + 2 * (self.inputs[:, 1] > 0).long()
        self.inputs[:, 2:] *= 4


def neighbourhood_loss(embeddings: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean of −log of the share of neighbours, softly chosen, of the row's own class."""
    others = torch.cdist(embeddings, embeddings).square().fill_diagonal_(torch.inf)
    shares = torch.softmax(-others, 1) * (labels[:, None] == labels)
    return -torch.log(shares.sum(1) + 1e-6).mean()


def test_an_embedding_learns_by_a_loss_on_neighbours():
    plan = TrainingPlan(n_epochs=15, batch_size=60, learning_rate=0.02)
    torch.manual_seed(0)
    model: nn.Module = nn.Linear(5, 2)
    validation = Clusters(300, 99)
    objective = retrieval(neighbourhood_loss)
    before = measure(model, validation, objective)
    model, history = train_for(model, lambda e: Clusters(300, e), validation, plan, objective)
    after = measure(model, validation, objective)
    assert after < 0.6 * before
    assert history[-1].loss < history[0].loss


def test_the_score_of_an_embedding_is_the_leave_one_out_error_of_the_nearest_neighbour():
    embeddings = torch.tensor([[0.0], [0.1], [5.0], [5.2], [0.3]])
    score = retrieval(neighbourhood_loss).score
    assert float(score(embeddings, torch.tensor([0, 0, 1, 1, 1]))) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("counters", lambda c: c["counters"].pop("epoch")),
        ("counters", lambda c: c["counters"].update(step=-1)),
        ("counters", lambda c: c["counters"].update(loss_sum=float("nan"))),
        ("history", lambda c: c["history"].append({"epoch": 1})),
        ("optimiser", lambda c: c["optimiser"].pop("state")),
        ("optimiser", lambda c: c["optimiser"]["state"][0]["exp_avg"].fill_(torch.nan)),
        ("optimiser", lambda c: c["optimiser"]["state"][0].update(exp_avg=torch.ones(1))),
        ("average", lambda c: c["average"].pop("n_averaged")),
        ("average", lambda c: c.update(average=None)),
        ("best", lambda c: c.update(best={"weight": torch.ones(1)})),
        ("model", lambda c: c["model"]["4.bias"].fill_(torch.nan)),
        ("plan", lambda c: c.update(plan=3)),
    ],
)
def test_a_checkpoint_with_a_part_spoilt_is_refused_in_words(finished, part, change):
    content = torch.load(finished, weights_only=True)
    change(content)
    path = finished.with_name("spoilt.pt")
    torch.save(content, path)
    with pytest.raises(ValueError, match=r"spoilt\.pt"):
        train(make_model(), rows_of, None, PLAN, checkpoint=path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("training") / "checkpoint.pt"
    train(make_model(), rows_of, None, PLAN, checkpoint=path)
    return path


@pytest.mark.parametrize("together", [1, 2, 3, 5])
def test_rows_of_a_class_follow_one_another(together):
    targets = torch.arange(60) % 2  # 30 of each
    order = order_rows(targets, together, torch.Generator().manual_seed(0))
    assert torch.equal(order.sort().values, torch.arange(60))
    groups = targets[order].split(together)
    assert all(len(set(group.tolist())) == 1 for group in groups)
    other = order_rows(targets, together, torch.Generator().manual_seed(1))
    assert not torch.equal(order, other)


def test_classes_that_do_not_divide_are_kept_whole():
    targets = torch.tensor([0] * 7 + [1] * 2)
    order = order_rows(targets, 5, torch.Generator().manual_seed(0))
    assert torch.equal(order.sort().values, torch.arange(9))
