"""What a choice asks of an adaptation: its splits, a map from some queries, a score of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.selection import Score, prediction_losses
from vicinal.rows import USUAL_NEIGHBORS, Classes
from vicinal.search._descent import descend
from vicinal.search._losses import make_loss
from vicinal.search._lowrank import low_rank
from vicinal.search._measures import DEFAULT, SHOWN, deepest, list_scores, ranked_grades
from vicinal.search._moves import moved_documents, sum_queries, without_own
from vicinal.search._negatives import Negatives
from vicinal.search._objective import AdapterObjective, map_queries
from vicinal.search._partitions import pool_of
from vicinal.search._relevance import Judgements, SameClassRelevance
from vicinal.search._setting import AdapterSetting
from vicinal.search._splits import Split, score_by_document


@dataclass(frozen=True)
class SearchOptions:
    """What the user fixed, and whether documents are already those to rank among."""

    negatives: Negatives
    n_neighbors: int
    offset: bool = False
    n_components: int | None = None
    max_iter: int = 15
    seed: int = 0
    is_pool: bool = False


Lists = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class SearchTask:
    """Queries, documents, and judgements of them.

    ``lists`` keeps what held-out queries were given at each setting.
    """

    queries: FloatArray
    documents: FloatArray
    relevance: Judgements
    options: SearchOptions
    splits: Sequence[Split] = ()
    lists: dict[tuple[int, AdapterSetting], Lists] = field(default_factory=dict, compare=False)

    def learn(
        self, asked: IntArray, setting: AdapterSetting, start: FloatArray | None
    ) -> FloatArray | None:
        """Return the map learned from some queries, on from another."""
        if setting.loss is None:
            return None
        documents, stand = self.documents, None
        if setting.weight is not None:
            sums = sum_queries(self.queries, self.relevance, asked)
            documents = moved_documents(self.documents, sums, setting.weight)
            stand = without_own(
                self.queries, self.documents, self.relevance, asked, sums, setting.weight
            )
        options = self.options
        objective = AdapterObjective(
            self.queries, documents, self.relevance, options.negatives.blocks(asked),
            make_loss(setting.loss, options.n_neighbors), setting.ridge, options.offset, stand,
        )  # fmt: skip
        return descend(objective, start, options.max_iter)

    def grades(
        self, split: Split, flat: FloatArray | None, setting: AdapterSetting, *, plain: bool = False
    ) -> Lists:
        """Return the grades of held-out queries' lists, and of the best lists, (m, k) each."""
        queries, documents, pool = self.queries[split.held], self.documents, self.pool
        if setting.weight is not None:
            sums = sum_queries(self.queries, self.relevance, split.train)
            documents = moved_documents(documents, sums, setting.weight)
        documents = documents[pool]
        queries = map_queries(queries, flat, self.options.offset)
        if self.options.n_components is not None and not plain:
            factors = low_rank(queries, documents, self.options.n_components)
            queries, documents = queries @ factors.queries.T, factors.database(documents)
        places = deepest(SHOWN)
        return ranked_grades(queries, documents, self.relevance, split.held, pool, places)

    def score(self, split: Split, flat: FloatArray | None, setting: AdapterSetting) -> Score:
        """Return 1 − nDCG@10 of held-out queries, a document a unit."""
        plain = setting == AdapterSetting()
        lists = self.lists[id(split), setting] = self.grades(split, flat, setting, plain=plain)
        scores = list_scores(DEFAULT, *lists)
        return score_by_document(1 - scores, self.relevance.first[split.held])

    @cached_property
    def pool(self) -> IntArray:
        """The documents that held-out queries are ranked among, ascending."""
        if self.options.is_pool:
            return np.arange(len(self.documents))
        return pool_of(self.relevance, self.options.seed)


@dataclass(frozen=True)
class LabelTask:
    """Labelled rows that look for rows of their class, judged by the vote of their neighbours."""

    rows: FloatArray
    target: Classes
    options: SearchOptions
    splits: Sequence[Split] = ()

    def learn(
        self, asked: IntArray, setting: AdapterSetting, start: FloatArray | None
    ) -> FloatArray | None:
        """Return the map learned from some rows, on from another."""
        if setting.loss is None:
            return None
        relevance, options = SameClassRelevance(self.target.codes), self.options
        objective = AdapterObjective(
            self.rows, self.rows, relevance, options.negatives.blocks(asked),
            make_loss(setting.loss, options.n_neighbors), setting.ridge, options.offset,
        )  # fmt: skip
        return descend(objective, start, options.max_iter)

    def score(self, split: Split, flat: FloatArray | None, setting: AdapterSetting) -> Score:
        """Return the losses of held-out rows by the vote of their nearest neighbours."""
        train, held = self.rows[split.train], self.rows[split.held]
        held = map_queries(held, flat, self.options.offset)
        known, answers = self.target.take(split.train), self.target.take(split.held)
        # More neighbours than a class has rows would be strangers whatever the map.
        usual = int(np.median(np.bincount(known.codes)))
        k = min(USUAL_NEIGHBORS, max(1, usual))
        return Score(prediction_losses(train, held, known, answers, k))
