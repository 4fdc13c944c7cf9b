"""From invariants to answers: ordinary layers, since nothing there turns any more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from vicinal.sphere.training import count_processes, sum_over_processes

ACTIVATIONS = {"relu": nn.ReLU, "silu": nn.SiLU}


def newest_share(momentum: float, n_batches: Tensor) -> float:
    """Return the share of the newest of so many batches in a running mean.

    It is the plain mean of the first 1 / momentum batches: what the mean began with, which no data
    said, would else be a third of it after ten.
    """
    return max(momentum, 1 / int(n_batches))


class InvariantBatchNorm(nn.BatchNorm1d):
    """Batch normalisation whose statistics are those of all processes that train together.

    Alone it is torch's own layer, but for how running means begin (`newest_share`). (Torch's
    synchronised one refuses tensors on a CPU.) Where ``fixed``, batches change nothing, see
    `fix_statistics`.
    """

    fixed = False

    def train(self, mode: bool = True) -> InvariantBatchNorm:
        """Set the mode; fixed statistics are used in both."""
        super().train(mode and not self.fixed)
        return self

    def forward(self, values: Tensor) -> Tensor:
        """Normalise each feature of (batch, features, ...)."""
        if not self.training:
            return super().forward(values)
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        share = newest_share(self.momentum or 0.1, self.num_batches_tracked)
        if count_processes() == 1:
            self._check_input_dim(values)
            return functional.batch_norm(
                values, self.running_mean, self.running_var, self.weight, self.bias, True, share,
                self.eps,
            )  # fmt: skip
        if values.ndim == 2:
            return self._normalise(values, share)
        last = values.movedim(1, -1)
        return self._normalise(last.flatten(0, -2), share).view(last.shape).movedim(-1, 1)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected (batch, features, ...), got {tuple(input.shape)}.")

    def _normalise(self, values: Tensor, share: float) -> Tensor:
        ones = values.new_full((1, values.shape[1]), len(values))
        sums = sum_over_processes(torch.cat([values.sum(0, keepdim=True), ones]))
        n, mean = sums[1], sums[0] / sums[1]
        variance = sum_over_processes((values - mean).square().sum(0)) / n
        assert self.running_mean is not None
        assert self.running_var is not None
        self.running_mean.lerp_(mean.detach(), share)
        self.running_var.lerp_(variance.detach() * (n / (n - 1)), share)
        return (values - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def make_head(
    n_inputs: int,
    widths: Sequence[int],
    n_outputs: int,
    *,
    dropout: float = 0.0,
    activation: str = "relu",
) -> nn.Sequential:
    """Return batch norm, hidden layers of these widths, and the output layer."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}.")
    parts: list[nn.Module] = [InvariantBatchNorm(n_inputs)]
    for before, width in pairwise((n_inputs, *widths)):
        parts += [nn.Linear(before, width), ACTIVATIONS[activation]()]
        if dropout:
            parts.append(nn.Dropout(dropout))
    return nn.Sequential(*parts, nn.Linear((n_inputs, *widths)[-1], n_outputs))
