"""Keeping fragments at one scale without turning them: only whole norms are looked at."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input
from vicinal.sphere.nn._head import InvariantBatchNorm, newest_share
from vicinal.sphere.training import sum_over_processes


class CovariantBatchNorm(nn.Module):
    """Divide each fragment by the standard deviation of its entries over the batch.

    f_c ↦ f_c / sqrt(v_c + eps),   v_c = mean over samples of Σ_m |f_c^m|² / (2l + 1)

    The mean square of a whole fragment does not depend on how the sample is turned, so the layer
    commutes with every rotation. There is no mean to subtract and nothing is learned. In training
    v is the batch's (all processes' where several train together), in evaluation a running mean;
    where ``moving`` it is the running mean in both, as [trivedi2018] prints, through which no
    gradient flows. The running mean begins as the plain one of all batches, so that few steps
    suffice.
    Where ``fixed``, batches change nothing, see `fix_statistics`.

    Parameters
    ----------
    fragment_type : FragmentType
    momentum : float
        Share of the newest batch in the running mean, once there were 1 / momentum.
    eps : float
        Added to the variance.
    moving : bool
        Divide by the running mean in training, too.

    Attributes
    ----------
    running_variance : Tensor of shape (n_channels,)
    n_batches : Tensor, a whole number
        Both in the state_dict.
    """

    fixed = False
    running_variance: Tensor
    n_batches: Tensor
    channel_of_row: Tensor
    entries: Tensor

    def __init__(
        self,
        fragment_type: FragmentType,
        *,
        momentum: float = 0.1,
        eps: float = 1e-5,
        moving: bool = False,
    ) -> None:
        super().__init__()
        self.type_in = self.type_out = FragmentType(fragment_type)
        self.momentum, self.eps, self.moving = momentum, eps, moving
        self.register_buffer("n_batches", torch.zeros((), dtype=torch.int64))
        self.register_buffer("running_variance", torch.ones(self.type_in.n_channels))
        dims = zip(self.type_in.dims, self.type_in.tau, strict=True)
        entries = [dim for dim, t in dims for _ in range(t)]
        rows = torch.tensor(entries).mul(self.type_in.n_planes)
        channels = torch.arange(len(entries)).repeat_interleave(rows)
        self.register_buffer("entries", torch.tensor(entries).float(), persistent=False)
        self.register_buffer("channel_of_row", channels, persistent=False)

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the fragments divided by their channel's standard deviation."""
        check_input("CovariantBatchNorm", self.type_in, fragments, self.running_variance)
        learning = self.training and not self.fixed
        variance = self._batch_variance(fragments) if learning else self.running_variance
        scale = torch.rsqrt(variance + self.eps)[self.channel_of_row]
        return Fragments(self.type_in, fragments.packed * scale[:, None])

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        return f"{self.type_in.to_irreps()}, momentum={self.momentum}, eps={self.eps}"

    def _batch_variance(self, fragments: Fragments) -> Tensor:
        if not fragments.batch_size:
            raise ValueError("CovariantBatchNorm needs samples to learn from, got a batch of none.")
        power = fragments.packed.square().sum(dim=1)
        power = torch.zeros_like(self.entries).index_add(0, self.channel_of_row, power)
        total = sum_over_processes(torch.cat([power, power.new_tensor([fragments.batch_size])]))
        variance = total[:-1] / (total[-1] * self.entries)
        self.n_batches += 1
        share = newest_share(self.momentum, self.n_batches)
        with torch.no_grad():
            self.running_variance.lerp_(variance.detach(), share)
        return self.running_variance.clone() if self.moving else variance


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

    members: Tensor
    entries: Tensor
    degree_of_row: Tensor

    def __init__(self, fragment_type: FragmentType, *, eps: float = 0.01) -> None:
        super().__init__()
        self.type_in = self.type_out = FragmentType(fragment_type)
        self.eps = eps
        tau, dims = self.type_in.tau, self.type_in.dims
        degrees = torch.arange(len(tau)).repeat_interleave(
            torch.tensor([self.type_in.n_planes * t * d for t, d in zip(tau, dims, strict=True)])
        )
        # Whole numbers, so that nothing is rounded when the module's precision changes.
        members = torch.nn.functional.one_hot(degrees, len(tau)).T.float()
        entries = torch.tensor([max(1, t * dim) for t, dim in zip(tau, dims, strict=True)])
        self.register_buffer("members", members, persistent=False)
        self.register_buffer("entries", entries.float()[:, None], persistent=False)
        self.register_buffer("degree_of_row", degrees, persistent=False)

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the fragments, each sample and degree at root mean square one."""
        check_input("SampleNorm", self.type_in, fragments, self.members)
        power = self.members @ fragments.packed.square() / self.entries
        scale = torch.rsqrt(power + self.eps)[self.degree_of_row]
        return Fragments(self.type_in, fragments.packed * scale)

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        return f"{self.type_in.to_irreps()}, eps={self.eps}"


def fix_statistics(network: nn.Module, inputs: Any) -> None:
    """Give every batch norm of a network the statistics of these inputs, and keep them there.

    In a regression the statistics of a batch are noise in its answers, larger than what is left to
    learn in the end; and a running mean of weights does not go with those of the newest ones.
    """
    norms = [
        part
        for part in network.modules()
        if isinstance(part, CovariantBatchNorm | InvariantBatchNorm)
    ]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.fixed, norm.momentum = False, 1.0
    network.train()
    with torch.no_grad():
        network(inputs)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.fixed, norm.momentum = True, momentum
    network.train()
