"""Losses on neighbourhoods, for any torch network (extra ``torch``).

    embeddings, labels ─┐                     ┌─▶ sets h*, ĥ (NumPy, exact, no gradient)
    ref_emb, ref_labels ┴─▶ rows and points ──┤            │ signed pairs
                            (_batch)          └─▶ D of the pairs alone (torch) ─▶ mean loss

===============================  ==============================================================
``GerrymanderingLoss``           the vote of the k nearest: the loss :class:`~vicinal.MLNG` has
``GerrymanderingRegressionLoss`` the same for the mean of the k nearest targets
``NeighborhoodLoss``             softmax over minus distances: the mass on the own class
``soft_vote``                    that softmax's mean of any targets, for several maps at once
===============================  ==============================================================

All are called as those of pytorch-metric-learning are, work with its trainers, samplers, miners and
distances, and need nothing of it.
"""

from vicinal.losses._gerrymandering import GerrymanderingLoss, GerrymanderingRegressionLoss
from vicinal.losses._neighborhood import NeighborhoodLoss
from vicinal.losses._objectives import make_objective
from vicinal.losses._soft_vote import soft_vote

__all__ = [
    "GerrymanderingLoss",
    "GerrymanderingRegressionLoss",
    "NeighborhoodLoss",
    "make_objective",
    "soft_vote",
]
