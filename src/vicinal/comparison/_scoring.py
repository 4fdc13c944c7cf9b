"""Votes, means and their scores, as the predictors of the library count them.

Every score is kept as a loss, smaller is better, so that any of them can rank: the share of wrong
predictions, the mean over classes of that share (1 − balanced accuracy), the mean squared error
over the variance (1 − R²), its root in the target's unit, the mean absolute error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vicinal._kernels._vote import majority_vote, weighted_vote
from vicinal._types import AnyArray, FloatArray, IntArray, Task
from vicinal.predict import ClassBallots

# More classes than this make no table that anyone reads.
MOST_CONFUSED = 30


def predict_from(
    neighbors: IntArray, y_train: AnyArray, k: int, task: Task, weights: FloatArray | None = None
) -> AnyArray:
    """Return the vote (or the mean) of each query's first k neighbours, of shape (m,).

    One search thus serves every k; ties and weights are those of :class:`vicinal.KNNClassifier`.
    """
    near = neighbors[:, :k]
    targets = y_train[near]
    counts = None if weights is None else weights[near]
    if task == "regression":
        if counts is None:
            return np.asarray(targets.mean(axis=1))
        return np.asarray((counts * targets).sum(axis=1) / counts.sum(axis=1))
    n_classes = int(y_train.max()) + 1
    labels = np.ascontiguousarray(targets, dtype=np.int64)
    if counts is None:
        return np.asarray(majority_vote(labels, n_classes))
    stretches = np.arange(0, labels.size + 1, labels.shape[1])
    return np.asarray(weighted_vote(labels.ravel(), counts.ravel(), stretches, n_classes, 0))


def majority_prediction(
    y_train: AnyArray, n_test: int, task: Task, weights: FloatArray | None = None
) -> AnyArray:
    """Return what a model that looks at no feature says: the commonest class, or the mean."""
    if task == "regression":
        return np.full(n_test, np.average(y_train, weights=weights))
    return np.full(n_test, np.argmax(np.bincount(y_train, weights)))


def prediction_error(
    predicted: AnyArray, truth: AnyArray, task: Task, weights: FloatArray | None = None
) -> float:
    """Return the share of wrong predictions, or the mean squared error over the variance.

    Raises
    ------
    ValueError
        Where the true values are all the same, or the predictions too large to be squared.
    """
    if task == "classification":
        return float(np.average(predicted != truth, weights=weights))
    mean = np.average(truth, weights=weights)
    variance = float(np.average((truth - mean) ** 2, weights=weights))
    if variance == 0:
        raise ValueError("the target is the same in all rows tested, so nMSE is not defined.")
    error = float(np.average((predicted - truth) ** 2, weights=weights)) / variance
    if not np.isfinite(error):
        raise ValueError("the predictions are too large for an error to be computed.")
    return error


def score_prediction(
    predicted: AnyArray, truth: AnyArray, task: Task, weights: FloatArray | None = None
) -> dict[str, float]:
    """Return every score of the task as a loss, by name; "error" is the one of old.

    A class that no tested row has is left out of the balanced error.
    """
    error = prediction_error(predicted, truth, task, weights)
    if task == "regression":
        squared = float(np.average((predicted - truth) ** 2, weights=weights))
        absolute = float(np.average(np.abs(predicted - truth), weights=weights))
        return {"error": error, "rmse": squared**0.5, "mae": absolute}
    wrong = predicted != truth
    sizes = np.bincount(truth, weights)
    missed = np.bincount(truth, wrong if weights is None else wrong * weights)
    present = sizes > 0
    return {"error": error, "balanced": float(np.mean(missed[present] / sizes[present]))}


def shares_from(
    neighbors: IntArray, y_train: AnyArray, k: int, weights: FloatArray | None = None
) -> FloatArray:
    """Return the shares of the classes in each query's first k votes, (m, R).

    One row's part of them is the classes' shares among all, so that none that was seen is zero.
    """
    ballots = ClassBallots(y_train, int(y_train.max()) + 1, weights)
    return ballots.tally(neighbors[:, :k], None, soft=True)


def score_shares(
    shares: FloatArray, truth: AnyArray, weights: FloatArray | None = None
) -> dict[str, float]:
    """Return the log-loss and the Brier score of shares (m, R), 0 where all are sure and right.

    A class that no training row has is taken to have the least share a float can have.
    """
    m, width = len(truth), max(shares.shape[1], int(truth.max()) + 1)
    padded = np.zeros((m, width))
    padded[:, : shares.shape[1]] = shares
    own = padded[np.arange(m), truth]
    surprise = -np.log(np.maximum(own, np.finfo(np.float64).eps))
    padded[np.arange(m), truth] -= 1
    brier = np.square(padded).sum(axis=1)
    return {
        "log-loss": float(np.average(surprise, weights=weights)),
        "brier": float(np.average(brier, weights=weights)),
    }


# Bins of a calibration curve.
BINS = 10


def calibrate(shares: FloatArray, truth: AnyArray) -> list[list[float]]:
    """Return, for each tenth of the share of the winner, rows, their shares' sum, and the hits."""
    winners = shares.argmax(axis=1)
    sure = np.minimum(shares[np.arange(len(shares)), winners], 1.0)
    places = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    parts = (np.ones(len(sure)), sure, winners == truth)
    return np.stack([np.bincount(places, part, minlength=BINS) for part in parts], axis=1).tolist()


def count_confusions(predicted: AnyArray, truth: AnyArray, n_classes: int) -> Any:
    """Return how many rows of each class were taken for which, as lists; None for many classes."""
    if n_classes > MOST_CONFUSED:
        return None
    cells = truth.astype(np.int64) * n_classes + predicted.astype(np.int64)
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes).tolist()


# What a user may rank by: the loss it is kept as, for each task.
SCORES: Mapping[str, Mapping[Task, str]] = {
    "error": {"classification": "error", "regression": "error"},
    "accuracy": {"classification": "error"},
    "balanced": {"classification": "balanced"},
    "log-loss": {"classification": "log-loss"},
    "brier": {"classification": "brier"},
    "nmse": {"regression": "error"},
    "r2": {"regression": "error"},
    "rmse": {"regression": "rmse"},
    "mae": {"regression": "mae"},
}


def choose_loss(score: str | None, task: Task) -> str:
    """Return the loss to rank by; refuse a score that is not of the task."""
    name = (
        (score or "error")
        .lower()
        .replace("_", "-")
        .removesuffix("-accuracy")
        .removesuffix("-error")
    )
    if name not in SCORES or task not in SCORES[name]:
        fit = ", ".join(each for each, tasks in SCORES.items() if task in tasks)
        raise ValueError(f"no score for {task} is called {score!r} (score); choose one of {fit}.")
    return SCORES[name][task]
