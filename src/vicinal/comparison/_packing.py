"""Arrays inside JSON records: compressed, as text."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from vicinal._types import AnyArray, BoolArray, FloatArray

_LEVELS = 65535  # of 16 bits


def pack_bytes(data: bytes) -> str:
    """Return bytes as text: compressed, base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def unpack_bytes(text: str) -> bytes:
    """Return the bytes :func:`pack_bytes` packed."""
    return zlib.decompress(base64.b64decode(text))


def pack_bits(bits: BoolArray) -> str:
    """Return bits as text."""
    return pack_bytes(np.packbits(bits).tobytes())


def unpack_bits(text: str, n: int) -> BoolArray:
    """Return the n bits :func:`pack_bits` packed."""
    packed = np.frombuffer(unpack_bytes(text), dtype=np.uint8)
    return np.unpackbits(packed, count=n).astype(bool)


def pack_floats(values: AnyArray) -> str:
    """Return numbers as text, in single precision, without their shape."""
    return pack_bytes(np.ascontiguousarray(values, dtype="<f4").tobytes())


def unpack_floats(text: str) -> FloatArray:
    """Return the numbers (n,) :func:`pack_floats` packed."""
    return np.frombuffer(unpack_bytes(text), dtype="<f4").astype(np.float64)


def pack_levels(values: AnyArray) -> dict[str, Any]:
    """Return finite numbers (n, r) as levels between their least and largest, two bytes each.

    They come back within (largest − least) / 131,070; whole numbers less than 65,536 apart
    exactly, after rounding.
    """
    values = np.asarray(values, np.float64)
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not values.size:
        low = high = 0.0
    levels = np.rint((values - low) / ((high - low) or 1.0) * _LEVELS).astype("<u2")
    # Column by column: neighbours in the text are then alike, and it compresses.
    text = pack_bytes(np.ascontiguousarray(levels.T).tobytes())
    return {"low": low, "high": high, "shape": list(values.shape), "levels": text}


def unpack_levels(record: Mapping[str, Any]) -> FloatArray:
    """Return the numbers :func:`pack_levels` packed."""
    shape = tuple(record["shape"])
    levels = np.frombuffer(unpack_bytes(record["levels"]), dtype="<u2").reshape(shape[::-1]).T
    low, high = record["low"], record["high"]
    values: FloatArray = low + levels * ((high - low) / _LEVELS)
    return values
