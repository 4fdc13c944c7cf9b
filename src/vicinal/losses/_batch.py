"""A batch as losses see it: queries, the points they may use, and distances between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vicinal._types import BoolArray, FloatArray, IntArray
from vicinal.pairs import rounded_squared_distances

# Entries of a block of distances: memory stays bounded whatever the number of references.
BLOCK_ENTRIES = 1 << 22
_DIVERGED = "the network has diverged: use a smaller learning rate, or clip its gradients."
_SIDES = ("the batch", "the references")

# What turns (m, p) queries and (n, p) references into (m, n) distances.
Distance = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Batch:
    """Queries (m, p), references (n, p), their targets (m,) and (n,), and who may use whom.

    ``itself`` says that the references are the batch, of which no row is its own neighbour;
    ``pairs`` (2, s), where given, are the only (query, reference) pairs there are.
    """

    queries: Tensor
    references: Tensor
    targets: Tensor
    reference_targets: Tensor
    itself: bool
    pairs: IntArray | None = None

    def blocks(self, distance: Distance | None) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of queries and their distances (b, n) without gradient, inf where barred."""
        m, n = len(self.queries), len(self.references)
        size = max(1, BLOCK_ENTRIES // max(n, 1))
        plain = _Squared(self) if distance is None else None
        for first in range(0, m, size):
            rows = slice(first, min(first + size, m))
            if plain is not None:
                block = plain.block(rows)
            else:
                assert distance is not None
                with torch.no_grad():
                    block = _to_numpy(distances(distance, self.queries[rows], self.references))
            yield rows, self._bar(rows, block)

    def _bar(self, rows: slice, block: FloatArray) -> FloatArray:
        if np.isnan(block).any():
            raise ValueError(f"some distances between embeddings are not numbers; {_DIVERGED}")
        if self.itself:
            own = np.arange(rows.start, rows.stop)
            block[own - rows.start, own] = np.inf
        if self.pairs is not None:
            queries, points = self.pairs
            inside = (queries >= rows.start) & (queries < rows.stop)
            barred = np.ones(block.shape, bool)
            barred[queries[inside] - rows.start, points[inside]] = False
            block[barred] = np.inf
        return block

    def pair_distances(
        self, distance: Distance | None, queries: IntArray, points: IntArray
    ) -> Tensor:
        """Return the distances (s,) of pairs, with gradient."""
        device = self.queries.device
        left, right = (torch.from_numpy(part).to(device) for part in (queries, points))
        if distance is not None:
            return distances(distance, self.queries, self.references)[left, right]
        gaps = self.queries[left] - self.references[right]
        return (gaps * gaps).sum(dim=1)


class _Squared:
    """Squared Euclidean distances in float64 about the references' mean, block by block."""

    def __init__(self, batch: Batch) -> None:
        references = _to_numpy(batch.references)
        centre = references.mean(axis=0)
        self.queries, self.references = _to_numpy(batch.queries) - centre, references - centre

    def block(self, rows: slice) -> FloatArray:
        return rounded_squared_distances(self.queries[rows], self.references)


def distances(distance: Distance, queries: Tensor, references: Tensor) -> Tensor:
    """Return (m, n) distances; a similarity of pytorch-metric-learning counts with a minus."""
    matrix = distance(queries, references)
    return -matrix if getattr(distance, "is_inverted", False) else matrix


def _to_numpy(tensor: Tensor) -> FloatArray:
    values: FloatArray = tensor.detach().to("cpu", torch.float64).numpy()
    return values


def read_batch(
    embeddings: Tensor,
    labels: Tensor,
    indices_tuple: Sequence[Tensor] | None,
    ref_emb: Tensor | None,
    ref_labels: Tensor | None,
) -> Batch:
    """Return the batch a loss was called with; refuse shapes that do not fit together."""
    _check_side("embeddings", embeddings, "labels", labels)
    if (ref_emb is None) != (ref_labels is None):
        raise ValueError("ref_emb and ref_labels come together: give both, or neither.")
    itself = ref_emb is None or ref_emb is embeddings
    references, targets = embeddings, labels
    if ref_emb is not None and ref_labels is not None:
        _check_side("ref_emb", ref_emb, "ref_labels", ref_labels)
        references, targets = ref_emb, ref_labels
    if references.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"embeddings have {embeddings.shape[1]} columns and ref_emb {references.shape[1]}; "
            "queries and references must lie in one space."
        )
    pairs = None
    if indices_tuple is not None:
        pairs = mined_pairs(indices_tuple, len(embeddings), len(references))
    # Squares of half floats overflow at 256, and the two sides may come from different sources.
    wide = torch.promote_types(torch.promote_types(embeddings.dtype, references.dtype), torch.float)
    return Batch(embeddings.to(wide), references.to(wide), labels, targets, itself, pairs)


