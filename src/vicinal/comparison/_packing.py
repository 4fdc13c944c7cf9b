"""Which test rows were wrong, or by how much, as text inside a JSON record."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from vicinal._types import BoolArray, FloatArray


def pack_bits(bits: BoolArray) -> str:
    """Return bits as text: compressed, base64."""
    return _pack(np.packbits(bits).tobytes())


def unpack_bits(text: str, n: int) -> BoolArray:
    """Return the n bits :func:`pack_bits` packed."""
    packed = np.frombuffer(_unpack(text), dtype=np.uint8)
    return np.unpackbits(packed, count=n).astype(bool)


def pack_floats(values: FloatArray) -> str:
    """Return numbers as text: to seven digits, compressed, base64."""
    return _pack(values.astype("<f4").tobytes())


def unpack_floats(text: str) -> FloatArray:
    """Return the numbers :func:`pack_floats` packed."""
    return np.frombuffer(_unpack(text), dtype="<f4").astype(np.float64)


def _pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
