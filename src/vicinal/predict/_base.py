"""What all predictors share: a fitted metric, an index of the training rows, their neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray, Task
from vicinal._validation import check_neighbors
from vicinal.index import BinaryIndex, map_rows, without_itself
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import CodeMaps
from vicinal.metric.search import Index, search
from vicinal.predict._changes import RowChanges
from vicinal.predict._graphs import NeighborGraphs
from vicinal.predict._sides import (
    build_index,
    check_metric,
    check_partitions,
    distance_name,
    fit_metric,
    named_metric,
    prepare_metric,
    refuse_to_gather,
    takes_missing,
)
from vicinal.predict._weights import (
    SAMPLE_WEIGHT,
    can_be_routed,
    counted_rows,
    part_of_rows,
    weights_for,
)
from vicinal.rows import (
    USUAL_NEIGHBORS,
    Rows,
    check_transform_input,
    is_distributed,
    remember_columns,
    take_rows,
)


class NeighborsPredictor(RowChanges, NeighborGraphs, BaseEstimator):
    """Base of all predictors: finds training rows near a query under a learned metric.

    Subclasses take ``metric``, ``index``, ``block_size`` and ``n_jobs``; what the targets are is
    decided in ``_training_targets``, how far to look in ``_neighbors`` and ``_radius``.
    """

    metric: Any
    index: str
    block_size: int | None
    n_jobs: int | None
    metric_: Any
    _index: Index
    _queries: AnyArray | None
    # The training rows that are indexed, None for all, and what each training row counts, None
    # where all count the same.
    _rows: IntArray | None = None
    _weights: FloatArray | None = None

    def kneighbors(
        self,
        X: AnyArray | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the nearest training rows under the learned metric.

        Parameters
        ----------
        X : array-like of shape (m, n_features), default=None
            None asks for the neighbours of each training row, of those with weight, among the
            others.
        n_neighbors : int, default=None
            None takes the predictor's own, or 5 where it has none.
        return_distance : bool, default=True

        Returns
        -------
        distances : float64 ndarray of shape (m, n_neighbors)
            Euclidean in the learned space (bits, for a metric that encodes), ascending. Only with
            ``return_distance``.
        indices : int64 ndarray of shape (m, n_neighbors)
            Training rows; of two at the same distance the lower comes first.
        """
        check_is_fitted(self)
        distances, indices = self._nearest(
            X, self._usual_neighbors(others=X is None) if n_neighbors is None else n_neighbors
        )
        rows = self._training_rows(indices)
        return (distances, rows) if return_distance else rows

    def _nearest(self, X: AnyArray | None, k: int) -> tuple[FloatArray, IntArray]:
        """Return distances to the k nearest indexed rows, and these."""
        if X is None:
            values, indices = self._leave_one_out(k)
        else:
            values, indices = self._search(self._map_queries(X), k)
        return self._index.distances(values), indices

    def radius_neighbors(
        self,
        X: AnyArray | None = None,
        radius: float | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find all training rows within a distance under the learned metric.

        Parameters
        ----------
        X : array-like of shape (m, n_features), default=None
            None asks for the neighbours of each training row, of those with weight, among the
            others.
        radius : float, default=None
            None takes the predictor's own, or 1 where it has none.
        return_distance : bool, default=True

        Returns
        -------
        distances : object ndarray of shape (m,)
            Of float64 arrays, each ascending. Only with ``return_distance``.
        indices : object ndarray of shape (m,)
            Of int64 arrays: training rows.
        """
        check_is_fitted(self)
        reach = self._reach if radius is None else radius
        values, indices, indptr = self._within(X, reach)
        rows = _as_lists(indices, indptr)
        return (_as_lists(self._index.distances(values), indptr), rows) if return_distance else rows

    def targets_of(self, indices: AnyArray) -> AnyArray:
        """Return the targets ``fit`` was given for training rows, such as found neighbours.

        Parameters
        ----------
        indices : int array-like of any shape
            Training rows.

        Returns
        -------
        ndarray of the shape of indices, then (n_outputs,) where there are several
        """
        raise NotImplementedError

    def _searches_only(self) -> bool:
        """Return whether rows are only compared, so that values of any size will do."""
        return self.metric is None or self._distance is not None

    def _takes_sparse_rows(self) -> bool:
        """Return whether sparse rows can be searched, or tried on a metric or an index."""
        return True

    def _takes_partitions(self) -> bool:
        """Return whether rows may be a dask array, whose chunks are searched where they lie."""
        return False

    def _takes_missing(self) -> bool:
        """Return whether values of rows may be missing: the metric says so."""
        return takes_missing(named_metric(self.metric, self._task(), None))

    def _usual_neighbors(self, *, others: bool = False) -> int:
        """Return how many rows are asked, where a row asks the others at most these."""
        return USUAL_NEIGHBORS if self._k is None else self._k

    def _check_settings(self, n_rows: int) -> None:
        """Refuse parameters that do not go with so many training rows."""

    def _finish_fit(self) -> None:
        """Learn what needs the index and the targets."""

    def _fit_rows(
        self,
        rows: Rows,
        X: AnyArray,
        weights: FloatArray | None = None,
        fit_parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Fit the metric, with the parameters meant for it, and index the rows that have weight.

        X is as the user has it: a frame goes to the metric as it is, with its names.
        """
        check_metric(self.metric)
        remember_columns(self, rows)
        self.n_samples_fit_ = rows.n_rows
        self._rows, self._weights = counted_rows(weights)
        parameters = dict(fit_parameters or {})
        X = X if rows.names is not None and self.metric is not None else rows.X
        if self._rows is not None:
            parameters = {
                name: part_of_rows(value, self._rows, rows.n_rows)
                for name, value in parameters.items()
            }
            X, rows = take_rows(X, self._rows), rows.take(self._rows)
        self._check_settings(rows.n_rows)
        metric = named_metric(self.metric, self._task(), self._k or USUAL_NEIGHBORS)
        routed = self._route(metric, parameters)
        self.metric_ = self._fit_metric(prepare_metric(metric, self._k), X, rows, routed)
        self._build_index(rows.X)
        self._finish_fit()

    def _fit_metric(self, metric: Any, X: AnyArray, rows: Rows, parameters: dict[str, Any]) -> Any:
        """Return the fitted metric; X is that of the rows, a frame perhaps."""
        if is_distributed(rows.X):
            refuse_to_gather(metric)
        return fit_metric(metric, X, rows.target, **parameters)

    @property
    def _k(self) -> int | None:
        """The number of neighbours this predictor is for, where it has one."""
        return None

    @property
    def _distance(self) -> str | None:
        """The distance that is named instead of a metric to learn."""
        return distance_name(self.metric)

    @property
    def _reach(self) -> float:
        """The radius this predictor is for; 1 where it has none."""
        return 1.0

    def _build_index(self, X: AnyArray) -> None:
        maps = maps_of(self.metric_)
        self._index = build_index(
            maps, X, self.index, self._distance, block_size=self.block_size, n_jobs=self.n_jobs
        )
        # Training rows ask from where queries are put; codes by their own bits.
        if maps.is_symmetric:
            self._queries = None
        elif isinstance(maps, CodeMaps):
            self._queries = maps.query_codes(X)
        else:
            self._queries = map_rows(maps.queries, X)

    def _task(self) -> Task:
        return "regression" if is_regressor(self) else "classification"

    def _route(self, metric: Any, fit_parameters: dict[str, Any]) -> dict[str, Any]:
        """Return what to give to the metric's fit: weights where it takes and wants them, the rest.

        Raises
        ------
        TypeError
            Where there is no metric to take a parameter other than weights.
        """
        arguments = {name: value for name, value in fit_parameters.items() if value is not None}
        others = {name: value for name, value in arguments.items() if name != SAMPLE_WEIGHT}
        if not can_be_routed(metric):
            if others:
                raise TypeError(f"fit got {', '.join(others)}, but no metric to hand them to.")
            return {}
        if not get_config()["enable_metadata_routing"]:
            weights = arguments.get(SAMPLE_WEIGHT)
            return others | ({} if weights is None else weights_for(metric, weights))
        parameters: dict[str, Any] = process_routing(self, "fit", **arguments)["metric"]["fit"]
        return parameters

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who asks for which metadata: sample weights, for the vote and for the metric."""
        router = MetadataRouter(owner=self).add_self_request(self)
        if can_be_routed(self.metric) and not isinstance(self.metric, str):
            to_fit = MethodMapping().add(caller="fit", callee="fit")
            router.add(metric=self.metric, method_mapping=to_fit)
        return router

    @property
    def _n_indexed(self) -> int:
        index = self._index
        return int((index.codes if isinstance(index, BinaryIndex) else index.vectors).shape[0])

    def _of_indexed(self, values: Any) -> Any:
        """Return the part of an array over all training rows that belongs to the indexed ones."""
        return values if values is None or self._rows is None else values[self._rows]

    def _training_rows(self, indices: IntArray) -> IntArray:
        """Return the numbers ``fit`` was given rows under, from those of the indexed ones."""
        return indices if self._rows is None else self._rows[indices]

    def _map_queries(self, X: AnyArray) -> AnyArray:
        return map_rows(maps_of(self.metric_).queries, self._check_rows(X))

    def _check_rows(self, X: AnyArray) -> AnyArray:
        if is_distributed(X) and self._takes_partitions():
            return check_partitions(self, X)
        sparse, plain = self._takes_sparse_rows(), self.metric_ is None
        return check_transform_input(
            self, X, accept_sparse=sparse, any_scale=plain, missing=takes_missing(self.metric_)
        )

    def _training_queries(self) -> AnyArray:
        if self._queries is not None:
            return self._queries
        return self._index.codes if isinstance(self._index, BinaryIndex) else self._index.vectors

    def _search(self, queries: AnyArray, k: int) -> tuple[AnyArray, IntArray]:
        """Return squared distances (or bits) to the k nearest training rows, and these."""
        return search(self._index, maps_of(self.metric_), queries, k)

    def _leave_one_out(self, n_neighbors: int) -> tuple[AnyArray, IntArray]:
        queries = self._training_queries()
        n_rows = queries.shape[0]
        k = check_neighbors(n_neighbors, n_rows - 1)
        return self._others(queries, np.arange(n_rows), k)

    def _others(self, queries: AnyArray, own: IntArray, k: int) -> tuple[AnyArray, IntArray]:
        """Return the k nearest training rows of each query but its own row."""
        values, indices = self._search(queries, k + 1)
        return without_itself(values, indices, own)

    def _within(self, X: AnyArray | None, radius: float) -> tuple[AnyArray, IntArray, IntArray]:
        if X is not None:
            values, indices, indptr = self._index.query_radius(self._map_queries(X), radius)
            return values, self._training_rows(indices), indptr
        values, indices, indptr = self._index.query_radius(self._training_queries(), radius)
        owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        others = indices != owners
        counts = np.bincount(owners[others], minlength=len(indptr) - 1)
        rows = self._training_rows(indices[others])
        return values[others], rows, np.concatenate([[0], np.cumsum(counts)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.metric, BaseEstimator):
            tags.input_tags.sparse = get_tags(self.metric).input_tags.sparse
        else:
            searched = self._searches_only() and self.index == "exact"
            tags.input_tags.sparse = searched and self._takes_sparse_rows()
        tags.input_tags.allow_nan = takes_missing(self.metric)
        return tags


def _as_lists(values: AnyArray, indptr: IntArray) -> AnyArray:
    lists = np.empty(len(indptr) - 1, dtype=object)
    lists[:] = np.split(values, indptr[1:-1])
    return lists
