"""Losses of pairs and triplets of a batch: what the loss of the vote is compared with."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from vicinal.losses._neighborhood import SMALLEST


def triplet_loss(embeddings: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Mean over all triplets of the batch that break the margin of squared distances."""
    squared = torch.cdist(embeddings, embeddings).square()
    near, far = _kinds(labels)
    gaps = squared[:, :, None] - squared[:, None, :] + margin
    broken = near[:, :, None] & far[:, None, :] & (gaps > 0)
    return gaps[broken].mean() if bool(broken.any()) else embeddings.sum() * 0


def contrastive_loss(embeddings: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Mean squared distance of pairs alike, and mean (margin − d)² of others nearer than it.

    The pairs that are far enough are in no mean, or the few that are not would count next to
    nothing [hadsell2006].
    """
    squared = torch.cdist(embeddings, embeddings).square()
    near, far = _kinds(labels)
    short = margin - (squared + SMALLEST).sqrt()
    broken = far & (short > 0)
    loss = embeddings.sum() * 0
    if bool(near.any()):
        loss = loss + squared[near].mean()
    return loss + short[broken].square().mean() if bool(broken.any()) else loss


def multi_similarity_loss(
    embeddings: Tensor, labels: Tensor, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Tensor:
    """Mean of log(1 + Σ_alike e^{−α (S − λ)}) / α + log(1 + Σ_others e^{β (S − λ)}) / β.

    S are the cosines of the batch, λ ``base`` [wang2019].
    """
    unit = functional.normalize(embeddings, dim=1)
    gaps = unit @ unit.T - base
    near, far = _kinds(labels)
    pulled = _log_one_plus(-alpha * gaps, near) / alpha
    pushed = _log_one_plus(beta * gaps, far) / beta
    return (pulled + pushed).mean()


def _log_one_plus(scores: Tensor, counted: Tensor) -> Tensor:
    """Return log(1 + Σ e^score) of each row over the pairs that count."""
    masked = scores.masked_fill(~counted, -torch.inf)
    return torch.logsumexp(functional.pad(masked, (1, 0)), dim=1)  # the 1 is e to the zero


def _kinds(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return which pairs of different rows are of one class, and which are not."""
    alike = labels[:, None] == labels
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    return alike & ~itself, ~alike
