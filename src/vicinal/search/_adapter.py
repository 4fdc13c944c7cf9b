"""QueryAdapter: a map for queries, learned from what answered them, over an index that stays."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import (
    check_auto,
    check_choice,
    check_components,
    check_positive,
    check_whole,
)
from vicinal.metric.maps import Maps
from vicinal.rows import Rows, feature_spread
from vicinal.search._adapted import AdaptedSearch
from vicinal.search._fitting import (
    Wanted,
    adapt_further,
    adapt_to_judgements,
    adapt_to_labels,
)
from vicinal.search._inputs import SIMILARITIES, SearchRows, read_search_rows
from vicinal.search._moves import Moves, sum_queries
from vicinal.search._negatives import NEGATIVES
from vicinal.search._relevance import Relevance, SameClassRelevance
from vicinal.search._setting import LOSSES

MAPS = ("query", "document", "both")
SPLITS = ("queries", "documents", "both")


class QueryAdapter(AdaptedSearch):
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
        λ. "auto" follows a path of ridges down from 0.1, each map beginning at the last, and ends
        it where held-out queries gain no more.
    split : {"both", "queries", "documents"}
        What is held out to choose by: queries, or documents with all their queries. "both" takes
        the setting that gains most in the question where it gains less.
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
    max_iter : int, default=15
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
        noise, smaller_gain (of the two questions) and note.
    notes_ : list of str
        What was left out, merged, or could not be split.
    n_iter_ : int
        Steps at most, over all ridges.
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
        max_iter: int = 15,
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
        X : array-like or dask array of shape (m, d)
            Queries; or rows, where y are their classes. Of a dask array at most 100,000 queries,
            drawn at random, are gathered.
        y : array-like or dask array of shape (n, d), or (m,)
            Documents; or the classes of rows that look for rows of their class. Of a dask array
            those that queries name are gathered, and where there are more than 20,000 as many
            others, which held-out queries are judged among.
        relevance : array-like, list of lists, sparse matrix
            Which documents answer a query: a row number a query, a list of them a query, a sparse
            matrix (m, n) of grades, or pairs (query, document) in two columns.

        Returns
        -------
        self
        """
        task = self._wanted()
        if relevance is None:
            shape = np.asarray(y).shape
            if len(shape) == 2 and shape[1] > 1:
                raise ValueError(
                    "relevance is missing: it says which documents, the second argument, answer "
                    "which queries."
                )
            return super().fit(X, y)
        rows = read_search_rows(
            self, X, y, relevance, self.similarity, seed=task.seed, unjudged=self.unjudged
        )
        self._learn_search(rows, task)
        return self

    def learn(self, rows: Rows) -> Maps:
        """Return the maps learned from labelled rows, each of which looks for its class."""
        task = self._wanted()
        if self.maps != "query":
            raise ValueError(
                "labelled rows are queries and documents in one: of maps only 'query' can be "
                "learned of them."
            )
        width = check_components(self.n_components, rows.X.shape[1])
        vectors = self._lengthen(rows.X.astype(np.float64, copy=False)).astype(np.float32)
        self._forget(rows.X.shape[1])
        self._keep_adapted(adapt_to_labels(rows, vectors, task), [])
        if width is not None:
            self._shorten(vectors, vectors, width)
        return self.maps_

    def _wanted(self) -> Wanted:
        """Return the parameters, checked."""
        check_choice("maps", self.maps, MAPS)
        check_choice("loss", self.loss, ("auto", *LOSSES))
        check_choice("split", self.split, SPLITS)
        check_choice("negatives", self.negatives, NEGATIVES)
        check_choice("unjudged", self.unjudged, ("ignore", "wrong"))
        check_choice("similarity", self.similarity, SIMILARITIES)
        check_auto("regularization", self.regularization, check_positive)
        k = None if self.n_neighbors is None else check_whole("n_neighbors", self.n_neighbors)
        ridge = None if self.regularization == "auto" else float(self.regularization)
        return Wanted(
            self.maps, self.loss, ridge, self.split, self.negatives, self.unjudged, k,
            self.n_components, bool(self.offset), check_whole("max_iter", self.max_iter),
            self._seed(), print if self.verbose else lambda line: None,
        )  # fmt: skip

    def _learn_search(self, rows: SearchRows, wanted: Wanted) -> None:
        """Learn from queries and documents, and keep what came of it."""
        self._forget(rows.queries.shape[1])
        self.__dict__.pop("classes_", None)
        self.feature_spread_ = feature_spread(rows.queries)
        width = check_components(self.n_components, self.n_features_in_)
        adapted = adapt_to_judgements(rows, wanted)
        self._keep_adapted(adapted, rows.notes)
        if adapted.sums is not None:
            originals = rows.originals[adapted.sums.rows]
            self._keep_moves(Moves(originals, adapted.sums.sums, adapted.sums.counts))
        if width is not None:
            self._shorten(rows.queries, rows.originals, width)

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
        if "components_" in vars(self):
            raise ValueError("partial_fit cannot learn more with n_components: fit again.")
        if relevance is None:
            rows = self._read(X, y)
            self._check_rows(X)
            vectors = self._lengthen(rows.X).astype(np.float32)
            self._learn_on(vectors, vectors, SameClassRelevance(rows.codes))
            return self
        more = read_search_rows(self, X, y, relevance, self.similarity)
        if more.queries.shape[1] != self.n_features_in_:
            raise ValueError(
                f"queries have {more.queries.shape[1]} columns, but the adapter was fitted on "
                f"{self.n_features_in_}."
            )
        documents = self._placed(more.originals)
        if self.weight_ is not None:
            new = sum_queries(more.queries, more.judgements, np.arange(len(more.queries)))
            moves = Moves(more.originals[new.rows], new.sums, new.counts)
            self._keep_moves(self._moves.join(moves))
        self._learn_on(more.queries, documents, more.judgements)
        return self

    def _learn_on(self, queries: FloatArray, documents: FloatArray, relevance: Relevance) -> None:
        """Move the map a little, for new queries."""
        if self.loss_ is not None:
            gap: FloatArray = self.query_components_ - np.eye(self.n_features_in_)
            parts = [gap.ravel(), *([self.query_offset_] if self.offset else [])]
            flat = adapt_further(
                queries, documents, relevance, self._wanted(), np.concatenate(parts),
                self.loss_, self.regularization_, self.n_queries_,
            )  # fmt: skip
            self._keep_map(flat)
        self.n_queries_ += len(queries)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))
