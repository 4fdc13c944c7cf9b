"""What a network is trained for: the loss, the score that chooses, the scale of the targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from vicinal._validation import check_positive

Compare = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class TargetScaling:
    """Targets in units in which they are learned well: (y − shift) / scale."""

    shift: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)
        check_positive("size of shift", abs(self.shift), zero=True)

    def apply(self, targets: Tensor) -> Tensor:
        """Return the targets that outputs are compared with in training."""
        return targets if self == TargetScaling() else (targets - self.shift) / self.scale

    def undo(self, outputs: Tensor) -> Tensor:
        """Return outputs in the targets' own units."""
        return outputs if self == TargetScaling() else outputs * self.scale + self.shift


@dataclass(frozen=True)
class Objective:
    """The three things a training has to be told.

    Attributes
    ----------
    loss : function of (outputs, scaled targets)
        What is descended: a mean over rows. Where several processes train, each sees its share of
        a batch, and the mean over all is taken.
    score : function of (outputs, targets), both in the targets' units
        What is told and chooses the epoch: a mean over rows, the less the better.
    scaling : TargetScaling
    embeds : bool
        Whether outputs are places of rows, to be compared by distance.
    """

    loss: Compare
    score: Compare
    scaling: TargetScaling = TargetScaling()
    embeds: bool = False


def classification(loss: Compare = functional.cross_entropy) -> Objective:
    """Return a loss of scores (batch, classes), and the share of rows misread."""
    return Objective(loss, _share_wrong)


def regression(targets: Tensor, *, loss: Compare = functional.mse_loss) -> Objective:
    """Return a loss on standardised targets, and the mean absolute error in their own units.

    ``targets`` are those of the training rows, whose mean and standard deviation are taken out.
    """
    values = targets.double()
    spread = float(values.std(correction=0))
    if not (torch.isfinite(values).all() and spread > 0):
        raise ValueError("the targets must be finite and not all the same.")
    return Objective(loss, functional.l1_loss, TargetScaling(float(values.mean()), spread))


def retrieval(loss: Compare) -> Objective:
    """Return a loss on embeddings and labels, and the share of rows nearest to another class."""
    return Objective(loss, _nearest_neighbour_error, embeds=True)


def _share_wrong(scores: Tensor, labels: Tensor) -> Tensor:
    return (scores.argmax(1) != labels).double().mean()


def _nearest_neighbour_error(embeddings: Tensor, labels: Tensor) -> Tensor:
    distances = torch.cdist(embeddings, embeddings).fill_diagonal_(torch.inf)
    return (labels[distances.argmin(1)] != labels).double().mean()
