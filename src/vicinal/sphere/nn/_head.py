"""From invariants to answers: ordinary layers, since nothing there turns any more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from vicinal.sphere.training import count_processes, sum_over_processes

ACTIVATIONS = {"relu": nn.ReLU, "silu": nn.SiLU}


class InvariantBatchNorm(nn.BatchNorm1d):
    """Batch normalisation whose statistics are those of all processes that train together.

    Alone it is torch's own layer. (Torch's synchronised one refuses tensors on a CPU.) Where
    ``fixed``, batches change nothing, see `fix_statistics`.
    """

    fixed = False

    def train(self, mode: bool = True) -> InvariantBatchNorm:
        """Set the mode; fixed statistics are used in both."""
        super().train(mode and not self.fixed)
        return self

    def forward(self, values: Tensor) -> Tensor:
        """Normalise each feature of (batch, features, ...)."""
        if count_processes() == 1 or not self.training:
            return super().forward(values)
        if values.ndim == 2:
            return self._normalise(values)
        last = values.movedim(1, -1)
        return self._normalise(last.flatten(0, -2)).view(last.shape).movedim(-1, 1)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected (batch, features, ...), got {tuple(input.shape)}.")

    def _normalise(self, values: Tensor) -> Tensor:
        ones = values.new_full((1, values.shape[1]), len(values))
        sums = sum_over_processes(torch.cat([values.sum(0, keepdim=True), ones]))
        n, mean = sums[1], sums[0] / sums[1]
        variance = sum_over_processes((values - mean).square().sum(0)) / n
        self._track(mean.detach(), variance.detach() * (n / (n - 1)))
        return (values - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        momentum = 0.1 if self.momentum is None else self.momentum
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(variance, momentum)
        self.num_batches_tracked.add_(1)


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
