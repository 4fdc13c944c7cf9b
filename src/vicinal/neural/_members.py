"""Members: small maps side by side in one set of tensors.

    entries (F, D, n) ─▶ first ─▶ x ──────────────────────────────▶ + ─▶ last norm ─▶ (E, p, n)
                                  └▶ norm ─▶ up ─▶ ReLU ─▶ down ──▶ ┘

Features come before rows: the batch norms of all members are one call on contiguous memory. What
they do to a row once they are trained is said again, without torch, in ``_applied``.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# What a member gives, and what lies between.
WIDTH, HIDDEN = 24, 96


class Members(nn.Module):
    """E maps of encoded rows; of the second half each entry is hidden now and then.

    Parameters
    ----------
    n_members : int
        E.
    n_entries : int
        D.
    dropout : float
        Chance that a hidden unit is left out in training.
    input_dropout : float
        Chance that an encoded entry is set to zero, for the second half of several members.
    """

    def __init__(
        self, n_members: int, n_entries: int, *, dropout: float, input_dropout: float
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = dropout, input_dropout
        self.whole = n_members - n_members // 2  # members that see whole rows

        def drawn(*shape: int, size: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape) * size)

        E, p, h = n_members, WIDTH, HIDDEN
        self.first = drawn(E, p, n_entries, size=n_entries**-0.5)
        self.up, self.down = drawn(E, h, p, size=p**-0.5), drawn(E, p, h, size=h**-0.5)
        self.bias = drawn(E, h, 1, size=0.3)
        self.slope = drawn(E, 1, p, size=0.1 * p**-0.5)  # a linear head, for numbers alone
        self.inner, self.last = nn.BatchNorm1d(E * p), nn.BatchNorm1d(E * p)

    def forward(self, entries: Tensor) -> Tensor:
        """Return maps (E, B, p) of entries (F, D, B)."""
        E = len(self.first)
        halves = [self.first[: self.whole], self.first[self.whole :]]
        products = []
        for half, first in enumerate(halves):
            inputs = entries
            if half and self.training and self.input_dropout > 0:
                mask = torch.rand(entries.shape[1:], device=entries.device) > self.input_dropout
                inputs = entries * mask
            if len(first):
                products.append(first @ inputs)
        x = torch.cat(products).view(E, WIDTH, -1)
        hidden = F.relu(torch.baddbmm(self.bias, self.up, self._norm(self.inner, x)))
        hidden = F.dropout(hidden, self.dropout, self.training)
        return self._norm(self.last, torch.baddbmm(x, self.down, hidden)).mT

    @staticmethod
    def _norm(norm: nn.BatchNorm1d, x: Tensor) -> Tensor:
        values: Tensor = norm(x.reshape(1, -1, x.shape[2]))
        return values.view_as(x)

    def heads(self) -> Tensor:
        """Return the slopes (E, p, 1) of the linear heads."""
        return self.slope.mT
