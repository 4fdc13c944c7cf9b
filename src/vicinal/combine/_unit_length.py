"""UnitLength: a metric's mapped rows on the sphere, where held-out rows are predicted better there.

estimator ─▶ maps without a fold ─┬─ judged as they are ──────────┐
                                  └─ judged after normalisation ──┴─▶ first_within ─▶ UnitMaps?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, Fold
from vicinal._validation import check_choice
from vicinal.combine._mean import draw_seed
from vicinal.combine._members import (
    begin_member,
    check_member,
    follow_tags,
    is_linear,
    prepare_member,
    task_of,
)
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import CrossFit
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import Maps, UnitMaps
from vicinal.metric.selection import Entry, first_within, judge_maps
from vicinal.rows import Rows, inner_folds, read_rows, usual_neighbors


class UnitLength(MetricLearner):
    """Learn a metric, and bring mapped rows to unit length where held-out rows prefer it.

    The distance is ‖u(q(x)) − u(d(z))‖ with u(v) = v / ‖v‖ and the learner's maps q and d: nearest
    is what has the largest cosine after the maps. Rows of unit length, as embeddings have, leave
    the sphere under a linear map, and how far says nothing of their class.

    Parameters
    ----------
    estimator : metric learner
        Cloned and fitted.
    normalize : bool or "auto", default="auto"
        "auto" predicts held-out rows by their k nearest neighbours under the maps as they are and
        after normalisation, and normalises where that is better by more than the standard error of
        the difference.
    n_neighbors : int or None
        k of that prediction, and of a learner that leaves its own open. None follows the predictor
        the metric stands in, and is 5 where there is none.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimator_ : fitted learner
    components_ : ndarray of shape (n_components, n_features)
        Where the learner's map is linear and not normalised.
    is_unit_ : bool
        Whether mapped rows are brought to unit length.
    gain_ : float
        How much less held-out rows lose after normalisation (error plus a quarter of the share of
        wrong neighbours), and
    noise_ : float
        the standard error of that; both only where they were compared.

    Notes
    -----
    Time: that of the learner's fits to the inner folds (one of more than 4,000 rows), where it does
    not choose on such anyway, and of its fit to all rows. A mapped row of zeros stays zero.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, UnitLength
    >>> X, y = load_wine(return_X_y=True)
    >>> UnitLength(LDA(), random_state=0).fit(X, y).is_unit_
    False
    """

    _task = "auto"

    def __init__(
        self,
        estimator: Any,
        *,
        normalize: Any = "auto",
        n_neighbors: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.normalize = normalize
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> UnitLength:
        """Fit the learner, and decide.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            How much each held-out row counts; also passed to a learner that takes weights.
        groups : array-like of shape (n,) or None
            Rows of one group are not parted by inner splits.
        """
        check_member(self.estimator, "estimator")
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        return read_rows(self, X, y, sample_weight, groups, task=task_of(self.estimator))

    def learn(self, rows: Rows) -> Maps:
        """Return the learner's maps, normalised where that is better."""
        seed = self._seed()
        folds = inner_folds(rows, seed) if self.normalize == "auto" else []
        begun = self._begin(rows, folds, seed)
        return self._finish(begun, self._decide(begun, rows, folds))

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit: the learner's own, normalised where the folds together prefer it."""
        rows = self.note_rows(rows)
        begun = self._begin(rows, folds, self._seed())
        is_unit = self._decide(begun, rows, folds)

        def finish() -> UnitLength:
            self._finish(begun, is_unit)
            return self

        return CrossFit(lambda fold: _either(begun.without(fold), is_unit), finish)

    def _begin(self, rows: Rows, folds: Sequence[Fold], seed: int) -> CrossFit:
        return begin_member(
            prepare_member(self.estimator, seed=seed, k=self.n_neighbors), rows, folds
        )

    def _decide(self, begun: CrossFit, rows: Rows, folds: Sequence[Fold]) -> bool:
        """Return whether to normalise, and note what that gains."""
        for name in ("gain_", "noise_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.normalize != "auto":
            check_choice("normalize", self.normalize, (True, False, "auto"))
            return bool(self.normalize)
        if not folds or rows.target is None:
            return False
        k = usual_neighbors(self.n_neighbors, rows.n_rows - 1)
        plain, unit = (Entry(str(is_unit), is_unit) for is_unit in (False, True))
        for fold in folds:
            train, held, maps = rows.take(fold.train), rows.take(fold.test), begun.without(fold)
            if maps.space != "euclidean" or maps.ranking is not None:
                return False
            for entry in (plain, unit):
                entry.scores.append(judge_maps(_either(maps, entry.candidate), train, held, k))
        self.gain_, self.noise_ = plain.score.behind(unit.score)
        best = min((plain, unit), key=lambda entry: entry.value)
        return first_within([plain, unit], best).candidate

    def _finish(self, begun: CrossFit, is_unit: bool) -> Maps:
        self.estimator_, self.is_unit_ = begun.finish(), is_unit
        return self.maps_

    def _keep(self, maps: Maps) -> None:
        self.__dict__.pop("components_", None)  # of an earlier fit
        if is_linear(maps):
            super()._keep(maps)

    @property
    def maps_(self) -> Maps:
        """The learner's, normalised or not."""
        check_is_fitted(self, "estimator_")
        return _either(maps_of(self.estimator_), self.is_unit_)

    @property
    def _is_fitted(self) -> bool:
        return "estimator_" in vars(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.estimator_._n_features_out)

    def forget_rows(self) -> None:
        """Drop the training rows that the learner keeps beside its maps."""
        if isinstance(self.estimator_, MetricLearner):
            self.estimator_.forget_rows()

    def _seed(self) -> int:
        return draw_seed(check_random_state(self.random_state))

    def __sklearn_tags__(self) -> Tags:
        return follow_tags(super().__sklearn_tags__(), self.estimator)


def _either(maps: Maps, is_unit: bool) -> Maps:
    return UnitMaps(maps) if is_unit else maps
