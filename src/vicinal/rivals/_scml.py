"""Sparse compositional metric learning: a metric made of few local discriminant directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.candidates import SEARCHES, choose_search, order_by_class
from vicinal.metric.descent import Frame, FramedRows, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.metric.starts import discriminant_map, within_scatter
from vicinal.rivals._constraints import check_tuples, draw_triplets, frame_tuples
from vicinal.rivals._itml import factor
from vicinal.rivals._progress import Iterations
from vicinal.rows import USUAL_NEIGHBORS, Rows, as_classes

# Rows of each class about a centre that its discriminants are computed from, at two scales.
NEAR = (20, 100)
# Triplets a step.
BATCH = 64
# Values of the regularisation tried on inner splits, for hinges of mean 1 at the start.
GRID = (1e-4, 1e-3, 1e-2)


class SCML(MetricLearner):
    """Weigh rank-one metrics of local discriminant directions so that triplets hold.

    M = Σ_b w_b b bᵀ with w ≥ 0; for triplets (x, its target t, an impostor s),

        minimise over w ≥ 0   mean (1 + d_M(x, t) − d_M(x, s))₊ + β Σ_b w_b.               (1)

    Parameters
    ----------
    n_basis : int, default=400
        How many directions b to weigh. :meth:`fit` takes linear discriminants of the rows of all
        classes about the centres of clusters; :meth:`fit_triplets` differences of its rows.
    basis : ndarray of shape (n_basis, n_features) or None
        The directions themselves, in place of those.
    regularization : "auto" or float, default="auto"
        β. "auto" chooses among three values on inner splits of the rows, and is 0.001 for triplets.
    n_neighbors : int or None
        Targets of a row in :meth:`fit`, its nearest rows of the class. None follows the predictor
        the metric stands in, and is 3 where there is none.
    n_impostors : int, default=10
        Impostors of a row in :meth:`fit`, its nearest rows of other classes.
    max_iter : int, default=2000
        Steps, each on 64 triplets.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    basis_weights_ : ndarray of shape (n_basis,)
        w; most are zero.
    regularization_ : float
    n_iter_ : int
    settings_ : dict of str to list of float

    Notes
    -----
    Time O((d + 1) n_basis) a triplet and O(n² d) to find the neighbours of up to 20,000 rows, less
    beyond; memory O(n d + n_basis d). Steps are dual averaging with a rate for each weight, as in
    the source; the average of the later iterates is kept.

    References
    ----------
    Shi, Bellet and Sha, "Sparse compositional metric learning", AAAI 2014 [shi2014].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import SCML
    >>> X, y = load_iris(return_X_y=True)
    >>> SCML(random_state=0).fit(X, y).transform(X).shape[0]
    150
    """

    def __init__(
        self,
        n_basis: int = 400,
        *,
        basis: AnyArray | None = None,
        regularization: str | float = "auto",
        n_neighbors: int | None = None,
        n_impostors: int = 10,
        max_iter: int = 2000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_basis = n_basis
        self.basis = basis
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.n_impostors = n_impostors
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1) for triplets of near rows."""
        seed = self._check()
        with one_blas_thread():
            framed = frame_rows(rows)
            betas = list(GRID) if isinstance(self.regularization, str) else [self.regularization]
            self.settings_: dict[str, list[float]] = {}
            if len(betas) > 1:
                choice = choose_by_votes(
                    framed,
                    betas,
                    lambda part, beta, _: self._learn(part, beta, seed),
                    n_neighbors=self._k(),
                    seed=seed,
                )
                betas, self.settings_ = [choice.setting], choice.tried
            components = self._learn(framed, float(betas[0]), seed, self.verbose)
        self.regularization_ = float(betas[0])
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def fit_triplets(self, triplets: AnyArray) -> SCML:
        """Minimise (1) for triplets of rows.

        Parameters
        ----------
        triplets : array-like of shape (n, 3, d)
            The first row of each is to be nearer to the second than to the third.
        """
        triplets = check_tuples(self, triplets, 3)
        rng = np.random.default_rng([self._check(), 4])
        auto = isinstance(self.regularization, str)
        self.regularization_ = 1e-3 if auto else float(self.regularization)
        self.settings_ = {}
        with one_blas_thread():
            rows, ends = frame_tuples(triplets)
            basis = self._given_basis(rows.frame)
            if basis is None:
                near, far = (ends[:, 0] - ends[:, place] for place in (1, 2))
                basis = difference_basis(near, far, self.n_basis, rng)
            numbers = np.arange(3 * len(ends)).reshape(-1, 3)
            known = Triplets(ends.reshape(-1, ends.shape[2]), numbers)
            components = self._weigh(basis, known, self.regularization_, rng, self.verbose)
        self._keep(rows.frame.maps(components.astype(triplets.dtype, copy=False)))
        return self

    def _k(self) -> int:
        k = USUAL_NEIGHBORS if self.n_neighbors is None else self.n_neighbors
        return check_whole("n_neighbors", k)

    def _check(self) -> int:
        check_whole("n_basis", self.n_basis)
        check_whole("n_impostors", self.n_impostors)
        check_whole("max_iter", self.max_iter)
        if self.regularization != "auto":
            check_positive("regularization", self.regularization, zero=True)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _given_basis(self, frame: Frame) -> FloatArray | None:
        """Return the user's directions in a frame, if there are any."""
        if self.basis is None:
            return None
        basis = np.asarray(self.basis, dtype=np.float64)
        if basis.ndim != 2 or basis.shape[1] != len(frame.scale):
            raise ValueError(
                f"basis must have shape (n_basis, {len(frame.scale)}), got {basis.shape}."
            )
        return frame.unfold(basis)

    def _learn(self, rows: FramedRows, beta: float, seed: int, verbose: int = 0) -> FloatArray:
        rng = np.random.default_rng([seed, 4])
        basis = self._given_basis(rows.frame)
        if basis is None:
            basis = discriminant_basis(rows, self.n_basis, rng)
        triplets = near_triplets(rows, min(self._k(), rows.n_rows - 1), self.n_impostors, rng)
        if not len(triplets):
            return rows.frame.plain(rows.X.shape[1])
        return self._weigh(basis, Triplets(rows.X, triplets), beta, rng, verbose)

    def _weigh(
        self,
        basis: FloatArray,
        triplets: Triplets,
        beta: float,
        rng: np.random.Generator,
        verbose: int,
    ) -> FloatArray:
        iterations = Iterations("SCML", verbose, self.max_iter)
        weights = dual_averaging(basis, triplets, beta, self.max_iter, rng, iterations)
        self.basis_weights_, self.n_iter_ = weights, self.max_iter
        if not weights.any():
            return np.eye(basis.shape[1])
        used = weights > 0
        scaled = np.sqrt(weights[used])[:, None] * basis[used]
        return scaled if used.sum() <= basis.shape[1] else factor(scaled.T @ scaled)


