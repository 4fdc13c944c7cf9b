"""Which search finds the candidate lists: exact, approximate, or one of faiss."""

from __future__ import annotations

from vicinal._types import FloatArray, IntArray
from vicinal.metric.candidates._approximate import approximate_candidates
from vicinal.metric.candidates._exact import ClassOrder, refresh_candidates

SEARCHES = ("exact", "approximate", "faiss")
# Where comparing all rows with all rows begins to cost more than exchanging lists.
EXACT_UP_TO = 20_000


def choose_search(n_rows: int) -> str:
    """Return the search that is quicker with so many rows."""
    return "exact" if n_rows <= EXACT_UP_TO else "approximate"


def choose_refresh(search: str) -> int:
    """Return the epochs between searches: fewer where a search costs little beside an epoch."""
    return 1 if search == "approximate" else 4


def find_candidates(
    search: str,
    mapped: FloatArray,
    classes: ClassOrder,
    n_own: int,
    n_other: int,
    *,
    queries: FloatArray | None = None,
    previous: IntArray | None,
    seed: tuple[int, ...],
    n_threads: int,
) -> IntArray:
    """Return each row's nearest own-class rows, then its nearest rows of other classes.

    Parameters and result as in :func:`~vicinal.metric.candidates._exact.refresh_candidates`;
    ``seed`` decides what an approximate search leaves to chance. With ``queries`` that are not the
    mapped rows, the approximate searches take those near a row's own place for near its query.
    """
    if search == "exact":
        return refresh_candidates(
            mapped, classes, n_own, n_other, queries=queries, previous=previous, n_threads=n_threads
        )
    if search == "faiss":
        from vicinal.metric.candidates._faiss import faiss_candidates

        return faiss_candidates(
            mapped, classes, n_own, n_other, previous=previous, n_threads=n_threads
        )
    return approximate_candidates(
        mapped, classes, n_own, n_other, previous=previous, seed=seed, n_threads=n_threads
    )


def require_faiss() -> None:
    """Raise an error that names the extra where faiss is not installed."""
    from vicinal.index import import_faiss

    import_faiss("candidates='faiss'")
