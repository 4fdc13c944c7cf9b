"""Gradient-boosted large margin nearest neighbours: LMNN's map bent by regression trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._kernels._lmnn import push, target_squared_distances
from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.candidates import order_by_class
from vicinal.metric.descent import make_frame
from vicinal.metric.maps import FunctionMaps
from vicinal.metric.selection import PATIENCE, prediction_losses
from vicinal.pairs import search_pairs
from vicinal.rivals._large_margin import pull, target_neighbors
from vicinal.rivals._lmnn import LMNN
from vicinal.rivals._progress import Iterations
from vicinal.rivals._trees import Forest, append_tree, no_trees
from vicinal.rows import USUAL_NEIGHBORS, Classes, Rows, inner_splits

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

# Trees between searches for impostors, which look so much farther, in squared distance.
SEARCH_EVERY, REACH = 10, 1.5
# Pairs held, eight bytes each; where there are more, those of some rows are until the next search,
# and count for all.
MOST_PAIRS = 2 * 10**7
# Features a tree's questions are chosen among, at most; more would not be looked through in time.
MOST_FEATURES = 32


class GBLMNN(MetricLearner):
    """Bend LMNN's map by boosted regression trees so that more margins hold.

    φ(x) = L x + Σ_t h_t(x), where L is the map of :class:`~vicinal.LMNN` and every tree h_t is
    fitted to minus the gradient by φ(x_1), …, φ(x_n) of

        (1/n) Σ_i Σ_j [ (1 − μ) D_ij + μ Σ_l (1 + D_ij − D_il)₊ ],   D_ij = ‖φ(x_i) − φ(x_j)‖²,  (1)

    with the targets j of row i under L and rows l of other classes.

    Parameters
    ----------
    n_neighbors : int or None
        Targets of a row. None follows the predictor the metric stands in, and is 3 where there is
        none.
    n_components : int or None
        As in :class:`~vicinal.LMNN`.
    n_trees : int, default=100
        Trees at most; with ``early_stopping`` as many as held-out rows are voted on best with,
        which may be none.
    max_depth : int, default=5
        Questions a tree asks of a row.
    learning_rate : float, default=0.5
        The share of the step that lessens (1) most that is taken along each tree.
    regularization : float, default=0.5
        μ.
    early_stopping : bool, default=True
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line a tree.
    n_jobs : int or None
        Threads of the search.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L, the linear part.
    tree_features_, tree_thresholds_ : ndarrays of shape (n_trees, 2**max_depth − 1)
        The questions of the trees, level by level, about features in standard units
        (``tree_centre_``, ``tree_scale_``).
    tree_leaves_ : ndarray of shape (n_trees, 2**max_depth, n_components)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        Trees.
    loss_curve_ : list of float
        (1) under L and after each tree.
    settings_ : dict of str to list of float
        Held-out scores with 0, 1, … trees.

    Notes
    -----
    Time O(n d log n) a tree, O(p) a pair within reach, and O(n² p) for a search every ten trees;
    memory O(n d) and at most 320 MB of pairs. Departures from the source: the step along a tree is
    searched for, impostors are searched for every ten trees, and of more than 32 features each
    question looks at 32 drawn at random.

    References
    ----------
    Kedem, Tyree, Weinberger, Sha and Lanckriet, "Non-linear metric learning", NIPS 2012
    [kedem2012].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import GBLMNN
    >>> X, y = load_iris(return_X_y=True)
    >>> GBLMNN(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        n_components: int | None = None,
        n_trees: int = 100,
        max_depth: int = 5,
        learning_rate: float = 0.5,
        regularization: float = 0.5,
        early_stopping: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def learn(self, rows: Rows) -> FunctionMaps:
        """Fit LMNN, then the trees."""
        X, codes = rows.X, rows.codes
        check_whole("n_trees", self.n_trees)
        check_whole("max_depth", self.max_depth, most=12)
        check_positive("learning_rate", self.learning_rate)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        linear = LMNN(
            self.n_neighbors, n_components=self.n_components, regularization=self.regularization,
            random_state=seed, n_jobs=self.n_jobs,
        ).fit_rows(rows)  # fmt: skip
        frame = make_frame(X)
        self.tree_centre_, self.tree_scale_ = frame.centre, frame.scale
        self.settings_: dict[str, list[float]] = {}
        n_trees = self.n_trees
        with one_blas_thread():
            if self.early_stopping:
                n_trees = self._choose_trees(rows, linear, seed)
            iterations = Iterations("GBLMNN", self.verbose, max(1, n_trees))
            boosting = self._boosting(X, codes, linear.components_, seed)
            forest = boosting.run(n_trees, iterations)
        self.loss_curve_, self.n_iter_ = boosting.losses, max(1, len(forest))
        self.components_ = linear.components_
        self.tree_features_, self.tree_thresholds_ = forest.features, forest.thresholds
        self.tree_leaves_ = forest.leaves
        return self.maps_

    @property
    def maps_(self) -> FunctionMaps:
        """φ, for both sides."""
        check_is_fitted(self, "components_")
        return FunctionMaps(self._apply)

    def _apply(self, X: AnyArray) -> FloatArray:
        mapped: FloatArray = np.ascontiguousarray(X @ self.components_.T)
        forest = Forest(self.tree_features_, self.tree_thresholds_, self.tree_leaves_)
        forest.add_to(mapped, self._standard(X))
        return mapped

    def _standard(self, X: FloatArray) -> FloatArray:
        largest = np.finfo(np.float32).max  # trees ask only which side of a threshold a value is
        standard = np.clip((X - self.tree_centre_) / self.tree_scale_, -largest, largest)
        return np.asarray(standard, np.float32)

    def _boosting(self, X: FloatArray, codes: IntArray, L: FloatArray, seed: int) -> Boosting:
        return Boosting(self._standard(X), np.asarray(X @ L.T, np.float64), codes, self, seed)

    def _choose_trees(self, rows: Rows, linear: LMNN, seed: int) -> int:
        """Return the number of trees that held-out rows are voted on best with."""
        for train, held in inner_splits(rows, seed)[:1]:
            counts = np.bincount(train.codes)
            if np.sum(counts > 0) > 1 and counts.max() > 1:
                curve = self._held_out_curve(train, held, linear)
                self.settings_ = {"trees": curve}
                return int(np.argmin(curve))
        return self.n_trees

    def _held_out_curve(self, train: Rows, held: Rows, linear: LMNN) -> list[float]:
        """Return the losses of held-out rows after the linear map and each tree of the others."""
        k = min(self.n_neighbors or USUAL_NEIGHBORS, train.n_rows - 1)
        inner = LMNN(
            k, n_components=self.n_components, init=linear.init_.partition(",")[0],
            regularization=self.regularization, max_iter=linear.n_iter_, early_stopping=False,
            random_state=0, n_jobs=self.n_jobs,
        ).fit_rows(train)  # fmt: skip
        boosting = self._boosting(train.X, train.codes, inner.components_, 0)
        mapped = np.asarray(held.X @ inner.components_.T, np.float64)
        standard = self._standard(held.X)

        def score() -> float:
            voters = Classes(train.classes.names, boosting.labels)
            losses = prediction_losses(boosting.mapped, mapped, voters, held.classes, k)
            return float(losses.mean())

        curve = [score()]

        def watch(n: int, loss: float, newest: Forest) -> bool:
            newest.add_to(mapped, standard)
            curve.append(score())
            return len(curve) - 1 - int(np.argmin(curve)) >= PATIENCE

        boosting.run(self.n_trees, watch)
        return curve


class Boosting:
    """The descent of rows' images along trees.

    Parameters
    ----------
    features : float32 ndarray of shape (n, d)
        What the trees ask about.
    mapped : float64 ndarray of shape (n, p)
        Where the rows stand; moved in place, in the order of the classes.
    labels : int ndarray of shape (n,)
    settings : GBLMNN
    seed : int
    """

    def __init__(
        self,
        features: FloatArray,
        mapped: FloatArray,
        labels: IntArray,
        settings: GBLMNN,
        seed: int,
    ) -> None:
        self.classes = order_by_class(labels)
        order = self.classes.order
        self.features, self.mapped = features[order], np.ascontiguousarray(mapped[order])
        self.labels, self.settings = labels[order], settings
        self.rng = np.random.default_rng(seed)
        self.n_threads = thread_count(settings.n_jobs)
        k = min(settings.n_neighbors or USUAL_NEIGHBORS, len(labels) - 1)
        self.targets = target_neighbors(self.mapped, self.classes, k, self.n_threads)
        self.pairs: list[IntArray] = []
        self.share = 1.0  # of the rows that push, those whose pairs are held
        self.losses: list[float] = []
        self.step = 1.0

    def run(self, n_trees: int, watch: Callable[[int, float, Forest], bool]) -> Forest:
        """Return at most so many trees; stop where none lessens the loss or the watch says so."""
        depth, p = self.settings.max_depth, self.mapped.shape[1]
        forest = no_trees(depth, p)
        self.losses.append(self.look()[0])
        for n in range(1, n_trees + 1):
            if n > 1 and (n - 1) % SEARCH_EVERY == 0:
                self.look()
            loss, forces = self.loss_of(self.mapped)
            tree = self._fit_tree(-forces)
            direction = tree.predict(self.features).reshape(self.mapped.shape)
            factor = self._search_step(direction, loss)
            if factor == 0.0:
                break
            newest = append_tree(no_trees(depth, p), tree, factor)
            forest = append_tree(forest, tree, factor)
            self.mapped += factor * direction
            self.losses.append(self.loss_of(self.mapped)[0])
            if watch(n, self.losses[-1], newest):
                break
        return forest

    def look(self) -> tuple[float, FloatArray]:
        """Search for impostors anew and return the loss and its forces."""
        reach = REACH * self._margins(self.mapped).max(axis=1)
        rows = np.flatnonzero(reach > 0).astype(np.int32)
        self.pairs, total = self._search(rows, reach)
        self.share = 1.0
        if total > MOST_PAIRS:
            n_some = max(1, int(len(rows) * MOST_PAIRS / total))
            some = np.sort(self.rng.permutation(rows)[:n_some])
            self.pairs, _ = self._search(some, reach)
            self.share = n_some / len(rows)
        return self.loss_of(self.mapped)

    def _search(self, rows: IntArray, reach: FloatArray) -> tuple[list[IntArray], int]:
        """Return the pairs within reach of some rows (none where too many), and how many."""
        pairs: list[IntArray] = []
        total = 0
        for found in search_pairs(self.mapped, self.classes, rows, reach, self.n_threads):
            total += len(found)
            pairs.append(found)
            if total > 2 * MOST_PAIRS:
                pairs.clear()
        return pairs, total

    def loss_of(self, mapped: FloatArray) -> tuple[float, FloatArray]:
        """Return (1) over the pairs at hand and half its derivatives (n, p), times n."""
        margins = self._margins(mapped)
        active, forces = np.zeros(margins.shape), np.zeros_like(mapped)
        nobody, mu = np.zeros(len(mapped), bool), self.settings.regularization
        pushed = sum(push(mapped, some, nobody, margins, active, forces) for some in self.pairs)
        weight = mu / self.share
        forces *= weight
        pull(mapped, self.targets, (1 - mu) + weight * active, forces)
        pulled = (margins - 1.0)[self.targets >= 0].sum()
        return ((1 - mu) * pulled + weight * pushed) / len(mapped), forces

    def _margins(self, mapped: FloatArray) -> FloatArray:
        squared_distances = np.empty(self.targets.shape)
        target_squared_distances(mapped, self.targets, squared_distances)
        return 1.0 + squared_distances

    def _fit_tree(self, wanted: FloatArray) -> DecisionTreeRegressor:
        from sklearn.tree import DecisionTreeRegressor  # that no other learner waits for

        d = self.features.shape[1]
        tree = DecisionTreeRegressor(
            max_depth=self.settings.max_depth,
            max_features=min(d, MOST_FEATURES),
            min_samples_leaf=max(1, min(10, len(wanted) // 20)),
            random_state=int(self.rng.integers(2**31)),
        )
        return tree.fit(self.features, wanted)

    def _search_step(self, direction: FloatArray, loss: float) -> float:
        """Return the learning rate's share of the best of doubled and halved steps; 0 for none."""
        tried: dict[float, float] = {0.0: loss}

        def value(step: float) -> float:
            if step not in tried:
                tried[step] = self.loss_of(self.mapped + step * direction)[0]
            return tried[step]

        step = self.step
        while value(step) >= loss and step > 1e-12:
            step /= 4
        if value(step) >= loss:
            return 0.0
        while value(2 * step) < value(step) and step < 1e12:
            step *= 2
        self.step = step
        return step * self.settings.learning_rate
