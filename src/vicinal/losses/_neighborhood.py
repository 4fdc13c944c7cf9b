"""The neighbourhood loss of a batch: the softmax over minus distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from vicinal._validation import check_positive
from vicinal.losses._batch import Distance, class_codes, distances, feasible_mean, read_batch

# Under the root, so that equal embeddings have a gradient.
SMALLEST = 1e-6


class NeighborhoodLoss(nn.Module):
    """Compute −log of the softmax mass the own class has among minus distances to references.

    L_i = −log Σ_{j: y_j = y_i} p_ij with p_ij = exp(−d_ij / T) / Σ_l exp(−d_il / T): neighbourhood
    components, on Euclidean distances d_ij = √(‖z_i − z_j‖² + 10⁻⁶) unless another distance is
    given. The loss is the mean over rows with a reference of their class.

    Parameters
    ----------
    temperature : float, default=1.0
        T.
    distance : callable or None
        As of :class:`GerrymanderingLoss`; None is the Euclidean distance.

    Attributes
    ----------
    n_skipped : int
        Rows of the last call without a reference of their own class, left out.

    Notes
    -----
    Called as :class:`GerrymanderingLoss` is. Time O(m n p), memory O(m n).

    References
    ----------
    goldberger2004

    Examples
    --------
    >>> import torch
    >>> from vicinal.losses import NeighborhoodLoss
    >>> embeddings = torch.tensor([[0.0], [0.1], [2.0], [2.1]], requires_grad=True)
    >>> round(NeighborhoodLoss()(embeddings, torch.tensor([0, 0, 1, 1])).item(), 3)
    0.262
    """

    n_skipped: int

    def __init__(self, temperature: float = 1.0, distance: Distance | None = None) -> None:
        super().__init__()
        self.temperature = check_positive("temperature", temperature)
        self.distance = distance
        self.n_skipped = 0

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
        targets, codes, _ = class_codes(batch)
        usable = np.ones((len(targets), len(codes)), bool)
        if batch.itself:
            np.fill_diagonal(usable, False)
        if batch.pairs is not None:
            mined = np.zeros_like(usable)
            mined[tuple(batch.pairs)] = True
            usable &= mined
        own = usable & (targets[:, None] == codes)
        feasible = own.any(axis=1)
        self.n_skipped = int(np.sum(~feasible))
        device = batch.queries.device
        rows = torch.from_numpy(np.flatnonzero(feasible)).to(device)
        measure = euclidean if self.distance is None else self.distance
        scores = -distances(measure, batch.queries[rows], batch.references) / self.temperature
        both = [torch.from_numpy(part[feasible]).to(device) for part in (usable, own)]
        masses = [scores.masked_fill(~part, -torch.inf).logsumexp(dim=1) for part in both]
        return feasible_mean(masses[0] - masses[1], feasible, batch)

    def extra_repr(self) -> str:
        """Return the settings for ``repr``."""
        return f"temperature={self.temperature:g}"


def euclidean(queries: Tensor, references: Tensor) -> Tensor:
    """Return √(‖q − r‖² + 10⁻⁶) of all pairs, (m, n), by one product about the references' mean."""
    centre = references.detach().mean(dim=0)
    queries, references = queries - centre, references - centre
    products = queries @ references.T
    squared = (queries**2).sum(1)[:, None] + (references**2).sum(1) - 2 * products
    return (squared.clamp_min(0) + SMALLEST).sqrt()
