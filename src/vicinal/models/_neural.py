"""What the arrays of a neural map read from a file must agree on before rows are mapped by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray
from vicinal.neural import NeuralMetric

_NAMES = ("column", "slope", "offset", "low", "high")
_NORMS = ("weight", "bias", "running_mean", "running_var")


def check_neural(metric: NeuralMetric) -> None:
    """Refuse members, an encoding or axes that do not fit together, or hold what is no number."""
    F, D = _check_encoding(metric.encoding_, metric.n_features_in_)
    parameters = metric.parameters_
    E, p = _shape("first", parameters.get("first"), 3)[:2]
    h = _shape("up", parameters.get("up"), 3)[1]
    shapes = {
        "first": (E, p, D), "up": (E, h, p), "down": (E, p, h), "bias": (E, h, 1),
        "slope": (E, 1, p), **{f"{norm}.{part}": (E * p,) for norm in ("inner", "last")
                               for part in _NORMS},
    }  # fmt: skip
    if sorted(parameters) != sorted(shapes):
        raise ValueError("its members do not have the parameters that members have")
    for name, shape in shapes.items():
        _check(name, parameters[name], shape)
    if any(np.any(parameters[f"{norm}.running_var"] < 0) for norm in ("inner", "last")):
        raise ValueError("a variance of its members is below zero")
    members = metric.members_
    _check("members", members, np.shape(members), "iu")
    if members.ndim != 1 or not len(members) or not np.all((members >= 0) & (members < E)):
        raise ValueError("its chosen members are none of its members")
    if F > 1 and E % F:
        raise ValueError("its members are not as many as its encodings")
    width = len(members) * p
    _check("centre", metric.centre_, (width,))
    _check("axes", metric.axes_, (width, _shape("axes", metric.axes_, 2)[1]))


def _check_encoding(encoding: Any, width: Any) -> tuple[int, int]:
    """Return F and D of an encoding of so many features."""
    names = {"centre", "scale", "waves", *_NAMES}
    if not isinstance(encoding, dict) or set(encoding) != names:
        raise ValueError("its encoding does not have the parts of one")
    shape = _shape("encoding", encoding["column"], 2)
    _check("centre", encoding["centre"], (width,))
    _check("scale", encoding["scale"], (width,), infinite=True)
    _check("column", encoding["column"], shape, "iu")
    for name in _NAMES[1:]:
        _check(name, encoding[name], shape, infinite=name in ("low", "high"))
    inside = np.all((encoding["column"] >= 0) & (encoding["column"] < width))
    if not inside or not np.all(encoding["scale"] > 0) or shape[1] < width:
        raise ValueError("its encoding is not one of its features")
    return shape[0], shape[1]


def _shape(name: str, values: Any, ndim: int) -> tuple[int, ...]:
    if not isinstance(values, np.ndarray) or values.ndim != ndim or not values.size:
        raise ValueError(f"its {name} are no array of {ndim} axes")
    return values.shape


def _check(
    name: str, values: AnyArray, shape: tuple[int, ...], kinds: str = "f", *, infinite: bool = False
) -> None:
    """Refuse an array of another shape or kind, or with entries that are no numbers."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        raise ValueError(f"its {name} are no array of numbers")
    if values.shape != shape:
        raise ValueError(f"its {name} are of shape {values.shape}, not {shape}")
    if np.isnan(values).any() or not (infinite or np.isfinite(values).all()):
        raise ValueError(f"its {name} are not finite")
