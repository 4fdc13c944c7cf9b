"""HDML: Hamming distance metric learning by pairs or triplets, written from its paper.

With f(x) the projections of a row and codes h = sign f, a loss ℓ of the codes of two or three rows
is bounded from above by

    max_g [ ℓ(g) + Σ_r g_rᵀ f(x_r) ] − Σ_r h_rᵀ f(x_r),                                      (1)

whose gradient in f(x_r) is g_r − h_r. ℓ is a hinge [ω m + o]₊ of a sum over bits: of a triplet with
m = D(g, g⁺) − D(g, g⁻), of a pair with m = D(g, g'). A hinge is the larger of two linear functions
of m, and the maximum over g of either is found bit by bit: so (1) is exact in time O(c), without
the table over bits and m that losses of other shapes need.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_auto, check_choice, check_positive, check_whole
from vicinal.metric.descent import STEPS, Adam, Descent
from vicinal.metric.encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.gerrymander import Layers
from vicinal.metric.maps import CodeMaps
from vicinal.rows import Rows

# Rows of a step, the norm of a typical row, and the step relative to the start's weights.
BATCH, NORM, RATE = 256, 16.0, 0.05


@dataclass(frozen=True)
class Violation:
    """Codes of the maximum in (1), (b, rows, c), and its value without ℓ's bound, (b,)."""

    codes: FloatArray
    loss: FloatArray


def violate(
    projected: FloatArray, slope: FloatArray, offset: FloatArray, shares: IntArray
) -> Violation:
    """Return g of (1) for b groups of rows.

    Parameters
    ----------
    projected : ndarray of shape (b, rows, c)
        f of the rows of each group.
    slope, offset : ndarray of shape (b,)
        ω and o of ℓ = [ω m + o]₊.
    shares : int ndarray of shape (2^rows,)
        What a bit adds to m for each choice of its signs, in the order of ``itertools.product``.
    """
    signs = np.array(list(product((-1.0, 1.0), repeat=projected.shape[1])))
    scores = np.einsum("sr,brc->bcs", signs, projected)
    scores += (slope[:, None] * shares)[:, None]
    place = np.argmax(scores, axis=2)
    risen = np.take_along_axis(scores, place[..., None], axis=2).sum(axis=(1, 2)) + offset
    loss = np.maximum(risen - np.abs(projected).sum(axis=(1, 2)), 0.0)
    own = np.where(projected > 0, 1.0, -1.0)
    codes = np.where(loss[:, None, None] > 0, np.moveaxis(signs[place], 2, 1), own)
    return Violation(codes, loss)


def triplet_shares() -> IntArray:
    """Return [g ≠ g⁺] − [g ≠ g⁻] for the eight signs of (g, g⁺, g⁻)."""
    return np.array([int(g != p) - int(g != n) for g, p, n in product((-1, 1), repeat=3)])


def pair_shares() -> IntArray:
    """Return [g ≠ g'] for the four signs of (g, g')."""
    return np.array([int(g != p) for g, p in product((-1, 1), repeat=2)])


