"""Maps: what every learner makes, and all that later stages see.

    learner ─▶ Maps ─▶ database(X) ─▶ an index
                  └──▶ queries(X) ──▶ what the index is asked

A metric is a pair of maps into a space where an ordinary index searches: one for the rows that are
found, one for the rows that ask. ``space`` says which index: vectors are searched by the Euclidean
distance, packed codes by the Hamming distance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from vicinal._types import AnyArray, FloatArray

Space = Literal["euclidean", "hamming"]


class Maps(ABC):
    """Where a metric puts database rows and queries."""

    space: ClassVar[Space] = "euclidean"

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether both sides are one map."""

    @property
    @abstractmethod
    def directions(self) -> tuple[FloatArray, ...]:
        """Matrices (p, d) whose columns say how each feature moves a row; none where unknown."""

    @property
    def ranking(self) -> Any:
        """What ranks the nearest again where the metric differs from place to place, or None."""
        return None

    @abstractmethod
    def database(self, X: AnyArray) -> AnyArray:
        """Return rows (n, d) as the index holds them."""

    @abstractmethod
    def queries(self, X: AnyArray) -> AnyArray:
        """Return rows (n, d) as the index is asked for them."""


@dataclass(frozen=True)
class LinearMaps(Maps):
    """x ↦ A x for the database and x ↦ Q x + b for queries: ‖Q x + b − A z‖².

    ``A`` (p, d) may be None, the identity: a database left as it is. ``Q`` None is A, and ``b``
    None is zero.
    """

    A: FloatArray | None
    Q: FloatArray | None = None
    b: FloatArray | None = None
    ranking: Any = None

    @property
    def is_symmetric(self) -> bool:
        """Whether queries have no map or offset of their own."""
        return self.Q is None and self.b is None

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """The matrices of both sides."""
        return tuple(side for side in (self.A, self.Q) if side is not None)

    def database(self, X: AnyArray) -> AnyArray:
        """Return X Aᵀ."""
        return X if self.A is None else project(X, self.A)

    def queries(self, X: AnyArray) -> AnyArray:
        """Return X Qᵀ + b."""
        mapped = self.database(X) if self.Q is None else project(X, self.Q)
        return mapped if self.b is None else mapped + self.b


Projection = Callable[[AnyArray], FloatArray]


@dataclass(frozen=True)
class CodeMaps(Maps):
    """Codes: the signs of projections, packed by 8; queries as tanh(s ∘ u) / 2, not yet bits.

    ``project`` gives (n, c) for the database, ``project_queries`` for queries (None: the same);
    ``scale`` (c,) is s; ``weights`` the matrices (c, d) of linear projections, if they are.
    """

    project: Projection
    scale: FloatArray
    project_queries: Projection | None = None
    weights: tuple[FloatArray, ...] = ()
    space: ClassVar[Space] = "hamming"

    @property
    def is_symmetric(self) -> bool:
        """Never: a query keeps what its bits lose."""
        return False

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """The weights of linear projections."""
        return self.weights

    def database(self, X: AnyArray) -> AnyArray:
        """Return packed codes: uint8 of shape (n, c / 8)."""
        return np.packbits(self.project(X) > 0, axis=1)

    def query_codes(self, X: AnyArray) -> AnyArray:
        """Return the packed codes of queries."""
        return np.packbits((self.project_queries or self.project)(X) > 0, axis=1)

    def queries(self, X: AnyArray) -> AnyArray:
        """Return tanh(s ∘ u) / 2, (n, c), of which the signs are the codes."""
        projected = (self.project_queries or self.project)(X)
        return np.tanh(projected * self.scale).astype(projected.dtype) / 2


@dataclass(frozen=True)
class FunctionMaps(Maps):
    """Any function of rows: trees, a diffusion map, a network, another library's transformer.

    ``map_queries`` None is the database's. ``matrices`` are what :attr:`directions` gives.
    """

    map_database: Projection
    map_queries: Projection | None = None
    matrices: tuple[FloatArray, ...] = ()
    space: Space = "euclidean"  # type: ignore[misc]

    @property
    def is_symmetric(self) -> bool:
        """Whether queries have no function of their own."""
        return self.map_queries is None

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """What is known of the features' part."""
        return self.matrices

    def database(self, X: AnyArray) -> AnyArray:
        """Return what the function gives."""
        return self.map_database(X)

    def queries(self, X: AnyArray) -> AnyArray:
        """Return what the queries' function gives."""
        return (self.map_queries or self.map_database)(X)


