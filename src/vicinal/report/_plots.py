"""Plots of a fitted metric for matplotlib: its spectrum, its relevances, the rows along it.

Any learner with ``components_`` will do, or a predictor that holds one as ``metric_``; nothing
here imports one. Each function draws into one Axes and returns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, FloatArray
from ._directions import (
    describe_direction,
    leading_directions,
    map_rows,
    maps_linearly,
    sample_rows,
    spectrum_of,
)
from ._figures import (
    ErrorLine,
    draw_bars,
    draw_columns,
    draw_curve,
    draw_dots,
    draw_errors,
    draw_flat,
    draw_ridges,
)
from ._numbers import format_share
from ._records import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._comparison import Comparison

MAX_SUMMARY_POINTS = 2000
# More distinct whole numbers than this are taken for a quantity.
_MANY_CLASSES = 100


def plot_errors(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the errors of a comparison: against k, or side by side where there is one k.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    lines = error_lines(comparison.rows)
    if not lines:
        raise ValueError("nothing was measured, so there is nothing to draw.")
    ks = sorted({k for line in lines for k in line.ks})
    unit = "error" if comparison.task == "classification" else "error (nMSE)"
    ax = _axes(ax)
    if len(ks) > 1:
        draw_errors(ax, lines, ks)
        ax.set(xlabel="k, the number of neighbours", ylabel=unit)
    else:
        draw_dots(ax, lines)
        ax.set(xlabel=unit)
    if comparison.task == "classification":
        axis = ax.yaxis if len(ks) > 1 else ax.xaxis
        axis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    return ax


def error_lines(rows: Sequence[Row]) -> list[ErrorLine]:
    """Return a line for each method that was measured, ascending in k.

    A reference, which has no k, has the same error at every k there is.
    """
    every = sorted({row.k for row in rows if row.measured and row.k is not None}) or [0]
    points: dict[str, list[tuple[int, Row]]] = {}
    for row in sorted((row for row in rows if row.measured), key=lambda row: row.k or 0):
        at = every if row.k is None else [row.k]
        points.setdefault(row.method, []).extend((k, row) for k in at)
    methods = dict.fromkeys(row.method for row in rows if row.measured)
    return [
        ErrorLine(
            points[method][0][1].title,
            tuple(k for k, _ in points[method]),
            tuple(row.error_mean for _, row in points[method]),
            tuple(_spread(row) for _, row in points[method]),
        )
        for method in methods
    ]


def _spread(row: Row) -> float:
    return row.error_sd if np.isfinite(row.error_sd) else 0.0


def plot_spectrum(
    metric: Any,
    ax: Axes | None = None,
    *,
    n_directions: int = 20,
    intervals: bool | None = None,
    level: float = 0.95,
) -> Axes:
    """Draw the eigenvalues of a fitted metric, with bootstrap intervals where it can tell them.

    Parameters
    ----------
    metric : a fitted metric learner, or a predictor with a ``metric_``
        GW, EGOP and EJOP show ``eigenvalues_``; any other the eigenvalues of M = AᵀA.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.
    n_directions : int, default=20
        Bars at most; how much the others hold is said below.
    intervals : bool or None
        Whiskers from ``spectrum_interval``: None draws them where the gradients were stored, True
        insists on them, False leaves them out.
    level : float, default=0.95
        Of the intervals.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import EGOP, plot_spectrum
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> metric = EGOP("analytic", store_gradients=True, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> axes = plot_spectrum(metric)
    >>> axes.get_ylabel()
    'eigenvalue'
    """
    metric = fitted(metric)
    n_directions = _at_least_one("n_directions", n_directions)
    values = eigenvalues_of(metric)
    whiskers = _whiskers(metric, intervals, level)
    shown = slice(min(n_directions, len(values)))
    ax = _axes(ax)
    draw_columns(ax, values[shown], None if whiskers is None else whiskers[shown])
    rest = _phrase_rest(values, len(values[shown]), "direction")
    ax.set(xlabel=f"direction{rest}", ylabel="eigenvalue")
    return ax


def plot_relevance(
    metric: Any,
    ax: Axes | None = None,
    *,
    n_features: int = 20,
    feature_names: Sequence[str] | None = None,
) -> Axes:
    """Draw how much each feature moves the learned distance, the most relevant on top.

    Parameters
    ----------
    metric : a fitted learner with ``feature_relevance_``, or a predictor with a ``metric_``
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.
    n_features : int, default=20
        Bars at most; how much the others hold is said below.
    feature_names : sequence of str or None
        None takes ``feature_names_in_``, else x0, x1, ….

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, plot_relevance
    >>> wine = load_wine(as_frame=True)
    >>> axes = plot_relevance(LDA().fit(wine.data, wine.target), n_features=5)
    >>> len(axes.patches)
    5
    """
    metric = fitted(metric)
    n_features = _at_least_one("n_features", n_features)
    relevance = getattr(metric, "feature_relevance_", None)
    if relevance is None:
        raise ValueError(f"{type(metric).__name__} has no feature_relevance_ to draw.")
    relevance = np.asarray(relevance, np.float64)
    names = feature_names_of(metric, len(relevance), feature_names)
    total = float(relevance.sum())
    shares = relevance / total if total > 0 else relevance
    order = np.argsort(-shares, kind="stable")[:n_features]
    ax = _axes(ax)
    draw_bars(ax, shares[order], [names[i] for i in order])
    rest = _phrase_rest(shares[np.argsort(-shares, kind="stable")], len(order), "feature")
    ax.set(xlabel=f"share of the relevance{rest}")
    return ax


def plot_summary(
    metric: Any,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    n_directions: int = 1,
    feature_names: Sequence[str] | None = None,
) -> Axes:
    """Draw a sufficient summary plot: y against the leading directions of a metric.

    If y depends on x through a few directions only, nothing of that dependence is lost here. With
    one direction a number is drawn against it with a smooth curve, classes as one density each;
    with two directions, points are coloured by y.

    Parameters
    ----------
    metric : a fitted metric learner, or a predictor with a ``metric_``
        A learner that does not map linearly shows the first coordinates of its map instead.
    X : array-like of shape (n, n_features)
        Rows as the metric was fitted on (scaled alike). Held-out rows show more than the training
        rows do. More than 2000 are sampled.
    y : array-like of shape (n,)
        Floats are a number; strings, and whole numbers with at most 100 distinct values, classes.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.
    n_directions : {1, 2}, default=1
    feature_names : sequence of str or None
        None takes ``feature_names_in_``, else x0, x1, ….

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The curve is a local linear fit; "explains" in its label is 1 − (leave-one-out squared error) /
    variance.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import EGOP, plot_summary
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.sin(X[:, 0] + X[:, 1])
    >>> axes = plot_summary(EGOP("analytic", random_state=0).fit(X, y), X, y)
    >>> axes.get_ylabel()
    'y'
    """
    metric = fitted(metric)
    if n_directions not in (1, 2):
        raise ValueError(f"n_directions must be 1 or 2, got {n_directions!r}.")
    rows, targets = check_rows(metric, X, y)
    places, labels = place_rows(metric, rows, n_directions, feature_names)
    name = str(getattr(y, "name", None) or "y")
    ax = _axes(ax)
    if n_directions == 2:
        draw_flat(ax, places, targets, are_classes(metric, targets), name)
        ax.set(xlabel=labels[0], ylabel=labels[1])
    elif are_classes(metric, targets):
        draw_ridges(ax, places[:, 0], targets)
        ax.set(xlabel=labels[0], ylabel=name)
    else:
        draw_curve(ax, places[:, 0], targets.astype(np.float64))
        ax.set(xlabel=labels[0], ylabel=name)
    return ax


def fitted(metric: Any) -> Any:
    """Return the fitted metric, or that of a predictor; refuse one that was not fitted."""
    metric = getattr(metric, "metric_", metric)
    if metric is None:
        raise ValueError("the predictor uses the plain distance: there is no learned metric.")
    if isinstance(metric, type) or not hasattr(metric, "components_"):
        what = metric.__name__ if isinstance(metric, type) else type(metric).__name__
        if not hasattr(metric, "fit"):
            raise ValueError(f"{what} is no metric learner: there are no components_ to draw.")
        raise ValueError(f"this {what} is not fitted yet: call fit(X, y) before it is drawn.")
    return metric


def eigenvalues_of(metric: Any) -> FloatArray:
    """Return the eigenvalues of the learned matrix, descending.

    Those of ``outer_product_`` where there is one, else of M = AᵀA.
    """
    if hasattr(metric, "outer_product_"):
        return np.asarray(metric.eigenvalues_, np.float64)
    return spectrum_of(metric.components_)


def _whiskers(metric: Any, wanted: bool | None, level: float) -> FloatArray | None:
    if wanted is False or (wanted is None and not hasattr(metric, "gradients_")):
        return None
    if not hasattr(metric, "spectrum_interval"):
        if wanted is None:
            return None
        raise ValueError(
            f"{type(metric).__name__} has no bootstrap intervals: its metric is no mean over "
            "points. GW, EGOP and EJOP have."
        )
    if not hasattr(metric, "gradients_"):
        raise ValueError(
            "no intervals are stored: fit with store_gradients=True, or leave them out with "
            "intervals=False."
        )
    return np.asarray(metric.spectrum_interval(level=level))


def feature_names_of(
    metric: Any, n_features: int, given: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the names given, those seen in ``fit``, or x0, x1, …; refuse a wrong number."""
    names = getattr(metric, "feature_names_in_", None) if given is None else given
    if names is None:
        return tuple(f"x{i}" for i in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names holds {len(names)} names for {n_features} features.")
    return tuple(str(name) for name in names)


def check_rows(metric: Any, X: Any, y: Any) -> tuple[FloatArray, AnyArray]:
    """Return at most 2000 rows and their targets; refuse what does not fit the metric."""
    rows, targets = np.asarray(X), np.asarray(y)
    width = int(getattr(metric, "n_features_in_", np.shape(metric.components_)[1]))
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ValueError(f"X has shape {rows.shape}; the metric was fitted on {width} features.")
    seen, named = getattr(metric, "feature_names_in_", None), getattr(X, "columns", None)
    if seen is not None and named is not None and list(seen) != list(named):
        raise ValueError(
            f"the columns of X are not those the metric was fitted on, in this order: {list(seen)}"
        )
    if targets.shape != (len(rows),):
        raise ValueError(f"X has {len(rows)} rows and y the shape {targets.shape}.")
    if len(rows) < 2:
        raise ValueError(f"a plot needs at least two rows, got {len(rows)}.")
    kept = sample_rows(len(rows), MAX_SUMMARY_POINTS)
    rows, targets = rows[kept].astype(np.float64), targets[kept]
    known = targets.dtype.kind != "f" or np.isfinite(targets).all()
    if not (np.isfinite(rows).all() and known):
        raise ValueError("X or y contains NaN or infinity; leave those rows out.")
    return rows, targets


def are_classes(metric: Any, targets: AnyArray) -> bool:
    """Whether targets are classes: by what the metric learned from, else by their type."""
    if hasattr(metric, "classes_"):
        return True
    if targets.dtype.kind in "iu":
        return len(np.unique(targets)) <= _MANY_CLASSES
    return targets.dtype.kind != "f"


def place_rows(
    metric: Any, rows: FloatArray, n_directions: int, given: Sequence[str] | None
) -> tuple[FloatArray, list[str]]:
    """Return rows along the leading directions (n, r), and what the axes are called."""
    if not maps_linearly(metric, rows):
        places = map_rows(metric, rows)
        if places.dtype.kind != "f" or places.shape[1] < n_directions:
            raise ValueError(
                f"{type(metric).__name__} does not map rows to {n_directions} coordinates."
            )
        return places[:, :n_directions], [f"coordinate {i + 1}" for i in range(n_directions)]
    directions = leading_directions(metric.components_, n_directions)
    if len(directions) < n_directions:
        raise ValueError(
            f"the metric has {len(directions)} direction(s), so n_directions={n_directions} "
            "cannot be drawn."
        )
    names = feature_names_of(metric, rows.shape[1], given)
    return rows @ directions.T, [describe_direction(v, names) for v in directions]


def _phrase_rest(values: FloatArray, n_shown: int, noun: str) -> str:
    """ " (20 of 64 features; the others hold 12 %)", or nothing where all are shown."""
    if n_shown == len(values):
        return ""
    total = float(values.sum())
    share = format_share(float(values[n_shown:].sum()) / total) if total > 0 else "nothing"
    return f" ({n_shown} of {len(values)} {noun}s; the others hold {share})"


def _at_least_one(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5.6, 3.8), layout="constrained")[1]
