"""Codes that one would try first: random projections, a rotated PCA, a classifier's answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_choice, check_whole
from vicinal.metric.encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.maps import CodeMaps
from vicinal.rows import Rows


class _LinearEncoder(BinaryEncoder):
    """Signs of A (x − μ)."""

    _task = None
    _least_rows = 2
    centre_: FloatArray

    def _project(self, X: AnyArray) -> FloatArray:
        components = self.components_.astype(X.dtype)
        projected: FloatArray = (X - self.centre_.astype(X.dtype)) @ components.T
        return projected

    def _finish(self, X: AnyArray) -> CodeMaps:
        self.n_bits_ = len(self.components_)
        self.query_scale_ = query_scale(self._project(X))
        return self.maps_


_USUAL_SPREAD = 1e6


def spread_unit(centred: FloatArray) -> float:
    """Return the power of two above the largest size of centred rows, or 1 where all are zero."""
    largest = float(np.abs(centred).max(initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0


class LSH(_LinearEncoder):
    """Encode rows by the signs of random projections: locality-sensitive hashing of angles.

    Bit r is sign(a_r · (x − μ)) with a_r Gaussian; two rows differ in a bit with a probability of
    their angle about the mean, over π.

    Parameters
    ----------
    n_bits : int, default=64
        A multiple of 8.
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)

    Notes
    -----
    Time O(n d c).

    References
    ----------
    charikar2002

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LSH
    >>> LSH(n_bits=16, random_state=0).fit(np.eye(5)).encode(np.eye(5)).shape
    (5, 2)
    """

    def __init__(self, n_bits: int = 64, *, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def learn(self, rows: Rows) -> CodeMaps:
        """Draw the projections."""
        X = rows.X
        random = check_random_state(self.random_state)
        self.centre_ = X.mean(axis=0)
        drawn = random.normal(size=(check_bits(self.n_bits), X.shape[1]))
        self.components_ = drawn.astype(X.dtype)
        return self._finish(X)


class ITQ(_LinearEncoder):
    """Encode rows by the signs of rotated principal components (iterative quantisation).

    With V the rows' first c principal components (zeros where there are fewer), find a rotation R
    that makes signs lie near: minimise ‖B − V R‖_F over B in {−1, 1} and R in turn.

    Parameters
    ----------
    n_bits : int, default=64
        A multiple of 8.
    max_iter : int, default=50
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
    n_iter_ : int

    Notes
    -----
    Time O(n d² + n c² max_iter).

    References
    ----------
    gong2013

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import ITQ
    >>> X, _ = load_digits(return_X_y=True)
    >>> ITQ(n_bits=16, random_state=0).fit(X).encode(X[:3]).shape
    (3, 2)
    """

    def __init__(self, n_bits: int = 64, *, max_iter: int = 50, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    def learn(self, rows: Rows) -> CodeMaps:
        """Find the rotation."""
        X = rows.X
        bits = check_bits(self.n_bits)
        self.n_iter_ = check_whole("max_iter", self.max_iter)
        self.centre_ = X.mean(axis=0)
        centred = (X - self.centre_).astype(np.float64)
        centred /= spread_unit(centred)  # of which signs know nothing
        _, directions = eigh(centred.T @ centred)
        leading = directions[:, ::-1][:, :bits].T
        principal = np.zeros((bits, X.shape[1]))
        principal[: len(leading)] = leading
        projected = centred @ principal.T
        drawn = check_random_state(self.random_state).normal(size=(bits, bits))
        rotation = np.linalg.qr(drawn)[0]
        for _ in range(self.n_iter_):
            signs = np.where(projected @ rotation > 0, 1.0, -1.0)
            left, _, right = np.linalg.svd(projected.T @ signs)
            rotation = left @ right
        self.components_ = np.ascontiguousarray((rotation.T @ principal).astype(X.dtype))
        return self._finish(X)


class ClassifierCodes(BinaryEncoder):
    """Encode rows by what a classifier says of them: the least that supervised codes must beat.

    Codes that only repeat a classifier's answer vote as it does. ``codes="one-hot"`` has a bit for
    every class, set where the classifier says so, filled up to bytes; ``codes="lsh"`` has random
    projections of its scores.

    Parameters
    ----------
    n_bits : int, default=64
        Bits for "lsh"; for "one-hot" the classes decide.
    codes : {"one-hot", "lsh"}
    estimator : classifier with ``decision_function`` or None
        None is logistic regression.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimator_ : the fitted classifier
    classes_ : ndarray of shape (R,)

    References
    ----------
    sablayrolles2017

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import ClassifierCodes
    >>> X, y = load_iris(return_X_y=True)
    >>> ClassifierCodes().fit(X, y).encode(X[:2]).tolist()
    [[128], [128]]
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        codes: str = "one-hot",
        estimator: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.codes = codes
        self.estimator = estimator
        self.random_state = random_state

    def learn(self, rows: Rows) -> CodeMaps:
        """Fit the classifier."""
        check_choice("codes", self.codes, ("one-hot", "lsh"))
        X = rows.X
        self.n_bits_ = check_bits(self.n_bits)
        if self.codes == "one-hot":
            self.n_bits_ = -(-len(rows.classes.names) // 8) * 8
        chosen, self._unit = self.estimator, 1.0
        if chosen is None:
            chosen, unit = LogisticRegression(max_iter=1000), spread_unit(X - X.mean(axis=0))
            # Its penalty knows a unit: rows far from it would be all penalty, or none.
            self._unit = 1.0 if 1 / _USUAL_SPREAD <= unit <= _USUAL_SPREAD else unit
        self.estimator_ = clone(chosen).fit(X / self._unit, rows.classes.given)
        scores = self._scores(X)
        self._centre = scores.mean(axis=0)
        drawn = check_random_state(self.random_state).normal(size=(self.n_bits_, scores.shape[1]))
        self._projections = drawn
        self.query_scale_ = query_scale(self._project(X))
        return self.maps_

    def _scores(self, X: AnyArray) -> FloatArray:
        rows = X / getattr(self, "_unit", 1.0)  # which files of before have not
        scores = np.asarray(self.estimator_.decision_function(rows))
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        return scores.astype(np.float64)

    def _project(self, X: AnyArray) -> FloatArray:
        scores = self._scores(X)
        if self.codes == "lsh":
            projected: FloatArray = (scores - self._centre) @ self._projections.T
            return projected.astype(X.dtype)
        projected = np.full((len(scores), self.n_bits_), -1.0)
        # A class leads the best other by so much: above zero for the answer alone.
        lead = np.sort(scores, axis=1)[:, -2:]
        best = scores == lead[:, 1:]
        projected[:, : scores.shape[1]] = np.where(best, scores - lead[:, :1], scores - lead[:, 1:])
        return projected.astype(X.dtype)
