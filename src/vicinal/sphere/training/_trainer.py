"""Training with checkpoints: the same weights whether or not it was stopped on the way.

Nothing random is carried from step to step. The rows of step s of epoch e follow from the seed
and e, what a network draws for itself (dropout, a view's angle) from the seed, e and s, the rate
from the step's number; so a checkpoint holds weights, the optimiser's moments and two counters,
and loading one runs no code.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from vicinal.sphere.training._checkpoints import (
    check_settings,
    load_weights,
    read_checkpoint,
    write_checkpoint,
)
from vicinal.sphere.training._processes import count_processes, process_rank, sum_over_processes

CHECKPOINT_SECONDS = 30.0
_COUNTERS = ("epoch", "step", "loss_sum", "n_wrong", "cpu_seconds")


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained; ``batch_size`` counts the rows of all processes together."""

    n_epochs: int = 10
    batch_size: int = 50
    learning_rate: float = 5e-4
    schedule: Literal["constant", "one-cycle"] = "constant"
    weight_decay: float = 1e-5
    clip: float | None = 1.0  # the largest norm of a gradient
    averaging: float | None = None  # decay of a running mean of the weights, a step
    smoothing: float = 0.0  # of the labels
    patience: int | None = None  # epochs without a better validation error
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("n_epochs", "batch_size", "learning_rate"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)} must be above zero.")
        if self.schedule not in ("constant", "one-cycle"):
            raise ValueError(f"schedule={self.schedule!r}: take 'constant' or 'one-cycle'.")


class Batches(Protocol):
    """Labelled inputs a network can be given by row numbers."""

    labels: Tensor

    def take(self, rows: Tensor) -> Any:
        """Return the network's input for these rows."""


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to; errors are shares of rows."""

    epoch: int
    loss: float
    train_error: float
    validation_error: float | None
    cpu_seconds: float


@dataclass(frozen=True)
class Step:
    """How far training is, for whoever shows it."""

    epoch: int
    step: int
    n_steps: int
    n_epochs: int
    loss: float
    seconds_left: float | None
    finished: Epoch | None = None


@dataclass
class _State:
    """All that a stopped training goes on from."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    average: AveragedModel | None
    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    n_wrong: int = 0
    cpu_seconds: float = 0.0
    history: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] | None = None

    def evaluated(self) -> nn.Module:
        """The network to judge: the running mean of the weights where one is kept."""
        return self.model if self.average is None else self.average.module


def train(
    model: nn.Module,
    batches_of: Callable[[int], Batches],
    validation: Batches | None,
    plan: TrainingPlan,
    *,
    checkpoint: Path | None = None,
    listener: Callable[[Step], None] | None = None,
) -> tuple[nn.Module, list[Epoch]]:
    """Train a classifier; return the network at its best validation error, and each epoch.

    Parameters
    ----------
    model : module from what ``Batches.take`` returns to scores (batch, classes)
    batches_of : function from an epoch's number to its training rows
        Called once an epoch, so that rows can be drawn anew each time; the same number must
        always give the same rows.
    validation : rows that choose the epoch to keep and the moment to stop, or None
        Without them the last epoch is kept.
    plan : TrainingPlan
    checkpoint : path, optional
        Written every half minute and after every epoch; when the file exists, training goes on
        from it. Where several processes train, the first one writes.
    listener : function called with a `Step` after every one

    Notes
    -----
    Under ``torchrun`` each process takes its share of every batch and gradients are averaged by
    DistributedDataParallel, so that processes change nothing but rounding, and what a network
    draws for itself, if it does.
    """
    state = _make_state(model, plan)
    if checkpoint is not None and checkpoint.exists():
        _load(state, plan, checkpoint)
    network = DistributedDataParallel(model) if count_processes() > 1 else model
    clock = _Clock(checkpoint)
    while state.epoch < plan.n_epochs and not _is_over(state.history, plan):
        batches = batches_of(state.epoch)
        for loss, n_steps in _run_epoch(state, network, batches, plan):
            _tell(listener, state, plan, loss, n_steps, clock)
            if clock.is_due() and state.step < n_steps:
                _save(state, plan, checkpoint)
        _end_epoch(state, batches, validation, plan, listener)
        _save(state, plan, checkpoint)
    if state.best is not None:
        state.evaluated().load_state_dict(state.best)
    return state.evaluated(), state.history


