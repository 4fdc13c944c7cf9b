"""Fits on data that no one machine holds.

X, y ─▶ chunks ─┬─▶ sums of chunks, merged ──────────▶ GradientWeights, EGOP, EJOP
                ├─▶ a fit a partition, averaged ─────▶ MeanMetric
                ├─▶ a sample to choose on, then one of the two ─▶ AutoMetric
                └─▶ the nearest rows of each, merged ─▶ nearest_distributed
"""

from __future__ import annotations

from typing import Any, TypeVar

from vicinal._validation import check_components, check_whole
from vicinal.combine import AutoMetric, MeanMetric
from vicinal.metric import MetricLearner
from vicinal.metric.gradients.mergeable import GradientMetric
from vicinal.scale._dask import fit_gradients, split_collections, take_stock
from vicinal.scale._partitions import fit_choice, fit_mean
from vicinal.scale._search import nearest_distributed

__all__ = ["fit_distributed", "nearest_distributed"]

Learner = TypeVar("Learner", bound=MetricLearner)


def fit_distributed(
    estimator: Learner, X: Any, y: Any, *, n_reference: int | None = None, client: Any = None
) -> Learner:
    """Fit a metric on a dask array or frame, never holding X in one place.

    Samples stay in their chunks. How a fit is put together from them depends on the learner:

    - GradientWeights, EGOP, EJOP: to the gradient at a point every chunk contributes its sums
      Σ_j w_j [1, x_j, y_j, y_j x_j] ("analytic") or its nearest rows ("local-linear"), which merge
      to those of the whole. The result is that of ``estimator.fit`` on all rows in memory, to
      rounding.
    - MeanMetric: its parts are the partitions (the chunks of rows), whatever ``n_parts`` is. Each
      is fitted where it lies, ``n_starts`` times, and the metrics are averaged, all alike. A
      partition tells how far apart its own near rows are under each. Rows in an order (by class,
      by time) make poor parts: shuffle them first.
    - AutoMetric: learners are compared on at most 5,000 random rows, gathered where this is called.
      The winner is fitted to the partitions: a gradient metric by its sums, any other as the
      MeanMetric of it; both members of a winning mean likewise, and averaged.

    Parameters
    ----------
    estimator : GradientWeights, EGOP, EJOP, MeanMetric or AutoMetric
        Fitted in place. ``MeanMetric(learner)`` takes any learner with a linear map.
    X : dask array of shape (n, n_features), or dask frame
    y : dask array or series of shape (n,)
        In the same chunks as X, where those have unknown lengths.
    n_reference : int or None
        For gradient metrics: estimate from this many random rows, which every worker then holds,
        instead of from all. Needed for ``estimator="difference"`` and for "local-linear" with a
        bandwidth.
    client : distributed.Client or None
        None takes the current scheduler: the latest client's, or threads.

    Returns
    -------
    MetricLearner
        The estimator.

    Warns
    -----
    UserWarning
        Where partitions are left out of a mean: they could not be fitted (one class only, too few
        rows) or, on a cluster, not be loaded in three attempts. If none is left, ValueError.

    Notes
    -----
    Gradient metrics: settings are chosen on at most 3000 random rows, gathered where this is
    called. Points are worked off in rounds, as many at a time as have sums no larger than a chunk;
    X is read once for an overview, once for the 3000 rows and twice a round: ``persist`` it where
    loading is slow and the workers together have room. Else a worker holds the chunks it is at work
    on, the points of a round and a few sums, each no larger than a chunk. Time
    O(points · rows · d). A worker that is lost costs time only, as long as its chunks can be loaded
    again.

    MeanMetric: X is read once, and a worker holds the partitions it is at work on. Fits of a lost
    worker are made again by the others; what was only there is left out of the mean. The
    fitted members stay behind: there is no ``estimators_``.

    AutoMetric: X is read once for an overview and once for the sample, then as for the winner.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from vicinal import EGOP, LDA, MeanMetric
    >>> from vicinal.scale import fit_distributed
    >>> X = da.random.default_rng(0).normal(size=(400, 3), chunks=(100, 3))
    >>> metric = fit_distributed(EGOP(random_state=0), X, np.sin(X[:, 1]))
    >>> int(metric.feature_relevance_.argmax())
    1
    >>> mean = fit_distributed(MeanMetric(LDA(), n_starts=1), X, X[:, 2] > 0)
    >>> int(mean.feature_relevance_.argmax())
    2
    """
    if not isinstance(estimator, (GradientMetric, MeanMetric, AutoMetric)):
        raise ValueError(
            "fit_distributed takes GradientWeights, EGOP, EJOP, MeanMetric or AutoMetric; got "
            f"{estimator!r}. A learner with a linear map can be fitted as MeanMetric(learner)."
        )
    if n_reference is not None:
        check_whole("n_reference", n_reference)
        if isinstance(estimator, MeanMetric):
            raise ValueError("n_reference is for gradient metrics; MeanMetric has no use for it.")
    chunks = split_collections(X, y, client)
    if isinstance(estimator, MeanMetric):
        check_components(estimator.n_components, X.shape[1])
        fit_mean(estimator, chunks)
    elif isinstance(estimator, AutoMetric):
        fit_choice(estimator, take_stock(chunks), n_reference)
    else:
        fit_gradients(estimator, take_stock(chunks), n_reference)
    return estimator
