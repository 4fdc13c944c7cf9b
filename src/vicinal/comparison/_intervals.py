"""How sure the leading eigenvalues of a gradient metric are: bootstrap over evaluation points."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.metric import GradientWeights
from vicinal.report import sample_rows

MOST_POINTS = 1000
# Eigenvalues with intervals: as many as the page shows.
_MOST_INTERVALS = 40
_LEVEL = 0.95
_N_RESAMPLES = 400
# Gradients that may be held for intervals.
_MOST_ENTRIES = 2**23


def describe_sum(metric: Any) -> str:
    """Say what the eigenvalues of a metric sum up to."""
    if not hasattr(type(metric), "outer_product_"):  # never computed just to be asked for
        return "the metric"
    diagonal = isinstance(metric, GradientWeights)
    return "the mean absolute gradient" if diagonal else "the mean squared gradient"


def eigenvalue_intervals(
    metric: Any, X: AnyArray, y: AnyArray, seed: int
) -> tuple[FloatArray, int]:
    """Return bootstrap intervals (q, 2) of the leading eigenvalues, and over how many points.

    Empty for a metric that is no mean of gradients.
    """
    if not hasattr(metric, "estimate_gradients"):
        return np.empty((0, 2)), 0
    fitted = int(metric.n_evaluations_)
    n_columns = len(getattr(metric, "classes_", (0,)))
    most = min(max(300, fitted // 4), MOST_POINTS, _MOST_ENTRIES // (n_columns * X.shape[1]))
    points = sample_rows(len(X), max(most, 2), seed)
    gradients = metric.estimate_gradients(X[points], X, y)
    by_point = eigenvalues_by_point(metric, gradients.reshape(len(points), X.shape[1], -1))
    shown = np.asarray(metric.eigenvalues_, np.float64)[: by_point.shape[1]]
    return resampled_intervals(shown, by_point, fitted, seed), fitted


def eigenvalues_by_point(metric: Any, gradients: FloatArray) -> FloatArray:
    """Return what each point adds to each leading eigenvalue, (m, q), from gradients (m, d, C).

    With eigenvectors v_j of the metric's matrix, λ_j = E_n[Σ_c (v_j·g_c)²]; for gradient
    weights, whose matrix is diagonal, λ_j = E_n[Σ_c |g_cj|].
    """
    if isinstance(metric, GradientWeights):
        order = np.argsort(-np.diag(metric.outer_product_), kind="stable")[:_MOST_INTERVALS]
        return np.abs(gradients[:, order]).sum(axis=2)
    vectors = leading_eigenvectors(metric)
    along = np.einsum("mdc,dq->mqc", gradients, vectors, optimize=True)
    return np.einsum("mqc,mqc->mq", along, along)


def leading_eigenvectors(metric: Any) -> FloatArray:
    """Return the leading eigenvectors of a metric's matrix, (d, q).

    They are the rows of ``components_`` but for their length, and zero where the matrix has no
    more: of wide rows nothing of size d² is made. Only where ``n_components`` cut off some that
    count is the matrix decomposed.
    """
    rows = np.asarray(metric.components_, np.float64)
    values = np.asarray(metric.eigenvalues_, np.float64)
    n_wanted = min(_MOST_INTERVALS, rows.shape[1])
    if values[len(rows) : n_wanted].any():
        found: FloatArray = np.linalg.eigh(metric.outer_product_)[1][:, ::-1][:, :n_wanted]
        return found
    vectors = np.zeros((rows.shape[1], n_wanted))
    lengths = np.linalg.norm(rows[:n_wanted], axis=1)
    vectors[:, : len(lengths)] = (rows[:n_wanted] / np.where(lengths > 0, lengths, 1.0)[:, None]).T
    return vectors


def resampled_intervals(
    eigenvalues: FloatArray, by_point: FloatArray, n_points: int, seed: int
) -> FloatArray:
    """Return intervals (q, 2) of means over ``n_points`` points, of which ``by_point`` has some.

    Resamples are as large as the fit's set of points and drawn from those at hand; what they give
    is taken relative to the mean of these. The eigenvectors are held fixed.
    """
    m = len(by_point)
    counts = np.random.default_rng(seed).multinomial(n_points, np.full(m, 1 / m), _N_RESAMPLES)
    means = counts @ by_point / n_points
    centre = by_point.mean(axis=0)
    ratios = means / np.where(centre > 0, centre, 1.0)
    low, high = np.quantile(ratios, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
    return np.column_stack([low, high]) * eigenvalues[:, None]
