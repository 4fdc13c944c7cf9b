"""Which test rows were wrong, as text inside a JSON record."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from vicinal._types import BoolArray


def pack_bits(bits: BoolArray) -> str:
    """Return bits as text: compressed, base64."""
    return base64.b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def unpack_bits(text: str, n: int) -> BoolArray:
    """Return the n bits :func:`pack_bits` packed."""
    packed = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    return np.unpackbits(packed, count=n).astype(bool)