@dataclass(frozen=True)
class Triplets:
    """Rows (n, d), and numbers (T, 3) of rows that are to be nearer to the second than the third.

    Differences are made of those asked for only: all of them would take many times the rows' room.
    """

    X: FloatArray
    numbers: IntArray

    def change(self, basis: FloatArray, some: IntArray) -> FloatArray:
        """Return by how much each rank-one metric has targets farther than impostors, (t, B)."""
        first, second, third = (self.X[self.numbers[some, place]] for place in range(3))
        change: FloatArray = ((first - second) @ basis.T) ** 2 - ((first - third) @ basis.T) ** 2
        return change


def local_discriminants(
    X: AnyArray, codes: IntArray, n_basis: int, random_state: Any = None
) -> FloatArray:
    """Return unit directions (n_basis, d) of rows (n, d) as :class:`~vicinal.SCML` draws them."""
    rows = frame_rows(Rows(np.asarray(X), as_classes(np.asarray(codes))))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    basis = rows.frame.fold(discriminant_basis(rows, n_basis, rng))
    return basis / np.linalg.norm(basis, axis=1, keepdims=True)


def discriminant_basis(rows: FramedRows, n_basis: int, rng: np.random.Generator) -> FloatArray:
    """Return unit directions (n_basis, r): discriminants of rows near the centres of clusters."""
    n_classes = int(rows.codes.max()) + 1
    each = max(1, min(n_classes - 1, rows.X.shape[1]))
    n_clusters = max(1, min(-(-n_basis // (each * len(NEAR))), rows.n_rows // 2))
    model = MiniBatchKMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31)))
    centres = model.fit(rows.X).cluster_centers_
    squared_norms = np.einsum("ij,ij->i", rows.X, rows.X)
    parts = []
    for centre in centres:
        order = np.argsort(squared_norms - 2 * rows.X @ centre, kind="stable")
        for near in NEAR:
            chosen = _first_of_each(order, rows.codes, near)
            codes = np.unique(rows.codes[chosen], return_inverse=True)[1].reshape(-1)
            scatter = within_scatter(rows.X[chosen], codes, len(rows.frame.scale))
            parts.append(discriminant_map(scatter, min(each, int(codes.max()) or 1), "ledoit_wolf"))
    basis = np.concatenate(parts)[:n_basis]
    norms = np.linalg.norm(basis, axis=1)
    return basis[norms > 0] / norms[norms > 0, None]


