"""ReliefF and RReliefF: how well each feature tells a point's neighbours apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from vicinal._kernels._kbest import new_scratch
from vicinal._kernels._lanes import LANES
from vicinal._kernels._relief import Features, sum_hits_and_misses, sum_joint_differences
from vicinal._kernels._targeted import new_table
from vicinal._threads import map_blocks, thread_count
from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray
from vicinal._validation import check_choice, check_components, check_whole
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.rows import Classes, Rows, check_at_least_two_classes, read_rows

_BLOCK = 128


class ReliefF(MetricLearner):
    """Weigh features by how they differ among near points of other classes and of the same.

    With diff(A, x, z) = ``|x_A − z_A| / (max A − min A)``, or for a discrete feature 1 where it
    differs and 0 where not, and neighbours by Σ_A diff, the weight of A is, averaged over points
    x of class y,

        W_A = −Σ_{j ≤ k} w_j diff(A, x, hit_j)
              + Σ_{C ≠ y} P(C) / (1 − P(y)) Σ_{j ≤ k} w_j diff(A, x, miss_j(C)),            (1)

    the hits being the k nearest points of class y and the misses those of class C. For a
    continuous target τ there are only k nearest points z_j, and with sums over all x and j,

        N_C = Σ w_j diff(τ), N_A = Σ w_j diff(A), N_CA = Σ w_j diff(τ) diff(A),
        W_A = N_CA / N_C − (N_A − N_CA) / (m − N_C).                                        (2)

    With ``multiclass="one-versus-all"`` the weights are the mean over classes C of those of the two
    classes "C" and "not C".

    As a metric, feature A is multiplied by √(max(W_A, 0) / max W).

    Parameters
    ----------
    n_neighbors : int, default=10
        k. Where a class has fewer points, all of them are taken.
    n_components : int or None, default=None
        Keep only this many features, those of largest weight, in descending order of weight.
    task : "auto", "classification" or "regression"
        Whether to use (1) or (2). "auto" takes (2) where y is of floats that are not all whole.
    multiclass : "joint" or "one-versus-all", default="joint"
        How more than two classes are weighed: all in (1), or as a series of two.
    n_samples : int or None, default=None
        How many points x to average over, drawn without replacement; None means all.
    discrete_features : bool or array-like, default=False
        Features that can only be equal or not: all, none, a mask, or their column numbers.
    sigma : float or None, default=None
        With a number, w_j falls with rank as exp(−(j/σ)²); None gives all neighbours equal weight.
        In either case the w_j of one class sum to 1.
    random_state : int, RandomState or None
        Draws the n_samples points.
    n_jobs : int or None
        Threads; the weights are the same for any number, bit by bit.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features,)
        W. Negative where a feature differs more within classes than between them; 0 for a
        constant column.
    components_ : ndarray of shape (n_components, n_features)
        The diagonal map, its largest entry 1; the identity's rows where no weight is positive.
    n_iter_ : int
        1: the weights are direct.

    Notes
    -----
    Time O(m n d), for every class where they are weighed one versus all; memory O(n d). Nominal
    features must be given as numbers; missing values are not accepted. Departures from the papers:
    a class with fewer than k points contributes the mean over those it has, and all points are
    used once rather than m drawn with replacement.

    References
    ----------
    Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML 1994
    [kononenko1994]. Robnik-Šikonja and Kononenko, "Theoretical and empirical analysis of ReliefF
    and RReliefF", Machine Learning 53, 2003 [robnik2003].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import ReliefF
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF().fit(X, y).feature_weights_.round(2)
    array([0.14, 0.12, 0.36, 0.38])
    """

    _task = "auto"

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        n_components: int | None = None,
        task: str = "auto",
        multiclass: str = "joint",
        n_samples: int | None = None,
        discrete_features: bool | Sequence[int] | AnyArray = False,
        sigma: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.task = task
        self.multiclass = multiclass
        self.n_samples = n_samples
        self.discrete_features = discrete_features
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        return read_rows(self, X, y, task=self.task)

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the diagonal map of the weights."""
        width = rows.X.shape[1]
        if isinstance(rows.target, Classes):
            check_at_least_two_classes(self, rows.target)
            check_choice("multiclass", self.multiclass, ("joint", "one-versus-all"))
            joint = self.multiclass == "joint" or len(rows.target.names) == 2
            weigh: Callable[..., FloatArray] = relieff_weights if joint else one_versus_all_weights
            targets: AnyArray = rows.codes
        else:
            weigh, targets = rrelieff_weights, rows.values
        n_components = check_components(self.n_components, width)
        self.feature_weights_ = weigh(
            rows.X,
            targets,
            self._draw(rows.n_rows),
            rank_weights(self.n_neighbors, self.sigma),
            discrete_mask(self.discrete_features, width),
            n_jobs=self.n_jobs,
        )
        self.n_iter_ = 1
        components = diagonal_map(self.feature_weights_, n_components)
        return LinearMaps(components.astype(rows.X.dtype, copy=False))

    def _draw(self, n: int) -> IntArray:
        if self.n_samples is None:
            return np.arange(n)
        m = check_whole("n_samples", self.n_samples, most=n)
        return np.sort(check_random_state(self.random_state).choice(n, m, replace=False))


