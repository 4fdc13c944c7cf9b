"""Neighbours without a target: for tools that ask for nothing else."""

from __future__ import annotations

from typing import Any, Self

from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags

from vicinal._types import AnyArray, BoolArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._changes import check_left
from vicinal.rows import read_rows


class NearestNeighbors(NeighborsPredictor):
    """Find the nearest of the rows given to ``fit``, under a metric learned before.

    Takes the place of scikit-learn's class of that name wherever neighbours are asked for: in
    imbalanced-learn's samplers, in graph methods.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    radius : float, default=1.0
        In the learned space.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        None is the Euclidean distance. A learner that needs targets is given those of ``fit``;
        wrap a fitted one in scikit-learn's ``FrozenEstimator`` where ``fit`` gets none.
    index : str, default="exact"
        As for :class:`KNNClassifier`.
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    metric_ : the fitted metric, or None
    n_features_in_, n_samples_fit_ : int

    Examples
    --------
    >>> from vicinal import NearestNeighbors
    >>> NearestNeighbors(n_neighbors=1).fit([[0.0], [1.0], [9.0]]).kneighbors([[0.7]])[1]
    array([[1]])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: Any = None,
        *,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    def fit(self, X: AnyArray, y: Any = None) -> Self:
        """Index the rows; the metric is fitted on them and y unless it is frozen."""
        if y is None and self.metric is not None and not isinstance(self.metric, FrozenEstimator):
            raise ValueError(
                "the metric is learned from targets, and fit was given none: give y, or a fitted "
                "metric in scikit-learn's FrozenEstimator."
            )
        rows = read_rows(self, X, y, task=None if y is None else "auto", accept_sparse=True,
                         any_scale=True, distributed=True,
                         missing=self._takes_missing())  # fmt: skip
        self._fit_rows(rows, X)
        return self

    @property
    def _k(self) -> int:
        return self.n_neighbors

    @property
    def _reach(self) -> float:
        return self.radius

    def _takes_partitions(self) -> bool:
        return True

    def _check_settings(self, n_rows: int) -> None:
        check_neighbors(self.n_neighbors, max(n_rows, 1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        frozen = self.metric is None or isinstance(self.metric, FrozenEstimator)
        tags.target_tags.required = not frozen
        return tags

    def _read_new(self, y: Any, n_rows: int) -> AnyArray:
        return None

    def _extend(self, target: AnyArray) -> None:
        """There are no targets."""

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        """There are no targets."""

    def relabel(self, indices: Any, y: Any) -> Self:
        """Refuse: these rows have no targets."""
        raise ValueError("NearestNeighbors has no targets to change.")

    def _check_enough(self, n_rows: int) -> None:
        check_left(self.n_neighbors, n_rows)
