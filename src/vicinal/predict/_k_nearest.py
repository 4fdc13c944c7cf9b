"""A vote that is given, or that held-out rows choose, and what else predicts beside it."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._threads import thread_count
from vicinal._types import AnyArray, BoolArray, FloatArray, Fold, IntArray
from vicinal._validation import check_neighbors
from vicinal.metric.held_out import HeldOut
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import Maps
from vicinal.predict._ballots import Ballots, NumberBallots
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._changes import check_left
from vicinal.predict._explanations import (
    Explanation,
    check_same_rows,
    list_explanations,
    nearness_of,
)
from vicinal.predict._heads import (
    PARTS,
    SLOPE,
    VOTE,
    choose_heads,
    fit_head,
    heads_for,
    hold_out_head,
    predict_head,
    settle,
)
from vicinal.predict._held_out import (
    SEED,
    begin_metric,
    look_at_folds,
    maps_without,
    sees_no_target,
)
from vicinal.predict._parts import PartVotes, hold_out_parts, part_ends
from vicinal.predict._slope import Slope, fit_slope, hold_out_slope
from vicinal.predict._vote import REACH, Vote, choose_neighbors, learn_temperature
from vicinal.predict._votes import AUTO, LEARNED, check_weighing
from vicinal.rows import MOST_ROWS, Rows, check_groups, inner_folds, is_distributed

# What a fit that chooses its vote sets beside n_neighbors_.
_CHOSEN = (
    "temperature_", "held_out_rows_", "heads_", "head_losses_", "_fitted_heads", "_parts", "_slope",
    "_part_indexes", "_usual_loss", "_added_losses", "_held_out_spread",
)  # fmt: skip


class KNearest(NeighborsPredictor):
    """Base of the k-NN predictors: k, weights and heads as given, or chosen by held-out rows."""

    predict: Any
    n_neighbors_: int
    temperature_: float
    held_out_rows_: IntArray

    def __init__(
        self,
        n_neighbors: int | str = 5,
        metric: Any = None,
        *,
        weights: Any = "uniform",
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    @property
    def _is_soft(self) -> bool:
        return isinstance(self.weights, str) and self.weights in (LEARNED, AUTO)

    @property
    def _chooses(self) -> bool:
        return self._is_soft or isinstance(self.n_neighbors, str)

    @property
    def _k(self) -> int | None:
        """k for the metric to learn for; None where the vote is to find its own."""
        return None if isinstance(self.n_neighbors, str) else self.n_neighbors

    def _usual_neighbors(self, *, others: bool = False) -> int:
        return self._vote(others=others).n_neighbors

    def _vote(self, *, others: bool = False) -> Vote:
        """Return the vote as fitted, of no more rows than there are, or others than the row asking.

        A number of neighbours that the user names is never made smaller in silence.
        """
        fitted = vars(self)  # files of before have the parameters alone
        most = self._n_indexed - (others and self._chooses)
        k = min(fitted.get("n_neighbors_", self.n_neighbors), most)
        return Vote(k, self.weights, fitted.get("temperature_"))

    @property
    def _ballots(self) -> Ballots:
        """What the indexed rows say."""
        raise NotImplementedError

    def _takes_partitions(self) -> bool:
        return True

    def _check_settings(self, n_rows: int) -> None:
        if isinstance(self.n_neighbors, str):
            if self.n_neighbors != AUTO:
                raise ValueError(
                    f"n_neighbors must be a whole number or 'auto', got {self.n_neighbors!r}."
                )
        else:
            check_neighbors(self.n_neighbors, n_rows)
        if not self._is_soft:
            check_weighing(self.weights)

    def _fit_metric(self, metric: Any, X: AnyArray, rows: Rows, parameters: dict[str, Any]) -> Any:
        if self.weights == AUTO and is_distributed(rows.X):
            raise ValueError(
                "weights='auto' tries machines that see all rows at once, and X is a dask array; "
                "give weights='learned'."
            )
        groups = check_groups(parameters.get("groups"), rows.n_rows)
        folds = inner_folds(replace(rows, groups=groups), SEED) if self._chooses else []
        self._looked: HeldOut | None = None
        self._tried: tuple[list[tuple[Fold, Maps]], Rows] | None = None
        if not folds or sees_no_target(metric):
            fitted = super()._fit_metric(metric, X, rows, parameters)
            # Heads are not asked row by row, and know the Euclidean distance alone.
            if self.weights == AUTO and self._distance is None:
                self._look([(fold, maps_of(fitted)) for fold in folds], rows)
            return fitted
        begun = begin_metric(metric, X, rows, folds, parameters)
        parts = maps_without(begun, folds)
        fitted = begun.finish()
        self._look(parts, rows)
        return fitted

    def _look(self, parts: list[tuple[Fold, Maps]], rows: Rows) -> None:
        """Have the held-out rows of folds look at the others, and keep what heads are tried on."""
        if parts:
            most, n_threads = self._reach_of(rows.n_rows), thread_count(self.n_jobs)
            self._looked = look_at_folds(parts, rows.X, most, n_threads)
            self._tried = (parts, rows) if self.weights == AUTO else None

    def _reach_of(self, n_rows: int) -> int:
        """Return how many neighbours are looked at: 64, or more that were asked for."""
        reach = REACH if isinstance(self.n_neighbors, str) else max(REACH, self.n_neighbors)
        return max(1, min(reach, n_rows - 1))

    def _finish_fit(self) -> None:
        for name in (*_CHOSEN, *self._held_out_names):  # of an earlier fit
            self.__dict__.pop(name, None)
        held, tried = self.__dict__.pop("_looked", None), self.__dict__.pop("_tried", None)
        if not self._chooses:
            self.n_neighbors_ = int(self.n_neighbors)
            return
        held = self._look_among_others() if held is None else held
        vote = self._choose(held)
        self.n_neighbors_ = vote.n_neighbors
        if vote.temperature is not None:
            self.temperature_ = vote.temperature
        self.held_out_rows_ = self._training_rows(held.rows)
        predictions = vote.hold(self._ballots, held)
        self._keep_spread(vote, held)
        if tried is not None:
            predictions = self._choose_heads(predictions, held, *tried)
        self._keep_held_out(predictions)

    def _keep_spread(self, vote: Vote, held: HeldOut) -> None:
        """Keep how much the neighbours of held-out rows differ, where that is of use."""

    def _check_held_out(self, what: str) -> None:
        """Refuse what held-out votes are needed for, where the fit held none out."""
        check_is_fitted(self)
        if not len(vars(self).get("held_out_rows_", ())):
            raise ValueError(
                f"{what} goes by held-out votes, and this fit held none out; fit two rows or more "
                "with n_neighbors='auto', weights='learned' or weights='auto'."
            )

    def _choose_heads(
        self, voted: FloatArray, held: HeldOut, parts: list[tuple[Fold, Maps]], rows: Rows
    ) -> FloatArray:
        """Choose what predicts, fit it to all rows, and return its held-out predictions."""
        weights, ballots = self._of_indexed(self._weights), self._ballots
        maps, n_threads = maps_of(self.metric_), thread_count(self.n_jobs)
        heads = heads_for(maps, rows)
        tried = {name: hold_out_head(head, parts, rows, weights) for name, head in heads.items()}
        held_out = {VOTE: voted, **{name: each.predictions for name, each in tried.items()}}
        sides = hold_out_parts(parts, rows.X, ballots, weights, held.near.shape[1], n_threads)
        if sides is not None:
            held_out[PARTS], temperatures = sides
        if heads and isinstance(ballots, NumberBallots):
            held_out[SLOPE] = hold_out_slope(parts, rows.X, ballots, self._vote(), held)
        row_weights = None if weights is None else weights[held.rows]
        self.heads_, self.head_losses_ = choose_heads(
            held_out, ballots.indicators(held.rows), row_weights
        )
        mapped = self._index.vectors if heads else None  # type: ignore[union-attr]
        self._fitted_heads = [
            settle(tried[name].fit(mapped, rows, weights)) for name in self.heads_ if name in tried
        ]
        if PARTS in self.heads_:
            self._parts = part_ends(maps, rows.X[:1]), temperatures
        if SLOPE in self.heads_:
            self._slope = astuple(fit_slope(mapped, self._number_ballots))
        mean: FloatArray = np.mean([held_out[name] for name in self.heads_], axis=0)
        return mean

    def _rows_changed(self) -> None:
        state = self.__dict__
        state.pop("_part_indexes", None)
        if "_slope" in state:
            ridge = self._slope[1]
            self._slope = astuple(fit_slope(self._vectors, self._number_ballots, ridge))
        if state.get("_fitted_heads"):
            rows, weights = self._indexed_rows(), self._of_indexed(self._weights)
            fitted = [fit_head(head, rows.X, rows, weights) for head in self._fitted_heads]
            self._fitted_heads = fitted

    @property
    def _vectors(self) -> AnyArray:
        return self._index.vectors  # type: ignore[union-attr]

    @property
    def _number_ballots(self) -> NumberBallots:
        ballots = self._ballots
        assert isinstance(ballots, NumberBallots)
        return ballots

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_part_indexes", None)  # which are columns of the index
        return state

    def _indexed_rows(self) -> Rows:
        """Return the rows as mapped, with their targets."""
        raise NotImplementedError

    def _choose(self, held: HeldOut) -> Vote:
        """Return the vote that held-out rows prefer."""
        ballots = self._ballots
        weights = None if ballots.weights is None else ballots.weights[held.rows]
        if self._is_soft:
            temperature = learn_temperature(ballots, held, weights)
            return Vote(held.near.shape[1], LEARNED, temperature)
        if not len(held.rows):
            return Vote(1, self.weights)
        return Vote(choose_neighbors(ballots, held, self.weights, weights), self.weights)

    def _look_among_others(self) -> HeldOut:
        """Return what rows see among the others, of very many rows of some."""
        n_rows = self._n_indexed
        if n_rows < 2:
            return HeldOut(np.empty(0, int), np.empty((0, 1), int), np.empty((0, 1)))
        rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(int))
        queries = self._training_queries()[rows]
        values, near = self._others(queries, rows, self._reach_of(n_rows))
        return HeldOut(rows, near, self._index.distances(values))

    _held_out_names: tuple[str, ...] = ()

    def _keep_held_out(self, predictions: FloatArray) -> None:
        """Keep the predictions for held-out rows."""
        (name,) = self._held_out_names
        setattr(self, name, predictions)
        rows = vars(self)["held_out_rows_"]
        self._usual_loss = float(self._losses_at(predictions, rows).mean()) if len(rows) else 0.0

    def _losses_at(self, predictions: FloatArray, rows: IntArray) -> FloatArray:
        """Return what predictions for training rows lose."""
        raise NotImplementedError

    def explain(self, X: AnyArray, training_rows: AnyArray | None = None) -> list[Explanation]:
        """Say why: each row's neighbours, their votes, and what brought them near.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        training_rows : array-like of shape (n, n_features), default=None
            The rows ``fit`` was given, which a predictor does not keep: with them, and a metric of
            one linear map, an explanation knows which features brought a neighbour near.

        Returns
        -------
        list of Explanation
            One a row; printed, it is a few lines of text.
        """
        distances, indices = self.kneighbors(X)
        nearness = None
        if training_rows is not None:
            rows, queries = (
                np.asarray(self._check_rows(some), np.float64) for some in (training_rows, X)
            )
            check_same_rows(rows, self.n_samples_fit_)
            nearness = nearness_of(maps_of(self.metric_), rows, queries, indices)
        names = tuple(map(str, vars(self).get("feature_names_in_", range(self.n_features_in_))))
        said = self.predict(X), indices, distances, self.targets_of(indices), self._vote_shares(X)
        return list_explanations(*said, nearness, names)

    def _vote_shares(self, X: AnyArray) -> list[dict[Any, float]] | None:
        """Return each row's shares of the votes by class, the largest first; None for numbers."""
        return None

    def _check_enough(self, n_rows: int) -> None:
        if not self._chooses:
            check_left(self.n_neighbors_, n_rows)

    def _keep_left(self, left: BoolArray, numbers: IntArray) -> None:
        """Keep the held-out votes of rows that stay, under their new numbers."""
        if "held_out_rows_" not in vars(self):
            return
        stay = left[self.held_out_rows_]
        self.held_out_rows_ = numbers[self.held_out_rows_[stay]]
        (name,) = self._held_out_names
        setattr(self, name, getattr(self, name)[stay])

    @property
    def drift_(self) -> float:
        """How much more the vote loses at rows that were added than at those held out by the fit.

        The mean of −log of the own class's share (of the squared error, for numbers) over all
        that :meth:`add_rows` brought, each asked before it joined, less the mean over the held-out
        rows of the fit; 0 where no row was added. Clearly above zero, it is time to fit anew.
        """
        check_is_fitted(self)
        if "held_out_rows_" not in vars(self):
            raise AttributeError(
                "drift_ compares with held-out votes, which a fit with n_neighbors='auto' or "
                "weights='learned' has."
            )
        total, count = vars(self).get("_added_losses", (0.0, 0))
        return float(total / count - self._usual_loss) if count else 0.0

    _usual_loss: float

    def _losses_of_new(self, X: AnyArray, target: AnyArray) -> FloatArray:
        """Return what the vote loses at each of some rows and targets."""
        raise NotImplementedError

    def _note_drift(self, X: AnyArray, target: AnyArray) -> None:
        if "held_out_rows_" not in vars(self) or not len(target):
            return
        losses = self._losses_of_new(X, target)
        total, count = vars(self).get("_added_losses", (0.0, 0))
        self._added_losses = (total + float(losses.sum()), count + len(losses))

    def _tally(self, X: AnyArray | None) -> FloatArray:
        """Return shares or means for each row, as fitted; by the vote alone where X is None."""
        check_is_fitted(self)
        if X is None:
            return self._voted(None)
        fitted, queries = vars(self), self._map_queries(X)
        n_classes, heads = len(fitted.get("classes_", ())), fitted.get("heads_", (VOTE,))
        if is_distributed(queries) and tuple(heads) != (VOTE,):
            raise ValueError("the heads of this fit take rows in memory: give X.compute().")
        votes = {VOTE: self._voted, PARTS: self._voted_by_parts, SLOPE: self._voted_on_slope}
        predictions = [votes[name](queries) for name in heads if name in votes]
        predictions += [
            predict_head(each, queries, n_classes) for each in fitted.get("_fitted_heads", ())
        ]
        together: FloatArray = np.mean(predictions, axis=0)
        return together if len(predictions) > 1 else predictions[0]

    def _voted_by_parts(self, queries: AnyArray) -> FloatArray:
        """Return the mean of what neighbours in each part of the learned space say."""
        parts = PartVotes(*self._parts)
        if "_part_indexes" not in vars(self):
            self._part_indexes = parts.index(self._vectors, self.n_jobs)
        return parts.ask(self._part_indexes, queries, self._ballots, self._vote().n_neighbors)

    def _voted_on_slope(self, queries: AnyArray) -> FloatArray:
        """Return what the plane says, and the neighbours of what it leaves."""
        slope = Slope(*self._slope)
        left = slope.left(self._number_ballots, self._vectors)
        said: FloatArray = slope.height(queries) + self._voted(queries, left)
        return said

    def _voted(self, queries: AnyArray | None, ballots: Ballots | None = None) -> FloatArray:
        """Return what the neighbours of mapped queries say, or those of each training row."""
        vote = self._vote(others=queries is None)
        find = self._leave_one_out if queries is None else partial(self._search, queries)
        values, near = find(vote.n_neighbors)
        weights = vote.weigh(self._index.distances(values))
        return (ballots or self._ballots).tally(near, weights, soft=vote.is_soft)