def _first_of_each(order: IntArray, labels: IntArray, most: int) -> IntArray:
    """Return the first ``most`` rows of each class in an order."""
    grouped = order[np.argsort(labels[order], kind="stable")]
    classes = labels[grouped]
    rank = np.arange(len(grouped)) - np.searchsorted(classes, classes)
    return grouped[rank < most]


def difference_basis(
    near: FloatArray, far: FloatArray, n_basis: int, rng: np.random.Generator
) -> FloatArray:
    """Return unit directions: differences to third rows less those to second ones, and axes."""
    gaps = np.concatenate([far, near, np.eye(near.shape[1])])
    norms = np.linalg.norm(gaps, axis=1)
    gaps = gaps[norms > 0] / norms[norms > 0, None]
    axes = min(near.shape[1], n_basis)
    chosen = rng.permutation(len(gaps) - axes)[: max(0, n_basis - axes)]
    return np.concatenate([gaps[chosen], gaps[len(gaps) - axes :]])


def near_triplets(rows: FramedRows, k: int, n_impostors: int, rng: np.random.Generator) -> IntArray:
    """Return triplets of rows, one of their k targets and one of their nearest impostors."""
    classes = order_by_class(rows.codes)
    mapped = np.ascontiguousarray(rows.X[classes.order], dtype=np.float32)
    m = min(n_impostors, rows.n_rows - 1)
    search = SEARCHES[choose_search(rows.n_rows)]
    lists = search(mapped, classes, k, m, seed=(int(rng.integers(2**31)),))
    own, other = lists[:, :k], lists[:, k:]
    triplets = draw_triplets(own, other, 200_000, rng)
    return classes.order[triplets]


def dual_averaging(
    basis: FloatArray,
    triplets: Triplets,
    beta: float,
    n_steps: int,
    rng: np.random.Generator,
    iterations: Iterations,
) -> FloatArray:
    """Return w (B,) of (1): the mean of the second half of the steps.

    With ḡ the mean of all gradients and s_b the root of the sum of their squares, after t steps
    w_b = η t (−ḡ_b − β)₊ / s_b.

    Parameters
    ----------
    basis : ndarray of shape (B, d)
    triplets : Triplets
    beta : float
    n_steps : int
    rng : Generator
    iterations : Iterations
    """
    n = len(triplets.numbers)
    probe = rng.integers(0, n, min(n, 1000))
    # Units in which impostors are as far beyond targets as the margin, if all weights were 1/B.
    size = np.mean(np.abs(triplets.change(basis, probe))) or 1.0
    total, squares = np.zeros(len(basis)), np.full(len(basis), 1e-12)
    weights, mean, n_kept = np.zeros(len(basis)), np.zeros(len(basis)), 0
    for step in range(1, n_steps + 1):
        rows = rng.integers(0, n, min(BATCH, n))
        change = triplets.change(basis, rows) / size
        hinge = 1.0 + change @ weights
        gradient = change[hinge > 0].sum(axis=0) / len(rows)
        total += gradient
        squares += gradient**2
        weights = np.maximum(-total - step * beta, 0.0) / np.sqrt(squares)
        weights /= np.sqrt(len(basis))
        if step > n_steps // 2:
            mean, n_kept = mean + weights, n_kept + 1
        if step % max(1, n_steps // 20) == 0:
            iterations.tell(step, float(np.maximum(hinge, 0.0).mean()))
    mean /= max(1, n_kept)
    mean[mean < 1e-6 * mean.max(initial=0.0)] = 0.0
    return mean / size
