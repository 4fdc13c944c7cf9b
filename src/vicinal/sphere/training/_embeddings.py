"""What the outputs of a network are worth for finding rows of the same class."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from vicinal._types import FloatArray, IntArray
from vicinal.index import ExactIndex, RetrievalScores, rank_by_distance, score_lists

EMBEDDING = 64  # numbers an embedding has where no classes are learned
LISTED = 2000  # test rows that make lists among each other: all pairs of them are compared


@dataclass(frozen=True)
class JudgedEmbeddings:
    """How test rows find each other, and what the nearest training row says of them."""

    scores: RetrievalScores  # of lists among the first test rows
    given: IntArray  # the class of the nearest training row
    error: float  # the share of them that are wrong


def class_embedding(scores: Tensor) -> Tensor:
    """Return the square roots of class probabilities.

    Between those the Euclidean distance is Hellinger's, which looks at all classes a row may be of
    and not at the likeliest alone.
    """
    return functional.softmax(scores, 1).sqrt()


def score_embeddings(queries: FloatArray, labels: IntArray) -> RetrievalScores:
    """Score the lists that the first test rows make of each other."""
    return score_lists(rank_by_distance(queries[:LISTED], labels[:LISTED]))


def judge_embeddings(
    database: FloatArray, known: IntArray, queries: FloatArray, labels: IntArray
) -> JudgedEmbeddings:
    """Judge embeddings of training rows and of test rows, each with their classes."""
    _, nearest = ExactIndex(database).query(queries, 1)
    answers = known[nearest[:, 0]]
    scores = score_embeddings(queries, labels)
    return JudgedEmbeddings(scores, answers, float((answers != labels).mean()))
