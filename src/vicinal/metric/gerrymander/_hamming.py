"""HammingMLNG: binary codes whose k nearest neighbours vote right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_auto, check_choice, check_costs, check_positive, check_whole
from vicinal.metric.descent import Progress, watch_of
from vicinal.metric.encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.gerrymander._hamming_problem import NORM, HammingOptions, HammingProblem
from vicinal.metric.gerrymander._layers import Layers
from vicinal.metric.gerrymander._options import scale_costs
from vicinal.metric.gerrymander._published_codes import HASHES, PublishedHammingMLNG
from vicinal.metric.maps import CodeMaps
from vicinal.metric.selection import learn
from vicinal.rows import Rows, usual_neighbors


class HammingMLNG(BinaryEncoder):
    """Learn binary codes whose k nearest neighbours, by Hamming distance, vote right.

    Queries have the codes sign(u(x)), database rows sign(v(x)). With D the Hamming distance and the
    sets h* and ĥ of :class:`MLNG`, minimise

        (1/n) Σ_i [ m Δ(y_i, ĥ) − Σ_{j∈ĥ} D_ij + Σ_{j∈h*} D_ij ] + ½ β ‖mean code‖²,

    where m is the margin in bits, and signs are relaxed while learning.

    Parameters
    ----------
    n_bits : int, default=64
        Bits of a code, a multiple of 8.
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    hash_function : {"linear", "tanh", "two-layer"}
        u(x) = W x + a, with the sign relaxed to the identity within [−1, 1] ("linear") or to tanh;
        or W₂ tanh(W₁ x + a₁) + a₂, relaxed to tanh.
    hidden : int, default=512
        Width between two layers.
    asymmetric : bool, default=True
        Whether queries and database have hash functions of their own, which start as one.
    margin : float or "auto"
        m; "auto" chooses three or ten hundredths of the bits.
    balance : float, default=0.1
        β: how much it counts that every bit be set for half of the rows.
    dropout : float, default=0.2
        Share of hidden units left out at each step of a two-layer function.
    costs : array of shape (R, R) or None
        As of :class:`MLNG`.
    learning_rate : float or "auto"
        Step relative to the root mean square weight at the start.
    max_iter : int, default=20
        Epochs over which the rate falls to zero; inner splits may stop sooner.
    tol : float, default=1e-4
        Stop when the mean loss of an epoch is at most this.
    random_state, verbose, n_jobs, callback
        As of :class:`MLNG`.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        W of the database's function, where it is linear.
    query_components_ : ndarray of shape (n_bits, n_features)
        W of the queries', where it is linear and asymmetric.
    classes_, n_iter_, loss_curve_, settings_, learning_rate_, margin_
        As of :class:`MLNG`, or as used.

    Notes
    -----
    Neighbour sets are sought among the rows of a step, 1,024 where there are many, which hold every
    class in its share; so time is linear in the rows. They hold k times the share of rows there,
    but min(k, 5) at least, for one row is no vote. Ties of inference do not occur while codes are
    relaxed. In search the nearest by Hamming distance are put in order by the
    asymmetric Hamming distance, and equals by their row.
    Departures from the source: relaxed codes in inference and gradient instead of signs in the
    first and f' in the second, Adam with a falling rate instead of momentum and 1/t, no
    normalisation of the weights, two maps that part slowly, dropout. :meth:`as_published` is the
    source's algorithm.

    References
    ----------
    trivedi2018, norouzi2012

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import HammingMLNG, KNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> metric = HammingMLNG(n_bits=32, max_iter=10, margin=8.0, random_state=0)
    >>> model = KNNClassifier(n_neighbors=3, metric=metric).fit(X[::2], y[::2])
    >>> model.metric_.encode(X[:5]).shape
    (5, 4)
    >>> float(model.score(X[1::2], y[1::2])) > 0.9
    True
    """

    n_iter_: int
    loss_curve_: list[float]

    def __init__(
        self,
        n_bits: int = 64,
        n_neighbors: int | None = None,
        *,
        hash_function: str = "linear",
        hidden: int = 512,
        asymmetric: bool = True,
        margin: Any = "auto",
        balance: float = 0.1,
        dropout: float = 0.2,
        costs: Any = None,
        learning_rate: Any = "auto",
        max_iter: int = 20,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_neighbors = n_neighbors
        self.hash_function = hash_function
        self.hidden = hidden
        self.asymmetric = asymmetric
        self.margin = margin
        self.balance = balance
        self.dropout = dropout
        self.costs = costs
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    @staticmethod
    def as_published(n_bits: int = 64, **parameters: Any) -> PublishedHammingMLNG:
        """Return the source's algorithm: see :class:`~vicinal.metric.PublishedHammingMLNG`."""
        return PublishedHammingMLNG(n_bits, **parameters)

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> HammingMLNG:
        """Learn the codes.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n,) or None
            How much the vote each row receives matters.
        groups : array-like of shape (n,) or None
            Rows of one group are not parted by inner splits.
        """
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def learn(self, rows: Rows) -> CodeMaps:
        """Return the codes whose k nearest neighbours vote right."""
        X, options = rows.X, self._options(rows)
        self._centre = X.mean(axis=0)
        size = float(np.sqrt(np.mean(np.sum((X - self._centre) ** 2, axis=1), dtype=np.float64)))
        self._unit = NORM / size if size > 0 else 1.0
        with one_blas_thread():
            problem = HammingProblem(replace(rows, X=self._enter(X)), options)
            outcome = learn(problem, options.seed, watch_of(self))
        self._widths = options.layers.widths
        self._parameters = outcome.components
        self.n_bits_ = self._widths[-1]
        self._keep_weights()
        self.query_scale_ = query_scale(self._project_queries(X))
        self.margin_ = outcome.setting["margin"]
        self.learning_rate_ = outcome.setting["learning_rate"]
        self.settings_ = outcome.tried
        self.loss_curve_, self.n_iter_ = outcome.losses, max(1, len(outcome.losses))
        return self.maps_

    def _options(self, rows: Rows) -> HammingOptions:
        check_choice("hash_function", self.hash_function, HASHES)
        check_choice("asymmetric", self.asymmetric, (True, False))
        bits, width = check_bits(self.n_bits), rows.X.shape[1]
        hidden = check_whole("hidden", self.hidden)
        two = self.hash_function == "two-layer"
        dropout = check_positive("dropout", self.dropout, zero=True)
        if dropout >= 1:
            raise ValueError(f"dropout must be below 1, got {dropout:g}.")
        return HammingOptions(
            layers=Layers((width, hidden, bits) if two else (width, bits)),
            relaxation="identity" if self.hash_function == "linear" else "tanh",
            asymmetric=bool(self.asymmetric),
            n_neighbors=usual_neighbors(self.n_neighbors, rows.n_rows - 1),
            costs=scale_costs(check_costs(self.costs, len(rows.classes.names))),
            margin=check_auto("margin", self.margin, check_positive),
            balance=check_positive("balance", self.balance, zero=True),
            dropout=dropout,
            learning_rate=check_auto("learning_rate", self.learning_rate, check_positive),
            max_iter=check_whole("max_iter", self.max_iter),
            tol=check_positive("tol", self.tol, zero=True),
            n_threads=thread_count(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _keep_weights(self) -> None:
        for name in ("components_", "query_components_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if len(self._widths) > 2:
            return
        layers = Layers(self._widths)
        maps = [layers.split(side)[0][0] * self._unit for side in self._parameters]
        self.components_ = maps[-1].astype(self._parameters.dtype)
        if len(maps) == 2:
            self.query_components_ = maps[0].astype(self._parameters.dtype)

    def _enter(self, X: AnyArray) -> FloatArray:
        moved: FloatArray = (X - self._centre.astype(X.dtype)) * X.dtype.type(self._unit)
        return moved

    def _project(self, X: AnyArray) -> FloatArray:
        return self._apply(self._parameters[-1], X)

    def _project_queries(self, X: AnyArray) -> FloatArray:
        return self._apply(self._parameters[0], X)

    def _apply(self, parameters: FloatArray, X: AnyArray) -> FloatArray:
        rows = self._enter(X)
        projected, _ = Layers(tuple(self._widths)).forward(parameters.astype(rows.dtype), rows)
        return projected
