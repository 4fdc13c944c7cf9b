"""The source's algorithm for codes: signs in inference, weights of length one, momentum, rate 1/t.

With a = sign u(x) of a query, b = sign v(z) of database rows and S = a·Σ_h b, a step follows

    ∂L/∂a = Σ_ĥ b − Σ_h* b,    ∂L/∂b_j = ± a,    through the sign by f′,                       (1)

plus the slope of ½ β ‖mean b‖², diag(mean b) mean[f′ zᵀ], and sets each layer to length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from vicinal._kernels._targeted import infer_sets, new_inferred
from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_auto, check_choice, check_costs, check_positive, check_whole
from vicinal.metric.descent import Progress, watch_of
from vicinal.metric.encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.gerrymander._layers import Layers
from vicinal.metric.gerrymander._published_descent import is_plateau
from vicinal.metric.inference import SignedPairs, sets_difference
from vicinal.metric.maps import CodeMaps
from vicinal.metric.selection import prediction_losses
from vicinal.rows import Rows, inner_splits, usual_neighbors

HASHES = ("linear", "tanh", "two-layer")
# β to choose from: how much it counts that bits are even, beside a vote's cost of 1.
BALANCES = (0.1, 1.0, 10.0)
MOMENTUM = 0.9


@dataclass
class CodeDescent:
    """Steps (1) over rows X (n, d) drawn anew for every epoch.

    ``parameters`` are (1, P), or (2, P) for queries and database; ``is_bent`` takes f = tanh for
    the identity. Sets are sought among ``n_references`` rows, drawn anew for every step.
    """

    X: FloatArray
    codes: IntArray
    layers: Layers
    is_bent: bool
    n_neighbors: int
    costs: FloatArray
    balance: float
    parameters: FloatArray
    rng: np.random.Generator
    batch_size: int
    n_references: int
    velocity: FloatArray = field(init=False)
    step: int = 0
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.velocity = np.zeros_like(self.parameters)
        self._normalise()

    def advance(self) -> float:
        """Walk an epoch; return its mean loss."""
        n = len(self.X)
        order, total = self.rng.permutation(n), 0.0
        for first in range(0, n, self.batch_size):
            among = np.arange(n)
            if n > self.n_references:
                among = self.rng.choice(n, self.n_references, replace=False)
            total += self.walk(order[first : first + self.batch_size], among)
        self.losses.append(total / n)
        return self.losses[-1]

    def walk(self, rows: IntArray, among: IntArray) -> float:
        """Take one step by some rows, their sets among others; return the sum of their losses."""
        sides = self.parameters[0], self.parameters[-1]
        passes = [
            self.layers.forward(side, self.X[part])
            for side, part in zip(sides, (rows, among), strict=True)
        ]
        a, b = (np.where(projected > 0, 1.0, -1.0) for projected, _ in passes)
        sets = self.infer(a, b, rows, among)
        queries, points, signs = sets.pairs(slice(0, len(rows)))
        pairs = csr_array((signs / len(rows), (queries, points)), shape=(len(rows), len(among)))
        forces = [-(pairs @ b), -(pairs.T @ a)]
        for side, bits in enumerate((a, b)):
            forces[side] += self.balance * bits.mean(axis=0) / len(bits)
        gradient = np.zeros_like(self.parameters)
        for side, (projected, inputs) in enumerate(passes):
            outer = forces[side] * (1 - np.tanh(projected) ** 2 if self.is_bent else 1.0)
            outer = outer.astype(gradient.dtype)
            gradient[min(side, len(gradient) - 1)] += self.layers.backward(
                sides[side], inputs, outer
            )
        self.step += 1
        self.velocity = MOMENTUM * self.velocity - gradient / self.step
        self.parameters = self.parameters + self.velocity
        self._normalise()
        return float(sets.loss.sum())

    def infer(self, a: FloatArray, b: FloatArray, rows: IntArray, among: IntArray) -> SignedPairs:
        """Return the signed pairs of queries a (m, c) and database rows b (n, c), by place."""
        twice_hamming = a.shape[1] - a @ b.T
        twice_hamming[rows[:, None] == among] = np.inf
        sets = new_inferred(len(rows), min(self.n_neighbors, len(among) - 1))
        codes = self.codes.astype(np.int32)
        labels = np.broadcast_to(codes[among], twice_hamming.shape).copy()
        infer_sets(twice_hamming, labels, codes[rows], self.costs, sets)
        return sets_difference(sets, np.arange(len(rows)))

    def _normalise(self) -> None:
        """Set the weights of each layer to length one; there are no offsets."""
        for side in self.parameters:
            for weight, offset in self.layers.split(side):
                offset[:] = 0
                weight /= np.linalg.norm(weight) or 1


class PublishedHammingMLNG(BinaryEncoder):
    """Codes by the algorithm of their source; made by :meth:`HammingMLNG.as_published`.

    Minimises Σ_i L_i + ½ β ‖mean code‖² with L of the scores S = k c − 2 Σ Hamming, sets inferred
    from signs. The gradient passes the sign by f′ (1, or that of tanh); steps have momentum 0.9
    and the rate 1/t, and after each the weights have length one.

    Parameters
    ----------
    n_bits : int, default=64
        A multiple of 8.
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    hash_function : {"linear", "tanh", "two-layer"}
    hidden : int, default=512
        Width between two layers.
    asymmetric : bool, default=True
        Whether queries and database have hash functions of their own.
    balance : float or "auto"
        β; "auto" chooses 0.1, 1 or 10 on one split of 75 and 25 % of the rows.
    costs : array of shape (R, R) or None
    batch_size : int, default=64
        Rows a step.
    n_references : int, default=2048
        Rows that sets are sought among, drawn anew for every step; all where there are fewer.
    max_iter : int, default=50
        Epochs at most; a loss that no longer falls ends them, after ten.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_, query_components_ : ndarray of shape (n_bits, n_features)
        The weights, where they are linear; the second where asymmetric.
    balance_ : float
    n_iter_ : int
    loss_curve_ : list of float
    settings_ : list of dict
        Every β tried on the split, with its score, and which was chosen.

    Notes
    -----
    Time O(r P) a step, r being the references and P the weights. Departures: rows about their mean
    and of the typical length √bits, or √hidden where there are two layers: a bit's weights have the
    length 1/√bits, so that its projection is of size one; weights of length one from the start;
    the mean over a step's rows for the sum; the penalty's own gradient, where the printed term is
    another; sets among a sample of many rows.

    References
    ----------
    trivedi2018, weiss2009

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import HammingMLNG, KNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> codes = HammingMLNG.as_published(balance=1.0, max_iter=3, random_state=0)
    >>> float(KNNClassifier(3, codes).fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.9
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
        balance: Any = "auto",
        costs: Any = None,
        batch_size: int = 64,
        n_references: int = 2048,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_bits = n_bits
        self.n_neighbors = n_neighbors
        self.hash_function = hash_function
        self.hidden = hidden
        self.asymmetric = asymmetric
        self.balance = balance
        self.costs = costs
        self.batch_size = batch_size
        self.n_references = n_references
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> CodeMaps:
        """Return the codes the published descent leads to."""
        check_choice("hash_function", self.hash_function, HASHES)
        check_choice("asymmetric", self.asymmetric, (True, False))
        check_whole("max_iter", self.max_iter)
        balance = check_auto("balance", self.balance, check_positive)
        bits, hidden = check_bits(self.n_bits), check_whole("hidden", self.hidden)
        width = rows.X.shape[1]
        two = self.hash_function == "two-layer"
        layers = Layers((width, hidden, bits) if two else (width, bits))
        self._centre = rows.X.mean(axis=0)
        squares = np.sum((rows.X - self._centre) ** 2, axis=1, dtype=np.float64)
        self._unit = float(np.sqrt(layers.widths[1] / (squares.mean() or 1.0)))
        self._widths, seed = layers.widths, check_random_state(self.random_state).randint(2**31 - 1)
        with one_blas_thread():  # products are small, and the result must not depend on threads
            trials = self._choose(rows, layers, balance, int(seed))
            best = min(trials, key=lambda each: each["score"])
            descent = self._descend(rows, layers, best["balance"], int(seed))
        self.balance_ = best["balance"]
        self.settings_ = [{**each, "chosen": each is best} for each in trials]
        self.loss_curve_, self.n_iter_ = descent.losses, len(descent.losses)
        self._parameters, self.n_bits_ = descent.parameters, bits
        self._keep_weights(layers)
        self.query_scale_ = query_scale(self._project_queries(rows.X))
        return self.maps_

    def _choose(
        self, rows: Rows, layers: Layers, balance: float | None, seed: int
    ) -> list[dict[str, float]]:
        """Return what was tried on one split, with its score; one β where none is open."""
        if balance is not None:
            return [{"balance": balance, "score": np.nan}]
        splits: Sequence[tuple[Rows, Rows]] = inner_splits(rows, seed)[:1]
        if not splits:
            return [{"balance": BALANCES[1], "score": np.nan}]
        ((train, held),) = splits
        k = usual_neighbors(self.n_neighbors, train.n_rows)
        costs = check_costs(self.costs, len(rows.classes.names))
        trials = []
        for each in BALANCES:
            sides = self._descend(train, layers, each, seed, "settings").parameters
            bits = layers.forward(sides[-1], self._enter(train.X))[0]
            queries = layers.forward(sides[0], self._enter(held.X))[0]
            mapped = np.where(bits > 0, 0.5, -0.5), np.tanh(queries * query_scale(queries)) / 2
            losses = prediction_losses(*mapped, train.classes, held.classes, k, costs=costs)
            trials.append({"balance": each, "score": float(losses.mean())})
        return trials

    def _descend(
        self, rows: Rows, layers: Layers, balance: float, seed: int, stage: str = "fit"
    ) -> CodeDescent:
        """Return the descent of some rows at its end."""
        rng, n_maps = np.random.default_rng(seed), 2 if self.asymmetric else 1
        start = rng.normal(size=(n_maps, layers.n_parameters)).astype(rows.X.dtype)
        descent = CodeDescent(
            X=self._enter(rows.X),
            codes=rows.codes,
            layers=layers,
            is_bent=self.hash_function != "linear",
            n_neighbors=usual_neighbors(self.n_neighbors, rows.n_rows - 1),
            costs=check_costs(self.costs, len(rows.classes.names)).astype(np.float64),
            balance=balance,
            parameters=start,
            rng=rng,
            batch_size=check_whole("batch_size", self.batch_size),
            n_references=check_whole("n_references", self.n_references, least=2),
        )
        watch = watch_of(self)
        while len(descent.losses) < self.max_iter and not is_plateau(descent.losses):
            loss = descent.advance()
            watch(Progress(stage, f"β {balance:g}", len(descent.losses), self.max_iter, loss))
        return descent

    def _keep_weights(self, layers: Layers) -> None:
        for name in ("components_", "query_components_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if len(layers.widths) == 2:
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
