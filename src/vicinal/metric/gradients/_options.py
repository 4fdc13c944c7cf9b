"""What a gradient metric was told, checked: each refusal with the value and the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vicinal._lines import QUIET, Lines
from vicinal._threads import thread_count
from vicinal._types import FloatArray
from vicinal._validation import check_choice, check_components, check_positive, check_whole
from vicinal.rows import check_weights

from ._evaluation import Blocks
from ._sample import KERNELS
from ._smoother import Smoother
from ._spectrum import MetricKind

ESTIMATORS = ("auto", "analytic", "difference", "local-linear", "kernel-ridge")
INDICATORS = ("practical", "theoretical", "none")


# Equal only to itself, as its smoother is.
@dataclass(frozen=True, eq=False)
class GradientOptions:
    """Checked parameters of a learner; what is None or "auto" is left to the fit.

    ``smoother`` has all that was told of one: its estimator may be "auto", and where
    ``bandwidth``, ``ridge`` or ``power`` are None its own do not count. ``by_feature`` says whether
    the columns of the rows are features; ``lines`` are what the fit says.
    """

    kind: MetricKind
    smoother: Smoother
    bandwidth: float | str | None
    ridge: float | None
    power: float | None
    n_iter: int | None
    n_components: int | str | None
    n_neighbors: int
    n_evaluations: int | str | None
    keep_gradients: bool
    diagonal: bool | None
    blocks: Blocks
    by_feature: bool = True
    lines: Lines = QUIET


def check_options(
    parameters: Mapping[str, Any], learner: str, kind: MetricKind, n_features: int, n_columns: int
) -> GradientOptions:
    """Return a learner's parameters (those of ``get_params``) for X (n, d) and C columns of f."""
    names = [name for name in _CHECKS if parameters[name] is not None]
    parameters = {**parameters, **{name: _CHECKS[name](name, parameters[name]) for name in names}}
    if parameters["estimator"] == "auto" and isinstance(parameters["bandwidth"], float):
        raise ValueError("estimator='auto' chooses the bandwidth too; give one estimator.")
    check_choice("diagonal", parameters["diagonal"], (None, True, False))
    if parameters["local"] and kind.diagonal:
        raise ValueError(
            f"local=True ranks by outer products of gradients, which {learner} does not make; "
            "take EGOP or EJOP."
        )
    return GradientOptions(
        kind=kind,
        smoother=_check_smoother(parameters, n_features, n_columns),
        bandwidth=parameters["bandwidth"],
        ridge=parameters["ridge"],
        power=parameters["power"],
        n_iter=parameters["n_iter"],
        n_components=_check_components(parameters["n_components"], n_features),
        n_neighbors=check_whole("n_neighbors", parameters["n_neighbors"]),
        n_evaluations=parameters["n_evaluations"],
        keep_gradients=bool(parameters["store_gradients"]),
        diagonal=parameters["diagonal"],
        blocks=Blocks(parameters["block_size"], thread_count(parameters["n_jobs"])),
        lines=Lines(learner, parameters["verbose"]),
    )


def _check_smoother(parameters: Mapping[str, Any], n_features: int, n_columns: int) -> Smoother:
    check_choice("estimator", parameters["estimator"], ESTIMATORS)
    check_choice("indicator", parameters["indicator"], INDICATORS)
    confidence = check_positive("confidence", parameters["confidence"])
    if confidence >= 1:
        raise ValueError(f"confidence must be below 1, got {confidence}.")
    return Smoother(
        estimator=parameters["estimator"],
        bandwidth=1.0,
        kernel=_check_kernel(parameters["kernel"], parameters["estimator"]),
        step=_check_step(parameters["step"], parameters["n_iter"] or 1, n_features, n_columns),
        indicator=parameters["indicator"],
        confidence=confidence,
        n_local=parameters["n_local"],
        temperature=parameters["temperature"],
        diagonal=bool(parameters["diagonal"]),
    )


def _check_kernel(kernel: Any, estimator: str) -> str:
    """Return the kernel; refuse one the estimator cannot use."""
    check_choice("kernel", kernel, KERNELS)
    if estimator in ("analytic", "kernel-ridge") and kernel != "gaussian":
        raise ValueError(
            f"estimator={estimator!r} differentiates a Gaussian kernel; for kernel={kernel!r} take "
            "estimator='difference' or 'local-linear'."
        )
    return str(kernel)


def _check_bandwidth(name: str, bandwidth: Any) -> float | str:
    """Return "rule" or a finite number above zero."""
    if isinstance(bandwidth, str):
        if bandwidth == "rule":
            return bandwidth
        raise ValueError(f"bandwidth must be a number, None or 'rule'; got {bandwidth!r}.")
    return check_positive(name, bandwidth)


def _check_components(n_components: Any, n_features: int) -> int | str | None:
    auto = isinstance(n_components, str) and n_components == "auto"
    return "auto" if auto else check_components(n_components, n_features)


def _check_evaluations(name: str, n_evaluations: Any) -> int | str:
    return "auto" if str(n_evaluations) == "auto" else check_whole(name, n_evaluations)


def _check_step(step: Any, n_iter: int, n_features: int, n_columns: int) -> Any:
    """Return None, a number, or an array of shape (d,) or (d, C), all above zero."""
    if step is None:
        return None
    steps = np.asarray(step, dtype=np.float64)
    if steps.shape not in ((), (n_features,), (n_features, n_columns)):
        raise ValueError(
            f"step must be a number, {n_features} numbers (one a feature) or an array of shape "
            f"({n_features}, {n_columns}) (one a feature and class); got shape {steps.shape}."
        )
    if not np.isfinite(steps).all() or (steps <= 0).any():
        raise ValueError(f"step must be above zero and finite; the least is {steps.min()}.")
    if steps.ndim and n_iter > 1:
        raise ValueError(
            "step must be one number where n_iter > 1: later iterations step along the learned "
            "directions, not along features."
        )
    return float(steps) if steps.ndim == 0 else steps


_LARGEST_WEIGHT = 1e100


def check_point_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return the weights (n,) as they are, 1 where none are given."""
    check_weights(sample_weight, n_rows)
    weights = np.asarray(1 if sample_weight is None else sample_weight, np.float64)
    weight_scale(weights)
    return np.broadcast_to(weights, n_rows)


def weight_scale(sample_weight: Any) -> float:
    """Return the mean of the weights above zero, 1 where none are given; refuse extreme ones."""
    weights = np.atleast_1d(np.asarray(1 if sample_weight is None else sample_weight, np.float64))
    largest = float(weights.max())
    if not 1 / _LARGEST_WEIGHT <= largest <= _LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight is up to {largest:g}, whose sums and products leave the range of "
            "floats; rescale it."
        )
    return float(weights[weights > 0].mean())


# What may be None, which leaves it open or out.
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "bandwidth": _check_bandwidth,
    "n_evaluations": _check_evaluations,
    "n_local": partial(check_whole, least=2),
    **dict.fromkeys(("n_iter", "block_size"), check_whole),
    **dict.fromkeys(("ridge", "power", "temperature"), check_positive),
}
