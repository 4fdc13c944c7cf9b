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
    """All products of fragments of one irrep with fragments of another, not behind it.

    Attributes
    ----------
    first, second : int
        Their places in the input's type; ``second`` ≤ ``first``.
    columns : int ndarray of shape (n, 2)
        The channels (i, j) that meet. Where both are the same irrep, only i ≤ j, those with i = j
        last: their antisymmetric products (of odd degree) are zero.
    outputs : tuple of int
        The places in the output's type of what the products are projected on, by rising degree.
    copies : tuple of int
        Which of several equal parts of the product each of these is; 0 for rotations.
    n_used : tuple of int
        How many of the columns, from the first on, each of these uses.
    starts : tuple of int
        Where the folded weights (n_used, τ) of each begin.
    """

    first: int
    second: int
    columns: IntArray
    outputs: tuple[int, ...]
    copies: tuple[int, ...]
    n_used: tuple[int, ...]
    starts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pairing:
    """The products of one layer.

    A *weight* is what is learned: one complex number for each output degree l, product column
    (l1, l2, i, j) and output channel c, in that order. Swapping the factors of a product only
    changes its sign, by (−1)^(l1+l2−l) for rotations, so weights of swapped columns are *folded*
    into one, and each product is made once: V = W[first] + sign · W[second].

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
        Whether swapping the factors changes the sign: l1 + l2 − l is odd.
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
    chosen = _choose(type_in, type_out)
    blocks = _make_blocks(type_in, type_out, chosen, pairs)
    reached = {place for block in blocks for place in block.outputs}
    for place, (irrep, t) in enumerate(zip(type_out.irreps, type_out.tau, strict=True)):
        if t and place not in reached:
            raise ValueError(
                f"no product ({pairs} pairs) of fragments of {type_in} has degree {irrep}, "
                f"which {type_out} asks for."
            )
    places, fan_in, weight_starts = _place_weights(type_in, type_out, chosen, blocks, pairs)
    tables = [
        _fold(type_in, type_out, block, at, chosen, places, pairs == "ordered")
        for block in blocks
        for at in range(len(block.outputs))
    ]
    first, second, sign, odd = (np.concatenate(table) for table in zip(*tables, strict=True))
    return Pairing(type_in, type_out, blocks, fan_in, weight_starts, first, second, sign, odd)


# From two places of the input's type to (place in the output's, copy) and the sign of swapping.
Chosen = dict[tuple[int, int], dict[tuple[int, int], int]]


def _choose(type_in: FragmentType, type_out: FragmentType) -> Chosen:
    """Return the outputs of each pair of irreps that is used, the second not behind the first."""
    present = [place for place, t in enumerate(type_in.tau) if t]
    chosen: Chosen = {}
    for first in present:
        for second in (place for place in present if place <= first):
            paths = type_in.group.paths(type_in.irreps[first], type_in.irreps[second])
            for path in paths:
                place = type_out.place(path.irrep)
                if place is not None and type_out[place]:
                    chosen.setdefault((first, second), {})[place, path.copy] = path.sign
    return chosen


def _make_blocks(
    type_in: FragmentType, type_out: FragmentType, chosen: Chosen, pairs: str
) -> tuple[Block, ...]:
    blocks = []
    start = 0
    for (a, b), outputs in chosen.items():
        columns = _columns(type_in[a], type_in[b], a == b, pairs == "channelwise")
        distinct = int((columns[:, 0] != columns[:, 1]).sum()) if a == b else len(columns)
        used = {of: distinct if sign < 0 else len(columns) for of, sign in outputs.items()}
        used = {of: n for of, n in used.items() if n}
        if not used:
            continue
        sizes = [n * type_out[place] for (place, _), n in used.items()]
        starts = list(accumulate(sizes, initial=start))
        start = starts.pop()
        places, copies = zip(*used, strict=True)
        blocks.append(Block(a, b, columns, places, copies, tuple(used.values()), tuple(starts)))
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
    chosen: Chosen,
    blocks: tuple[Block, ...],
    pairs: str,
) -> tuple[dict[tuple[int, int, int, int], int], tuple[int, ...], tuple[int, ...]]:
    """Return where the weights of each product begin, the fan-in and the start of each output.

    Ordered pairs have weights for all columns, as published, even where products are zero.
    """
    used = {
        (*of, block.first, block.second): n
        for block in blocks
        for *of, n in zip(block.outputs, block.copies, block.n_used, strict=True)
    }
    places: dict[tuple[int, int, int, int], int] = {}
    fan_in, starts = [], [0]
    for place, channels in enumerate(type_out.tau):
        columns = 0
        for (a, b), outputs in chosen.items():
            for copy in (copy for at, copy in outputs if at == place):
                orders = [(a, b)] if a == b or pairs != "ordered" else [(a, b), (b, a)]
                for order in orders:
                    places[place, copy, *order] = starts[-1] + columns * channels
                    every = type_in[a] * type_in[b]
                    columns += every if pairs == "ordered" else used.get((place, copy, a, b), 0)
        fan_in.append(columns)
        starts.append(starts[-1] + columns * channels)
    return places, tuple(fan_in), tuple(starts)


def _fold(
    type_in: FragmentType,
    type_out: FragmentType,
    block: Block,
    at: int,
    chosen: Chosen,
    places: dict[tuple[int, int, int, int], int],
    ordered: bool,
) -> tuple[IntArray, IntArray, IntArray, np.ndarray]:
    """Return (first, second, sign, odd) of the folded weights of one output of a block."""
    a, b, of = block.first, block.second, (block.outputs[at], block.copies[at])
    n_used, swapped = block.n_used[at], chosen[a, b][of]
    channels = np.arange(type_out[of[0]])
    odd = np.full(n_used * len(channels), swapped < 0)
    if not ordered:
        first = places[*of, a, b] + np.arange(n_used * len(channels))
        return first, first, np.zeros_like(first), odd
    i, j = block.columns[:n_used].T
    first = places[*of, a, b] + ((i * type_in[b] + j) * len(channels))[:, None] + channels
    second = places[*of, b, a] + ((j * type_in[a] + i) * len(channels))[:, None] + channels
    sign = np.full(len(i), swapped)
    sign[(i == j) & (a == b)] = 0
    return first.ravel(), second.ravel(), np.repeat(sign, len(channels)), odd
