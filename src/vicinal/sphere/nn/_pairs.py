"""Which fragments meet in a Clebsch–Gordan product, and which weight belongs to which product."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np

from vicinal._types import IntArray
from vicinal.sphere.harmonic import FragmentType

PAIRS = ("ordered", "unordered", "channelwise")


@dataclass(frozen=True, eq=False)
class Block:
    """All products of fragments of degree l1 with fragments of degree l2 ≤ l1.

    Attributes
    ----------
    l1, l2 : int
    columns : int ndarray of shape (n, 2)
        The channels (i, j) that meet. Where l1 = l2, only i ≤ j, those with i = j last: their
        products of odd degree are zero.
    degrees : tuple of int
        The degrees l that the products are projected on.
    n_used : tuple of int
        How many of the columns, from the first on, each of these degrees uses.
    starts : tuple of int
        Where the folded weights (n_used, τ_l) of each degree begin.
    """

    l1: int
    l2: int
    columns: IntArray
    degrees: tuple[int, ...]
    n_used: tuple[int, ...]
    starts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pairing:
    """The products of one layer.

    A *weight* is what is learned: one complex number for each output degree l, product column
    (l1, l2, i, j) and output channel c, in that order. Swapping the factors of a product only
    changes its sign by (−1)^(l1+l2−l), so weights of swapped columns are *folded* into one, and
    each product is made once: V = W[first] + sign · W[second].

    Attributes
    ----------
    type_in, type_out : FragmentType
    blocks : tuple of Block
    fan_in : tuple of int, length L + 1
        Columns of each output degree; its weights are (fan_in, τ_l).
    weight_starts : tuple of int, length L + 2
        Where the weights of each output degree begin, and their number at the end.
    first, second : int ndarrays of shape (n_folded,)
    sign : ndarray of shape (n_folded,), −1, 0 or 1
        0 where no second weight is folded in.
    odd : bool ndarray of shape (n_folded,)
        Whether l1 + l2 − l is odd.
    """

    type_in: FragmentType
    type_out: FragmentType
    blocks: tuple[Block, ...]
    fan_in: tuple[int, ...]
    weight_starts: tuple[int, ...]
    first: IntArray
    second: IntArray
    sign: IntArray
    odd: np.ndarray

    @property
    def n_weights(self) -> int:
        """The number of complex weights."""
        return self.weight_starts[-1]


@cache
def make_pairing(type_in: FragmentType, type_out: FragmentType, pairs: str) -> Pairing:
    """Return the products that lead from one type to another.

    Parameters
    ----------
    type_in, type_out : FragmentType
    pairs : {"ordered", "unordered", "channelwise"}
        "ordered": a weight for each (l1, i), (l2, j), in either order. "unordered": one for both
        orders, none for products that are zero. "channelwise": unordered pairs of degrees,
        channel i only with channel i.
    """
    if pairs not in PAIRS:
        raise ValueError(f"pairs must be one of {', '.join(PAIRS)}, got {pairs!r}.")
    chosen = _choose(type_in, type_out, pairs)
    blocks = _make_blocks(type_in, type_out, chosen, pairs)
    reached = {l for block in blocks for l in block.degrees}
    missing = [l for l, t in enumerate(type_out.tau) if t and l not in reached]
    if missing:
        raise ValueError(
            f"no product ({pairs} pairs) of fragments of {type_in} has degree {missing[0]}, "
            f"which {type_out} asks for."
        )
    places, fan_in, weight_starts = _place_weights(type_in, type_out, chosen, blocks, pairs)
    tables = [
        _fold(type_in, type_out, block, l, n, places, pairs == "ordered")
        for block in blocks
        for l, n in zip(block.degrees, block.n_used, strict=True)
    ]
    first, second, sign, odd = (np.concatenate(table) for table in zip(*tables, strict=True))
    return Pairing(type_in, type_out, blocks, fan_in, weight_starts, first, second, sign, odd)


def degrees_between(l1: int, l2: int, l_max: int) -> range:
    """Return the degrees of products: |l1 − l2| ≤ l ≤ min(l1 + l2, L)."""
    return range(abs(l1 - l2), min(l1 + l2, l_max) + 1)


def _choose(
    type_in: FragmentType, type_out: FragmentType, pairs: str
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the output degrees of each pair of degrees (l1, l2 ≤ l1) that is used."""
    present = [l for l, t in enumerate(type_in.tau) if t]
    chosen = {}
    for l1 in present:
        for l2 in (l for l in present if l <= l1):
            degrees = degrees_between(l1, l2, type_out.l_max)
            chosen[l1, l2] = tuple(l for l in degrees if type_out[l])
    return {pair: degrees for pair, degrees in chosen.items() if degrees}


