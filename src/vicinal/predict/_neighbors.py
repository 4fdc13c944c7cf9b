"""Prediction from the k nearest training rows: their vote, or their mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray
from vicinal.metric.held_out import HeldOut
from vicinal.predict._ballots import ClassBallots, NumberBallots
from vicinal.predict._conformal import check_alpha, conformal_radius, conformal_sets
from vicinal.predict._k_nearest import KNearest
from vicinal.predict._training_targets import NeighborsClassifier, NeighborsRegressor
from vicinal.predict._vote import Vote
from vicinal.rows import Classes, Numbers, Rows


class KNNClassifier(NeighborsClassifier, KNearest):
    """Classify by the vote of the k nearest training rows under a learned metric.

    The class most of the k neighbours hold wins, by weight where ``fit`` is given weights; a tie
    goes to the tied class with the nearest neighbour. Neighbours at equal distance come in order
    of their training rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        k. "auto" takes the largest of up to 64 that a standard error does not tell from the best on
        held-out votes. Learned weights reach over 64 neighbours, or k where that is more (no more
        than there are other rows): T says how far the vote goes, and k is the metric's alone.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        Cloned and fitted in ``fit``; None is the Euclidean distance of the rows as given. Wrap a
        fitted one in scikit-learn's ``FrozenEstimator`` to use it as it is. Training rows go
        through its ``transform``, queries through its ``transform_queries`` where it has one; a
        metric with ``encode`` is searched by Hamming distance. A metric learner (or one at the end
        of a pipeline) whose own ``n_neighbors`` is None learns for the k of this vote. A name is
        one of ``vicinal compare``, such as "mlng", with its defaults.
    weights : {"uniform", "distance", "softmax", "learned", "auto"} or callable, default="uniform"
        What each of the k votes counts, times its sample weight: the same; 1/d (only neighbours
        at distance zero, where there are any); exp(−d²/s²), s² the mean of the query's k squared
        distances; exp(−d/T), T of least log-loss on held-out votes; or a function of the distances
        (m, k) that returns as many weights. "auto" is "learned", and tries a
        :class:`KernelClassifier` in the learned metric beside the vote, and where the metric is the
        mean of several whose maps lie side by side the mean of the votes in each: ``heads_`` says
        which predicts, or of which the mean does.
    class_weight : dict, "balanced" or None, default=None
        What votes count by class, times their sample weights; a class that a dict leaves out
        counts 1. "balanced" gives every class the same total. The metric does not see them, but
        a class of weight zero is left out altogether.
    index : str, default="exact"
        "exact", "faiss", or "faiss:" and a factory string such as "faiss:HNSW32", with search
        parameters after a semicolon: "faiss:IVF128,Flat;nprobe=16".
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    metric_ : the fitted metric, or None
    n_neighbors_ : int
    temperature_ : float
        T, where weights are learned; 1 where all distances are equal, and T makes no difference.
    heads_ : tuple of str
        With ``weights="auto"``: what predicts, "vote", "parts" (the mean of the votes in each part
        of a mean of metrics), "kernel" or the mean of several.
    head_losses_ : dict of str to float
        The mean squared error of all that were tried, at held-out rows.
    held_out_rows_ : ndarray of shape (m,)
        The training rows with held-out votes, ascending, where votes were held out to choose.
    held_out_proba_ : ndarray of shape (m, n_classes)
        Shares of the classes at these rows, as chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Notes
    -----
    Votes are held out by inner folds: the metric is learned without some rows, and these ask the
    others. A metric that chooses settings on inner folds has its maps without them anyway, so that
    only one that does not is fitted again. Where the metric does not depend on y, or is frozen,
    each of at most 5,000 rows asks all others instead.
    A single class is allowed, and always predicted; a metric may refuse it. Weights count votes:
    k is a number of rows, so a row of weight two is not the same as the row twice; a row of weight
    zero is no row at all. Weighted votes tie where they differ by less than 1e-12 of themselves.
    With scikit-learn's metadata routing, the predictor and its metric each ask for
    ``sample_weight``; without it, the metric (of a pipeline its last step) is given weights
    whenever its ``fit`` takes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import KNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KNNClassifier(n_neighbors=3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    held_out_proba_: FloatArray
    _held_out_names = ("held_out_proba_",)

    def __init__(
        self,
        n_neighbors: int | str = 5,
        metric: Any = None,
        *,
        weights: Any = "uniform",
        class_weight: Any = None,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, metric, weights=weights, index=index, block_size=block_size, n_jobs=n_jobs
        )
        self.class_weight = class_weight

    @property
    def _ballots(self) -> ClassBallots:
        codes, weights = self._of_indexed(self._codes), self._of_indexed(self._weights)
        return ClassBallots(codes, len(self.classes_), weights)

    def predict_set(self, X: AnyArray, alpha: float = 0.1, *, random_state: Any = 0) -> BoolArray:
        """Return the classes that each row may be of, such that alpha of all rows are missed.

        A class is in the set unless the own class's share was as small at no more than a share
        alpha of the held-out rows (split and cross-conformal prediction, Vovk et al. 2005). The
        truth is in the set with probability 1 − alpha, over rows that come as the training rows
        did: neither for each class or kind of row, nor where rows of another kind come. A set may
        be empty, where no class has the share that usual rows have, and hold several classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        alpha : float, default=0.1
            Between 0 and 1.
        random_state : int or RandomState, default=0
            Decides classes whose share equals that of held-out rows: where most votes are
            unanimous, only chance can leave out as few as alpha.

        Returns
        -------
        bool ndarray of shape (m, n_classes)

        References
        ----------
        vovk2005
        """
        alpha = check_alpha(alpha)
        self._check_held_out("predict_set")
        own = self._codes[self.held_out_rows_]
        held_out = self.held_out_proba_[np.arange(len(own)), own]
        return conformal_sets(self._tally(X), held_out, alpha, random_state)

    def doubtful_rows(self) -> IntArray:
        """Return the training rows whose held-out vote is for another class, the surest first.

        A row is asked among the others: by the votes that the fit held out, and where it held none
        out (of that row, or of any), by the fitted metric, which saw its label. Of such rows many
        are rare, and some are labelled wrongly: look at them.

        Returns
        -------
        int ndarray of shape (m,)
            By the share of the own class, the least first.
        """
        check_is_fitted(self)
        rows = self._training_rows(np.arange(self._n_indexed))
        shares = self._tally(None) if len(rows) > 1 else self._ballots.prior[None]
        if "held_out_rows_" in vars(self):
            places = np.searchsorted(rows, self.held_out_rows_)
            shares[places] = self.held_out_proba_
        own = shares[np.arange(len(rows)), self._codes[rows]]
        order = np.argsort(own, kind="stable")
        doubtful = shares.argmax(axis=1)[order] != self._codes[rows][order]
        return rows[order[doubtful]]

    def _indexed_rows(self) -> Rows:
        codes = self._of_indexed(self._codes)
        return Rows(self._index.vectors, Classes(self.classes_, codes))  # type: ignore[union-attr]

    def _losses_at(self, predictions: FloatArray, rows: IntArray) -> FloatArray:
        return self._surprise(predictions, self._codes[rows])

    def _losses_of_new(self, X: AnyArray, target: AnyArray) -> FloatArray:
        places = np.searchsorted(self.classes_, target)
        places = np.minimum(places, len(self.classes_) - 1)
        codes = np.where(self.classes_[places] == target, places, -1)
        return self._surprise(self._tally(X), codes)

    def _surprise(self, shares: FloatArray, codes: IntArray) -> FloatArray:
        """Return −log of the own class's share, that of an unknown class (−1) a row in n + 1."""
        ballots = self._ballots
        soft = shares if self._vote().is_soft else ballots.soften(shares)
        own = soft[np.arange(len(codes)), codes]
        surprise: FloatArray = -np.log(np.where(codes < 0, 1 / (len(ballots.codes) + 1), own))
        return surprise

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        self._keep_left(left, numbers)
        super()._shorten(left, numbers)

    def _rename(self, names: AnyArray) -> None:
        held = vars(self).get("held_out_proba_")
        if held is not None and not np.array_equal(names, self.classes_):
            columns = np.zeros((len(held), len(names)))
            stay = np.isin(self.classes_, names)
            columns[:, np.searchsorted(names, self.classes_[stay])] = held[:, stay]
            self.held_out_proba_ = columns
        super()._rename(names)

    def predict(self, X: AnyArray | None) -> AnyArray:
        """Return the winner of the vote for each row, of shape (m,); X as for ``kneighbors``."""
        shares = self._tally(X)
        winners: AnyArray = self.classes_[shares.argmax(axis=1)]
        return winners

    def predict_proba(self, X: AnyArray | None) -> FloatArray:
        """Return each class's share of the votes, by weight, of shape (m, n_classes).

        Where shares tie, the winner's is larger by one unit in the last place, so that the largest
        is always the class :meth:`predict` returns. With learned weights no share is zero: the
        classes' shares among all n rows count as one row in n + 1.
        """
        return self._tally(X)

    def _vote_shares(self, X: AnyArray) -> list[dict[Any, float]]:
        names = self.classes_.tolist()
        return [
            {names[c]: float(shares[c]) for c in np.argsort(-shares, kind="stable")}
            for shares in self.predict_proba(X)
        ]


class KNNRegressor(NeighborsRegressor, KNearest):
    """Predict the mean of the k nearest training rows' targets under a learned metric.

    The mean is by weight where ``fit`` is given weights; see the notes of :class:`KNNClassifier`.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        As for :class:`KNNClassifier`.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        As for :class:`KNNClassifier`.
    weights : {"uniform", "distance", "softmax", "learned", "auto"} or callable, default="uniform"
        As for :class:`KNNClassifier`, T of least squared error. "auto" tries a
        :class:`KernelRegressor` and a :class:`LocalLinearRegressor` beside the mean, and "slope":
        f(z) + Σ_j w_j (y_j − f(z_j)), f the plane of a ridge regression on all mapped rows, which
        the neighbours correct.
    index : str, default="exact"
        As for :class:`KNNClassifier`.
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    metric_ : the fitted metric, or None
    n_neighbors_, temperature_, heads_, head_losses_, held_out_rows_
        As for :class:`KNNClassifier`.
    held_out_predictions_ : ndarray of shape (m,) or (m, n_outputs)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Examples
    --------
    >>> from vicinal import KNNRegressor
    >>> KNNRegressor(n_neighbors=2).fit([[0.0], [1.0], [9.0]], [0.0, 4.0, 7.0]).predict([[0.4]])
    array([2.])
    """

    held_out_predictions_: FloatArray
    _held_out_spread: FloatArray
    _held_out_names = ("held_out_predictions_",)

    @property
    def _ballots(self) -> NumberBallots:
        return NumberBallots(self._of_indexed(self._targets), self._of_indexed(self._weights))

    def predict_interval(self, X: AnyArray, alpha: float = 0.1) -> FloatArray:
        """Return an interval for each row, such that the numbers of alpha of all rows are missed.

        The prediction plus and minus q s(x), s(x)² the weighted variance of the neighbours' numbers
        plus the mean squared error of held-out rows, and q such that 1 − alpha of the held-out
        errors are within. What it promises is what :meth:`KNNClassifier.predict_set` does.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        alpha : float, default=0.1
            Between 0 and 1. Infinite intervals where m held-out rows are too few to tell.

        Returns
        -------
        float ndarray of shape (m, 2)
            Lower and upper ends.

        References
        ----------
        vovk2005
        """
        alpha = check_alpha(alpha)
        self._check_held_out("predict_interval")
        if self._targets.ndim > 1:
            raise ValueError("an interval is of one number; y has several columns. Fit one alone.")
        errors = np.abs(self.held_out_predictions_ - self._targets[self.held_out_rows_])
        usual = max(float(np.mean(errors**2)), np.finfo(np.float64).tiny)
        q = conformal_radius(errors / np.sqrt(self._held_out_spread + usual), alpha)
        vote, queries = self._vote(), self._map_queries(X)
        values, near = self._search(queries, vote.n_neighbors)
        spread = self._ballots.spread(near, vote.weigh(self._index.distances(values)))
        half = q * np.sqrt(spread + usual)
        middle = self._tally(X)
        return np.stack([middle - half, middle + half], axis=1)

    def _keep_spread(self, vote: Vote, held: HeldOut) -> None:
        k = vote.n_neighbors
        weights = vote.weigh(held.distances[:, :k])
        self._held_out_spread = self._ballots.spread(held.near[:, :k], weights)

    def _keep_left(self, left: BoolArray, numbers: IntArray) -> None:
        if "held_out_rows_" in vars(self):
            self._held_out_spread = self._held_out_spread[left[self.held_out_rows_]]
        super()._keep_left(left, numbers)

    def _indexed_rows(self) -> Rows:
        targets = self._of_indexed(self._targets)
        return Rows(self._index.vectors, Numbers(targets))  # type: ignore[union-attr]

    def _losses_at(self, predictions: FloatArray, rows: IntArray) -> FloatArray:
        errors = np.square(predictions - self._targets[rows]).reshape(len(rows), -1)
        losses: FloatArray = errors.sum(axis=1)
        return losses

    def _losses_of_new(self, X: AnyArray, target: AnyArray) -> FloatArray:
        errors: FloatArray = np.square(self._tally(X) - target).reshape(len(target), -1).sum(axis=1)
        return errors

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        self._keep_left(left, numbers)
        super()._shorten(left, numbers)

    def predict(self, X: AnyArray | None) -> FloatArray:
        """Return the weighted mean target of the k nearest rows, (m,) or (m, n_outputs).

        X as for ``kneighbors``: None predicts each training row from the others.
        """
        return self._tally(X)
