"""Arrays as pictures inside the page: PNG, as data addresses."""

from __future__ import annotations

import base64
import io

import numpy as np

from .._types import AnyArray

MAX_SIDE = 64  # pixels of an embedded picture; larger ones are thinned


def data_address(pixels: AnyArray) -> str:
    """uint8 ``pixels`` (h, w) grey or (h, w, 3) colour as a ``data:`` address."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels, dtype=np.uint8)).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


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
