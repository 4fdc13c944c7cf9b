"""Why a prediction is what it is: its neighbours, their votes, and what brought them near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._printable import printable
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.maps import LinearMaps, Maps, project

# Features named in the text of an explanation, and neighbours shown in it.
_NAMED = 3
_SHOWN = 10


@dataclass(frozen=True)
class Explanation:
    """One row's prediction and the k training rows it comes from, nearest first.

    Attributes
    ----------
    prediction : class, or number
    indices : int ndarray of shape (k,)
        Training rows.
    distances : ndarray of shape (k,)
    targets : ndarray of shape (k,)
        What the neighbours vote for.
    votes : dict or None
        Each class's share of the votes, the largest first; None for numbers.
    nearness : ndarray of shape (k, n_features) or None
        How much each feature brought each neighbour near: by how much its part in their squared
        distance is smaller than between two rows at random, negative where it sets them apart.
        None where the training rows were not given or the metric is not of one linear map.
    names : tuple of str
        The features.
    """

    prediction: Any
    indices: IntArray
    distances: FloatArray
    targets: AnyArray
    votes: dict[Any, float] | None
    nearness: FloatArray | None
    names: tuple[str, ...]

    def nearest_features(self, neighbour: int, most: int = _NAMED) -> tuple[str, ...]:
        """Return the features that brought a neighbour near, the most important first."""
        if self.nearness is None:
            return ()
        order = np.argsort(-self.nearness[neighbour], kind="stable")[:most]
        return tuple(self.names[j] for j in order if self.nearness[neighbour, j] > 0)

    def __str__(self) -> str:
        lines = [f"predicted: {_plain(self.prediction)}"]
        if self.votes is not None:
            shares = ", ".join(f"{_plain(c)} {v:.0%}" for c, v in self.votes.items() if v > 0)
            lines.append(f"votes: {shares}")
        for number, row in enumerate(self.indices[:_SHOWN]):
            near = self.nearest_features(number)
            alike = f", alike in {', '.join(map(printable, near))}" if near else ""
            target, distance = _plain(self.targets[number]), self.distances[number]
            lines.append(f"  row {row} at {distance:.4g}: {target}{alike}")
        if len(self.indices) > _SHOWN:
            more, farthest = len(self.indices) - _SHOWN, self.distances[-1]
            lines.append(f"  and {more} more, up to {farthest:.4g} away")
        return "\n".join(lines)


def list_explanations(
    predictions: AnyArray, indices: IntArray, distances: FloatArray, targets: AnyArray,
    votes: Sequence[dict[Any, float]] | None, nearness: FloatArray | None, names: tuple[str, ...],
) -> list[Explanation]:  # fmt: skip
    """Return an explanation a row; of all but the names, entry i belongs to row i."""
    return [
        Explanation(
            prediction,
            indices[i],
            distances[i],
            targets[i],
            None if votes is None else votes[i],
            None if nearness is None else nearness[i],
            names,
        )
        for i, prediction in enumerate(predictions)
    ]


def check_same_rows(rows: AnyArray, n_fitted: int) -> None:
    """Refuse rows that cannot be those of the fit."""
    if len(rows) != n_fitted:
        raise ValueError(f"training_rows are {len(rows)}, but fit was given {n_fitted}.")


def nearness_of(
    maps: Maps, training_rows: FloatArray, queries: FloatArray, neighbours: IntArray
) -> FloatArray | None:
    r"""Return how much each feature brought each neighbour near, (m, k, d).

    The squared distance of x and z is the sum over features j of g_j (M g)_j, g = x − z. A
    feature's nearness is that part's mean over pairs of training rows, less the part itself.
    None where the metric is not of one linear map. O(m k d p + n d p) time.
    """
    if not (isinstance(maps, LinearMaps) and maps.is_symmetric):
        return None

    def parts(gaps: FloatArray) -> FloatArray:
        """Each feature's part in the squared length of gaps (…, d)."""
        flat = gaps.reshape(-1, gaps.shape[-1])
        turned = flat if maps.A is None else project(flat, maps.A) @ maps.A
        return gaps * turned.reshape(gaps.shape)

    typical = 2 * parts(training_rows - training_rows.mean(axis=0)).mean(axis=0)
    return np.stack(
        [
            typical - parts(query - training_rows[near])
            for query, near in zip(queries, neighbours, strict=True)
        ]
    )


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else printable(str(value))
