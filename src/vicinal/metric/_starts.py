"""Which starts are worth trying on some rows, and the map each of them names."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._types import FloatArray
from vicinal.metric._initialisation import (
    Scatter,
    Start,
    discriminant_start,
    principal_start,
    relief_start,
    scale_start,
    scatter_of,
    whitening_start,
)
from vicinal.metric._records import Options, Rows


def open_starts(rows: Rows, options: Options) -> list[Start]:
    """Return the starts to try: the one asked for, or those worth trying on such rows."""
    width, n_classes = rows.X.shape[1], len(options.costs)
    asked = options.n_components
    if not isinstance(options.init, str):
        return [Start("array")]
    if options.init != "auto":
        shrinkage = 0.1 if options.init in ("lda", "whitening") else 0.0
        return [Start(options.init, asked, shrinkage)]
    if options.solver == "psd":
        starts = [Start("zeros"), Start("identity")]
        return starts if sparse.issparse(rows.X) else [*starts, Start("relieff")]
    if sparse.issparse(rows.X):
        return [Start("pca", asked or min(50, width))]
    if asked is not None and asked < width:
        return [Start("pca", asked), Start("lda", asked, 0.1), Start("lda", asked, 0.5)]
    few = min(n_classes - 1, width)
    if 2 * width > len(rows.codes):
        # Nearly as many directions as rows: only few of them can be told from noise.
        return [
            *(Start("lda", few, shrinkage) for shrinkage in (0.8, 0.6, 0.9, 0.97)),
            Start("pca", min(width, 30)),
        ]
    starts = [Start("lda", None, 0.1 if width <= 64 else 0.5), Start("identity")]
    if rows.plain is not None:
        starts.append(Start("standardised"))
    if few < width:
        starts += [Start("lda", few, shrinkage) for shrinkage in (0.1, 0.5)]
    return starts


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
    else:
        scatter = scatter or scatter_of(rows.X, rows.codes, rows.n_features)
        components = discriminant_start(scatter, p, start.shrinkage)
    components = components.astype(dtype)
    if not options.warm:
        components = scale_start(components, rows.X, rows.codes, options.training_neighbors, rng)
    return np.ascontiguousarray(components, dtype=dtype)
