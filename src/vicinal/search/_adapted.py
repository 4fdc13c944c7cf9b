"""What an adapter is once it has learned: maps of queries and documents, and how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal.metric import MetricLearner
from vicinal.metric.maps import FunctionMaps, Maps
from vicinal.rows import refuse_distributed
from vicinal.search._fitting import Adapted
from vicinal.search._inputs import read_search_rows
from vicinal.search._lowrank import low_rank, unit_rows
from vicinal.search._measures import DEFAULT, deepest, list_scores, ranked_grades
from vicinal.search._moves import Moves, place
from vicinal.search._objective import unpack
from vicinal.search._relevance import SameClassRelevance


class AdaptedSearch(MetricLearner):
    """Base of adapters: U and b, documents that moved, and the scores of lists under them."""

    query_components_: FloatArray
    query_offset_: FloatArray
    similarity: str
    offset: bool

    def _forget(self, width: int) -> None:
        """Forget an earlier fit."""
        for name in ("components_", "query_offset_", "moved_documents_", "query_sums_",
                     "query_counts_", "weight_", "held_out_places_"):  # fmt: skip
            self.__dict__.pop(name, None)
        self.n_features_in_ = width

    def _keep_adapted(self, adapted: Adapted, notes: Sequence[str]) -> None:
        """Keep what was learned as the attributes that users and files know it by."""
        setting, width = adapted.choice.setting, self.n_features_in_
        self.notes_ = [*notes, *adapted.notes]
        self.best_ = setting.label()
        self.leaderboard_ = list(adapted.choice.leaderboard)
        self.report_ = adapted.report
        if adapted.places is not None:
            self.held_out_places_ = adapted.places
        self.loss_, self.weight_ = setting.loss, setting.weight
        self.regularization_ = float(setting.ridge)
        self.n_queries_, self.n_iter_ = adapted.n_queries, adapted.n_iter
        identity = np.zeros(width * (width + bool(self.offset)))
        self._keep_map(identity if adapted.flat is None else adapted.flat)

    def _keep_map(self, flat: FloatArray) -> None:
        rows = np.zeros((0, self.n_features_in_), np.float32)
        self.query_components_, b = unpack(flat, rows, bool(self.offset))
        if b is not None:
            self.query_offset_ = b

    def _shorten(self, queries: FloatArray, documents: FloatArray, width: int) -> None:
        """Keep maps into fewer dimensions in place of U alone."""
        mapped = queries @ self.query_components_.T
        if "query_offset_" in vars(self):
            mapped = mapped + self.query_offset_
        factors = low_rank(mapped, self._placed(documents), width)
        self.components_ = factors.documents
        self.query_components_ = factors.queries @ self.query_components_
        if "query_offset_" in vars(self):
            self.query_offset_ = factors.queries @ self.query_offset_

    def _placed(self, rows: FloatArray) -> FloatArray:
        """Return documents where they stand: of unit length, and moved where queries named them.

        A document is known again by its numbers as they were given, in float32.
        """
        documents = self._lengthen(rows)
        if "moved_documents_" not in vars(self):
            return documents
        assert self.weight_ is not None
        return place(rows, documents, self._moves, self.weight_)

    @property
    def _moves(self) -> Moves:
        return Moves(self.moved_documents_, self.query_sums_, self.query_counts_)

    def _keep_moves(self, moves: Moves) -> None:
        self.moved_documents_, self.query_sums_ = moves.originals, moves.sums
        self.query_counts_ = moves.counts

    def _lengthen(self, rows: FloatArray) -> FloatArray:
        return unit_rows(rows) if self.similarity == "cosine" else rows

    @property
    def maps_(self) -> Maps:
        """The learned maps: documents as the index holds them, queries as it is asked."""
        check_is_fitted(self, "query_components_")
        U, b = self.query_components_, vars(self).get("query_offset_")
        P = vars(self).get("components_")

        def database(rows: AnyArray) -> FloatArray:
            documents = self._placed(rows)
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
            Queries; or rows, where y are their classes, each searched among the others.
        y : array-like of shape (n, d) or (m,)
            Documents to search; or classes.
        relevance : array-like, list of lists, sparse matrix
            As of :meth:`fit`.
        scoring : str, default="ndcg@10"
            ndcg, mrr, hit, recall or map, with the number of places behind an @.
        """
        check_is_fitted(self, "query_components_")
        refuse_distributed(self, X, y)
        places = deepest([scoring])
        if relevance is None:
            labels = SameClassRelevance(np.unique(np.asarray(y), return_inverse=True)[1])
            vectors = np.asarray(self.transform_queries(X)), np.asarray(self.transform(X))
            everyone = np.arange(len(vectors[0]))
            lists = ranked_grades(*vectors, labels, everyone, everyone, n_places=places)
            return float(list_scores(scoring, *lists).mean())
        rows = read_search_rows(self, X, y, relevance, self.similarity)
        mapped, documents = self.transform_queries(rows.queries), self.transform(rows.originals)
        numbers = [np.arange(len(part)) for part in (mapped, documents)]
        lists = ranked_grades(
            np.asarray(mapped),
            np.asarray(documents),
            rows.judgements,
            numbers[0],
            numbers[1],
            places,
        )
        return float(list_scores(scoring, *lists).mean())

    def __sklearn_is_fitted__(self) -> bool:
        return "query_components_" in vars(self)

    @property
    def _is_fitted(self) -> bool:
        return "query_components_" in vars(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.query_components_.shape[0])
