"""Training with checkpoints: the same weights whether or not it was stopped on the way.

Nothing random is carried from step to step. The rows of step s of epoch e follow from the seed
and e, what a network draws for itself (dropout) from the seed, e and s, the rate from the step's
number; so a checkpoint holds weights, the optimiser's moments and a few counters, and loading one
runs no code.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from vicinal.sphere.training._checkpoints import (
    check_settings,
    check_weights,
    load_optimiser,
    load_weights,
    naming,
    read_checkpoint,
    read_record,
    write_checkpoint,
)
from vicinal.sphere.training._objectives import Objective
from vicinal.sphere.training._plan import TrainingPlan, learning_rate_at, order_rows
from vicinal.sphere.training._processes import count_processes, process_rank, sum_over_processes

CHECKPOINT_SECONDS = 30.0
# A running mean with the usual tenth for the newest batch keeps half a percent of what was before.
SETTLING_BATCHES = 50


class Batches(Protocol):
    """Inputs with targets that a network can be given by row numbers."""

    targets: Tensor

    def take(self, rows: Tensor) -> Any:
        """Return the network's input for these rows: a tensor, fragments, sets of points, …."""


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to, validation and making its rows included in the time."""

    epoch: int
    loss: float
    train_error: float
    validation_error: float | None
    seconds: float
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


Listener = Callable[[Step], None]


def train(
    model: nn.Module,
    batches_of: Callable[[int], Batches],
    validation: Batches | None,
    plan: TrainingPlan,
    objective: Objective,
    *,
    checkpoint: Path | None = None,
    listener: Listener = lambda step: None,
) -> tuple[nn.Module, list[Epoch]]:
    """Train a network; return it at its best validation score, and what each epoch came to.

    Parameters
    ----------
    model : module from what ``Batches.take`` returns to what the objective compares
    batches_of : function from an epoch's number to its training rows
        Called once an epoch, so that rows can be drawn anew each time; the same number must
        always give the same rows.
    validation : rows that choose the epoch to keep and the moment to stop, or None
        Without them the last epoch is kept.
    plan : TrainingPlan
    objective : Objective
        `classification`, `regression`, `retrieval`, or one of your own.
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
    training = _Training(model, plan, objective)
    if checkpoint is not None and checkpoint.exists():
        training.load(checkpoint)
    if count_processes() > 1:
        training.network = DistributedDataParallel(model)
    pace = _Pace()
    while training.goes_on():
        for step in training.run_epoch(batches_of, validation):
            listener(replace(step, seconds_left=pace.seconds_left(step)))
            if checkpoint is not None and (step.finished or pace.is_due()):
                training.save(checkpoint)
    if training.best is not None:
        training.judged.load_state_dict(training.best)
    return training.judged, training.history


def predict(model: nn.Module, batches: Batches, batch_size: int = 250) -> Tensor:
    """Return the outputs for every row, in evaluation mode; scaled as in training."""
    model.eval()
    parts = torch.arange(len(batches.targets)).split(batch_size)
    with torch.no_grad():
        return torch.cat([model(batches.take(rows)) for rows in parts])


def measure(model: nn.Module, batches: Batches, objective: Objective) -> float:
    """Return the score of a network on all rows."""
    outputs = objective.scaling.undo(predict(model, batches))
    return float(objective.score(outputs, batches.targets))


