"""Which starts are worth trying on some rows, and the map each of them names."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._types import FloatArray
from vicinal.metric.gerrymander._initialisation import (
    Scatter,
    Start,
    discriminant_start,
    logistic_start,
    principal_start,
    relief_start,
    scale_start,
    scatter_of,
    whitening_start,
)
from vicinal.metric.gerrymander._records import Options, Rows

# γ of whitening and discriminants, λ of a logistic regression, where nothing else is said.
SHRINKAGE = 0.1


def open_starts(rows: Rows, options: Options) -> list[Start]:
    """Return the starts to try: the one asked for, or those worth trying on such rows."""
    width, n_classes = rows.X.shape[1], len(options.costs)
    asked = options.n_components
    if not isinstance(options.init, str):
        return [Start("array")]
    if options.init == "logistic":
        _check_logistic(asked, n_classes)
    if options.init != "auto":
        shrunk = options.init in ("lda", "whitening", "logistic")
        return [Start(options.init, asked, SHRINKAGE if shrunk else 0.0)]
    if options.solver == "psd":
        starts = [Start("zeros"), Start("identity")]
        return starts if sparse.issparse(rows.X) else [*starts, Start("relieff")]
    if sparse.issparse(rows.X):
        return [Start("pca", asked or min(50, width))]
    if asked is not None and asked < width:
        return [Start("pca", asked), Start("lda", asked, 0.1), Start("lda", asked, 0.5)]
    few = min(n_classes - 1, width)
    if is_wide(rows):
        # Only few directions can be told from noise.
        return [
            Start("logistic", few, SHRINKAGE),
            *(Start("lda", few, shrinkage) for shrinkage in (0.8, 0.6, 0.9, 0.97)),
            Start("pca", min(width, 30)),
        ]
    starts = [Start("lda", None, 0.1 if width <= 64 else 0.5), Start("identity")]
    if rows.plain is not None:
        starts.append(Start("standardised"))
    if few < width:
        starts += [Start("lda", few, shrinkage) for shrinkage in (0.1, 0.5)]
    return starts


def is_wide(rows: Rows) -> bool:
    """Say whether there are nearly as many directions as rows."""
    return 2 * rows.X.shape[1] > len(rows.codes)


def other_start(start: Start, n_classes: int, width: int) -> Start:
    """Return a start for wide rows that knows the classes in another way than this one."""
    few = min(n_classes - 1, width)
    if start.name == "logistic":
        return Start("lda", few, 0.8)
    return Start("logistic", few, SHRINKAGE)


def make_start(
    start: Start, rows: Rows, options: Options, scatter: Scatter | None, rng: np.random.Generator
) -> FloatArray:
    """Return the map a start names, scaled to the margin; a warm start keeps its scale."""
    width, dtype = rows.X.shape[1], rows.X.dtype
    p = min(start.n_components or width, width)
    if start.name == "array":
        components = np.asarray(options.init)
    elif start.name == "identity" and rows.plain is not None:
        components = rows.plain[:p]
    elif start.name in ("identity", "standardised", "zeros"):
        components = np.eye(p, width)
    elif start.name == "pca":
        components = principal_start(rows.X, p, rng)
    elif start.name == "whitening":
        components = whitening_start(rows.X, p, start.shrinkage)
    elif start.name == "relieff":
        components = relief_start(rows.X, rows.codes)
    elif start.name == "logistic":
        components = logistic_start(rows.X, rows.codes, p, start.shrinkage)
    else:
        scatter = scatter or scatter_of(rows.X, rows.codes, rows.n_features)
        components = discriminant_start(scatter, p, start.shrinkage)
    components = components.astype(dtype)
    if not options.warm:
        components = scale_start(components, rows.X, rows.codes, options.training_neighbors, rng)
    return np.ascontiguousarray(components, dtype=dtype)


def _check_logistic(n_components: int | None, n_classes: int) -> None:
    most = max(1, n_classes - 1)
    if n_components is not None and n_components > most:
        raise ValueError(
            f"init='logistic' has at most {most} rows for {n_classes} classes, fewer than "
            f"n_components={n_components}; ask for fewer or take init='lda'."
        )