@dataclass(frozen=True)
class PreparedMaps(Maps):
    """Maps of rows that other steps prepare first, as those of a pipeline do."""

    prepare: Callable[[AnyArray], AnyArray]
    after: Maps

    @property
    def space(self) -> Space:  # type: ignore[override]
        """Where the last step puts rows."""
        return self.after.space

    @property
    def is_symmetric(self) -> bool:
        """Whether the last step's maps are one."""
        return self.after.is_symmetric

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """Unknown: the last step sees other columns."""
        return ()

    @property
    def ranking(self) -> Any:
        """The last step's."""
        return self.after.ranking

    def database(self, X: AnyArray) -> AnyArray:
        """Return prepared rows, mapped."""
        return self.after.database(self.prepare(X))

    def queries(self, X: AnyArray) -> AnyArray:
        """Return prepared queries, mapped."""
        return self.after.queries(self.prepare(X))


@dataclass(frozen=True)
class UnitMaps(Maps):
    """Maps whose rows are brought to unit length: the nearest is what has the largest cosine.

    A mapped row of zeros stays where it is.
    """

    before: Maps

    @property
    def is_symmetric(self) -> bool:
        """Whether the maps before are one."""
        return self.before.is_symmetric

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """Unknown: how a feature moves a row depends on where the row is."""
        return ()

    def database(self, X: AnyArray) -> AnyArray:
        """Return mapped rows of unit length."""
        return _unit_rows(self.before.database(X))

    def queries(self, X: AnyArray) -> AnyArray:
        """Return mapped queries of unit length."""
        return _unit_rows(self.before.queries(X))


def _unit_rows(rows: AnyArray) -> FloatArray:
    rows = np.ascontiguousarray(rows)
    # By the largest entry first, so that no square leaves the range of floats.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest > 0, largest, 1)
    squared = np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)[:, None]
    unit: FloatArray = scaled / np.sqrt(np.where(squared > 0, squared, 1))
    return unit.astype(rows.dtype, copy=False)


@dataclass(frozen=True)
class SideBySideMaps(Maps):
    """Vectors of several maps beside each other, each at its scale: squared distances add.

    ‖z − z'‖² = Σ_s c_s² ‖φ_s(x) − φ_s(x')‖², the mean of metrics whatever their maps are.
    """

    parts: tuple[Maps, ...]
    scales: tuple[float, ...]

    @property
    def is_symmetric(self) -> bool:
        """Whether no part has a map of its own for queries."""
        return all(part.is_symmetric for part in self.parts)

    @property
    def directions(self) -> tuple[FloatArray, ...]:
        """Unknown, as long as that of a part is."""
        return ()

    def database(self, X: AnyArray) -> AnyArray:
        """Return each part's rows beside each other."""
        return self._beside([part.database(X) for part in self.parts], X)

    def queries(self, X: AnyArray) -> AnyArray:
        """Return each part's queries beside each other."""
        return self._beside([part.queries(X) for part in self.parts], X)

    def alone(self, s: int) -> SideBySideMaps:
        """Return one part at its scale."""
        return SideBySideMaps((self.parts[s],), (self.scales[s],))

    def widths(self, X: AnyArray) -> list[int]:
        """Return how many numbers of a mapped row are each part's, by some rows (n, d)."""
        return [int(np.shape(part.database(X))[1]) for part in self.parts]

    def _beside(self, places: list[AnyArray], X: AnyArray) -> FloatArray:
        scaled = [c * np.asarray(z) for c, z in zip(self.scales, places, strict=True)]
        return np.ascontiguousarray(np.hstack(scaled), dtype=np.result_type(X.dtype, np.float32))


PLAIN = LinearMaps(None)


def stacked(maps: Maps) -> FloatArray:
    """Return the matrix of a linear map, or both of two, (2, p, d): of queries, of the database."""
    assert isinstance(maps, LinearMaps)
    assert maps.A is not None
    return maps.A if maps.Q is None else np.stack([maps.Q, maps.A])


def project(X: AnyArray, components: FloatArray) -> FloatArray:
    """Return X Aᵀ densely; a sparse X is never made dense itself."""
    return np.ascontiguousarray(X @ components.T)


def relevance(maps: Maps, spread: FloatArray | float) -> FloatArray | None:
    """Return each feature's share in the squared distance of rows that vary by ``spread``, (d,).

    r_j ∝ Σ_sides ‖A_j‖² s_j², summing to 1; None where the maps do not say how features count.
    """
    if not maps.directions:
        return None
    sums = [np.einsum("ij,ij->j", side, side, dtype=np.float64) for side in maps.directions]
    shares: FloatArray = np.sum(sums, axis=0) * np.square(spread)
    total = shares.sum()
    return shares / total if total > 0 else shares
