"""The gerrymandering loss of a batch, for votes and for means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from vicinal._kernels._targeted import Inferred, infer_sets, new_inferred
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_costs, check_positive, check_whole
from vicinal.losses._batch import Batch, Distance, class_codes, feasible_mean, read_batch
from vicinal.metric.inference import SignedPairs, sets_difference, target_sets


class _SetLoss(nn.Module):
    """Infer both sets of each query without gradient, then differentiate the pairs they leave."""

    n_skipped: int

    def __init__(self, n_neighbors: int, distance: Distance | None) -> None:
        super().__init__()
        self.n_neighbors = check_whole("n_neighbors", n_neighbors)
        self.distance = distance
        self.n_skipped = 0

    def _mean_loss(
        self, batch: Batch, inferred: Sequence[SignedPairs], shifts: FloatArray
    ) -> Tensor:
        """Return the mean over rows of Σ s D + shift, s and shifts as inferred."""
        feasible = np.concatenate([part.feasible for part in inferred])
        self.n_skipped = int(np.sum(~feasible))
        parts = [part.pairs(slice(0, len(part.rows))) for part in inferred]
        queries, points, signs = (np.concatenate(each) for each in zip(*parts, strict=True))
        pulled = batch.pair_distances(self.distance, queries, points)
        signed = pulled * torch.from_numpy(signs).to(pulled)
        fixed = torch.as_tensor(shifts[feasible].sum()).to(pulled)
        return feasible_mean(signed.sum() + fixed, feasible, batch)

    def _check_enough(self, batch: Batch) -> None:
        usable = len(batch.references) - int(batch.itself)
        if self.n_neighbors > usable:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is more than the {usable} references a row has; "
                "use larger batches (drop_last=True leaves out a short last one), give ref_emb, or "
                "ask for fewer neighbours."
            )

    def extra_repr(self) -> str:
        """Return the settings for ``repr``."""
        return f"n_neighbors={self.n_neighbors}"


class GerrymanderingLoss(_SetLoss):
    """Compute the mean gerrymandering loss of a batch: how far the k nearest are from voting right.

    For a query i of class y_i let D_ij be the squared distance to reference j, h* the nearest set
    of k references that votes for y_i without a tie, and ĥ the set of largest
    Δ(y_i, vote of ĥ) − Σ_{j∈ĥ} D_ij, with Δ the margin, or its cost, for a wrong vote. Then

        L_i = Δ(y_i, ĥ) − Σ_{j∈ĥ} D_ij + Σ_{j∈h*} D_ij,

    and the loss is the mean of L_i over the rows that some set can vote for. Both sets are inferred
    exactly on distances without gradient; the loss is differentiable in both sides' embeddings.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    margin : float, default=1.0
        The cost of a wrong vote, in units of squared distance.
    costs : array of shape (R, R) or None
        What the margin is multiplied by where column is voted for and row is right, labels being
        0 to R − 1; None is 1 for every wrong vote.
    distance : callable or None
        Turns queries (m, p) and references (n, p) into (m, n) distances; None is the squared
        Euclidean distance. A distance of pytorch-metric-learning will do.

    Attributes
    ----------
    n_skipped : int
        Rows of the last call whose class no set could vote for; they are left out.

    Notes
    -----
    Called as ``loss(embeddings, labels, indices_tuple=None, ref_emb=None, ref_labels=None)``.
    Without ``ref_emb`` the batch is its own reference set and no row its own neighbour. With it the
    queries vote among the references alone: another map of the database, or a memory.
    ``indices_tuple`` (triplets or pairs of a miner) names the only pairs that may be used.
    Time O(m n (p + 1)), memory O((m + n) p) and one block of distances; with a ``distance`` of
    your own its (m, n) result.

    References
    ----------
    trivedi2014

    Examples
    --------
    >>> import torch
    >>> from vicinal.losses import GerrymanderingLoss
    >>> embeddings = torch.tensor([[0.0], [1.0], [0.5], [0.7]], requires_grad=True)
    >>> loss = GerrymanderingLoss(n_neighbors=1)(embeddings, torch.tensor([0, 0, 1, 1]))
    >>> loss.backward()
    >>> round(loss.item(), 4)
    1.35
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        margin: float = 1.0,
        distance: Distance | None = None,
        *,
        costs: Any = None,
    ) -> None:
        super().__init__(n_neighbors, distance)
        self.margin = check_positive("margin", margin)
        self.costs = None if costs is None else check_costs(costs, 1, spare=True)

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: Sequence[Tensor] | None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
    ) -> Tensor:
        """Return the mean loss of embeddings (m, p) with labels (m,)."""
        batch = read_batch(embeddings, labels, indices_tuple, ref_emb, ref_labels)
        self._check_enough(batch)
        targets, codes, classes = class_codes(batch)
        costs = self.margin * self._costs_among(classes)
        inferred, shifts = [], []
        for rows, block in batch.blocks(self.distance):
            sets = self._infer(block, codes, targets[rows], costs)
            inferred.append(sets_difference(sets, np.arange(rows.start, rows.stop)))
            shifts.append(np.where(sets.voted < 0, 0.0, costs[targets[rows], sets.voted]))
        return self._mean_loss(batch, inferred, np.concatenate(shifts))

    def _costs_among(self, classes: IntArray) -> FloatArray:
        """Return the costs of the classes in a batch."""
        if self.costs is None:
            return 1.0 - np.eye(len(classes))
        if classes.min() < 0 or classes.max() >= len(self.costs):
            wrong = classes[(classes < 0) | (classes >= len(self.costs))][0]
            raise ValueError(
                f"costs have {len(self.costs)} rows, so labels are 0 to {len(self.costs) - 1}; "
                f"got {wrong}."
            )
        return self.costs[np.ix_(classes, classes)]

    def _infer(
        self, block: FloatArray, codes: IntArray, targets: IntArray, costs: FloatArray
    ) -> Inferred:
        sets = new_inferred(len(block), self.n_neighbors)
        labels = np.broadcast_to(codes, block.shape).copy()
        infer_sets(block, labels, targets, costs, sets)
        return sets

    def extra_repr(self) -> str:
        """Return the settings for ``repr``."""
        return f"{super().extra_repr()}, margin={self.margin:g}"