@dataclass
class PairOrTripletObjective:
    """The bound (1) of rows and their hardest partners in a step, and ½ λ ‖parameters‖²."""

    X: FloatArray
    codes: IntArray
    layers: Layers
    loss: str
    radius: float
    decay: float
    rng: np.random.Generator

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return len(self.X)

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Look at nothing: partners are sought at each step."""

    def infer(self, parameters: FloatArray, rows: IntArray) -> tuple[IntArray, Violation]:
        """Find partners and violating codes: (b, rows) and :class:`Violation`."""
        alike, unlike, there = self._partners(parameters, rows)
        if self.loss == "triplet":
            group = np.stack([rows, alike, unlike], axis=1)
            slope, offset, shares = np.ones(len(rows)), np.ones(len(rows)), triplet_shares()
        else:
            similar = self.rng.random(len(rows)) < 0.5
            group = np.stack([rows, np.where(similar, alike, unlike)], axis=1)
            slope = np.where(similar, 1.0, -1.0)
            offset, shares = 1 - slope * self.radius, pair_shares()
        projected = self._project(parameters, group)
        return group, violate(projected, slope * there, offset * there, shares)

    def _partners(
        self, parameters: FloatArray, rows: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return of the rows the farthest of a row's class, the nearest of another, and if so.

        Nearness is that of codes, and one of several equals is drawn.
        """
        bits = np.sign(self._project(parameters, rows[None])[0])
        nearness = bits @ bits.T + self.rng.random((len(rows), len(rows)))
        same = self.codes[rows][:, None] == self.codes[rows]
        np.fill_diagonal(same, False)
        other = self.codes[rows][:, None] != self.codes[rows]
        alike = np.argmin(np.where(same, nearness, np.inf), axis=1)
        unlike = np.argmax(np.where(other, nearness, -np.inf), axis=1)
        return rows[alike], rows[unlike], same.any(axis=1) & other.any(axis=1)

    def _project(self, parameters: FloatArray, group: IntArray) -> FloatArray:
        b, n_rows = group.shape
        projected, _ = self.layers.forward(parameters, self.X[group.reshape(-1)])
        return projected.reshape(b, n_rows, -1).astype(np.float64)

    def gradient(
        self, parameters: FloatArray, sets: tuple[IntArray, Violation], part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed bound and the gradient of its mean."""
        group, codes = sets[0][part], sets[1].codes[part]
        projected, inputs = self.layers.forward(parameters, self.X[group.reshape(-1)])
        outer = codes.reshape(projected.shape) - np.where(projected > 0, 1.0, -1.0)
        outer = (outer / len(group)).astype(parameters.dtype)
        gradient = self.layers.backward(parameters, inputs, outer)
        decay = parameters.dtype.type(self.decay)
        total = float(sets[1].loss[part].sum())
        total += len(group) * 0.5 * float(decay * parameters @ parameters)
        return total, gradient + decay * parameters

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters."""
        return parameters


class HDML(BinaryEncoder):
    """Learn binary codes by a bound on a pairwise hinge or a triplet ranking loss.

    Of similar pairs the Hamming distance should be below a radius ρ, of others above:
    [D − ρ + 1]₊ and [ρ − D + 1]₊; or a row should be nearer to one of its class than to one of
    another: [D⁺ − D⁻ + 1]₊. The bound is that of structural SVMs with latent codes, its inference
    exact.

    Parameters
    ----------
    n_bits : int, default=64
        A multiple of 8.
    loss : {"triplet", "hinge"}
    hash_function : {"linear", "two-layer"}
    hidden : int, default=512
        Width between two layers.
    radius : float or "auto"
        ρ of the hinge in bits; "auto" is a quarter of them.
    weight_decay : float, default=1e-4
    learning_rate : float or "auto"
        Step relative to the root mean square weight at the start.
    max_iter : int, default=20
        Epochs over which the rate falls to zero.
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Where the function is linear.
    classes_ : ndarray of shape (R,)
    n_iter_ : int
    loss_curve_ : list of float
        Mean bound of each epoch.

    Notes
    -----
    Time O(n P) an epoch, P the weights. Departures from the paper: Adam with a falling rate
    instead of momentum, a start of Gaussian weights, and partners that are the hardest of a step's
    rows: of other draws most teach nothing.

    References
    ----------
    norouzi2012

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import HDML, KNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KNNClassifier(3, HDML(n_bits=32, max_iter=10, random_state=0)).fit(X[::2], y[::2])
    >>> float(model.score(X[1::2], y[1::2])) > 0.9
    True
    """

    n_iter_: int

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: str = "triplet",
        hash_function: str = "linear",
        hidden: int = 512,
        radius: Any = "auto",
        weight_decay: float = 1e-4,
        learning_rate: Any = "auto",
        max_iter: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.loss = loss
        self.hash_function = hash_function
        self.hidden = hidden
        self.radius = radius
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    def learn(self, rows: Rows) -> CodeMaps:
        """Return the codes."""
        check_choice("loss", self.loss, ("triplet", "hinge"))
        check_choice("hash_function", self.hash_function, ("linear", "two-layer"))
        X = rows.X
        bits, hidden = check_bits(self.n_bits), check_whole("hidden", self.hidden)
        two = self.hash_function == "two-layer"
        layers = Layers((X.shape[1], hidden, bits) if two else (X.shape[1], bits))
        self._centre = X.mean(axis=0)
        size = float(np.sqrt(np.mean(np.sum((X - self._centre) ** 2, axis=1), dtype=np.float64)))
        self._unit = NORM / size if size > 0 else 1.0
        with one_blas_thread():
            descent = self._descend(X, rows.codes, layers)
        self._widths, self._parameters = layers.widths, descent.parameters
        self.n_bits_ = bits
        self.__dict__.pop("components_", None)
        if not two:
            self.components_ = layers.split(descent.parameters)[0][0] * X.dtype.type(self._unit)
        self.query_scale_ = query_scale(self._project(X))
        self.loss_curve_, self.n_iter_ = descent.losses, len(descent.losses)
        return self.maps_

    def _descend(self, X: AnyArray, codes: IntArray, layers: Layers) -> Descent:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        start = layers.draw(NORM, rng, X.dtype.type)
        learning_rate = check_auto("learning_rate", self.learning_rate, check_positive)
        rate = (RATE if learning_rate is None else learning_rate) * float(
            np.sqrt(np.mean(start**2))
        )
        radius = check_auto("radius", self.radius, check_positive)
        decay = check_positive("weight_decay", self.weight_decay, zero=True)
        bits = layers.widths[-1]
        objective = PairOrTripletObjective(
            self._enter(X), codes, layers, self.loss, bits / 4 if radius is None else radius, decay,
            rng,
        )  # fmt: skip
        n_epochs = check_whole("max_iter", self.max_iter)
        n_steps = max(STEPS, len(X) // BATCH)
        descent = Descent(objective, Adam(rate), start, n_epochs, rng, n_steps=n_steps)
        while descent.epoch < n_epochs:
            descent.advance()
        return descent

    def _enter(self, X: AnyArray) -> FloatArray:
        moved: FloatArray = (X - self._centre.astype(X.dtype)) * X.dtype.type(self._unit)
        return moved

    def _project(self, X: AnyArray) -> FloatArray:
        rows = self._enter(X)
        parameters = self._parameters.astype(rows.dtype)
        return Layers(tuple(self._widths)).forward(parameters, rows)[0]
