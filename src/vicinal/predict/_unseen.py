"""Retrieval among classes that were not learned from: what a metric knows beyond its classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from vicinal._types import AnyArray
from vicinal._validation import check_whole
from vicinal.predict._neighbors import KNNClassifier
from vicinal.predict._sides import fit_metric, prepare_metric
from vicinal.rows import read_target


def unseen_class_error(
    metric: Any, X: AnyArray, y: AnyArray, *, n_unseen: int, n_neighbors: int = 5, seed: int = 0
) -> float:
    """Return the k-NN error among classes the metric was not learned from.

    Some classes are drawn; the metric learns from the rows of the others. Rows of the drawn classes
    are halved at random into a database and queries, and the queries classified among them. Codes
    that only repeat a classifier's answer do badly here.

    Parameters
    ----------
    metric : metric learner or None
        Unfitted; None is the Euclidean distance.
    X : array of shape (n, d)
    y : array of shape (n,)
    n_unseen : int
        Classes drawn, 2 at least; as many must be left.
    n_neighbors : int
    seed : int
        Of the classes and of the halves.

    Returns
    -------
    float
        The share of wrong votes.

    References
    ----------
    sablayrolles2017

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import MLNG, unseen_class_error
    >>> X, y = load_digits(return_X_y=True)
    >>> unseen_class_error(None, X, y, n_unseen=4) < 0.05
    True
    """
    X, y = np.asarray(X), np.asarray(y)
    classes = np.unique(y)
    n_drawn = check_whole("n_unseen", n_unseen, 2, len(classes) - 2)
    rng = np.random.default_rng(seed)
    unseen = np.isin(y, rng.choice(classes, n_drawn, replace=False))
    rows = rng.permutation(np.flatnonzero(unseen))
    database, queries = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    seen = read_target(y[~unseen], "classification")
    fitted = fit_metric(prepare_metric(metric, n_neighbors), X[~unseen], seen)
    frozen = None if fitted is None else FrozenEstimator(fitted)
    model = KNNClassifier(n_neighbors, frozen).fit(X[database], y[database])
    return float(np.mean(model.predict(X[queries]) != y[queries]))
