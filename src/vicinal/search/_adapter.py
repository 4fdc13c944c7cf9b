"""QueryAdapter: a map for queries, learned from what answered them, over an index that stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_auto, check_choice, check_components, check_positive
from vicinal._validation import check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.maps import FunctionMaps, Maps
from vicinal.rows import USUAL_NEIGHBORS, Rows, feature_spread, inner_splits
from vicinal.search._choice import Choice, choose
from vicinal.search._descent import descend
from vicinal.search._inputs import SIMILARITIES, SearchRows, read_search_rows
from vicinal.search._losses import make_loss
from vicinal.search._lowrank import low_rank, unit_rows
from vicinal.search._measures import DEFAULT, deepest, list_scores, ranked_grades
from vicinal.search._moves import QuerySums, move, moved_documents, sum_queries
from vicinal.search._negatives import NEGATIVES, choose_negatives
from vicinal.search._objective import Objective, map_queries, unpack
from vicinal.search._relevance import SameClass, equal_rows
from vicinal.search._report import HeldOut, hold_out, report_rows
from vicinal.search._setting import IDENTITY, LOSSES, RIDGES, WEIGHTS, Setting
from vicinal.search._splits import Split, split_documents, split_queries
from vicinal.search._tasks import LabelTask, Options, SearchTask

MAPS = ("query", "document", "both")
SPLITS = ("queries", "documents", "both")


class QueryAdapter(MetricLearner):
    """Learn a map of queries under which the documents that answered them come first.

    Query x and document z score (U x + b)·z. For documents of unit length that ranks as
    −‖U x + b − z‖² does: an index of the documents serves it as it is. U and b minimise

        (1/m) Σ_i loss_i + λ (‖U − I‖² + ‖b‖²),                                          (1)

    where the loss looks at 20 times the scores. The loss, λ and how far documents move are those
    that held-out queries are answered best with; the identity is always a candidate, and it stays
    where the gain is within its standard error.

    Parameters
    ----------
    maps : {"query", "document", "both"}, default="query"
        What is learned. "query" leaves the index alone. "document" moves each document z towards
        its queries, to the direction of κ z + Σ x; "both" learns U on top, each query left out of
        its own documents.
    loss : {"auto", "softmax", "hinge", "gerrymandering"}
        The cross entropy of the relevant documents; the margin to the nearest wrong one; or the
        vote of k documents, by exact inference. "auto" tries the first two, and the third where
        queries have several relevant documents: with one it is the hinge.
    regularization : float or "auto"
        λ. "auto" follows a path of ridges down from 0.3, each map beginning at the last, and ends
        it where held-out queries gain no more.
    split : {"both", "queries", "documents"}
        What is held out to choose by: queries, or documents with all their queries. With "both"
        nothing is chosen that harms either.
    negatives : {"auto", "all", "batch", "mined"}
        The wrong documents a query is compared with: all, those of a batch of 1,024 queries, or
        the nearest wrong ones of 64 queries, mined again once the map has moved. "auto" is all up
        to 4 million pairs, and mined beyond.
    unjudged : {"ignore", "wrong"}
        Documents that no query names are left out of (1), or taken for wrong answers.
    n_components : int or None
        Store and ask so many coordinates instead of all: the index has to be made anew.
    offset : bool, default=False
        Whether b is learned.
    similarity : {"cosine", "inner"}
        "cosine" brings rows to unit length; "inner" takes them as they are.
    n_neighbors : int or None
        k of the vote. None is 2 c − 1, at most 9, with c the usual number of relevant documents;
        5 for labelled rows.
    max_iter : int, default=25
        Steps at each ridge.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line for every setting tried.

    Attributes
    ----------
    query_components_ : ndarray of shape (n_components, n_features)
        U.
    query_offset_ : ndarray of shape (n_components,)
        b; only where it is learned.
    components_ : ndarray of shape (n_components, n_features)
        The map of documents, where ``n_components`` is given.
    best_ : str
        The setting chosen; "identity" where nothing helped.
    report_ : list of dict
        What was gained on held-out queries and on held-out documents: held_out, measure, plain,
        adapted, gain, low and high (95 of 100; a document is the unit), n_queries, n_documents.
    leaderboard_ : list of dict
        A row a setting tried, the chosen first: name, score (nDCG@10 of held-out queries), gain,
        noise, note.
    notes_ : list of str
        What was left out, merged, or could not be split.
    held_out_places_ : int ndarray of shape (q, 3)
        Held-out queries, and the place of their first relevant document before and after; 0 is
        none among the first ten.

    Notes
    -----
    Time of a step O(m n d + m d²) with all n documents as negatives; memory a block of 2²¹ scores
    and 20 maps. The gain told is that of the best of several settings on the rows it was chosen
    on, a little more than new queries will show.
    Departures from the usual adapter: a ridge to the identity in place of early stopping, and
    documents that nobody asked for are no wrong answers.

    References
    ----------
    trivedi2018, neyshabur2013

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import QueryAdapter
    >>> rng = np.random.default_rng(0)
    >>> documents = rng.normal(size=(40, 8))
    >>> relevant = rng.integers(40, size=600)
    >>> queries = documents[relevant] @ rng.normal(size=(8, 8)) + rng.normal(size=(600, 8))
    >>> adapter = QueryAdapter(random_state=0).fit(queries, documents, relevant)
    >>> adapter.transform_queries(queries[:2]).shape
    (2, 8)
    """

    query_components_: FloatArray
    query_offset_: FloatArray
    _task = "classification"

    def __init__(
        self,
        maps: str = "query",
        *,
        loss: str = "auto",
        regularization: Any = "auto",
        split: str = "both",
        negatives: str = "auto",
        unjudged: str = "ignore",
        n_components: int | None = None,
        offset: bool = False,
        similarity: str = "cosine",
        n_neighbors: int | None = None,
        max_iter: int = 25,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.maps = maps
        self.loss = loss
        self.regularization = regularization
        self.split = split
        self.negatives = negatives
        self.unjudged = unjudged
        self.n_components = n_components
        self.offset = offset
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: AnyArray, y: Any = None, relevance: Any = None) -> Self:
        """Learn from queries and the documents that answer them, or from labelled rows.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Queries; or rows, where y are their classes.
        y : array-like of shape (n, d) or (m,)
            Documents; or the classes of rows that look for rows of their class.
        relevance : array-like, list of lists, sparse matrix
            Which documents answer a query: a row number a query, a list of them a query, a sparse
            matrix (m, n) of grades, or pairs (query, document) in two columns.

        Returns
        -------
        self
        """
        self._check_parameters()
        if relevance is None:
            if np.ndim(y) == 2 and np.shape(y)[1] > 1:
                raise ValueError(
                    "relevance is missing: it says which documents, the second argument, answer "
                    "which queries."
                )
            return super().fit(X, y)
        rows = read_search_rows(self, X, y, relevance, self.similarity)
        self._forget(rows.queries.shape[1])
        self.notes_ = list(rows.notes)
        self.feature_spread_ = feature_spread(rows.queries)
        self._learn_search(rows)
        return self

    def learn(self, rows: Rows) -> Maps:
        """Return the maps learned from labelled rows, each of which looks for its class."""
        self._check_parameters()
        if self.maps != "query" or self.n_components is not None:
            raise ValueError(
                "labelled rows are queries and documents in one: maps='query' and "
                "n_components=None are all that can be learned of them."
            )
        self._forget(rows.X.shape[1])
        X = rows.X.astype(np.float64, copy=False)
        X = self._lengthen(X).astype(np.float32)
        target, everyone = rows.classes, np.arange(len(X))
        relevance = SameClass(target.codes)
        seed = self._seed()
        kind = self.negatives
        if kind == "auto" and len(X) ** 2 > 4_000_000:
            kind = "batch"
        negatives = choose_negatives(kind, relevance, len(X), len(X), X.shape[1], "ignore", seed)
        options = Options(
            negatives.mine(X, X), self.n_neighbors or USUAL_NEIGHBORS, self.offset, None,
            self.max_iter, seed,
        )  # fmt: skip
        numbered = replace(rows, X=everyone[:, None])
        splits = [
            Split("queries", train.X[:, 0], held.X[:, 0])
            for train, held in inner_splits(numbered, seed)
        ]
        task = LabelTask(X, target, options, splits)
        names = LOSSES if self.loss == "auto" else (self.loss,)
        choice = self._choose(task, [Setting(name) for name in names])
        self._finish(task, everyone, choice)
        self.report_: list[dict[str, Any]] = []
        return self.maps_

    def _learn_search(self, rows: SearchRows) -> None:
        """Choose on inner splits, fit all queries, and keep what came of it."""
        X, Z, judgements = rows.queries, rows.documents, rows.judgements
        seed, everyone = self._seed(), np.arange(len(X))
        n_relevant = int(np.median(np.diff(judgements.grades.indptr)))
        negatives = choose_negatives(
            self.negatives, judgements, len(X), len(Z), X.shape[1], self.unjudged, seed
        )
        k = self.n_neighbors or min(9, 2 * n_relevant - 1)
        width = check_components(self.n_components, X.shape[1])
        options = Options(negatives.mine(X, Z), k, self.offset, width, self.max_iter, seed)
        splits = {
            "queries": split_queries(judgements, seed),
            "documents": split_documents(judgements, seed),
        }
        task = SearchTask(X, Z, judgements, options, self._used_splits(splits))
        choice = self._choose_search(task, n_relevant)
        self._finish(task, everyone, choice)
        path = self._path(choice.setting)
        every = [split for parts in splits.values() for split in parts]
        held = hold_out(task, every, path)
        self.report_ = report_rows(held)
        self.held_out_places_ = _places(held, rows.numbers)
        if choice.setting.weight is not None:
            self._keep_moves(Z, sum_queries(X, judgements, everyone), choice.setting.weight)
        if width is not None:
            self._shorten(X, Z, width)

    def _used_splits(self, splits: dict[str, list[Split]]) -> list[Split]:
        """Return the splits to choose by; say where one asked for cannot be made."""
        wanted = ("queries", "documents") if self.split == "both" else (self.split,)
        used = [split for kind in wanted for split in splits[kind]]
        if "documents" in wanted and not splits["documents"]:
            self.notes_.append(
                "too few documents are named to hold any out with their queries; settings were "
                "chosen by held-out queries, and nothing is known of new documents."
            )
            used = splits["queries"]
        return used

    def _choose_search(self, task: SearchTask, n_relevant: int) -> Choice:
        """Return what held-out queries are answered best with: first the move, then the map."""
        weights: list[float | None] = [None]
        choice = Choice(IDENTITY)
        if self.maps != "query":
            moves = [Setting(weight=weight) for weight in WEIGHTS]
            choice = self._choose(task, moves)
            weights = list(dict.fromkeys([choice.setting.weight, None]))
        if self.maps == "document":
            return choice
        losses = LOSSES[: 2 + (n_relevant > 1)] if self.loss == "auto" else (self.loss,)
        settings = [Setting(loss, weight=weight) for weight in weights for loss in losses]
        moved = [] if choice.setting == IDENTITY else [choice.setting]
        last = self._choose(task, moved + settings)
        seen = {row["name"] for row in last.leaderboard}
        more = tuple(row for row in choice.leaderboard if row["name"] not in seen)
        return Choice(last.setting, last.leaderboard + more)

    def _choose(self, task: SearchTask | LabelTask, settings: Sequence[Setting]) -> Choice:
        ridges = self._ridges()
        if not task.splits:
            self.notes_.append("too few queries to hold any out: nothing was chosen or learned.")
            return Choice(IDENTITY)
        return choose(task, settings, ridges, self._say())

    def _finish(
        self, task: SearchTask | LabelTask, everyone: IntArray, choice: Choice
    ) -> None:
        """Fit all queries with the setting chosen, mining again where the map has moved."""
        flat: FloatArray | None = None
        path = self._path(choice.setting)
        for setting in path:
            flat = task.learn(everyone, setting, flat)
        if flat is not None and isinstance(task, SearchTask):
            options = task.options
            if options.negatives.kind == "mined":
                mapped = map_queries(task.queries, flat, self.offset)
                negatives = options.negatives.mine(mapped, task.documents)
                task = replace(task, options=replace(options, negatives=negatives))
                flat = task.learn(everyone, path[-1], flat)
        self.best_ = choice.setting.label()
        self.leaderboard_ = list(choice.leaderboard)
        self.regularization_ = float(choice.setting.ridge)
        self._setting = {"loss": choice.setting.loss, "weight": choice.setting.weight}
        self.n_queries_ = len(everyone)
        width = self.n_features_in_
        start = np.zeros((0, width), np.float32)
        identity = np.zeros(width * (width + self.offset))
        U, b = unpack(identity if flat is None else flat, start, self.offset)
        self.query_components_ = U
        if b is not None:
            self.query_offset_ = b

    def _path(self, setting: Setting) -> list[Setting]:
        """Return the settings that lead to one, of falling ridge."""
        if setting.loss is None:
            return [setting]
        ridges = [ridge for ridge in self._ridges() if ridge >= setting.ridge]
        return [replace(setting, ridge=ridge) for ridge in ridges]

    def _ridges(self) -> Sequence[float]:
        if self.regularization == "auto":
            return RIDGES
        return (float(self.regularization),)

    def _shorten(self, queries: FloatArray, documents: FloatArray, width: int) -> None:
        """Keep maps into fewer dimensions in place of U alone."""
        mapped = queries @ self.query_components_.T
        if "query_offset_" in vars(self):
            mapped = mapped + self.query_offset_
        factors = low_rank(mapped, self._moved(documents), width)
        self.components_ = factors.documents
        self.query_components_ = factors.queries @ self.query_components_
        if "query_offset_" in vars(self):
            self.query_offset_ = factors.queries @ self.query_offset_

    def _keep_moves(self, documents: FloatArray, sums: QuerySums, weight: float) -> None:
        """Keep the documents that moved, and the sums of their queries."""
        self.moved_documents_ = documents[sums.rows]
        self.query_sums_, self.query_counts_ = sums.sums, sums.counts
        self.weight_ = weight

    def _moved(self, documents: FloatArray) -> FloatArray:
        """Return documents, those that equal one that queries named moved towards these."""
        if "moved_documents_" not in vars(self):
            return documents
        known = self.moved_documents_.astype(documents.dtype, copy=False)
        leaders = equal_rows(np.vstack([known.astype(np.float32), documents.astype(np.float32)]))
        leaders = leaders[len(known) :]
        some = np.flatnonzero(leaders < len(known))
        moved = documents.copy()
        sums = self.query_sums_[leaders[some]].astype(documents.dtype, copy=False)
        moved[some] = move(documents[some], sums, self.weight_)
        return moved

    def _lengthen(self, rows: FloatArray) -> FloatArray:
        return unit_rows(rows) if self.similarity == "cosine" else rows

    @property
    def maps_(self) -> Maps:
        """The learned maps: documents as the index holds them, queries as it is asked."""
        check_is_fitted(self, "query_components_")
        U, b = self.query_components_, vars(self).get("query_offset_")
        P = vars(self).get("components_")

        def database(rows: AnyArray) -> FloatArray:
            documents = self._moved(self._lengthen(rows))
            if P is not None:
                documents = documents @ P.T.astype(documents.dtype, copy=False)
                documents = self._lengthen(documents)
            return np.ascontiguousarray(documents)

        def asked(rows: AnyArray) -> FloatArray:
            queries = self._lengthen(rows) @ U.T.astype(rows.dtype, copy=False)
            return np.ascontiguousarray(queries if b is None else queries + b.astype(rows.dtype))

        return FunctionMaps(database, asked, matrices=(U,))

    def score(
        self, X: AnyArray, y: AnyArray, relevance: Any = None, scoring: str = DEFAULT
    ) -> float:
        """Return a measure of the documents' order for some queries, from 0 to 1.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Queries.
        y : array-like of shape (n, d)
            Documents to search.
        relevance : array-like, list of lists, sparse matrix
            As of :meth:`fit`.
        scoring : str, default="ndcg@10"
            ndcg, mrr, hit, recall or map, with the number of places behind an @.
        """
        check_is_fitted(self, "query_components_")
        places = deepest([scoring])
        rows = read_search_rows(self, X, y, relevance, self.similarity)
        mapped, documents = self.transform_queries(rows.queries), self.transform(rows.documents)
        numbers = [np.arange(len(part)) for part in (mapped, documents)]
        lists = ranked_grades(
            np.asarray(mapped), np.asarray(documents), rows.judgements, *numbers, places
        )
        return float(list_scores(scoring, *lists).mean())

    def partial_fit(self, X: AnyArray, y: AnyArray, relevance: Any = None) -> Self:
        """Learn from further queries, with the setting that was chosen before.

        Minimises (1) on the new queries, plus λ n/m ‖U − U₀‖² with U₀ the map so far and n the
        queries it was learned from: the more these were, the less it moves.

        Parameters
        ----------
        X, y, relevance
            As of :meth:`fit`, which is called where nothing was learned yet. Where documents move,
            the new queries are added to the sums of theirs.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, relevance)
        if relevance is None or "components_" in vars(self):
            raise ValueError(
                "partial_fit learns from queries, documents and relevance, and not with "
                "n_components: fit again."
            )
        rows = read_search_rows(self, X, y, relevance, self.similarity)
        if rows.queries.shape[1] != self.n_features_in_:
            raise ValueError(
                f"queries have {rows.queries.shape[1]} columns, but the adapter was fitted on "
                f"{self.n_features_in_}."
            )
        self._learn_more(rows)
        return self

    def _learn_more(self, rows: SearchRows) -> None:
        X, judgements, everyone = rows.queries, rows.judgements, np.arange(len(rows.queries))
        documents = self._moved(rows.documents)
        if self._setting["weight"] is not None:
            self._add_moves(rows)
        if self._setting["loss"] is not None:
            negatives = choose_negatives(
                self.negatives, judgements, len(X), len(documents), X.shape[1], self.unjudged,
                self._seed(),
            )  # fmt: skip
            anchor = self._flat()
            mapped = map_queries(X, anchor, self.offset)
            ridge = self.regularization_
            objective = Objective(
                X, documents, judgements, negatives.mine(mapped, documents).blocks(everyone),
                make_loss(self._setting["loss"], self.n_neighbors or 1), ridge, self.offset,
                anchor=anchor, hold=ridge * self.n_queries_ / len(X),
            )  # fmt: skip
            U, b = unpack(descend(objective, anchor, self.max_iter), X, self.offset)
            self.query_components_ = U
            if b is not None:
                self.query_offset_ = b
        self.n_queries_ += len(X)

    def _flat(self) -> FloatArray:
        """Return the present map as a descent sees it."""
        width = self.n_features_in_
        parts = [(self.query_components_ - np.eye(width)).ravel()]
        if self.offset:
            parts.append(self.query_offset_)
        return np.concatenate(parts).astype(np.float64)

    def _add_moves(self, rows: SearchRows) -> None:
        """Add new queries to the sums of the documents that they name."""
        new = sum_queries(rows.queries, rows.judgements, np.arange(len(rows.queries)))
        documents = np.vstack([self.moved_documents_, rows.documents[new.rows]])
        leaders = equal_rows(documents)
        left, place = np.unique(leaders, return_inverse=True)
        sums = np.zeros((len(left), documents.shape[1]), np.float32)
        np.add.at(sums, place, np.vstack([self.query_sums_, new.sums]))
        counts = np.bincount(place, np.concatenate([self.query_counts_, new.counts]))
        self.moved_documents_, self.query_sums_ = documents[left], sums
        self.query_counts_ = counts.astype(np.int64)

    def _check_parameters(self) -> None:
        check_choice("maps", self.maps, MAPS)
        check_choice("loss", self.loss, ("auto", *LOSSES))
        check_choice("split", self.split, SPLITS)
        check_choice("negatives", self.negatives, NEGATIVES)
        check_choice("unjudged", self.unjudged, ("ignore", "wrong"))
        check_choice("similarity", self.similarity, SIMILARITIES)
        check_auto("regularization", self.regularization, check_positive)
        check_whole("max_iter", self.max_iter)
        if self.n_neighbors is not None:
            check_whole("n_neighbors", self.n_neighbors)

    def _forget(self, width: int) -> None:
        """Forget an earlier fit."""
        for name in ("components_", "query_offset_", "moved_documents_", "query_sums_",
                     "query_counts_", "weight_", "held_out_places_"):  # fmt: skip
            self.__dict__.pop(name, None)
        self.n_features_in_ = width
        self.notes_: list[str] = []

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _say(self) -> Callable[[str], None]:
        return print if self.verbose else lambda line: None

    def __sklearn_is_fitted__(self) -> bool:
        return "query_components_" in vars(self)

    @property
    def _is_fitted(self) -> bool:
        return "query_components_" in vars(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.query_components_.shape[0])


def _places(results: Sequence[HeldOut], numbers: IntArray) -> IntArray:
    """Return held-out queries as they were numbered, and their places before and after."""
    parts = [result.places() for result in results if result.kind == "queries"]
    if not parts:
        return np.zeros((0, 3), np.int64)
    places = parts[0].astype(np.int64)
    places[:, 0] = numbers[places[:, 0]]
    return places
