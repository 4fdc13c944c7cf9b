"""The rival that knows nothing of the sphere: a convolutional network on the unrolled signal."""

from __future__ import annotations

from torch import Tensor, nn

from vicinal.sphere.nn import saveable


@saveable
class PlanarNet(nn.Module):
    """Three 5 × 5 convolutions of stride 3 on the grid as if it were a flat image [trivedi2018].

    At bandwidth 30 the third sees the whole and gives the scores; of larger grids the mean over
    its places is taken. Shifts along a ring of latitude aside, rotations of the sphere are nothing
    it could know of.

    Parameters
    ----------
    n_outputs : int, default=10
    channels : pair of int, default=(32, 64)
    bandwidth : int, default=30
        The grid has 2b × 2b points; at least 27.
    """

    def __init__(
        self, n_outputs: int = 10, channels: tuple[int, int] = (32, 64), bandwidth: int = 30
    ) -> None:
        super().__init__()
        first, second = channels
        self.settings = {
            "n_outputs": n_outputs,
            "channels": [first, second],
            "bandwidth": bandwidth,
        }
        self.layers = nn.Sequential(
            nn.Conv2d(1, first, 5, stride=3),
            nn.ReLU(),
            nn.Conv2d(first, second, 5, stride=3),
            nn.ReLU(),
            nn.Conv2d(second, n_outputs, 5, stride=3),
        )
        self.bandwidth = bandwidth

    def forward(self, signals: Tensor) -> Tensor:
        """Return scores (batch, n_outputs) of signals (batch, 1, 2b, 2b)."""
        side = 2 * self.bandwidth
        if signals.ndim != 4 or signals.shape[1:] != (1, side, side):
            raise ValueError(
                f"PlanarNet of bandwidth {self.bandwidth} takes signals (batch, 1, {side}, "
                f"{side}), got {tuple(signals.shape)}."
            )
        scores: Tensor = self.layers(signals).mean((2, 3))
        return scores