def predict_labels(model: nn.Module, batches: Batches, batch_size: int = 250) -> Tensor:
    """Return the class of the highest score for every row."""
    model.eval()
    parts = torch.arange(len(batches.labels)).split(batch_size)
    with torch.no_grad():
        return torch.cat([model(batches.take(rows)).argmax(1) for rows in parts])


def measure_error(model: nn.Module, batches: Batches) -> float:
    """Return the share of rows whose highest score is not their label's."""
    return (predict_labels(model, batches) != batches.labels).double().mean().item()


def learning_rate_at(plan: TrainingPlan, progress: float) -> float:
    """Return the rate when a share ``progress`` of the steps is done.

    One cycle: a cosine from a tenth of the rate up to it over the first quarter, and a cosine
    down to a thousandth over the rest.
    """
    if plan.schedule == "constant":
        return plan.learning_rate
    rising = progress < 0.25
    share = progress / 0.25 if rising else (progress - 0.25) / 0.75
    low = 0.1 if rising else 1e-3
    fall = 0.5 * (1 + math.cos(math.pi * share))  # 1 → 0
    height = 1 - fall if rising else fall
    return plan.learning_rate * (low + (1 - low) * height)


def _make_state(model: nn.Module, plan: TrainingPlan) -> _State:
    optimiser = torch.optim.Adam(
        model.parameters(), plan.learning_rate, weight_decay=plan.weight_decay
    )
    average = None
    if plan.averaging is not None:
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(plan.averaging))
    return _State(model, optimiser, average)


def _run_epoch(
    state: _State, network: nn.Module, batches: Batches, plan: TrainingPlan
) -> Iterator[tuple[float, int]]:
    order = torch.randperm(
        len(batches.labels), generator=torch.Generator().manual_seed(_mix(plan.seed, state.epoch))
    )
    n_steps = len(order) // plan.batch_size  # rows left over wait for another epoch's order
    if n_steps == 0:
        raise ValueError(
            f"batch_size={plan.batch_size} is more than the {len(order)} training rows."
        )
    state.model.train()
    while state.step < n_steps:
        began = time.process_time()
        rows = order[state.step * plan.batch_size :][: plan.batch_size]
        progress = (state.epoch * n_steps + state.step) / (plan.n_epochs * n_steps)
        for group in state.optimiser.param_groups:
            group["lr"] = learning_rate_at(plan, progress)
        loss = _take_step(state, network, batches, rows, plan)
        state.step += 1
        state.cpu_seconds += time.process_time() - began
        yield loss, n_steps


def _take_step(
    state: _State, network: nn.Module, batches: Batches, rows: Tensor, plan: TrainingPlan
) -> float:
    mine = rows.tensor_split(count_processes())[process_rank()]
    labels = batches.labels[mine]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_mix(_mix(plan.seed, state.epoch), state.step) + process_rank())
        scores = network(batches.take(mine))
    losses = nn.functional.cross_entropy(
        scores, labels, reduction="sum", label_smoothing=plan.smoothing
    )
    # DistributedDataParallel takes the mean over processes: so weigh by their number.
    loss = losses * (count_processes() / len(rows))
    state.optimiser.zero_grad(set_to_none=True)
    loss.backward()
    if plan.clip is not None:
        nn.utils.clip_grad_norm_(state.model.parameters(), plan.clip)
    state.optimiser.step()
    if state.average is not None:
        state.average.update_parameters(state.model)
    wrong = (scores.detach().argmax(1) != labels).sum()
    sums = sum_over_processes(torch.stack([losses.detach().double(), wrong.double()]))
    state.loss_sum += sums[0].item()
    state.n_wrong += int(sums[1].item())
    return sums[0].item() / len(rows)


