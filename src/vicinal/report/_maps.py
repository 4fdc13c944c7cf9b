"""The data on paper before and after learning: first two components, coloured by target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter

from .._types import AnyArray, FloatArray, IntArray, Task
from ..pairs import nearest_rows
from ._numbers import count_of, format_share, format_value, join_words, shorten
from ._palette import N_STEPS
from ._records import Exhibit

SIZE = 360
MAX_POINTS = 2000
MAX_LEGEND = 12
MAX_LABELS = 30
_MARGIN = 14.0
_ONE_COMPONENT = "One component only: height means nothing, it spreads the points."
_LAYERS = 6  # classes are painted in turns, so that none covers all others
# Two rows, or one in two hundred, are few: they do not set the scale.
_FEW = 2, 200
_CELL = 4  # of the grid on which free places are looked for


@dataclass(frozen=True)
class Key:
    """What colours mean: classes by name, or the ends of a continuous scale."""

    codes: IntArray
    names: tuple[str, ...]
    continuous: bool
    low: str = ""
    high: str = ""

    @property
    def in_legend(self) -> bool:
        return not self.continuous and len(self.names) <= MAX_LEGEND


@dataclass(frozen=True)
class MapPanel:
    """One drawn map.

    ``dots`` are codes with a path each: strokes of no length with round caps, small to store.
    ``labels`` are codes with the place and the name that stands beside the middle of its points.
    """

    heading: str
    dots: list[tuple[int, str]]
    labels: list[tuple[int, float, float, str]]
    alt: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class MapPair:
    """The map before and after, and the key they share."""

    before: MapPanel
    after: MapPanel
    key: Key
    caption: str


def draw_maps(exhibit: Exhibit, task: Task) -> MapPair | None:
    """Lay out both maps; None where there is nothing to show."""
    before, after = _two_columns(exhibit.map_before), _two_columns(exhibit.map_after)
    targets = np.asarray(exhibit.map_targets).ravel()
    if min(len(before), len(after), len(targets)) == 0:
        return None
    keep = _thin(np.isfinite(np.hstack([before, after])).all(axis=1))
    if keep.size == 0:
        return None
    before, after, targets = before[keep], after[keep], targets[keep]
    key = make_key(targets, task)
    shares = [agreement(points, key, targets) for points in (before, after)]
    one = [_has_one_column(m) for m in (exhibit.map_before, exhibit.map_after)]
    headings = "Before: plain distance", f"After: {exhibit.title}"
    panels = [
        draw_panel(heading, points, key, share, *([_ONE_COMPONENT] if flat else []))
        for heading, points, share, flat in zip(headings, (before, after), shares, one, strict=True)
    ]
    caption = _phrase_caption(exhibit, key, len(keep))
    return MapPair(panels[0], panels[1], key, caption)


def _has_one_column(points: FloatArray) -> bool:
    points = np.asarray(points)
    return points.ndim < 2 or points.shape[1] < 2 or bool((points[:, 1] == 0).all())


def _two_columns(points: FloatArray) -> FloatArray:
    """The first two columns; a lone one is given a golden-ratio spread as its second."""
    points = np.asarray(points, dtype=float)
    if points.size == 0:
        return np.empty((0, 2))
    if not _has_one_column(points):
        return points[:, :2]
    line = points.reshape(len(points), -1)[:, 0]
    width = np.ptp(line[np.isfinite(line)]) if np.isfinite(line).any() else 0.0
    height = (np.arange(len(line)) * 0.6180339887) % 1 - 0.5
    return np.column_stack([line, 0.35 * width * height])


def _thin(usable: AnyArray) -> IntArray:
    """At most ``MAX_POINTS`` usable rows, evenly spaced."""
    rows = np.flatnonzero(usable)
    if len(rows) <= MAX_POINTS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MAX_POINTS).round().astype(int)]


def make_key(targets: AnyArray, task: Task) -> Key:
    """Colour codes of targets: classes in natural order, or steps of a continuous scale."""
    if task == "classification":
        names, codes = np.unique(targets.astype(str), return_inverse=True)
        order = sorted(range(len(names)), key=lambda i: natural_key(str(names[i])))
        rank = np.empty(len(names), dtype=int)
        rank[order] = np.arange(len(names))
        return Key(rank[codes], tuple(str(names[i]) for i in order), continuous=False)
    values = targets.astype(float)
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [0.02, 0.98]) if finite.size else (0.0, 0.0)
    scaled = np.nan_to_num((values - low) / ((high - low) or 1.0))
    codes = np.clip(np.floor(scaled * N_STEPS), 0, N_STEPS - 1).astype(int)
    return Key(codes, (), continuous=True, low=format_value(low), high=format_value(high))


def natural_key(name: str) -> tuple[int, float, str]:
    """Numbers by value and before words: 2 comes before 10."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def agreement(points: FloatArray, key: Key, targets: AnyArray) -> float:
    """Return the share of points (n, p) whose nearest other point has their class.

    For regression the correlation of their targets instead; NaN below three points.
    """
    if len(points) < 3:
        return float("nan")
    nearest = nearest_others(points)
    if not key.continuous:
        return float(np.mean(key.codes == key.codes[nearest]))
    return correlation(targets.astype(float), targets.astype(float)[nearest])


