"""Search by faiss, for collections where exact search is too slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vicinal._threads import thread_count
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._changes import rows_left
from vicinal.index._inputs import (
    check_queries,
    check_radius,
    check_unit,
    check_vectors,
    check_width,
)
from vicinal.pairs import in_units

# Squared distances of larger values leave float32; those of values within the usual range, and
# differences a billionth of them, do not.
_LARGEST_VALUE, _USUAL_VALUE = 1e15, 1e9
_TOO_SMALL = re.compile(r"(?<![0-9])0+(?![0-9])|HNSW0*1(?![0-9])")


class FaissIndex:
    """Search by squared Euclidean distance with any index faiss can build.

    Same questions as :class:`ExactIndex`, faiss' answers: distances are rounded to float32, the
    order among equal distances is faiss' own, and an approximate index may miss neighbours.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        Searched as float32.
    factory : str, default="Flat"
        What to build, in faiss' words: "Flat" (exhaustive), "HNSW32" (graph), "IVF256,Flat"
        (inverted lists), and so on. Indexes that need training are trained on ``vectors``. Search
        parameters follow after a semicolon: "IVF256,Flat;nprobe=16", "HNSW32;efSearch=64".
    n_jobs : int, default=None
        Threads. None takes as many as the linear algebra library is set to use.

    Attributes
    ----------
    vectors : ndarray of shape (n, d)
    unit : float
        Squared distances are in this unit, squared: 1, or a power of two where the squares of the
        values themselves would leave float32. A distance is √squared · unit.
    index : faiss.Index
        Set its search parameters here, as ``index.nprobe`` or ``index.hnsw.efSearch``.

    Notes
    -----
    Needs the extra ``faiss``: ``pip install 'vicinal[faiss]'``.

    Examples
    --------
    >>> from vicinal import FaissIndex
    >>> index = FaissIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> squared_distances, indices = index.query([[0.0, 0.0]], k=2)
    >>> squared_distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    """

    def __init__(
        self, vectors: ArrayLike, factory: str = "Flat", *, n_jobs: int | None = None
    ) -> None:
        faiss = import_faiss()
        self.vectors = check_vectors(vectors)
        self.unit = check_unit(self.vectors, largest=_USUAL_VALUE, least=1 / _LARGEST_VALUE)
        self._rows = in_units(self.vectors, self.unit).astype(np.float32, copy=False)
        self.factory = factory
        self.n_jobs = n_jobs
        with _faiss_threads(faiss, n_jobs):
            self.index = _build(faiss, self._rows, factory)

    def query(self, queries: ArrayLike, k: int) -> tuple[FloatArray, IntArray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        queries : array-like of shape (m, d)
        k : int
            At most n.

        Returns
        -------
        squared_distances : float64 ndarray of shape (m, k)
            Ascending, as precise as float32.
        indices : int64 ndarray of shape (m, k)
            Rows of ``vectors``.

        Raises
        ------
        RuntimeError
            An approximate index found fewer than k rows for some query.
        """
        rows = self._as_float32(queries)
        k = check_neighbors(k, len(self.vectors))
        with _faiss_threads(import_faiss(), self.n_jobs):
            squared_distances, indices = self.index.search(rows, k)
        if (indices < 0).any():
            raise RuntimeError(
                f"faiss' index {self.factory!r} found fewer than k={k} neighbours for "
                f"{int((indices < 0).any(axis=1).sum())} queries; let it search wider (nprobe, "
                "efSearch), as in 'IVF128,Flat;nprobe=16', or use ExactIndex."
            )
        return np.maximum(squared_distances, 0).astype(np.float64), indices

    def query_part(
        self, queries: ArrayLike, k: int, part: range, *, outside: bool = False
    ) -> tuple[FloatArray, IntArray]:
        """Find the k nearest rows of each query among ``part`` of the rows, or outside of it.

        Parameters
        ----------
        queries : array-like of shape (m, d)
        k : int
        part : range
            Consecutive rows.
        outside : bool
            Whether to look at all other rows instead.

        Returns
        -------
        squared_distances : float64 ndarray of shape (m, k)
            Ascending, as precise as float32; inf where the index found fewer than k.
        indices : int64 ndarray of shape (m, k)
            Rows of ``vectors``; −1 where the index found fewer than k.
        """
        faiss = import_faiss()
        rows = self._as_float32(queries)
        within = faiss.IDSelectorRange(part.start, part.stop)
        selector = faiss.IDSelectorNot(within) if outside else within
        parameters = _search_parameters(faiss, self.index, selector)
        with _faiss_threads(faiss, self.n_jobs):
            # Where torch_utils of faiss is loaded, ``search`` no longer takes parameters.
            search = getattr(self.index, "search_numpy", self.index.search)
            squared_distances, indices = search(rows, k, params=parameters)
        squared_distances = np.where(indices < 0, np.inf, np.maximum(squared_distances, 0))
        return squared_distances.astype(np.float64), indices

    def distances(self, values: FloatArray) -> FloatArray:
        """Return the distances that stand behind what was returned as squared ones."""
        distances: FloatArray = np.sqrt(values) * self.unit
        return distances

    def query_radius(
        self, queries: ArrayLike, radius: float
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Find the rows within a distance of each query, where the index can.

        Returns
        -------
        squared_distances : float64 ndarray of shape (found,)
            Query after query, ascending within each, as precise as float32.
        indices : int64 ndarray of shape (found,)
        indptr : int64 ndarray of shape (m + 1,)
            What belongs to query i stands at ``indptr[i]:indptr[i + 1]``.
        """
        rows = self._as_float32(queries)
        squared_radius = np.float32(min(check_radius(radius) / self.unit, _LARGEST_VALUE) ** 2)
        # faiss leaves out what lies exactly on the radius.
        beyond = float(np.nextafter(squared_radius, np.float32(np.inf)))
        with _faiss_threads(import_faiss(), self.n_jobs):
            indptr, values, indices = self._range_search(rows, beyond)
        owners = np.repeat(np.arange(len(rows)), np.diff(indptr))
        order = np.lexsort((indices, values, owners))
        return np.maximum(values[order], 0).astype(np.float64), indices[order], indptr

    def _as_float32(self, queries: ArrayLike) -> FloatArray:
        rows = check_queries(queries, self._rows, self.unit)
        if np.abs(rows).max(initial=0.0) > _LARGEST_VALUE:
            raise ValueError(
                f"queries hold values beyond {_LARGEST_VALUE * self.unit:g}, whose squared "
                "distances overflow faiss' float32; rescale them or use ExactIndex."
            )
        return rows.astype(np.float32, copy=False)

    def add_rows(self, vectors: ArrayLike) -> None:
        """Put rows behind the present ones. An approximate index is not trained anew for them."""
        new = check_width(check_vectors(vectors), self.vectors)
        together = np.concatenate([self.vectors, new])
        unit = check_unit(together, largest=_USUAL_VALUE, least=1 / _LARGEST_VALUE)
        if unit != self.unit:  # the rows are held in another one
            self.__init__(together, self.factory, n_jobs=self.n_jobs)  # type: ignore[misc]
            return
        added = in_units(new, unit).astype(np.float32, copy=False)
        with _faiss_threads(import_faiss(), self.n_jobs):
            self.index.add(added)
        self.vectors, self._rows = together, np.concatenate([self._rows, added])

    def remove_rows(self, rows: ArrayLike) -> None:
        """Take rows out, by number or by a mask (n,), and build the index of those that stay."""
        left = rows_left(rows, len(self.vectors), "rows")
        self.__init__(self.vectors[left], self.factory, n_jobs=self.n_jobs)  # type: ignore[misc]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("vectors", "factory", "n_jobs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _range_search(self, rows: FloatArray, squared_radius: float) -> Any:
        # A graph answers more queries in rounds, and faiss ends the process after the first.
        size = 1 if "HNSW" in self.factory else max(1, len(rows))
        blocks = [rows[start : start + size] for start in range(0, max(1, len(rows)), size)]
        try:
            ranges = [self.index.range_search(block, squared_radius) for block in blocks]
        except RuntimeError as error:
            raise ValueError(
                f"faiss' index {self.factory!r} cannot search by radius; use factory='Flat' or "
                "ExactIndex."
            ) from error
        counts, values, indices = zip(*((np.diff(f[0]), f[1], f[2]) for f in ranges), strict=True)
        limits = np.concatenate([[0], np.cumsum(np.concatenate(counts), dtype=np.int64)])
        return limits, np.concatenate(values), np.concatenate(indices)


def import_faiss(user: str = "FaissIndex") -> ModuleType:
    """Return the library; where it is missing, say who needs it and which extra brings it."""
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            f"{user} needs faiss, which is not installed: pip install 'vicinal[faiss]'."
        ) from error
    module: ModuleType = faiss
    return module


def _search_parameters(faiss: ModuleType, index: Any, selector: Any) -> Any:
    """Return the search parameters of an index, narrowed to the rows a selector lets through."""
    if isinstance(index, faiss.IndexIVF):
        return faiss.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        return faiss.SearchParametersHNSW(sel=selector, efSearch=index.hnsw.efSearch)
    return faiss.SearchParameters(sel=selector)


def _check_factory(factory: Any) -> tuple[str, str]:
    """Return what to build and how to search; refuse sizes at which faiss ends the process."""
    if not isinstance(factory, str):
        raise ValueError(f"factory must be a text in faiss' words, as 'HNSW32'; got {factory!r}.")
    kind, _, searched = factory.partition(";")
    if _TOO_SMALL.search(kind):
        raise ValueError(
            f"faiss cannot build {factory!r}: the numbers of its parts must be at least 1, and a "
            "graph (HNSW) needs 2 links."
        )
    return kind, searched


def _build(faiss: ModuleType, vectors: FloatArray, factory: str) -> Any:
    kind, searched = _check_factory(factory)
    try:
        index = faiss.index_factory(vectors.shape[1], kind)
        if searched:
            faiss.ParameterSpace().set_index_parameters(index, searched)
        index.train(vectors)
        index.add(vectors)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ValueError(
            f"faiss cannot build {factory!r} for {len(vectors)} vectors of {vectors.shape[1]} "
            f"columns: {reason}"
        ) from error
    return index


@contextmanager
def _faiss_threads(faiss: ModuleType, n_jobs: int | None) -> Iterator[None]:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(thread_count(n_jobs))
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
