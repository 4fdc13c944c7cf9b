"""What a batch loses when its rows, under each of several maps, vote on one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from vicinal.losses import GerrymanderingLoss, GerrymanderingRegressionLoss, soft_vote

# Added to the own share, so that a row without an own reference loses much and not everything.
SMALLEST = 1e-5
# What the error of the linear head counts beside that of head and neighbours together.
HEAD = 0.3
# Neighbours and margin of the gerrymandering loss.
NEIGHBORS, MARGIN = 9, 1.0


@dataclass(frozen=True)
class MemberBatch:
    """Rows that vote on one another.

    Attributes
    ----------
    entries : Tensor of shape (F, D, B)
    codes : long Tensor of shape (B,), or None for numbers
    targets : Tensor of shape (B, R) or (B, 1)
        One-hot classes, or numbers.
    weights : Tensor of shape (B,) or None
    hidden : bool Tensor of shape (E, B)
        Whose target each member must not see.
    """

    entries: Tensor
    codes: Tensor | None
    targets: Tensor
    weights: Tensor | None
    hidden: Tensor

    def bias(self) -> Tensor:
        """Return what keeps rows from voting (E, B, B): on themselves, and where hidden."""
        E, B = self.hidden.shape
        louder = torch.zeros(E, B, device=self.hidden.device)
        if self.weights is not None:
            louder += self.weights.log()
        louder.masked_fill_(self.hidden, -torch.inf)
        bias = louder[:, None, :].repeat(1, B, 1)
        bias.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
        return bias

    def counts(self) -> Tensor:
        """Return what each row counts as a query of each member (E, B)."""
        counts = (~self.hidden).float()
        return counts if self.weights is None else counts * self.weights


# From places (E, B, p), linear heads (E, p, 1) and a batch to the sum over members of mean losses.
Objective = Callable[[Tensor, Tensor, MemberBatch], Tensor]


def softmax_classes(z: Tensor, heads: Tensor, batch: MemberBatch) -> Tensor:
    """−log of the own class's share in the soft vote."""
    assert batch.codes is not None
    shares = soft_vote(z, z, batch.targets, bias=batch.bias())
    own = shares[:, torch.arange(len(batch.codes)), batch.codes]
    return _total(-torch.log(own + SMALLEST), batch)


def softmax_numbers(z: Tensor, heads: Tensor, batch: MemberBatch) -> Tensor:
    """Squared error of head and neighbours together, and of the head alone.

    ŷ_i = f(z_i) + Σ_j p_ij (y_j − f(z_j)): neighbours correct the head where it is wrong, the head
    bridges where neighbours are far.
    """
    f = z @ heads
    corrected = f + soft_vote(z, z, batch.targets - f, bias=batch.bias())
    errors = (corrected - batch.targets).square() + HEAD * (f - batch.targets).square()
    return _total(errors[..., 0], batch)


def gerrymandering_classes(z: Tensor, heads: Tensor, batch: MemberBatch) -> Tensor:
    """How far the nearest rows are from voting right."""
    assert batch.codes is not None
    codes, total = batch.codes, z.sum() * 0
    for places, hidden in zip(z, batch.hidden, strict=True):
        rows = ~hidden
        k = min(NEIGHBORS, int(rows.sum()) - 1)
        if k > 0:
            total = total + GerrymanderingLoss(k, MARGIN)(places[rows], codes[rows])
    return total


def gerrymandering_numbers(z: Tensor, heads: Tensor, batch: MemberBatch) -> Tensor:
    """How far the nearest rows are from meeting the number, and the head's squared error."""
    f = z @ heads
    total = HEAD * _total((f - batch.targets).square()[..., 0], batch)
    for places, hidden in zip(z, batch.hidden, strict=True):
        rows = ~hidden
        k = min(NEIGHBORS, int(rows.sum()) - 1)
        if k > 0:
            loss = GerrymanderingRegressionLoss(k)
            total = total + loss(places[rows], batch.targets[rows, 0])
    return total


def _total(losses: Tensor, batch: MemberBatch) -> Tensor:
    counts = batch.counts()
    mean = (losses * counts).sum() / counts.sum().clamp_min(torch.finfo(torch.float).tiny)
    return mean * len(losses)


LOSSES = ("softmax", "gerrymandering")
OBJECTIVES: dict[tuple[str, bool], Objective] = {
    ("softmax", True): softmax_classes,
    ("softmax", False): softmax_numbers,
    ("gerrymandering", True): gerrymandering_classes,
    ("gerrymandering", False): gerrymandering_numbers,
}
