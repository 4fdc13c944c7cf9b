"""The rival that knows nothing of the sphere: a convolutional network on the unrolled signal."""

from __future__ import annotations

from torch import Tensor, nn

from vicinal.sphere.nn import saveable


@saveable
class PlanarNet(nn.Module):
    """Two 5 × 5 convolutions of stride 3 on the grid as if it were a flat image, then two layers.

    Shifts along a ring of latitude aside, rotations of the sphere are nothing it could know of.

    Parameters
    ----------
    n_outputs : int, default=10
    channels : pair of int, default=(32, 64)
    width : int, default=32
        Of the hidden layer.
    bandwidth : int, default=30
        The grid has 2b × 2b points.
    """

    def __init__(
        self,
        n_outputs: int = 10,
        channels: tuple[int, int] = (32, 64),
        width: int = 32,
        bandwidth: int = 30,
    ) -> None:
        super().__init__()
        first, second = channels
        self.settings = {
            "n_outputs": n_outputs,
            "channels": [first, second],
            "width": width,
            "bandwidth": bandwidth,
        }
        self.features = nn.Sequential(
            nn.Conv2d(1, first, 5, stride=3, padding=2),
            nn.ReLU(),
            nn.Conv2d(first, second, 5, stride=3, padding=2),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(3),
            nn.Flatten(),
        )
        self.head = nn.Sequential(
            nn.Linear(9 * second, width), nn.ReLU(), nn.Linear(width, n_outputs)
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
        return self.head(self.features(signals))
