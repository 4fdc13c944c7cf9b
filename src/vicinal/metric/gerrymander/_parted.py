"""Two maps that part slowly: U = M + s E and V = M − s E, descended on in M and E.

Steps of Adam are of one size in every parameter. Steps of U and V themselves would move what
the maps have in common and what parts them alike, and the second, which the loss says little
about, is mostly noise. In these coordinates M moves as the one map of a symmetric metric does,
and E by the share s of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.descent import Descent, Objective

# s: what parts the maps moves by so much of what they have in common.
SPREAD = 0.1


@dataclass
class PartedObjective:
    """An objective of stacked maps (U, V), seen as one of (M, E), both (2, p, d)."""

    inner: Objective
    spread: float = SPREAD

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return self.inner.n_rows

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Look again where the candidates for neighbour sets lie."""
        self.inner.look(self.components(parameters), epoch)

    def infer(self, parameters: FloatArray, rows: IntArray) -> Any:
        """Return the neighbour sets of the rows."""
        return self.inner.infer(self.components(parameters), rows)

    def gradient(self, parameters: FloatArray, sets: Any, part: slice) -> tuple[float, FloatArray]:
        """Return the summed loss of a part and the gradient of its mean in M and E."""
        loss, (query_side, database_side) = self.inner.gradient(
            self.components(parameters), sets, part
        )
        spread = parameters.dtype.type(self.spread)
        common, apart = query_side + database_side, query_side - database_side
        return loss, np.stack([common, spread * apart])

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return U and V, stacked."""
        apart = parameters.dtype.type(self.spread) * parameters[1]
        return np.stack([parameters[0] + apart, parameters[0] - apart])


def part(descent: Descent, spread: float = SPREAD) -> Descent:
    """Turn a descent on stacked maps into one on their mean and half their difference."""
    first, second = descent.parameters
    apart = (first - second) / first.dtype.type(2 * spread)
    descent.parameters = np.stack([(first + second) / 2, apart])
    descent.objective = PartedObjective(descent.objective, spread)
    return descent
