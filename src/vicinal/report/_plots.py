"""Plots of a fitted metric for matplotlib: spectrum, relevances, rows along it, rows on a map.

Any learner with ``components_`` will do, a predictor that holds one as ``metric_``, or a fitted
pipeline or search with either; nothing here imports one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, FloatArray
from ._directions import map_rows, spectrum_of
from ._figures import (
    axes_for,
    draw_bars,
    draw_columns,
    draw_curve,
    draw_flat,
    draw_map,
    draw_ridges,
)
from ._fitted import (
    FittedMetric,
    are_classes,
    check_rows,
    columns_of,
    feature_names_of,
    fitted,
    place_rows,
    sum_by_column,
)
from ._maps import agreement, first_two_components, frame, make_key
from ._numbers import NBSP, count_of, format_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    metric : a fitted metric learner, predictor with a ``metric_``, or pipeline with either
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
    metric = fitted(metric).metric
    n_directions = _at_least_one("n_directions", n_directions)
    values = eigenvalues_of(metric)
    whiskers = _whiskers(metric, intervals, level)
    shown = slice(min(n_directions, len(values)))
    ax = axes_for(ax)
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
    columns: Sequence[str] | None = None,
) -> Axes:
    """Draw how much each column moves the learned distance, the most relevant on top.

    Parameters
    ----------
    metric : a fitted learner with ``feature_relevance_``, predictor, or pipeline with either
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.
    n_features : int, default=20
        Bars at most; how much the others hold is said below.
    feature_names : sequence of str or None
        None takes those of the pipeline or of ``fit``, else x0, x1, ….
    columns : sequence of str or None
        The column each feature comes from: shares of one column are added up. None takes those
        of a pipeline, by the names its encoder gives.

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
    model = fitted(metric)
    n_features = _at_least_one("n_features", n_features)
    relevance = getattr(model.metric, "feature_relevance_", None)
    if relevance is None:
        raise ValueError(f"{type(model.metric).__name__} has no feature_relevance_ to draw.")
    relevance = np.asarray(relevance, np.float64)
    names = feature_names_of(model, len(relevance), feature_names)
    if columns is not None and len(columns) != len(relevance):
        raise ValueError(f"columns holds {len(columns)} names for {len(relevance)} features.")
    total = float(relevance.sum())
    shares, names = sum_by_column(
        relevance / total if total > 0 else relevance,
        columns_of(names, model.inputs) if columns is None else [str(c) for c in columns],
    )
    order = np.argsort(-shares, kind="stable")
    ax = axes_for(ax)
    draw_bars(ax, shares[order[:n_features]], [names[i] for i in order[:n_features]])
    rest = _phrase_rest(shares[order], min(n_features, len(shares)), "feature")
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
    metric : a fitted metric learner, predictor with a ``metric_``, or pipeline with either
        A learner that does not map linearly shows the first coordinates of its map instead.
    X : array-like of shape (n, n_features)
        Rows as the model was fitted on (scaled alike, where no pipeline does it). Held-out rows
        show more than the training rows do. More than 2000 are sampled.
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
    model = fitted(metric)
    if n_directions not in (1, 2):
        raise ValueError(f"n_directions must be 1 or 2, got {n_directions!r}.")
    rows, targets = check_rows(model, X, y)
    classes = are_classes(model.metric, targets)
    places, labels = place_rows(model, rows, n_directions, feature_names)
    name = str(getattr(y, "name", None) or "y")
    ax = axes_for(ax)
    if n_directions == 2:
        draw_flat(ax, places, targets, classes, name)
        ax.set(xlabel=labels[0], ylabel=labels[1])
    elif classes:
        draw_ridges(ax, places[:, 0], targets)
        ax.set(xlabel=labels[0], ylabel=name)
    else:
        draw_curve(ax, places[:, 0], targets.astype(np.float64))
        ax.set(xlabel=labels[0], ylabel=name)
    return ax


def plot_map(before: Any, after: Any, y: Any, axes: Any = None) -> tuple[Axes, Axes]:
    """Draw rows on two maps: as the plain distance sees them, and as a learned one does.

    Above each stands what the distance itself does, in all its dimensions: the share of rows whose
    nearest other row has their class, or how the numbers of nearest rows correlate.

    Parameters
    ----------
    before : array-like of shape (n, d)
        Rows; held-out rows show more than the training rows do. More than 2000 are sampled.
    after : fitted learner, predictor or pipeline, or array-like of shape (n, p)
        What maps the rows, or the mapped rows themselves. The rows as the steps of a pipeline
        before its metric leave them are what the plain distance sees.
    y : array-like of shape (n,)
        Floats are a number; strings, and whole numbers with at most 100 distinct values, classes.
    axes : pair of matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    pair of matplotlib Axes

    Notes
    -----
    Axes are spherical principal components, which a few far rows cannot turn; what lies beyond
    the frame is drawn at its edge, and that is said.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import LDA, KNNClassifier, plot_map
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KNNClassifier(metric=LDA())).fit(X[::2], y[::2])
    >>> left, right = plot_map(X[1::2], model, y[1::2])
    >>> right.get_title()
    'after: 98 % beside their own class'
    """
    mapped = not (hasattr(after, "fit") or isinstance(after, type))
    model = FittedMetric(None) if mapped else fitted(after)
    rows, targets = check_rows(model, before, y)
    learned = (
        check_rows(FittedMetric(None), after, y)[0] if mapped else map_rows(model.metric, rows)
    )
    classes = are_classes(model.metric, targets)
    name = str(getattr(y, "name", None) or "y")
    left, right = _pair(axes)
    for ax, when, points in ((left, "before", rows), (right, "after", learned)):
        places = first_two_components(points)
        middle, half = frame(places)
        n_far = int((np.abs(places - middle) > half * (1 + 1e-9)).any(axis=1).sum())
        shown = np.clip(places, middle - half, middle + half)
        draw_map(ax, shown, targets, classes, name if ax is right else None)
        far = f"{count_of(n_far, 'far point')} drawn at the edge" if n_far else ""
        ax.set(title=f"{when}: {_phrase_agreement(points, targets, classes)}", xlabel=far)
    return left, right


def _phrase_agreement(points: FloatArray, targets: AnyArray, classes: bool) -> str:
    key = make_key(targets, "classification" if classes else "regression")
    share = agreement(np.asarray(points, np.float64), key, targets)
    if np.isnan(share):
        return "too few points to tell"
    if classes:
        return f"{format_share(share)} beside their own class".replace(NBSP, " ")
    return f"neighbours correlate by {share:.2f}"


def eigenvalues_of(metric: Any) -> FloatArray:
    """Return the eigenvalues of the learned matrix, descending.

    Those of ``outer_product_`` where there is one, else of M = AᵀA.
    """
    if hasattr(type(metric), "outer_product_"):  # of wide rows too large to be computed here
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


def _pair(axes: Any) -> tuple[Axes, Axes]:
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(1, 2, figsize=(9.2, 4.4), layout="constrained")[1]
    if len(np.ravel(axes)) != 2:
        raise ValueError(f"two Axes are needed, got {len(np.ravel(axes))}.")
    left, right = np.ravel(axes)
    return left, right
