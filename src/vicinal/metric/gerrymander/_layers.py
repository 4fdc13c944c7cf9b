"""Hash functions as layers whose weights are one flat vector, with their gradient by hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vicinal._types import FloatArray


@dataclass(frozen=True)
class Layers:
    """x ↦ W_m tanh(… tanh(W_1 x + a_1) …) + a_m with ``widths`` (d, …, c).

    Two widths are a linear map. Parameters are (P,): W_1, a_1, W_2, a_2, … in rows.
    """

    widths: tuple[int, ...]

    @property
    def n_parameters(self) -> int:
        """P."""
        return sum((inside + 1) * outside for inside, outside in pairwise(self.widths))

    def split(self, parameters: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return (W, a) of each layer, as views."""
        parts, first = [], 0
        for inside, outside in pairwise(self.widths):
            middle, last = first + inside * outside, first + (inside + 1) * outside
            weight = parameters[first:middle].reshape(outside, inside)
            parts.append((weight, parameters[middle:last]))
            first = last
        return parts

    def draw(self, size: float, rng: np.random.Generator, dtype: type) -> FloatArray:
        """Return Gaussian weights that send rows of norm ``size`` to entries of size one."""
        parameters: FloatArray = np.zeros(self.n_parameters, dtype)
        for number, (weight, _) in enumerate(self.split(parameters)):
            # A tanh of an entry of size one is of size 0.63.
            norm = size if number == 0 else 0.63 * np.sqrt(weight.shape[1])
            weight[:] = rng.normal(scale=1 / norm, size=weight.shape)
        return parameters

    def forward(
        self, parameters: FloatArray, X: FloatArray, masks: FloatArray | None = None
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return the projections (n, c) and the input of every layer.

        ``masks`` (n, hidden) multiply the last hidden layer.
        """
        layers = self.split(parameters)
        inputs = [X]
        for weight, offset in layers[:-1]:
            hidden = np.tanh(inputs[-1] @ weight.T + offset)
            inputs.append(hidden if masks is None else hidden * masks)
        weight, offset = layers[-1]
        return inputs[-1] @ weight.T + offset, inputs

    def backward(
        self,
        parameters: FloatArray,
        inputs: list[FloatArray],
        outer: FloatArray,
        masks: FloatArray | None = None,
    ) -> FloatArray:
        """Return the gradient (P,) of a loss whose gradient in the projections is ``outer``."""
        gradient = np.empty_like(parameters)
        layers, places = self.split(parameters), self.split(gradient)
        for number in range(len(layers) - 1, -1, -1):
            places[number][0][:] = outer.T @ inputs[number]
            places[number][1][:] = outer.sum(axis=0)
            if number > 0:
                outer = outer @ layers[number][0]
                hidden = inputs[number]
                if masks is not None:
                    outer = outer * masks
                    hidden = np.divide(hidden, masks, out=np.zeros_like(hidden), where=masks > 0)
                outer = outer * (1 - hidden**2)
        return gradient
