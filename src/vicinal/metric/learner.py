"""What every metric learner shares: rows in, maps out, and the verbs users of its peers know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, Fold
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import PLAIN, FunctionMaps, LinearMaps, Maps, PreparedMaps, relevance
from vicinal.rows import (
    Classes,
    Numbers,
    Rows,
    Target,
    check_at_least_two_classes,
    check_pairs,
    check_transform_input,
    follow_set_output,
    name_columns,
    read_rows,
    remember_columns,
)


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all metric learners: ``learn`` makes maps of rows, all else is written over maps.

    The learned squared distance between a query x and a database point z is
    ‖queries(x) − database(z)‖². For linear maps that is ‖Q x + b − A z‖², where A is
    ``components_`` (n_components, n_features), and Q and b are ``query_components_`` and
    ``query_offset_`` where they differ from A and 0.

    A new learner has ``learn(rows)``, which returns :class:`~vicinal.metric.maps.Maps`, and says
    in ``_task`` what y is to it. One whose maps are not linear also has the property ``maps_``,
    made of what it keeps; one that takes weights or groups has a ``fit`` of its own, which reads
    them.
    """

    components_: FloatArray
    # How much each feature varies among the rows fit saw (d,).
    feature_spread_: FloatArray
    # What y is to a learner: "classification", "regression", "auto" (either), or None (unused).
    _task: ClassVar[str | None] = "classification"
    # Fewest rows it learns from, and whether it only searches among rows, so that any size will do.
    _least_rows: ClassVar[int] = 1
    _any_scale: ClassVar[bool] = False
    # Whether y may have several columns.
    _several_targets: ClassVar[bool] = False
    # Whether vicinal.scale.fit_distributed takes this learner.
    _fits_distributed = False
    # Whether values may be missing, as NaN.
    _takes_missing: ClassVar[bool] = False
    # Whether ``fit`` takes sparse rows.
    _takes_sparse = False

    def fit(self, X: AnyArray, y: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            What is near is learned from it; a learner that looks at rows alone needs none.

        Returns
        -------
        self
        """
        return self.fit_rows(self._read(X, y))

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        """Return what ``fit`` was given as rows."""
        return read_rows(
            self, X, y, sample_weight, groups, task=self._task, accept_sparse=self._takes_sparse,
            any_scale=self._any_scale, least_rows=self._least_rows, several=self._several_targets,
            missing=self._takes_missing,
        )  # fmt: skip

    def learn(self, rows: Rows) -> Maps:
        """Return the maps learned from checked rows."""
        raise NotImplementedError

    @property
    def learns_from_rows(self) -> bool:
        """Whether there is a ``learn``; a learner of before has a ``fit`` alone."""
        return type(self).learn is not MetricLearner.learn

    def fit_rows(self, rows: Rows) -> Self:
        """Learn from rows that are checked already, and keep what came of it.

        Parameters
        ----------
        rows : Rows
            As :func:`vicinal.rows.read_rows` makes them.
        """
        self._keep(self.learn(self.note_rows(rows)))
        return self

    def begin(self, X: AnyArray, y: Any, folds: Sequence[Fold], **parameters: Any) -> CrossFit:
        """Begin the fit that ``fit`` would do with the same arguments: see :meth:`cross_fit`."""
        return self.cross_fit(self._read(X, y, **parameters), folds)

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit to checked rows that also tells what is learned without some of them.

        A learner that looks at rows alone learns nothing of a row's y, so that its map of all rows
        serves; any other is fitted anew to every fold's training part. One that chooses settings
        on rows held out, or is cross-fitted anyway, has a ``cross_fit`` of its own, which spends
        that once.

        Parameters
        ----------
        rows : Rows
        folds : sequence of Fold
            No row is held out by two of them, and not every row by one.
        """
        if self._task is None:
            self.fit_rows(rows)
            return CrossFit(lambda fold: self.maps_, lambda: self)

        def without(fold: Fold) -> Maps:
            return clone(self).fit_rows(rows.take(fold.train)).maps_

        return CrossFit(without, lambda: self.fit_rows(rows))

    def forget_rows(self) -> None:
        """Drop the training rows a fit keeps beside its maps; most keep none."""

    def note_rows(self, rows: Rows) -> Rows:
        """Note what a fit is about (columns, spread, classes); return rows as it takes them."""
        target = self._take_target(rows.target)
        remember_columns(self, rows)
        self.feature_spread_ = rows.spread.copy()  # members of one fit share nothing
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if isinstance(target, Classes):
            self.classes_ = target.names.copy()
        return replace(rows, target=target)

    def _take_target(self, target: Target | None) -> Target | None:
        """Return the target, classes numbered as they occur; refuse what is not learned from."""
        name = type(self).__name__
        if self._task == "classification":
            if not isinstance(target, Classes):
                raise ValueError(f"{name} learns from classes, and y holds numbers.")
            target = target.present()
            check_at_least_two_classes(self, target)
        elif self._task == "regression" and isinstance(target, Classes):
            if target.names.dtype.kind not in "biuf":
                raise ValueError(f"{name} learns from numbers, and y holds classes.")
            return Numbers(target.given.astype(np.float64))
        return target

    def _keep(self, maps: Maps) -> None:
        """Keep linear maps as the attributes that users and files know them by."""
        if not isinstance(maps, LinearMaps):
            return
        sides = {"components_": maps.A, "query_components_": maps.Q, "query_offset_": maps.b}
        for name, side in sides.items():
            if side is None:
                self.__dict__.pop(name, None)  # of an earlier fit
            else:
                setattr(self, name, side)

    @property
    def _is_fitted(self) -> bool:
        return "components_" in vars(self)

    @property
    def maps_(self) -> Maps:
        """The learned maps."""
        check_is_fitted(self, "components_")
        state = vars(self)
        return LinearMaps(
            self.components_, state.get("query_components_"), state.get("query_offset_")
        )

    def transform(self, X: AnyArray) -> FloatArray:
        """Map database points.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        return self.maps_.database(self._check_rows(X))

    @follow_set_output
    def transform_queries(self, X: AnyArray) -> FloatArray:
        """Map queries: the same map as :meth:`transform` unless the metric is asymmetric."""
        return self.maps_.queries(self._check_rows(X))

    def _check_rows(self, X: AnyArray) -> AnyArray:
        sparse, missing = self._maps_sparse, self._takes_missing
        return check_transform_input(self, X, accept_sparse=sparse, missing=missing)

    @property
    def _maps_sparse(self) -> bool:
        """Whether sparse rows can be mapped: any linear map can."""
        return isinstance(self.maps_, LinearMaps)

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return M = AᵀA, of shape (n_features, n_features).

        Raises
        ------
        ValueError
            Where the metric is not that of one linear map.
        """
        maps = self.maps_
        if not (isinstance(maps, LinearMaps) and maps.is_symmetric and maps.A is not None):
            raise ValueError(
                f"{type(self).__name__} has no Mahalanobis matrix: its metric is not that of one "
                "linear map. Use pair_distance or get_metric."
            )
        matrix: FloatArray = maps.A.T @ maps.A
        return matrix

    def pair_distance(self, pairs: AnyArray) -> FloatArray:
        """Return the learned distance of each (query, database point) pair.

        Parameters
        ----------
        pairs : array-like of shape (n, 2, n_features)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = check_pairs(self, pairs, missing=self._takes_missing)
        queries, points = (name_columns(self, pairs[:, side]) for side in (0, 1))
        gap = np.asarray(self.transform_queries(queries)) - np.asarray(self.transform(points))
        distance: FloatArray = np.sqrt(np.einsum("ij,ij->i", gap, gap))
        return distance

    def pair_score(self, pairs: AnyArray) -> FloatArray:
        """Return minus :meth:`pair_distance`: larger means more alike."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """Return the distance as a function of two vectors, fixed to the present fit.

        ``distance(u, v, squared=False)`` takes vectors of shape (d,) or (1, d).
        """
        check_is_fitted(self)
        maps, width = deepcopy(self.maps_), self.n_features_in_

        def distance(query: AnyArray, point: AnyArray, squared: bool = False) -> float:
            u, v = (_as_row(each, width) for each in (query, point))
            gap = maps.queries(u)[0] - maps.database(v)[0]
            return float(gap @ gap if squared else np.sqrt(gap @ gap))

        return distance

    @property
    def feature_relevance_(self) -> FloatArray:
        """Each feature's share in the squared distance of the rows ``fit`` saw, of shape (d,).

        r_j ∝ M_jj var_j, summing to 1, M_jj being summed over both maps where queries have one of
        their own: a feature that hardly varies moves no distance, however large its entry in M.
        """
        shares = relevance(self.maps_, vars(self).get("feature_spread_", 1.0))
        if shares is None:
            raise AttributeError(
                f"{type(self).__name__} has no feature_relevance_: its maps are not linear."
            )
        return shares

    @property
    def feature_importances_(self) -> FloatArray:
        """The same under the name scikit-learn's ``SelectFromModel`` looks for."""
        return self.feature_relevance_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._task is not None
        tags.target_tags.multi_output = self._several_targets
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def maps_of(metric: Any) -> Maps:
    """Return the maps of any fitted metric; None is the Euclidean distance.

    A learner brings its own. Of a pipeline the last step does, behind the others. Any other object
    is a function by the verbs it has: ``encode`` for packed codes, else ``transform``, and for
    queries ``encode_queries`` or ``transform_queries`` where it has them.
    """
    if metric is None or (isinstance(metric, str) and metric == "passthrough"):
        return PLAIN
    if isinstance(metric, FrozenEstimator):
        return maps_of(metric.estimator)
    if isinstance(metric, Pipeline):
        if len(metric) == 1:
            return maps_of(metric[-1])
        first = metric[:-1]
        return PreparedMaps(lambda X: first.transform(name_columns(first, X)), maps_of(metric[-1]))
    if isinstance(metric, MetricLearner) and metric.learns_from_rows:
        return metric.maps_

    def mapped_by(verb: Callable[[Any], Any]) -> Callable[[AnyArray], AnyArray]:
        return lambda X: plain_values(verb(name_columns(metric, X)))

    verb = "encode" if hasattr(metric, "encode") else "transform"
    queries = getattr(metric, f"{verb}_queries", None)
    return FunctionMaps(
        mapped_by(getattr(metric, verb)),
        None if queries is None else mapped_by(queries),
        space="hamming" if verb == "encode" else "euclidean",
    )


def plain_values(mapped: Any) -> AnyArray:
    """Return the values of a frame, which ``set_output`` has transformers give."""
    values: AnyArray = mapped.to_numpy() if hasattr(mapped, "to_numpy") else mapped
    return values


def _as_row(value: AnyArray, width: int) -> AnyArray:
    vector = np.asarray(value)
    if vector.shape not in ((width,), (1, width)):
        raise ValueError(
            f"a vector must have shape ({width},) or (1, {width}), got {vector.shape}."
        )
    return vector.reshape(1, width)
