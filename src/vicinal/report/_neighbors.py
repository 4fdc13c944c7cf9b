"""Single test points with their nearest neighbours: what the template asks of an exhibit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._types import AnyArray, Task
from ._images import as_picture, data_address, to_bytes
from ._numbers import format_value
from ._records import Example, Exhibit

MAX_EXAMPLES = 8
MAX_NEIGHBORS = 11
MAX_VALUES = 12


def picture_maker(exhibit: Exhibit) -> Callable[[AnyArray | None], str]:
    """Return what makes addresses of pictures, "" where values are none.

    All share what is dark and what is bright, so that they compare; a few outliers saturate.
    """
    shown = [a for e in exhibit.examples[:MAX_EXAMPLES] for a in e.images.values()]
    values = np.concatenate([np.empty(0), *(np.asarray(a, float).ravel() for a in shown)])
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.005, 0.995]) if values.size else (0.0, 1.0)

    def picture(values: AnyArray | None) -> str:
        pixels = None if values is None else as_picture(values, exhibit.image_shape)
        return "" if pixels is None else data_address(to_bytes(pixels, float(low), float(high)))

    return picture


def judge(predicted: str, label: str, task: Task) -> str:
    """Return "right" or "wrong"; for a number "off by 2.5", or nothing where it is none."""
    if task == "classification":
        return "right" if predicted == label else "wrong"
    try:
        return f"off by {format_value(abs(float(predicted) - float(label)))}"
    except ValueError:
        return ""


def phrase_change(example: Example, task: Task) -> str:
    """Return what learning did to a vote, "put right" or the like; nothing for a number."""
    if task == "regression":
        return ""
    after = example.predicted_after == example.label
    if after == (example.predicted_before == example.label):
        return f"{'right' if after else 'wrong'} both times"
    return "put right" if after else "spoilt"
