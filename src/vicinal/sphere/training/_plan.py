"""How a network is trained: numbers that a checkpoint is tied to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


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

    def __post_init__(self) -> None:
        for name in ("n_epochs", "batch_size", "learning_rate"):
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
