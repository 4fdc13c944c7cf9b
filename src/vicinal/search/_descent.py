"""A descent from one map to a better one, by quasi-Newton steps (L-BFGS)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from vicinal._types import FloatArray
from vicinal.search._objective import AdapterObjective

# Pairs of steps and slopes that are remembered: each as large as a map.
_MEMORY = 6


def descend(objective: AdapterObjective, start: FloatArray | None, max_iter: int) -> FloatArray:
    """Return the flat map after at most so many steps from a start; None is the identity.

    Time of each step is that of one objective; memory of 2 · 6 maps in float64.
    """
    flat = np.zeros(objective.size) if start is None else start
    options = {"maxiter": max_iter, "maxcor": _MEMORY}
    result = minimize(objective, flat, jac=True, method="L-BFGS-B", options=options)
    end: FloatArray = result.x
    return end
