"""How a network is trained: numbers that a checkpoint is tied to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor


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
    patience: int | None = None  # epochs without a better validation score
    seed: int = 0
    together: int = 1  # rows of a class that follow one another in an epoch's order

    def __post_init__(self) -> None:
        for name in ("n_epochs", "batch_size", "learning_rate", "together"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)} must be above zero.")
        if self.schedule not in ("constant", "one-cycle"):
            raise ValueError(f"schedule={self.schedule!r}: take 'constant' or 'one-cycle'.")


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


def order_rows(targets: Tensor, together: int, generator: torch.Generator) -> Tensor:
    """Return all rows in a random order, in which ``together`` rows of a class follow one another.

    The rows of every class are cut into groups of that size, the last one smaller where they do not
    divide, and the groups are shuffled.
    """
    order = torch.randperm(len(targets), generator=generator)
    if together == 1:
        return order
    classes = [order[targets[order] == label] for label in targets.unique()]
    groups = [group for rows in classes for group in rows.split(together)]
    shuffled = torch.randperm(len(groups), generator=generator).tolist()
    return torch.cat([groups[i] for i in shuffled])
