"""Relevance: which documents answer which query, read once from whatever users keep it as."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray, FloatArray, IntArray

_FORMS = (
    "one row number a query, a list of row numbers a query, a sparse matrix of grades "
    "(queries, documents), or pairs (query, document) in an array of two columns (a third has "
    "the grade)"
)


class Relevance(ABC):
    """Grades of documents for queries, a block at a time."""

    @abstractmethod
    def block(self, queries: IntArray, documents: IntArray) -> FloatArray:
        """Return the grades (b, c) of some documents for some queries, 0 for those not relevant."""

    @abstractmethod
    def hidden(self, queries: IntArray, documents: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return places in a block that no list may show: a row that asks for itself; or None."""

    @abstractmethod
    def named(self, queries: IntArray) -> IntArray:
        """Return the documents that some queries name, ascending."""


@dataclass(frozen=True)
class Judgements(Relevance):
    """Grades that somebody gave: a sparse matrix (m, n) of numbers above zero.

    ``n_left_out`` counts queries that name no document.
    """

    grades: Any
    n_left_out: int = 0

    def block(self, queries: IntArray, documents: IntArray) -> FloatArray:
        """Return their grades, (b, c); the documents ascend."""
        rows = self.grades[queries]
        block = np.zeros((len(queries), len(documents)), self.grades.dtype)
        place = np.minimum(np.searchsorted(documents, rows.indices), len(documents) - 1)
        inside = np.flatnonzero(documents[place] == rows.indices)
        owners = np.repeat(np.arange(len(queries)), np.diff(rows.indptr))
        block[owners[inside], place[inside]] = rows.data[inside]
        return block

    def hidden(self, queries: IntArray, documents: IntArray) -> None:
        """Hide nothing."""
        return

    def named(self, queries: IntArray) -> IntArray:
        """Return the columns with an entry."""
        return np.unique(self.grades[queries].indices)

    @cached_property
    def first(self) -> IntArray:
        """The first document of each query, (m,)."""
        first: IntArray = self.grades.indices[self.grades.indptr[:-1]]
        return first

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and documents there are."""
        m, n = self.grades.shape
        return int(m), int(n)

    def counts(self, queries: IntArray) -> IntArray:
        """Return how many of some queries name each document, (n,)."""
        return np.bincount(self.grades[queries].indices, minlength=self.grades.shape[1])

    def take(self, queries: IntArray) -> Judgements:
        """Return the judgements of some queries."""
        left_out = int(np.sum(np.diff(self.grades.indptr)[queries] == 0))
        return replace(self, grades=self.grades[queries], n_left_out=left_out)

    def among(self, documents: IntArray) -> Judgements:
        """Return the judgements of some documents, which are numbered anew."""
        return replace(self, grades=self.grades[:, documents])


@dataclass(frozen=True)
class SameClassRelevance(Relevance):
    """Labelled rows that ask for one another: rows of one class are relevant, itself is hidden.

    ``codes`` (n,) the rows' classes.
    """

    codes: IntArray

    def block(self, queries: IntArray, documents: IntArray) -> FloatArray:
        """Return 1 for rows of the same class, (b, c)."""
        same = self.codes[queries][:, None] == self.codes[documents]
        return same.astype(np.float32)

    def hidden(self, queries: IntArray, documents: IntArray) -> tuple[IntArray, IntArray]:
        """Return where a row meets itself."""
        place = np.minimum(np.searchsorted(documents, queries), len(documents) - 1)
        itself = np.flatnonzero(documents[place] == queries)
        return itself, place[itself]

    def named(self, queries: IntArray) -> IntArray:
        """Return the rows themselves."""
        return np.unique(queries)


def read_judgements(relevance: Any, n_queries: int, n_documents: int) -> Judgements:
    """Return judgements, checked; queries that name no document are counted.

    Parameters
    ----------
    relevance : array-like, list of lists, sparse matrix or pairs
    n_queries, n_documents : int

    Raises
    ------
    ValueError
        Saying which entry names a query or document there is not.
    """
    if sparse.issparse(relevance):
        rows, columns, grades = _entries(relevance, (n_queries, n_documents))
    else:
        rows, columns, grades = _listed(relevance, n_queries, n_documents)
    _refuse_missing("query", rows, n_queries)
    _refuse_missing("document", columns, n_documents)
    if not np.isfinite(grades).all() or (grades < 0).any():
        raise ValueError("relevance holds a grade that is not a finite number of at least 0.")
    rows, columns, grades = (part[grades > 0] for part in (rows, columns, grades))
    if not len(rows):
        raise ValueError("relevance names no relevant document at all; nothing can be learned.")
    matrix = sparse.coo_array((grades, (rows, columns)), shape=(n_queries, n_documents)).tocsr()
    # A pair that is said twice is one pair, of the higher grade.
    repeated = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=matrix.shape).tocsr()
    matrix.data = (matrix.data / repeated.data).astype(np.float32)
    return Judgements(matrix, int(np.sum(np.diff(matrix.indptr) == 0)))


def _entries(matrix: Any, shape: tuple[int, int]) -> tuple[AnyArray, AnyArray, FloatArray]:
    if matrix.shape != shape:
        raise ValueError(
            f"relevance has shape {matrix.shape}, but there are {shape[0]} queries and {shape[1]} "
            "documents."
        )
    entries = sparse.coo_array(matrix)
    return entries.coords[0], entries.coords[1], entries.data.astype(np.float64)


def _listed(relevance: Any, m: int, n: int) -> tuple[AnyArray, AnyArray, FloatArray]:
    """Return the entries of row numbers, of lists of them, of pairs or of a matrix of grades."""
    try:
        values = np.asarray(relevance)
    except ValueError:  # lists of several lengths
        values = np.empty(0, object)
    if values.dtype.kind == "O" or (isinstance(relevance, list) and values.ndim == 2):
        return _lists(relevance, m)
    if values.ndim == 2 and values.dtype.kind in "bf" and values.shape == (m, n):
        return _entries(sparse.coo_array(values), (m, n))
    if values.ndim == 2 and values.shape[1] in (2, 3) and values.dtype.kind in "iuf":
        grades = values[:, 2] if values.shape[1] == 3 else np.ones(len(values))
        rows, columns = (_whole(values[:, side]) for side in (0, 1))
        return rows, columns, grades.astype(np.float64)
    if values.ndim != 1 or len(values) != m:
        raise ValueError(f"relevance must be {_FORMS}; got shape {values.shape} for {m} queries.")
    return np.arange(m), _whole(values), np.ones(m)


def _lists(relevance: Any, m: int) -> tuple[AnyArray, AnyArray, FloatArray]:
    lists = [np.atleast_1d(np.asarray(each if each is not None else [])) for each in relevance]
    if len(lists) != m:
        raise ValueError(f"relevance has {len(lists)} lists for {m} queries; it must be {_FORMS}.")
    lengths = [len(each) for each in lists]
    joined = np.concatenate([each for each in lists if len(each)] or [np.empty(0, np.int64)])
    return np.repeat(np.arange(m), lengths), _whole(joined), np.ones(len(joined))


def _whole(values: AnyArray) -> IntArray:
    """Return row numbers as integers; refuse what is none."""
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.rint(values)).all():
        return values.astype(np.int64)
    raise ValueError(f"relevance must be {_FORMS}; got values of dtype {values.dtype}.")


def _refuse_missing(what: str, numbers: IntArray, n: int) -> None:
    wrong = numbers[(numbers < 0) | (numbers >= n)]
    if len(wrong):
        raise ValueError(
            f"relevance names {what} {wrong[0]}, but there are {n}, numbered from 0 to {n - 1}."
        )


def equal_rows(rows: FloatArray) -> IntArray:
    """Return the number of the first row that each row is equal to, (n,).

    By a 64-bit sum of each row's bits, then by looking; time O(n d), memory of a block.
    """
    odd = np.random.default_rng(0).integers(0, 2**63, rows.shape[1], dtype=np.uint64) * 2 + 1
    sums = np.empty(len(rows), np.uint64)
    bits = np.uint32 if rows.dtype == np.float32 else np.uint64
    for start in range(0, len(rows), 4096):
        part = np.ascontiguousarray(rows[start : start + 4096] + rows.dtype.type(0)).view(bits)
        mixed = part.astype(np.uint64) * odd
        mixed ^= mixed >> np.uint64(29)
        sums[start : start + 4096] = mixed.sum(axis=1, dtype=np.uint64)
    _, first, group = np.unique(sums, return_index=True, return_inverse=True)
    leader: IntArray = first[group]
    for i in np.flatnonzero(leader != np.arange(len(rows))):
        if not np.array_equal(rows[i], rows[leader[i]]):
            leader[i] = i
    return leader


def merge_equal(
    judgements: Judgements, queries: FloatArray, documents: FloatArray
) -> tuple[Judgements, IntArray]:
    """Return judgements in which equals count as one, and the queries that are left.

    A query asked several times is one query, for which all that was named is relevant; a document
    that equals a relevant one is as relevant. Queries that name nothing are left out.
    """
    m, n = judgements.shape
    same_query, same_document = equal_rows(queries), equal_rows(documents)
    grades = judgements.grades
    if (same_query != np.arange(m)).any():
        gather = sparse.coo_array((np.ones(m), (same_query, np.arange(m))), shape=(m, m)).tocsr()
        grades = gather @ grades
    if (same_document != np.arange(n)).any():
        ones = np.ones(n)
        to_leader = sparse.coo_array((ones, (np.arange(n), same_document)), shape=(n, n)).tocsr()
        grades = (grades @ to_leader) @ to_leader.T
    grades = sparse.csr_array(grades, dtype=np.float32)
    left = np.flatnonzero(np.diff(grades.indptr))
    return replace(judgements, grades=grades[left]), left
