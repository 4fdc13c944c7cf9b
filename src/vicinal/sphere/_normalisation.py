"""Keeping fragments at one scale without turning them: only whole norms are looked at."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vicinal.sphere._fragment_type import FragmentType
from vicinal.sphere._fragments import Fragments, check_input
from vicinal.sphere._processes import sum_over_processes


class CovariantBatchNorm(nn.Module):
    """Divide each fragment by the standard deviation of its entries over the batch.

    f_c ↦ f_c / sqrt(v_c + eps),   v_c = mean over samples of Σ_m |f_c^m|² / (2l + 1)

    The mean square of a whole fragment does not depend on how the sample is turned, so the layer
    commutes with every rotation. There is no mean to subtract and nothing is learned. In training
    v is the batch's (all processes' where several train together), in evaluation a running mean.

    Parameters
    ----------
    fragment_type : FragmentType
    momentum : float
        Share of the newest batch in the running mean.
    eps : float
        Added to the variance.

    Attributes
    ----------
    running_variance : Tensor of shape (n_channels,)
        In the state_dict.
    """

    running_variance: Tensor

    def __init__(
        self, fragment_type: FragmentType, *, momentum: float = 0.1, eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.type_in = self.type_out = FragmentType(fragment_type)
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_variance", torch.ones(self.type_in.n_channels))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the fragments divided by their channel's standard deviation."""
        check_input("CovariantBatchNorm", self.type_in, fragments, self.running_variance)
        variance = self._batch_variance(fragments) if self.training else self.running_variance
        return scale_channels(fragments, torch.rsqrt(variance + self.eps)[:, None])

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        return f"{self.type_in.to_irreps()}, momentum={self.momentum}, eps={self.eps}"

    def _batch_variance(self, fragments: Fragments) -> Tensor:
        power = fragments.power_spectrum().sum(dim=0)
        count = power.new_tensor([fragments.batch_size])
        total = sum_over_processes(torch.cat([power, count]))
        variance = total[:-1] / (total[-1:] * _dimensions(self.type_in, power))
        with torch.no_grad():
            self.running_variance.lerp_(variance.detach(), self.momentum)
        return variance


class SampleNorm(nn.Module):
    """Divide the fragments of each sample and degree by their root mean square.

    F_l ↦ F_l / sqrt(mean_c |F_l,c|² / (2l + 1) + eps)

    Products of products have heavy tails: with batch statistics alone, the norms of single samples
    spread over orders of magnitude after a few layers. This brings each sample back, by a number
    that no rotation changes. Nothing is learned and nothing is kept.

    Parameters
    ----------
    fragment_type : FragmentType
    eps : float
        Added to the mean square, so that samples without power of a degree stay small there.
    """

    def __init__(self, fragment_type: FragmentType, *, eps: float = 0.01) -> None:
        super().__init__()
        self.type_in = self.type_out = FragmentType(fragment_type)
        self.eps = eps

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the fragments, each sample and degree at root mean square one."""
        check_input("SampleNorm", self.type_in, fragments)
        power = fragments.power_spectrum().T / _dimensions(self.type_in, fragments.packed)[:, None]
        present = [t for t in self.type_in.tau if t]
        means = torch.stack([part.mean(dim=0) for part in power.split(present)])
        scales = torch.rsqrt(means + self.eps)
        return scale_channels(fragments, scales.repeat_interleave(torch.tensor(present), dim=0))

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        return f"{self.type_in.to_irreps()}, eps={self.eps}"


def scale_channels(fragments: Fragments, scales: Tensor) -> Fragments:
    """Return fragments multiplied by (n_channels, batch) or (n_channels, 1) real numbers."""
    sizes = _row_counts(fragments.type, scales.device)
    return Fragments(fragments.type, fragments.packed * scales.repeat_interleave(sizes, dim=0))


def _row_counts(fragment_type: FragmentType, device: torch.device) -> Tensor:
    rows = [2 * (2 * l + 1) for l, t in enumerate(fragment_type.tau) for _ in range(t)]
    return torch.tensor(rows, device=device)


def _dimensions(fragment_type: FragmentType, like: Tensor) -> Tensor:
    """Return 2l + 1 of each channel."""
    sizes = [2 * l + 1 for l, t in enumerate(fragment_type.tau) for _ in range(t)]
    return like.new_tensor(sizes)
