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


@dataclass(frozen=True, repr=False)
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
    weights : ndarray of shape (n,) or None
        What each row counts.
    ids : ndarray of str of shape (n,) or None
        What each row is called.
    notes : tuple of str
        What a user should know of how the rows were read.
    target_name, unit : str
        What ``y`` is called, and what its numbers are in.
    times : ndarray of shape (n,) or None
        When each row is of, in days.
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
    weights: FloatArray | None = None
    ids: AnyArray | None = None
    notes: tuple[str, ...] = ()
    target_name: str = ""
    unit: str = ""
    times: FloatArray | None = None

    def __iter__(self) -> Iterator[AnyArray]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        n, d = np.shape(self.X)
        size = f"{n:,} row{'s' * (n != 1)}, {d:,} feature{'s' * (d != 1)}"
        target = f" of {self.target_name!r}" if self.target_name else ""
        unit = f" in {self.unit}" if self.unit else ""
        shown = ", ".join(map(str, self.classes[:5])) + ", …" * (len(self.classes) > 5)
        classes = f", {len(self.classes)} classes ({shown})" if self.classes else ""
        return f"<Dataset {self.name!r}: {size}, {self.task}{target}{unit}{classes}>"


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
