"""Damage to bytes, and malice to values of JSON."""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import numpy as np

STRANGE_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**70), 10**30, 0.5, -1e308, float("nan"),
    float("inf"), "", "x", "NaN", "auto", "../../etc/passwd", "\x00\x1b[2J", "0" * 5000, [], [None],
    [[[]]], {}, {"dict": []}, {"tuple": []}, {"tuple": [1, "a"]}, {"array": 0}, {"array": 1},
    {"array": 99999}, {"array": -1}, {"array": "0"}, {"scalar": 0}, {"objects": [1], "shape": [7]},
    {"objects": [], "shape": [0, 10**12]}, {"random_state": {"dict": []}},
    {"type": "vicinal.rivals:LDA", "state": {}}, {"type": "os:system", "state": {}},
    {"type": "vicinal.predict:KNNClassifier", "state": {"n_neighbors": 3}},
    {"type": "vicinal.index:ExactIndex", "arguments": {"vectors": {"array": 0}}},
]  # fmt: skip


def damage(data: bytes, random: np.random.Generator) -> bytes:
    """Return bytes with something wrong: flipped, cut, doubled, moved, blanked or inserted."""
    changed = bytearray(data)
    start, end = sorted(random.integers(0, len(data), 2))
    end = min(end, start + 200) + 1
    match random.integers(7):
        case 0:
            changed[start] ^= 1 << random.integers(8)
        case 1:
            del changed[start:]
        case 2:
            del changed[start:end]
        case 3:
            changed[start:start] = changed[start:end]
        case 4:
            changed[start:end] = bytes(end - start)
        case 5:
            changed[start:start] = random.bytes(int(random.integers(1, 9)))
        case _:
            other = int(random.integers(0, len(data)))
            changed[start:end] = data[other : other + end - start]
    return bytes(changed)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values within a value of JSON."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list):
        for number in range(min(len(value), 20)):
            found += places(value[number], (*path, number))
    return found


def corrupt(value: Any, random: np.random.Generator) -> Any:
    """Return JSON of which one value is strange, gone, doubled, nudged or another's."""
    changed = copy.deepcopy(value)
    ways = places(value)
    path = ways[random.integers(len(ways))]
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    old = holder[path[-1]]
    match random.integers(6):
        case 0 | 1:
            holder[path[-1]] = copy.deepcopy(STRANGE_VALUES[random.integers(len(STRANGE_VALUES))])
        case 2:
            del holder[path[-1]]
        case 3:
            holder[path[-1]] = [copy.deepcopy(old), copy.deepcopy(old)]
        case 4:
            other: Any = value
            for step in ways[random.integers(len(ways))]:
                other = other[step]
            holder[path[-1]] = copy.deepcopy(other)
        case _:
            is_number = isinstance(old, int | float) and not isinstance(old, bool)
            holder[path[-1]] = old + int(random.choice([-1, 1])) if is_number else json.dumps(old)
    return changed


def corrupt_array(data: bytes, random: np.random.Generator) -> bytes:
    """Return the .npy file of another array than the one in ``data``."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    match random.integers(8):
        case 0:
            array = array[..., :-1] if array.ndim else np.zeros(3)
        case 1:
            array = array[:0] if array.ndim else np.zeros(0)
        case 2:
            array = array.reshape(-1)
        case 3:
            array = array[None]
        case 4 if array.dtype.kind in "biuf":
            array = array.astype(random.choice(["S3", "U2", "c16", "f4", "i1", "?", "u8", "M8[s]"]))
        case 5 if array.size and array.dtype.kind == "f":
            array.reshape(-1)[random.integers(array.size)] = random.choice([np.nan, np.inf, 1e308])
        case 6 if array.size and array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            array.reshape(-1)[random.integers(array.size)] = random.choice([limits.min, limits.max])
        case _:
            array = np.concatenate([array, array]) if array.ndim else array
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()
