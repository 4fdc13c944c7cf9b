"""Which loss trains a small network best for k-NN: one network, one budget, several losses.

images ─▶ two convolutions ─▶ 32 numbers ─▶ a loss of the batch ─┐   for each loss the same
                                                                 │   rows, steps and rate
k-NN errors of the test rows at each k, CPU-seconds ◀────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from vicinal._kernels._vote import majority_vote
from vicinal._types import FloatArray, IntArray
from vicinal.losses import make_objective
from vicinal.pairs import nearest_rows
from vicinal.sphere.digits import Images, read_labelled
from vicinal.sphere.training import Step, TrainingPlan, classification, predict, train

LOSSES = (
    "gerrymandering:k=5,margin=10",
    "neighborhood",
    "triplet:margin=0.2",
    "contrastive",
    "multi-similarity",
)
KS = (1, 5, 30)
EMBEDDING = 32


@dataclass(frozen=True)
class Budget:
    """What every loss is given."""

    n_rows: int | None = 10_000
    n_epochs: int = 6
    batch_size: int = 200
    learning_rate: float = 3e-3
    seed: int = 0


@dataclass(frozen=True)
class LossOutcome:
    """What a loss came to: k-NN errors (shares of 1) by k, and the CPU-seconds of the training."""

    loss: str
    errors: dict[int, float]
    cpu_seconds: float


@dataclass
class Pictures:
    """Images (n, height, width) and their classes (n,), as networks are trained on them."""

    images: FloatArray
    targets: Tensor

    @classmethod
    def of(cls, images: Images) -> Pictures:
        """Return labelled images."""
        assert images.labels is not None
        codes = torch.from_numpy(np.asarray(images.labels, np.int64))
        return cls(np.asarray(images.images, np.float32), codes)

    def take(self, rows: Tensor) -> Tensor:
        """Return (b, 1, height, width) of some rows."""
        return torch.from_numpy(self.images[rows.numpy()])[:, None]


def read_parts(source: str, n_rows: int | None, seed: int) -> tuple[Pictures, Pictures]:
    """Return training and test pictures of a known set or a folder; of many rows some.

    Raises
    ------
    ValueError
        For a source without labelled images, or fewer than two rows to train on.
    """
    images = read_labelled(source, panoramas=False)
    training, test = images.divide()
    if n_rows is not None and n_rows < len(training):
        if n_rows < 2:
            raise ValueError(f"at least two rows are needed to train on, got {n_rows}.")
        training = np.sort(np.random.default_rng(seed).permutation(training)[:n_rows])
    return Pictures.of(images.rows(training)), Pictures.of(images.rows(test))


def small_network(height: int, width: int) -> nn.Module:
    """Return two convolutions and a linear map to 32 numbers."""
    flat = 32 * -(-height // 4) * -(-width // 4)
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(16, 32, 5, stride=2, padding=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(flat, EMBEDDING),
    )  # fmt: skip


def train_with(
    loss: str, training: Pictures, test: Pictures, budget: Budget, *,
    ks: Sequence[int] = KS, checkpoint: Path | None = None,
    listener: Callable[[Step], None] = lambda step: None,
) -> LossOutcome:  # fmt: skip
    """Train the network with a loss and judge it by the k-NN error of the test pictures.

    Parameters
    ----------
    loss : str
        "name" or "name:option=value,…", as :func:`vicinal.losses.make_objective` reads it.
    training, test : Pictures
    budget : Budget
    ks : sequence of int
    checkpoint : Path or None
        Written every half minute; training goes on from it to the same weights.
    """
    objective = make_objective(loss, classification())
    if not objective.embeds:
        raise ValueError(f"loss {loss} learns classes; here losses compare places of rows.")
    plan = TrainingPlan(
        budget.n_epochs, min(budget.batch_size, len(training.images)), budget.learning_rate,
        weight_decay=0.0, seed=budget.seed,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(budget.seed)
        network = small_network(*training.images.shape[1:])
        network, history = train(
            network, lambda epoch: training, None, plan, objective,
            checkpoint=checkpoint, listener=listener,
        )  # fmt: skip
    database, queries = (
        predict(network, part).numpy().astype(np.float64) for part in (training, test)
    )
    errors = knn_errors(database, queries, training.targets.numpy(), test.targets.numpy(), ks)
    return LossOutcome(loss, errors, float(sum(epoch.cpu_seconds for epoch in history)))


def knn_errors(
    database: FloatArray, queries: FloatArray, labels: IntArray, truth: IntArray, ks: Sequence[int]
) -> dict[int, float]:
    """Return the share of queries (m, p) that the vote of the k nearest rows takes wrongly."""
    usable = [k for k in ks if k <= len(database)]
    near = labels[nearest_rows(database, queries, max(usable))].astype(np.int64)
    n_classes = int(max(labels.max(), truth.max())) + 1
    return {
        k: float(np.mean(majority_vote(np.ascontiguousarray(near[:, :k]), n_classes) != truth))
        for k in usable
    }


def outcome_record(outcome: LossOutcome) -> dict[str, object]:
    """Return an outcome as a record of a run, errors by k as text."""
    errors = {str(k): error for k, error in outcome.errors.items()}
    return {**asdict(outcome), "errors": errors, "key": outcome.loss, "status": "ok"}


def read_outcome(record: dict[str, object]) -> LossOutcome:
    """Return the outcome of a record."""
    errors = {int(k): float(error) for k, error in dict(record["errors"]).items()}  # type: ignore[call-overload]
    return LossOutcome(str(record["loss"]), errors, float(record["cpu_seconds"]))  # type: ignore[arg-type]