def _check_side(name: str, embeddings: Any, labels_name: str, labels: Any) -> None:
    if not isinstance(embeddings, Tensor) or embeddings.ndim != 2:
        shape = tuple(getattr(embeddings, "shape", ()))
        raise ValueError(f"{name} must be a tensor of shape (rows, columns), got shape {shape}.")
    if not embeddings.is_floating_point():
        raise ValueError(f"{name} must hold floats, got {embeddings.dtype}.")
    if embeddings.layout != torch.strided or embeddings.is_meta:
        raise ValueError(f"{name} must be a dense tensor with values; call .to_dense() first.")
    if not torch.isfinite(embeddings).all():
        raise ValueError(f"{name} hold NaN or infinity; {_DIVERGED}")
    if not isinstance(labels, Tensor) or labels.shape != embeddings.shape[:1]:
        shape = tuple(getattr(labels, "shape", ()))
        raise ValueError(
            f"{labels_name} must be a tensor of shape ({len(embeddings)},), one to a row of "
            f"{name}; got shape {shape}."
        )


def mined_pairs(indices_tuple: Sequence[Tensor], n_queries: int, n_references: int) -> IntArray:
    """Return (2, s) pairs of triplets (a, p, n) or of pairs (a, p, a', n), as miners name them."""
    if not isinstance(indices_tuple, Sequence) or len(indices_tuple) not in (3, 4):
        n_parts = len(indices_tuple) if isinstance(indices_tuple, Sequence) else repr(indices_tuple)
        raise ValueError(
            f"indices_tuple must have three parts (triplets) or four (pairs), got {n_parts}."
        )
    parts = [_row_numbers(part) for part in indices_tuple]
    if len(parts) == 3:
        parts = [parts[0], parts[1], parts[0], parts[2]]
    if any(len(parts[side]) != len(parts[side + 1]) for side in (0, 2)):
        sizes = ", ".join(str(len(part)) for part in parts)
        raise ValueError(f"the parts of indices_tuple must be of one length, but have {sizes}.")
    pairs = np.stack([np.concatenate(parts[::2]), np.concatenate(parts[1::2])])
    for numbers, count, what in zip(pairs, (n_queries, n_references), _SIDES, strict=True):
        if ((numbers < 0) | (numbers >= count)).any():
            raise ValueError(
                f"indices_tuple names a row of {what} that is none of the {count} there are."
            )
    return pairs


def _row_numbers(part: Any) -> IntArray:
    whole = isinstance(part, Tensor) and not (part.is_floating_point() or part.is_complex())
    if not whole or part.dtype == torch.bool or part.ndim != 1:
        raise ValueError(
            "the parts of indices_tuple must be tensors of row numbers, one axis each."
        )
    numbers: IntArray = part.detach().to("cpu", torch.int64).numpy()
    return numbers


def class_codes(batch: Batch) -> tuple[IntArray, IntArray, IntArray]:
    """Return the classes of queries and of references as 0..R−1, and their labels (R,)."""
    for name, labels in (("labels", batch.targets), ("ref_labels", batch.reference_targets)):
        if labels.is_floating_point() or labels.is_complex():
            raise ValueError(f"{name} must be whole numbers, a class to a row; got {labels.dtype}.")
    sides = [part.detach().to("cpu").numpy() for part in (batch.targets, batch.reference_targets)]
    classes, codes = np.unique(np.concatenate(sides), return_inverse=True)
    codes = codes.astype(np.int32)
    return codes[: len(sides[0])], codes[len(sides[0]) :], classes


def feasible_mean(losses: Tensor, feasible: BoolArray, batch: Batch) -> Tensor:
    """Return the mean loss of the rows that have one; a zero with gradient where none has."""
    if not feasible.any():
        return batch.queries.sum() * 0 + batch.references.sum() * 0
    mean = losses.sum() / int(feasible.sum())
    if not torch.isfinite(mean):
        largest = max(
            float(side.detach().abs().max()) for side in (batch.queries, batch.references)
        )
        raise ValueError(
            f"the loss of embeddings as large as {largest:.3g} is beyond {mean.dtype}; bring "
            f"settings and targets to their scale. Else {_DIVERGED}"
        )
    return mean
