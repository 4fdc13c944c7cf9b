"""Two questions, two inner splits: queries never seen before, and documents never asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.selection import Score
from vicinal.rows import FOLDS, VOTES, kfold
from vicinal.search._relevance import Judgements

KINDS = ("queries", "documents")


@dataclass(frozen=True)
class Split:
    """Queries to learn from and queries to judge by, by number.

    Of kind "documents", no document is named on both sides.
    """

    kind: str
    train: IntArray
    held: IntArray


def split_queries(judgements: Judgements, seed: int) -> list[Split]:
    """Return splits that hold out queries, each document's queries being spread evenly."""
    m = judgements.shape[0]
    if m < FOLDS:
        return []
    folds = kfold(m, FOLDS, labels=judgements.first, seed=seed)
    splits = [Split("queries", fold.train, fold.test) for fold in folds]
    return splits[: -(-VOTES // (m // FOLDS))]


def split_documents(judgements: Judgements, seed: int) -> list[Split]:
    """Return splits that hold out documents with all their queries.

    A query is held out where all that it names is, and teaches where nothing of it is.
    """
    m, n = judgements.shape
    named = judgements.named(np.arange(m))
    if len(named) < FOLDS:
        return []
    fold_of = np.full(n, -1)
    fold_of[np.random.default_rng([seed, 1]).permutation(named)] = np.arange(len(named)) % FOLDS
    folds = fold_of[judgements.grades.indices]
    starts = judgements.grades.indptr[:-1]
    least, most = (each.reduceat(folds, starts) for each in (np.minimum, np.maximum))
    splits = []
    for fold in range(FOLDS):
        inside = np.logical_or.reduceat(folds == fold, starts)
        held, train = np.flatnonzero((least == fold) & (most == fold)), np.flatnonzero(~inside)
        if len(held) and len(train):
            splits.append(Split("documents", train, held))
    enough = np.cumsum([len(split.held) for split in splits]) < VOTES
    return splits[: 1 + int(enough.sum())]


def score_by_document(losses: FloatArray, documents: IntArray) -> Score:
    """Return a score whose unit is a document: queries for one document are not independent.

    Each document counts as often as it is asked for.
    """
    _, unit, counts = np.unique(documents, return_inverse=True, return_counts=True)
    return Score(np.bincount(unit, losses) / counts, counts.astype(np.float64))


def pool_kinds(scores: dict[str, Score]) -> Score:
    """Return one score of both questions, which count the same."""
    parts = []
    for score in scores.values():
        weights = np.ones(len(score.losses)) if score.weights is None else score.weights
        parts.append(Score(score.losses, weights / weights.sum()))
    return Score.pool(parts)