def relieff_weights(
    X: FloatArray,
    codes: IntArray,
    queries: IntArray | None = None,
    ranks: FloatArray | None = None,
    discrete: BoolArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return W of equation (1).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    codes : int ndarray of shape (n,)
        Classes 0..R−1, each with a point.
    queries : int ndarray of shape (m,) or None
        The rows x to average over; None for all.
    ranks : ndarray of shape (k,) or None
        Weights of the nearest, the second nearest, ...; None for ten equal ones.
    discrete : bool ndarray of shape (d,) or None
        None where no feature is.

    Returns
    -------
    ndarray of shape (d,)
    """
    queries = np.arange(len(X)) if queries is None else queries
    ranks = np.ones(10) if ranks is None else ranks
    discrete = np.zeros(X.shape[1], bool) if discrete is None else discrete
    order = np.argsort(codes, kind="stable")
    features, columns = sort_features(X[order], codes[order], discrete)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    priors = np.bincount(codes) / len(codes)
    sums = _sum_blocks(sum_hits_and_misses, place[queries], features, priors, ranks, 1, n_jobs)
    weights = np.empty(X.shape[1])
    weights[columns] = sums[0] / len(queries)
    return weights


def one_versus_all_weights(
    X: FloatArray,
    codes: IntArray,
    queries: IntArray,
    ranks: FloatArray,
    discrete: BoolArray,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the mean over classes of the weights that tell each from all others."""
    weights = [
        relieff_weights(X, (codes == c).astype(np.int64), queries, ranks, discrete, n_jobs=n_jobs)
        for c in range(int(codes.max()) + 1)
    ]
    mean: FloatArray = np.mean(weights, axis=0)
    return mean


def rrelieff_weights(
    X: FloatArray,
    y: FloatArray,
    queries: IntArray,
    ranks: FloatArray,
    discrete: BoolArray,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return W of equation (2), for y (n,) of numbers; the rest as in :func:`relieff_weights`."""
    features, columns = sort_features(X, np.zeros(len(X), np.int64), discrete)
    response = scale_to_unit(y[:, None])[:, 0]
    sums = _sum_blocks(sum_joint_differences, queries, features, response, ranks, 3, n_jobs)
    apart, joint, together = sums[0], sums[1], sums[2, 0]
    alike = len(queries) - together
    weights = np.empty(X.shape[1])
    weights[columns] = (joint / together if together > 0 else 0.0 * joint) - (
        (apart - joint) / alike if alike > 0 else 0.0 * apart
    )
    return weights


def diagonal_map(weights: FloatArray, n_components: int | None = None) -> FloatArray:
    """Return diag √(max(W, 0) / max W), or of it the n_components rows of largest weight."""
    scale = feature_scale(weights)
    if n_components is None:
        return np.diag(scale)
    strongest = np.argsort(-weights, kind="stable")[:n_components]
    rows = np.zeros((n_components, len(weights)))
    rows[np.arange(n_components), strongest] = scale[strongest]
    return rows


def feature_scale(weights: FloatArray) -> FloatArray:
    """Return √(max(W, 0) / max W) (d,), what each feature is multiplied by; 1 where W ≤ 0 is all.

    This is the diagonal of the learned map, for those who need no d × d matrix.
    """
    scale = np.sqrt(np.maximum(weights, 0.0))
    largest = scale.max()
    return scale / largest if largest > 0 else np.ones_like(scale)


def rank_weights(n_neighbors: Any, sigma: float | None) -> FloatArray:
    """Return what the nearest, second nearest, ... k-th neighbour counts, before normalising."""
    k = check_whole("n_neighbors", n_neighbors)
    if sigma is None:
        return np.ones(k)
    if not np.isfinite(sigma) or sigma <= 0:
        raise ValueError(f"sigma must be a positive number or None, got {sigma!r}.")
    # Relative to the nearest, so that a small sigma does not underflow to nothing.
    ranks = np.arange(1, k + 1)
    return np.exp((1.0 - ranks.astype(np.float64) ** 2) / sigma**2)


def discrete_mask(discrete_features: Any, n_features: int) -> BoolArray:
    """Return a mask of the discrete features, from a bool, a mask or column numbers."""
    features = np.asarray(discrete_features)
    mask = np.zeros(n_features, bool)
    if features.ndim == 0 and features.dtype == bool:
        return mask | features
    if features.ndim == 1 and features.dtype == bool and len(features) == n_features:
        return features.copy()
    if features.ndim == 1 and (features.dtype.kind in "iu" or features.size == 0):
        if features.size and (features.min() < 0 or features.max() >= n_features):
            worst = features.min() if features.min() < 0 else features.max()
            raise ValueError(
                f"discrete_features names column {worst}, but there are {n_features} features, "
                "numbered from 0."
            )
        mask[features.astype(int)] = True
        return mask
    raise ValueError(
        f"discrete_features must be True, False, a mask of length {n_features} or column numbers, "
        f"got {discrete_features!r}."
    )


def scale_to_unit(values: FloatArray) -> FloatArray:
    """Return columns as float64 in [0, 1]; a constant column becomes 0."""
    values = np.asarray(values, np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    # Halved, since the range of the largest numbers is not itself a number.
    spread = high / 2 - low / 2
    scaled: FloatArray = (values / 2 - low / 2) / np.where(spread > 0, spread, 1.0)
    return scaled


def sort_features(
    X: FloatArray, classes: IntArray, discrete: BoolArray
) -> tuple[Features, IntArray]:
    """Return rows sorted by class as the kernels want them, and their columns' numbers in X."""
    columns = np.concatenate([np.flatnonzero(~discrete), np.flatnonzero(discrete)])
    scaled = np.ascontiguousarray(scale_to_unit(X[:, ~discrete]))
    codes = np.empty((len(X), np.count_nonzero(discrete)))
    for column, f in enumerate(np.flatnonzero(discrete)):
        codes[:, column] = np.unique(X[:, f], return_inverse=True)[1].reshape(-1)
    starts = np.searchsorted(classes, np.arange(classes.max() + 2))
    features = Features(
        _in_lanes(scaled), _in_lanes(codes), scaled, codes, starts, classes.astype(np.int32)
    )
    return features, columns


def _in_lanes(values: FloatArray) -> FloatArray:
    """Return (n, d) as float32 in blocks of LANES rows, each (d, LANES), flattened."""
    n, d = values.shape
    n_blocks = -(-n // LANES)
    padded = np.zeros((n_blocks * LANES, d), np.float32)
    padded[:n] = values
    blocks = padded.reshape(n_blocks, LANES, d).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks).reshape(-1)


class _Room(NamedTuple):
    """What one thread works in."""

    row: FloatArray
    scratch: Any
    table: Any


def _sum_blocks(
    kernel: Callable[..., None],
    queries: IntArray,
    features: Features,
    about_targets: FloatArray,
    ranks: FloatArray,
    n_lines: int,
    n_jobs: int | None,
) -> FloatArray:
    """Sum a kernel over blocks of queries, the blocks being the same for any number of threads."""
    n, n_classes = len(features.scaled), len(features.starts) - 1
    d = features.scaled.shape[1] + features.codes.shape[1]
    blocks = [queries[start : start + _BLOCK] for start in range(0, len(queries), _BLOCK)]
    n_threads = thread_count(n_jobs)
    sums = np.zeros((len(blocks), n_lines, d))

    def work(share: range) -> None:
        room = _Room(
            np.empty(-(-n // LANES) * LANES, np.float32),
            new_scratch(n),
            new_table(n_classes, len(ranks)),
        )
        for b in share:
            kernel(blocks[b], features, about_targets, ranks, *room, sums[b])

    map_blocks(work, [range(t, len(blocks), n_threads) for t in range(n_threads)], n_threads)
    total: FloatArray = sums.sum(axis=0)
    return total
