"""Votes, means and their errors, as the predictors of the library count them."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import AnyArray, IntArray, Task


def predict_from(neighbors: IntArray, y_train: AnyArray, k: int, task: Task) -> AnyArray:
    """Return the vote (or the mean) of each query's first k neighbours, of shape (m,).

    One search thus serves every k; ties are those of :class:`vicinal.KNNClassifier`.
    """
    targets = y_train[neighbors[:, :k]]
    if task == "regression":
        return np.asarray(targets.mean(axis=1))
    labels = np.ascontiguousarray(targets, dtype=np.int64)
    return np.asarray(majority_vote(labels, int(y_train.max()) + 1))


def prediction_error(predicted: AnyArray, truth: AnyArray, task: Task) -> float:
    """Return the share of wrong predictions, or the mean squared error over the variance.

    Raises
    ------
    ValueError
        Where the true values are all the same, or the predictions too large to be squared.
    """
    if task == "classification":
        return float(np.mean(predicted != truth))
    variance = float(np.var(truth))
    if variance == 0:
        raise ValueError("the target is the same in all rows tested, so nMSE is not defined.")
    error = float(np.mean((predicted - truth) ** 2)) / variance
    if not np.isfinite(error):
        raise ValueError("the predictions are too large for an error to be computed.")
    return error
