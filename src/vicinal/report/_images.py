"""Arrays as pictures inside the page: PNG, written by hand, as data addresses."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from .._types import AnyArray, FloatArray

MAX_SIDE = 64  # pixels of an embedded picture; larger ones are thinned


def png_bytes(pixels: AnyArray) -> bytes:
    """A PNG file of uint8 ``pixels`` (h, w) grey or (h, w, 3) colour."""
    pixels = np.ascontiguousarray(pixels, dtype=np.uint8)
    height, width = pixels.shape[:2]
    colour_type = 0 if pixels.ndim == 2 else 2
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    rows = pixels.reshape(height, -1)
    scanlines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(scanlines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_address(pixels: AnyArray) -> str:
    """The picture as a ``data:`` address."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode("ascii")


def as_picture(values: AnyArray, shape: tuple[int, ...] | None = None) -> AnyArray | None:
    """Fold values into (h, w) or (h, w, 3), thinned to ``MAX_SIDE``; None where impossible."""
    values = np.asarray(values)
    if shape is not None and values.size == int(np.prod(shape)):
        values = values.reshape(shape)
    values = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    is_picture = values.ndim == 2 or (values.ndim == 3 and values.shape[2] == 3)
    if not is_picture or values.size == 0:
        return None
    step = -(-max(values.shape[:2]) // MAX_SIDE)
    return values[::step, ::step]


def to_bytes(values: AnyArray, low: float, high: float) -> AnyArray:
    """Values in [low, high] as 0..255; anything not a number becomes black."""
    scaled = (np.nan_to_num(values.astype(float), nan=low) - low) / ((high - low) or 1.0)
    return np.asarray((np.clip(scaled, 0, 1) * 255).round().astype(np.uint8))


def unit_range(values: FloatArray) -> FloatArray:
    """Values divided by their largest, negatives as zero: shape kept, range [0, 1]."""
    values = np.clip(np.nan_to_num(np.asarray(values, dtype=float)), 0, None)
    return values / (values.max(initial=0.0) or 1.0)
