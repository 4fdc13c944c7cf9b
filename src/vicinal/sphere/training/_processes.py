"""What several processes that train together must agree on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributed


def count_processes() -> int:
    """Return how many processes train together, 1 where none were started."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def process_rank() -> int:
    """Return the number of this process, 0 where it is alone."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def sum_over_processes(values: Tensor) -> Tensor:
    """Return Σ_p values_p over all processes; gradients are summed on the way back likewise."""
    return values if count_processes() == 1 else _Sum.apply(values)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        distributed.all_reduce(total)
        return total
