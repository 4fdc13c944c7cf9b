"""Regularisers of a metric W, of the map L of W = LᵀL, and of two maps, each with its gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vicinal._types import FloatArray


def frobenius(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖W‖_F² and its gradient 2W."""
    return float(np.vdot(metric, metric)), 2 * metric


def trace(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return tr W and its gradient I."""
    return float(np.trace(metric)), np.eye(len(metric), dtype=metric.dtype)


def identity(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖W − I‖_F² and its gradient 2(W − I)."""
    return frobenius(metric - np.eye(len(metric), dtype=metric.dtype))


REGULARIZERS: dict[str, Callable[[FloatArray], tuple[float, FloatArray]]] = {
    "frobenius": frobenius,
    "trace": trace,
    "identity": identity,
}


def joint(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ½‖W‖_F² of W = [UᵀU, −UᵀV; −VᵀU, VᵀV] and its gradients 2(UUᵀ + VVᵀ)U, … V.

    W = MᵀM with M = [U, −V] has the norm of MMᵀ = UUᵀ + VVᵀ, p × p however many features there are.
    """
    inner = maps[0] @ maps[0].T + maps[1] @ maps[1].T
    return 0.5 * float(np.vdot(inner, inner)), 2 * inner @ maps


def each_metric(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖UᵀU‖_F + ‖VᵀV‖_F and its gradients 2UUᵀU / ‖UᵀU‖_F, … V."""
    inner = maps @ maps.transpose(0, 2, 1)
    norms = np.linalg.norm(inner, axis=(1, 2))
    return float(norms.sum()), 2 * inner @ maps / _or_one(norms)


def each_map(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖U‖_F + ‖V‖_F and its gradients U / ‖U‖_F, V / ‖V‖_F; 0 where a map is."""
    norms = np.linalg.norm(maps, axis=(1, 2))
    return float(norms.sum()), maps / _or_one(norms)


def _or_one(norms: FloatArray) -> FloatArray:
    return np.where(norms > 0, norms, 1)[:, None, None].astype(norms.dtype)


TWO_MAPS: dict[str, Callable[[FloatArray], tuple[float, FloatArray]]] = {
    "joint": joint,
    "metrics": each_metric,
    "maps": each_map,
}


def factored_regularizer(name: str, components: FloatArray) -> tuple[float, FloatArray]:
    """Return a regulariser and its gradient with respect to the map L, or to two stacked ones.

    Of W = LᵀL the gradient is 2 L ∂reg/∂W.
    """
    if name in TWO_MAPS:
        return TWO_MAPS[name](components)
    value, gradient = REGULARIZERS[name](components.T @ components)
    return value, 2 * components @ gradient