def nearest_others(points: FloatArray) -> IntArray:
    """Return the nearest other point of each of n points, (n,), the lowest of equals: O(n² p)."""
    two = nearest_rows(points, points, 2)
    return np.where(two[:, 0] == np.arange(len(points)), two[:, 1], two[:, 0])


def correlation(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two columns, NaN where either does not vary or is not finite."""
    both = np.stack([first, second])
    if not (np.isfinite(both).all() and (both.std(axis=1) > 0).all()):
        return float("nan")
    return float(np.corrcoef(both)[0, 1])


def draw_panel(heading: str, points: FloatArray, key: Key, share: float, *remarks: str) -> MapPanel:
    """Lay out one map of points (n, 2); ``share`` is its :func:`agreement`."""
    paper, n_outside = place(points)
    if n_outside:
        far = count_of(n_outside, "far point")
        remarks += (f"{far} {'is' if n_outside == 1 else 'are'} drawn at the edge.",)
    return MapPanel(
        heading=heading,
        dots=_paint(paper, key),
        labels=_label_classes(paper, key),
        alt=_describe(heading, key, len(points), share),
        remarks=remarks,
    )


def first_two_components(X: FloatArray) -> FloatArray:
    """Return rows (n, p) along two axes, (n, 2); missing ones are zero.

    Spherical principal components: the axes along which the *directions* of the rows, seen from
    their median, vary most. Each row counts once however far it lies, so that a few far ones
    cannot turn the axes; of an elliptical cloud they are the principal axes.
    """
    from ..data import principal_axes  # with scikit-learn, which pages do without

    X = np.asarray(X, dtype=np.float64)
    n_axes = min(2, *X.shape)
    centred = X - np.median(X, axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    _, axes = principal_axes(centred / np.where(lengths > 0, lengths, 1.0), n_axes)
    flat = np.zeros((len(X), 2))
    flat[:, :n_axes] = centred @ axes.T
    return flat


def frame(points: FloatArray) -> tuple[FloatArray, float]:
    """Return the middle (2,) and half the side of the square that shows points (n, 2).

    It reaches twice as far as all but the few farthest points of either component span, so that
    a few outliers do not squeeze all others into a corner.
    """
    n_few = max(_FEW[0], len(points) // _FEW[1])
    inner = np.sort(points, axis=0)
    inner = inner[n_few:-n_few] if len(points) > 4 * n_few else inner
    if not np.ptp(inner, axis=0).any():
        inner = points
    low, high = inner.min(axis=0), inner.max(axis=0)
    reach = (high - low) / 2
    low = np.maximum(points.min(axis=0), low - reach)
    high = np.minimum(points.max(axis=0), high + reach)
    return (low + high) / 2, float((high - low).max()) / 2 or 1.0


def place(points: FloatArray) -> tuple[FloatArray, int]:
    """Positions on the square, equal scale on both axes; far points are moved to its edge."""
    middle, half = frame(points)
    unit = (points - middle) / half
    outside = (np.abs(unit) > 1 + 1e-9).any(axis=1)
    unit = np.clip(unit, -1, 1) * [1, -1]
    return SIZE / 2 + unit * (SIZE / 2 - _MARGIN), int(outside.sum())


def _paint(paper: FloatArray, key: Key) -> list[tuple[int, str]]:
    layers = np.arange(len(paper)) * _LAYERS // max(len(paper), 1)
    layers = np.random.default_rng(0).permutation(layers)
    dots = []
    for layer in range(_LAYERS):
        for code in np.unique(key.codes[layers == layer]):
            chosen = paper[(layers == layer) & (key.codes == code)]
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in chosen)
            dots.append((int(code), path))
    return dots


def _label_classes(paper: FloatArray, key: Key) -> list[tuple[int, float, float, str]]:
    """Name the classes on the map where the legend does not."""
    if key.continuous or key.in_legend or len(key.names) > MAX_LABELS:
        return []
    names = [shorten(name, 12) for name in key.names]
    middles = np.array([np.median(paper[key.codes == code], axis=0) for code in range(len(names))])
    places = free_places(paper, middles, [len(name) for name in names]).round(1).tolist()
    return [(code, *places[code], name) for code, name in enumerate(names)]


def free_places(paper: FloatArray, wanted: FloatArray, lengths: Sequence[int]) -> FloatArray:
    """Return where labels of some letters can stand, near the wanted places (m, 2).

    Each takes the nearest place where it covers no point (n, 2) and no other label; where there
    is none, covering a point counts as much as a label's height of way.
    """
    n_cells = SIZE // _CELL
    taken = np.histogram2d(paper[:, 0], paper[:, 1], bins=n_cells, range=[(0, SIZE)] * 2)[0]
    at = (np.arange(n_cells) + 0.5) * _CELL
    grid = np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1)
    places = np.empty((len(wanted), 2))
    for i, (middle, letters) in enumerate(zip(wanted, lengths, strict=True)):
        half = np.array([int(4 * letters + 2) // _CELL + 1, 2])
        covered = uniform_filter(taken, 2 * half + 1, mode="constant") * np.prod(2 * half + 1)
        cost = 14 * covered + np.linalg.norm(grid - middle, axis=-1)
        inside = tuple(slice(h, n_cells - h) for h in half)
        x, y = np.unravel_index(cost[inside].argmin(), cost[inside].shape) + half
        places[i] = at[x], at[y]
        taken[x - half[0] : x + half[0] + 1, y - half[1] : y + half[1] + 1] += 1 + len(paper)
    return places


def _describe(heading: str, key: Key, n_points: int, share: float) -> str:
    head = f"Map, {heading}. {count_of(n_points, 'point')} by their first two components"
    if key.continuous:
        return (
            f"{head}, coloured by target from {key.low} to {key.high}. {_phrase_share(share, key)}"
        )
    names = join_words([shorten(name, 24) for name in key.names], limit=MAX_LEGEND)
    classes = count_of(len(key.names), "class", "classes")
    return f"{head}, coloured by {classes} ({names}). {_phrase_share(share, key)}"


def _phrase_share(share: float, key: Key) -> str:
    if np.isnan(share):
        return "There are too few points to say how well they separate."
    if key.continuous:
        return f"Points next to each other have targets that correlate by {share:.2f}."
    return f"{format_share(share)} of the points lie next to a point of their own class."


def _phrase_caption(exhibit: Exhibit, key: Key, n_shown: int) -> str:
    n_all = len(exhibit.map_targets)
    shown = f"{count_of(n_shown, 'test row')}" + (f" of {n_all:,}" if n_shown < n_all else "")
    shown = f"{shown}, two components of each space."
    if len(exhibit.agreement) != 2 or np.isnan(exhibit.agreement).any():
        return shown
    if key.continuous:
        what = "the targets of test rows and of their nearest training rows correlate by"
        before, after = (f"{share:.2f}" for share in exhibit.agreement)
    else:
        nearest = f"the {exhibit.k} nearest training rows" if exhibit.k > 1 else "the nearest rows"
        what = f"the share of {nearest} that have a test row's class is"
        before, after = (format_share(share) for share in exhibit.agreement)
    return f"{shown} In all components, {what} {before} before and {after} after."
