"""Claims about training: exact resume, early stopping, several processes."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from vicinal.sphere.training import _trainer
from vicinal.sphere.training._trainer import (
    Epoch,
    TrainingPlan,
    learning_rate_at,
    measure_error,
    train,
)

PLAN = TrainingPlan(n_epochs=3, batch_size=20, learning_rate=0.02, averaging=0.9, seed=4)


class Rows:
    def __init__(self, n: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.inputs = torch.randn(n, 5, generator=generator)
        self.labels = (self.inputs[:, 0] * self.inputs[:, 1] > 0).long()

    def take(self, rows: torch.Tensor) -> torch.Tensor:
        return self.inputs[rows]


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
    model, history = train(make_model(), rows_of, Rows(500, 1), replace(PLAN, n_epochs=30))
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
        assert replace(a, cpu_seconds=0) == replace(b, cpu_seconds=0)


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
