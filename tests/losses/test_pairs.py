"""Losses of pairs and triplets: the sums written out, and pytorch-metric-learning."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss

from vicinal.losses import make_objective
from vicinal.losses._pairs import contrastive_loss, multi_similarity_loss, triplet_loss
from vicinal.sphere.training import classification


def batch(n=12):
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    return embeddings, torch.arange(n) % 3


def pairs(embeddings, labels):
    for i in range(len(labels)):
        for j in range(len(labels)):
            if i != j:
                d = float(torch.linalg.norm(embeddings[i] - embeddings[j]))
                yield i, j, d, bool(labels[i] == labels[j])


def test_triplets_that_break_the_margin_are_averaged():
    embeddings, labels = batch()
    squared = {(i, j): d**2 for i, j, d, _ in pairs(embeddings, labels)}
    alike = {(i, j): a for i, j, _, a in pairs(embeddings, labels)}
    gaps = [
        squared[i, j] - squared[i, k] + 0.5
        for i in range(12) for j in range(12) for k in range(12)
        if len({i, j, k}) == 3 and alike[i, j] and not alike[i, k]
    ]  # fmt: skip
    expected = np.mean([gap for gap in gaps if gap > 0])
    assert triplet_loss(embeddings, labels, 0.5).item() == pytest.approx(expected)


def test_pairs_alike_are_pulled_and_near_others_pushed():
    embeddings, labels = batch()
    alike = [d**2 for *_, d, a in pairs(embeddings, labels) if a]
    others = [(1.5 - d) ** 2 for *_, d, a in pairs(embeddings, labels) if not a and d < 1.5]
    expected = np.mean(alike) + np.mean(others)
    assert contrastive_loss(embeddings, labels, 1.5).item() == pytest.approx(expected, rel=1e-5)


def test_multi_similarity_is_pytorch_metric_learnings():
    embeddings, labels = batch()
    expected = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(embeddings, labels)
    assert multi_similarity_loss(embeddings, labels).item() == pytest.approx(expected.item())


@pytest.mark.parametrize("name", ["triplet", "contrastive", "multi-similarity"])
def test_rows_without_pairs_cost_nothing_that_pulls_and_can_be_differentiated(name):
    embeddings, _ = batch(3)
    embeddings.requires_grad_()
    objective = make_objective(name, classification())
    objective.loss(100 * embeddings, torch.tensor([0, 1, 2])).backward()
    assert torch.isfinite(embeddings.grad).all()
