"""Array aliases and the frozen records that travel between stages.

Nothing here computes. A record is made by one stage and read by later ones; it holds arrays
and plain values only, so that any stage can be tested without the ones before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Dataset:
    """A table ready for use: decoded features, targets, and what is known about its rows.

    Iterating gives ``X, y``, so ``X, y = load_dataset("letter")`` works.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, d)
        Features, decoded, not scaled.
    y : ndarray of shape (n,)
        Integers 0..R-1 for classification, floats for regression.
    task : "classification" or "regression"
    feature_names : tuple of str, length d
    classes : tuple, length R
        What class 0..R-1 is called; empty for regression.
    is_test : bool ndarray of shape (n,) or None
        The official test part, where the source defines one.
    groups : int ndarray of shape (n,) or None
        Rows of one group (subject, trajectory, molecule) are not independent.
    image_shape : tuple of int or None
        How to fold a row into a picture.
    protocol : str
        The protocol ``compare`` uses unless told otherwise: "official" or "kfold".
    citation, licence : str
    extras : mapping of str to ndarray
        Further arrays of the source (molecules, meshes, published folds).
    """

    name: str
    X: FloatArray
    y: AnyArray
    task: Task
    feature_names: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()
    is_test: BoolArray | None = None
    groups: IntArray | None = None
    image_shape: tuple[int, ...] | None = None
    protocol: str = "kfold"
    citation: str = ""
    licence: str = ""
    extras: Mapping[str, AnyArray] = field(default_factory=dict)

    def __iter__(self) -> Iterator[AnyArray]:
        return iter((self.X, self.y))


@dataclass(frozen=True)
class Fold:
    """Row numbers of one training and one test part."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True)
class VotingSet:
    """k neighbours chosen for the vote they cast.

    ``indices`` (k,) ascending in squared distance (ties: lower index first), ``total`` their
    summed squared distance.
    """

    indices: IntArray
    total: float


@dataclass(frozen=True)
class ViolatingSet:
    """The loss-augmented set: ``value`` = cost of the class it votes for, minus ``total``."""

    indices: IntArray
    total: float
    voted: int
    value: float


@dataclass(frozen=True)
class InferredSets:
    """Both sets of each of m queries.

    ``best`` (m, k) the points of least total squared distance whose majority is the query's class,
    −1 where there is no such set; ``violating`` (m, k) those of largest cost minus total and
    ``voted`` (m,) the class they vote for, −1 where fewer than k points may be used; ``loss`` (m,),
    0 where the own class cannot win. Points ascend in squared distance (ties: lower index first).
    """

    best: IntArray
    violating: IntArray
    voted: IntArray
    loss: FloatArray


@dataclass(frozen=True)
class Row:
    """One line of a comparison: a method at one k, over all folds.

    ``errors`` holds one value a fold (share of wrong votes, or MSE / variance for regression);
    ``gain`` is Euclidean's mean error minus this one's and ``p_value`` its paired test, both
    None for the Euclidean row itself or where it cannot be computed. ``status`` is "ok",
    "failed" (then ``message`` says why) or "partial" (some folds failed).
    """

    dataset: str
    method: str
    title: str
    k: int
    errors: tuple[float, ...]
    error_mean: float
    error_sd: float
    gain: float | None
    p_value: float | None
    fit_seconds: float
    fit_cpu_seconds: float
    predict_seconds: float
    predict_cpu_seconds: float
    peak_mb: float
    n_train: int
    n_test: int
    best: bool
    status: str = "ok"
    message: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Neighbor:
    """One neighbour: its training row, distance, label, and whether it votes right.

    ``values`` are its values of the features that its ``Example.values`` names, in that order.
    """

    row: int
    distance: float
    label: str
    right: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """A test point with its neighbours under the plain and under the learned distance."""

    row: int
    label: str
    before: tuple[Neighbor, ...]
    after: tuple[Neighbor, ...]
    predicted_before: str
    predicted_after: str
    values: tuple[tuple[str, str], ...] = ()
    images: Mapping[int, AnyArray] = field(default_factory=dict)
    query_image: AnyArray | None = None


@dataclass(frozen=True)
class Exhibit:
    """What the report shows of one fitted metric: maps, relevances, spectrum, examples.

    ``map_targets`` are class names (as shown to the reader) or floats for regression;
    ``image_shape`` is set where the features are pixels.
    """

    method: str
    title: str
    k: int
    map_before: FloatArray
    map_after: FloatArray
    map_targets: AnyArray
    relevance: FloatArray
    feature_names: tuple[str, ...]
    spectrum: FloatArray
    examples: tuple[Example, ...]
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Portrait:
    """What a fitted linear metric looks at, as small as its measurement can keep.

    Attributes
    ----------
    method, title : str
    k : int
    eigenvalues : ndarray of shape (p,)
        Descending; ``carries`` says in words what their sum is.
    intervals : ndarray of shape (q, 2)
        Bootstrap intervals of the first q of them, over ``n_evaluations`` points; q may be 0.
    relevance : ndarray of shape (d,)
        Share of each original feature in the distance; empty where not known.
    places : ndarray of shape (m, r)
        Training rows along the r ≤ 2 leading directions, which ``directions`` name.
    targets : ndarray of shape (m,)
        Class names (as shown to the reader), or floats for regression.
    """

    method: str
    title: str
    k: int
    eigenvalues: FloatArray
    carries: str
    intervals: FloatArray
    n_evaluations: int
    relevance: FloatArray
    feature_names: tuple[str, ...]
    places: FloatArray
    targets: AnyArray
    directions: tuple[str, ...]
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Comparison:
    """Everything the terminal table and the report page are made from."""

    dataset: str
    task: Task
    n_rows: int
    n_features: int
    n_classes: int
    protocol: str
    preparation: str
    seed: int
    version: str
    rows: tuple[Row, ...]
    exhibits: tuple[Exhibit, ...] = ()
    citation: str = ""
    notes: tuple[str, ...] = ()
    portraits: tuple[Portrait, ...] = ()
