"""Descent by L-BFGS on all rows at once, watched step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from vicinal._types import FloatArray

# Told the iteration, the loss and the parameters it ended at; a true answer ends the descent there.
Listener = Callable[[int, float, FloatArray], bool]


def minimise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    listener: Listener = lambda iteration, loss, parameters: False,
) -> tuple[FloatArray, list[float]]:
    """Return the parameters L-BFGS ends at, and the losses at the start and after each iteration.

    Parameters
    ----------
    objective : callable
        Returns the loss and its gradient at parameters of the shape of ``start``.
    start : float64 ndarray of any shape
    max_iter : int
    tol : float
        Stop when an iteration lessens the loss by no more than this share of it.
    listener : callable
        Told of every iteration, 1 the first; a true answer stops the descent there.
    """
    losses: list[float] = []
    last = start

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = objective(flat.reshape(start.shape))
        if not losses:
            losses.append(loss)
        return loss, gradient.ravel()

    def report(intermediate_result: Any) -> None:
        nonlocal last
        losses.append(float(intermediate_result.fun))
        last = np.array(intermediate_result.x).reshape(start.shape)
        if listener(len(losses) - 1, losses[-1], last):
            raise StopIteration

    options = {"maxiter": max_iter, "ftol": tol, "gtol": tol}
    minimize(evaluate, start.ravel(), jac=True, method="L-BFGS-B", callback=report, options=options)
    return last, losses