class GerrymanderingRegressionLoss(_SetLoss):
    """Compute the mean loss of a batch's neighbour sets for a numeric target.

    With e_ij = (y_i − y_j)², the h* of query i are the k references of least D_ij + (γ/k) e_ij and
    ĥ those of least D_ij − (γ/k) e_ij;

        L_i = Σ_{j∈h*} [D_ij + (γ/k) e_ij] − Σ_{j∈ĥ} [D_ij − (γ/k) e_ij]

    is at least γ times the squared error of the k nearest neighbours' mean.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    gamma : float, default=1.0
        γ: what a squared error of the target counts in squared distances.
    distance : callable or None
        As of :class:`GerrymanderingLoss`.

    Attributes
    ----------
    n_skipped : int
        Rows of the last call with fewer than k references, left out.

    Notes
    -----
    Called as :class:`GerrymanderingLoss` is, with numbers for labels.

    Examples
    --------
    >>> import torch
    >>> from vicinal.losses import GerrymanderingRegressionLoss
    >>> embeddings = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)
    >>> loss = GerrymanderingRegressionLoss(n_neighbors=1)
    >>> round(loss(embeddings, torch.tensor([0.0, 2.0, 2.0])).item(), 4)
    5.0
    """

    def __init__(
        self, n_neighbors: int = 5, gamma: float = 1.0, distance: Distance | None = None
    ) -> None:
        super().__init__(n_neighbors, distance)
        self.gamma = check_positive("gamma", gamma)

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: Sequence[Tensor] | None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
    ) -> Tensor:
        """Return the mean loss of embeddings (m, p) with targets (m,)."""
        batch = read_batch(embeddings, labels, indices_tuple, ref_emb, ref_labels)
        self._check_enough(batch)
        if batch.targets.is_complex() or batch.reference_targets.is_complex():
            raise ValueError("labels must be real numbers.")
        goals, values = (
            part.detach().to("cpu", torch.float64).numpy()
            for part in (batch.targets, batch.reference_targets)
        )
        if not (np.isfinite(goals).all() and np.isfinite(values).all()):
            raise ValueError("labels must be finite numbers.")
        unit = self.gamma / self.n_neighbors
        inferred, shifts = [], []
        for rows, block in batch.blocks(self.distance):
            sets = target_sets(block, goals[rows], values, self.n_neighbors, unit)
            inferred.append(sets_difference(sets, np.arange(rows.start, rows.stop)))
            both = np.concatenate([sets.star, sets.hat], axis=1)
            errors = (goals[rows, None] - values[both]) ** 2
            shifts.append(unit * errors.sum(axis=1))
        return self._mean_loss(batch, inferred, np.concatenate(shifts))