def _make_blocks(
    type_in: FragmentType,
    type_out: FragmentType,
    chosen: dict[tuple[int, int], tuple[int, ...]],
    pairs: str,
) -> tuple[Block, ...]:
    blocks = []
    start = 0
    for (l1, l2), degrees in chosen.items():
        columns = _columns(type_in[l1], type_in[l2], l1 == l2, pairs == "channelwise")
        distinct = int((columns[:, 0] != columns[:, 1]).sum()) if l1 == l2 else len(columns)
        used = {l: distinct if l1 == l2 and l % 2 else len(columns) for l in degrees}
        used = {l: n for l, n in used.items() if n}
        if not used:
            continue
        sizes = [n * type_out[l] for l, n in used.items()]
        starts = list(accumulate(sizes, initial=start))
        start = starts.pop()
        blocks.append(Block(l1, l2, columns, tuple(used), tuple(used.values()), tuple(starts)))
    return tuple(blocks)


def _columns(n_first: int, n_second: int, same: bool, channelwise: bool) -> IntArray:
    """Return the channels (i, j) that meet; where degrees are equal, those with i = j last."""
    if channelwise:
        return np.repeat(np.arange(min(n_first, n_second))[:, None], 2, axis=1)
    i, j = np.divmod(np.arange(n_first * n_second), n_second)
    columns = np.stack([i, j], axis=1)
    if not same:
        return columns
    return np.concatenate([columns[i < j], columns[i == j]])


def _place_weights(
    type_in: FragmentType,
    type_out: FragmentType,
    chosen: dict[tuple[int, int], tuple[int, ...]],
    blocks: tuple[Block, ...],
    pairs: str,
) -> tuple[dict[tuple[int, int, int], int], tuple[int, ...], tuple[int, ...]]:
    """Return where the weights of each (l, l1, l2) begin, the fan-in and the start of each degree.

    Ordered pairs have weights for all columns, as published, even where products are zero.
    """
    used = {
        (l, block.l1, block.l2): n
        for block in blocks
        for l, n in zip(block.degrees, block.n_used, strict=True)
    }
    places: dict[tuple[int, int, int], int] = {}
    fan_in, starts = [], [0]
    for l, channels in enumerate(type_out.tau):
        columns = 0
        for l1, l2 in (pair for pair, degrees in chosen.items() if l in degrees):
            orders = [(l1, l2)] if l1 == l2 or pairs != "ordered" else [(l1, l2), (l2, l1)]
            for order in orders:
                places[l, *order] = starts[-1] + columns * channels
                every = type_in[l1] * type_in[l2]
                columns += every if pairs == "ordered" else used.get((l, l1, l2), 0)
        fan_in.append(columns)
        starts.append(starts[-1] + columns * channels)
    return places, tuple(fan_in), tuple(starts)


def _fold(
    type_in: FragmentType,
    type_out: FragmentType,
    block: Block,
    l: int,
    n_used: int,
    places: dict[tuple[int, int, int], int],
    ordered: bool,
) -> tuple[IntArray, IntArray, IntArray, np.ndarray]:
    """Return (first, second, sign, odd) of the folded weights of one block and degree."""
    l1, l2 = block.l1, block.l2
    channels = np.arange(type_out[l])
    odd = np.full(n_used * len(channels), (l1 + l2 - l) % 2 == 1)
    if not ordered:
        first = places[l, l1, l2] + np.arange(n_used * len(channels))
        return first, first, np.zeros_like(first), odd
    i, j = block.columns[:n_used].T
    first = places[l, l1, l2] + ((i * type_in[l2] + j) * len(channels))[:, None] + channels
    second = places[l, l2, l1] + ((j * type_in[l1] + i) * len(channels))[:, None] + channels
    sign = np.full(len(i), -1 if (l1 + l2 - l) % 2 else 1)
    sign[(i == j) & (l1 == l2)] = 0
    return first.ravel(), second.ravel(), np.repeat(sign, len(channels)), odd