@dataclass
class _Counters:
    """Where a training is, and the sums of the epoch under way."""

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    score_sum: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class _Training:
    """A training under way: all that it goes on from, and what moves it."""

    def __init__(self, model: nn.Module, plan: TrainingPlan, objective: Objective) -> None:
        self.model, self.network, self.plan, self.objective = model, model, plan, objective
        self.optimiser = torch.optim.Adam(
            model.parameters(), plan.learning_rate, weight_decay=plan.weight_decay
        )
        self.average = None
        if plan.averaging is not None:
            self.average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(plan.averaging))
        self.at = _Counters()
        self.history: list[Epoch] = []
        self.best: dict[str, Tensor] | None = None

    @property
    def judged(self) -> nn.Module:
        """The network to judge: the running mean of the weights where one is kept."""
        return self.model if self.average is None else self.average.module

    def goes_on(self) -> bool:
        """Tell whether epochs are left, and one of the last ``patience`` was the best so far."""
        errors, patience = _errors(self.history), self.plan.patience
        if self.at.epoch >= self.plan.n_epochs:
            return False
        if patience is None or len(errors) <= patience:
            return True
        return min(errors[-patience:]) < min(errors[:-patience])

    def run_epoch(
        self, batches_of: Callable[[int], Batches], validation: Batches | None
    ) -> Iterator[Step]:
        """Take the epoch's steps, from where it is on; yield each, and the whole at the end."""
        with self._timed():
            batches = batches_of(self.at.epoch)
        batch_size, n_rows = self.plan.batch_size, len(batches.targets)
        n_steps = n_rows // batch_size  # rows left over wait for another epoch's order
        if n_steps == 0:
            raise ValueError(f"batch_size={batch_size} is more than the {n_rows} training rows.")
        seed = torch.Generator().manual_seed(_mix(self.plan.seed, self.at.epoch))
        chosen = order_rows(batches.targets, self.plan.together, seed).split(batch_size)
        self.model.train()
        while self.at.step < n_steps:
            with self._timed():
                loss = self._take_step(batches, chosen[self.at.step], n_steps)
            yield Step(self.at.epoch, self.at.step, n_steps, self.plan.n_epochs, loss, None)
        with self._timed():
            self._settle_average(batches, chosen[:n_steps])
        epoch = self._end_epoch(validation)
        yield Step(epoch.epoch, n_steps, n_steps, self.plan.n_epochs, epoch.loss, None, epoch)

    def _take_step(self, batches: Batches, rows: Tensor, n_steps: int) -> float:
        at, plan, objective = self.at, self.plan, self.objective
        for group in self.optimiser.param_groups:
            progress = (at.epoch * n_steps + at.step) / (plan.n_epochs * n_steps)
            group["lr"] = learning_rate_at(plan, progress)
        mine = _share_of(rows)
        targets = batches.targets[mine]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_mix(_mix(plan.seed, at.epoch), at.step) + process_rank())
            outputs = self.network(batches.take(mine))
        share = len(mine) / len(rows)
        loss = objective.loss(outputs, objective.scaling.apply(targets)) * share
        self._descend(loss * count_processes())  # whose gradients are averaged
        score = objective.score(objective.scaling.undo(outputs.detach()), targets) * share
        sums = sum_over_processes(torch.stack([loss.detach().double(), score.double()]))
        at.step += 1
        at.loss_sum += sums[0].item()
        at.score_sum += sums[1].item()
        return sums[0].item()

    def _descend(self, loss: Tensor) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.plan.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        self.optimiser.step()
        if self.average is not None:
            self.average.update_parameters(self.model)

    def _settle_average(self, batches: Batches, chosen: Sequence[Tensor]) -> None:
        """Give the averaged weights batch statistics of their own.

        Those that come with them are of the newest weights, which spread their activations
        otherwise. The epoch's last batches are enough for a running mean to forget.
        """
        if self.average is None:
            return
        settled = self.average.module.train()
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(_mix(self.plan.seed, self.at.epoch) + process_rank())
            for rows in chosen[-SETTLING_BATCHES:]:
                before = [buffer.clone() for buffer in settled.buffers()]
                settled(batches.take(_share_of(rows)))
                if all(map(torch.equal, before, settled.buffers())):
                    break  # nothing of it follows the batches

    def _end_epoch(self, validation: Batches | None) -> Epoch:
        at, error = self.at, None
        with self._timed():
            if validation is not None:
                error = measure(self.judged, validation, self.objective)
        means = at.loss_sum / at.step, at.score_sum / at.step
        epoch = Epoch(at.epoch, *means, error, round(at.seconds, 2), round(at.cpu_seconds, 2))
        if error is not None and error <= min(_errors(self.history), default=math.inf):
            self.best = copy.deepcopy(self.judged.state_dict())
        self.history.append(epoch)
        self.at = _Counters(at.epoch + 1)
        return epoch

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began, cpu_began = time.monotonic(), time.process_time()
        yield
        self.at.seconds += time.monotonic() - began
        self.at.cpu_seconds += time.process_time() - cpu_began

    def save(self, path: Path) -> None:
        """Write all that is needed to go on; one of several processes does."""
        if process_rank() != 0:
            return
        content = {
            "plan": asdict(self.plan),
            "scaling": asdict(self.objective.scaling),
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "average": None if self.average is None else self.average.state_dict(),
            "best": self.best,
            "history": [asdict(epoch) for epoch in self.history],
            "counters": asdict(self.at),
        }
        write_checkpoint(content, path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint, which must be of the same training."""
        content = read_checkpoint(path)
        # A stopped training may be given another patience; nothing else may differ.
        plan = asdict(replace(self.plan, patience=content["plan"].get("patience")))
        check_settings(content["plan"], plan, path)
        check_settings(content["scaling"], asdict(self.objective.scaling), path)
        load_weights(self.model, content["model"], path)
        if self.average is not None:
            load_weights(self.average, content["average"], path)
        if content["best"] is not None:
            check_weights(self.judged, content["best"], path)
        self.best = content["best"]
        with naming(path):
            load_optimiser(self.optimiser, content["optimiser"])
            self.history = [read_record(Epoch, epoch) for epoch in content["history"]]
            self.at = read_record(_Counters, content["counters"])


class _Pace:
    """When the next checkpoint is due, and how long the rest will take."""

    def __init__(self) -> None:
        self._saved = self._began = time.monotonic()
        self._n_done = 0

    def is_due(self) -> bool:
        if time.monotonic() - self._saved < CHECKPOINT_SECONDS:
            return False
        self._saved = time.monotonic()
        return True

    def seconds_left(self, step: Step) -> float | None:
        if step.finished:
            return None
        self._n_done += 1
        n_left = (step.n_epochs - step.epoch) * step.n_steps - step.step
        return (time.monotonic() - self._began) / self._n_done * n_left


def _errors(history: Sequence[Epoch]) -> list[float]:
    return [epoch.validation_error for epoch in history if epoch.validation_error is not None]


def _share_of(rows: Tensor) -> Tensor:
    """The rows of a batch that fall to this process."""
    return rows.tensor_split(count_processes())[process_rank()]


def _mix(seed: int, epoch: int) -> int:
    return seed * 1_000_003 + epoch