def _end_epoch(
    state: _State,
    batches: Batches,
    validation: Batches | None,
    plan: TrainingPlan,
    listener: Callable[[Step], None] | None,
) -> None:
    n_steps = state.step
    n_rows = n_steps * plan.batch_size
    began = time.process_time()
    error = None if validation is None else measure_error(state.evaluated(), validation)
    seconds = state.cpu_seconds + time.process_time() - began
    epoch = Epoch(
        state.epoch, state.loss_sum / n_rows, state.n_wrong / n_rows, error, round(seconds, 2)
    )
    if error is not None and error <= min(_errors(state.history), default=math.inf):
        state.best = copy.deepcopy(state.evaluated().state_dict())
    state.history.append(epoch)
    state.epoch, state.step = state.epoch + 1, 0
    state.loss_sum, state.n_wrong, state.cpu_seconds = 0.0, 0, 0.0
    if listener is not None:
        listener(Step(epoch.epoch, n_steps, n_steps, plan.n_epochs, epoch.loss, None, epoch))


def _is_over(history: Sequence[Epoch], plan: TrainingPlan) -> bool:
    """Tell whether no epoch of the last ``patience`` was better than the ones before."""
    errors = _errors(history)
    if plan.patience is None or len(errors) <= plan.patience:
        return False
    return min(errors[-plan.patience :]) >= min(errors[: -plan.patience])


def _errors(history: Sequence[Epoch]) -> list[float]:
    return [epoch.validation_error for epoch in history if epoch.validation_error is not None]


def _mix(seed: int, epoch: int) -> int:
    return seed * 1_000_003 + epoch


class _Clock:
    """When the next checkpoint is due, and how long the rest will take."""

    def __init__(self, checkpoint: Path | None) -> None:
        self._keeps = checkpoint is not None
        self._saved = self._began = time.monotonic()
        self._n_done = 0

    def is_due(self) -> bool:
        if not self._keeps or time.monotonic() - self._saved < CHECKPOINT_SECONDS:
            return False
        self._saved = time.monotonic()
        return True

    def seconds_left(self, n_left: int) -> float:
        self._n_done += 1
        return (time.monotonic() - self._began) / self._n_done * n_left


def _tell(
    listener: Callable[[Step], None] | None,
    state: _State,
    plan: TrainingPlan,
    loss: float,
    n_steps: int,
    clock: _Clock,
) -> None:
    n_left = (plan.n_epochs - state.epoch) * n_steps - state.step
    left = clock.seconds_left(n_left)
    if listener is not None:
        listener(Step(state.epoch, state.step, n_steps, plan.n_epochs, loss, left))


def _save(state: _State, plan: TrainingPlan, checkpoint: Path | None) -> None:
    if checkpoint is None or process_rank() != 0:
        return
    content = {
        "plan": asdict(plan),
        "model": state.model.state_dict(),
        "optimiser": state.optimiser.state_dict(),
        "average": None if state.average is None else state.average.state_dict(),
        "best": state.best,
        "history": [asdict(epoch) for epoch in state.history],
        "counters": {name: getattr(state, name) for name in _COUNTERS},
    }
    write_checkpoint(content, checkpoint)


def _load(state: _State, plan: TrainingPlan, checkpoint: Path) -> None:
    # A stopped training may be given another patience; nothing else may differ.
    content = read_checkpoint(checkpoint)
    asked = asdict(replace(plan, patience=content["plan"].get("patience")))
    check_settings(content["plan"], asked, checkpoint)
    load_weights(state.model, content["model"], checkpoint)
    state.optimiser.load_state_dict(content["optimiser"])
    if state.average is not None:
        state.average.load_state_dict(content["average"])
    state.best = content["best"]
    state.history = [Epoch(**epoch) for epoch in content["history"]]
    for name in _COUNTERS:
        setattr(state, name, content["counters"][name])
