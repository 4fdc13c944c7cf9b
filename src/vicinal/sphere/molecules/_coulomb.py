"""Coulomb matrices as rows: sorted by the lengths of their rows, or sorted after noise, many times.

C_ii = ½ z_i^2.4 and C_ij = z_i z_j / r_ij, in atomic units. The order of atoms means nothing: a
sorted matrix has one order, random ones have several, so that a learner sees more than one
[montavon2012].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from vicinal._types import FloatArray, IntArray
from vicinal.sphere.molecules._molecules import BOHR, Molecules

# Orders of each molecule where they are random; the deviation of the noise in lengths of rows.
DRAWN, NOISE = 4, 1.0
# Of the encoding of entries for perceptrons: steps of this width.
_STEP, _STEPS = 1.0, 3
_LAYERS = (400, 100)
_EPOCHS = 60


def coulomb_matrices(molecules: Molecules) -> FloatArray:
    """Return the Coulomb matrices (n, N, N), zero where there is no atom."""
    charges = molecules.charges.astype(float)
    gaps = molecules.distances() / BOHR
    places = np.arange(charges.shape[1])
    gaps[:, places, places] = 1.0
    matrices: FloatArray = charges[:, :, None] * charges[:, None] / gaps
    matrices[:, places, places] = 0.5 * charges**2.4
    return matrices


def sorted_rows(matrices: FloatArray, noise: float = 0.0, seed: int = 0) -> FloatArray:
    """Return the entries on and above the diagonal (n, N (N + 1) / 2), atoms by falling length."""
    lengths = np.linalg.norm(matrices, axis=2)
    some = np.random.default_rng(seed).normal(scale=noise, size=lengths.shape) if noise else 0.0
    order = np.argsort(-(lengths + np.where(lengths > 0, some, -np.inf)), axis=1, kind="stable")
    turned = np.take_along_axis(matrices, order[:, :, None], axis=1)
    turned = np.take_along_axis(turned, order[:, None], axis=2)
    entries: FloatArray = turned[:, *np.triu_indices(matrices.shape[1])]
    return entries


def orders_of(molecules: Molecules, random: bool) -> FloatArray:
    """Return each molecule's sorted matrices, (1, n, d), or several randomly sorted, (S, n, d)."""
    matrices = coulomb_matrices(molecules)
    if not random:
        return sorted_rows(matrices)[None]
    return np.stack([sorted_rows(matrices, NOISE, seed) for seed in range(DRAWN)])


@dataclass(frozen=True)
class GaussianOrders:
    """Rows in one or several orders, and the Gaussian kernel, its mean over pairs of orders."""

    orders: FloatArray
    widths: Sequence[float] = tuple(10 * 2.0**step for step in range(1, 8))

    def kernel(self, first: IntArray, second: IntArray, width: float) -> FloatArray:
        """Return mean_{s,t} exp(−‖x_s − z_t‖² / 2 width²), O(S² n m d)."""
        kernels = [
            np.exp(cdist(one[first], other[second], "sqeuclidean") / (-2 * width**2))
            for one in self.orders
            for other in self.orders
        ]
        return np.mean(kernels, axis=0)


@dataclass(frozen=True)
class Perceptron:
    """A network of two hidden layers on rows in one or several orders, answers averaged.

    Every entry goes in as several steps, tanh((c − t) / step), as [montavon2012] has it.
    """

    orders: FloatArray
    seed: int

    def predict(self, targets: FloatArray, rows: IntArray, testing: IntArray) -> FloatArray:
        """Return what is learned from the targets of ``rows`` for ``testing``."""
        from sklearn.neural_network import MLPRegressor

        learned = self.orders[:, rows]
        spread, middle = learned.std((0, 1)), learned.mean((0, 1))
        some = spread > 0
        levels = np.arange(-_STEPS, _STEPS + 1) * _STEP

        def encode(entries: FloatArray) -> FloatArray:
            scaled = (entries[:, some] - middle[some]) / spread[some]
            steps: FloatArray = np.tanh(scaled[:, :, None] - levels).reshape(len(entries), -1)
            return steps.astype(np.float32)

        scale = targets[rows].std()
        network = MLPRegressor(
            hidden_layer_sizes=_LAYERS, alpha=1e-5, batch_size=64, n_iter_no_change=_EPOCHS,
            max_iter=max(1, _EPOCHS // len(self.orders)), random_state=self.seed,
        )  # fmt: skip
        encoded = np.concatenate([encode(order) for order in learned])
        self._fit(network, encoded, np.tile(targets[rows] / scale, len(self.orders)))
        answers = [network.predict(encode(order[testing])) for order in self.orders]
        predictions: FloatArray = np.mean(answers, axis=0) * scale
        return predictions

    @staticmethod
    def _fit(network: object, rows: FloatArray, targets: FloatArray) -> None:
        """Fit for a number of epochs that is given, which no one need be warned of."""
        import warnings

        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(rows, targets)  # type: ignore[attr-defined]
