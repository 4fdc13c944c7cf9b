"""From a row's numbers to what the maps see: standard scores, and places in bins of the columns.

    X ─▶ standard (n, d) ─▶ bins of every column, cut where the target changes ─▶ (F, D, n)

A bin is a line with both ends held: t = clip(slope · z + offset, low, high). Columns become entries
side by side, so that one gather and three passes encode a batch; the standard scores themselves are
entries whose ends are open. Entries come before rows: what follows are products and batch norms
that want the rows of an entry together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.rows import Classes, Rows

ENCODINGS = ("tree", "quantile", "periodic", None)
# Bins of a column, and of all columns together, at most: more columns share them.
MOST_BINS, MOST_IN_ALL = 12, 640
# Rows that a bin holds at least, and the share of all.
LEAST_ROWS, LEAST_SHARE = 3, 1 / 200
# Rows the bins are cut by; where a column changes is known from fewer.
MOST_ROWS = 20_000
# A query this many standard deviations out counts as no farther: single floats stay in range.
FARTHEST = 1000.0
# Waves of a column, from a whole standard range down to an eighth of it.
WAVES = 4


@dataclass(frozen=True)
class Encoding:
    """How rows (n, d) become entries (F, D, n), F times over: once for each fold left out.

    Attributes
    ----------
    centre, scale : ndarrays of shape (d,)
        A column that does not vary has the scale infinity: its score is zero for every row.
    column : int ndarray of shape (F, D)
        What each entry looks at.
    slope, offset, low, high : float32 ndarrays of shape (F, D)
        The first d entries are the standard scores; those of slope 0 stand where other folds have
        more bins.
    waves : bool
        Whether the entries behind the first d are sines instead of bins.
    """

    centre: FloatArray
    scale: FloatArray
    column: IntArray
    slope: FloatArray
    offset: FloatArray
    low: FloatArray
    high: FloatArray
    waves: bool = False

    @property
    def n_entries(self) -> int:
        """D."""
        return int(self.column.shape[1])

    def standard(self, X: AnyArray) -> FloatArray:
        """Return standard scores (n, d) as float32."""
        scores = (X - self.centre) / self.scale
        return np.clip(scores, -FARTHEST, FARTHEST).astype(np.float32)

    def entries(self, standard: FloatArray) -> FloatArray:
        """Return the entries (F, D, n) of standard scores (n, d)."""
        F, D = self.column.shape
        t = np.ascontiguousarray(standard.T)[self.column.ravel()]
        t *= self.slope.reshape(-1, 1)
        t += self.offset.reshape(-1, 1)
        np.clip(t, self.low.reshape(-1, 1), self.high.reshape(-1, 1), out=t)
        t = t.reshape(F, D, -1)
        if self.waves:
            np.sin(t[:, self.centre.shape[0] :], out=t[:, self.centre.shape[0] :])
        # Entries of what is missing are zero, as those are that members have hidden from them.
        if np.isnan(standard.sum()):
            t[np.isnan(t)] = 0.0
        return t

    def slopes(self, standard: FloatArray, step: float) -> FloatArray:
        """Return difference quotients (F, D, n) of the entries by the score each looks at.

        Not derivatives: the few rows in the thinnest of bins would outweigh all others.
        """
        return (self.entries(standard + step) - self.entries(standard - step)) / (2 * step)


def make_encoding(
    rows: Rows, fold: IntArray, n_folds: int, kind: str | None, seed: int
) -> Encoding:
    """Return the encoding learned from rows, of each fold that is left out.

    Parameters
    ----------
    rows : Rows
    fold : int ndarray of shape (n,)
        The fold of each row, −1 for one that is never left out.
    n_folds : int
        F; bins that do not look at the target are cut once, F being 1 then.
    kind : {"tree", "quantile", "periodic"} or None
    """
    centre = _centre(rows)
    moves = np.fmax.reduce(rows.X, axis=0) > np.fmin.reduce(rows.X, axis=0)
    scale = np.where(moves & (rows.spread > 0), rows.spread, np.inf)
    plain = _scores(len(centre))
    encoding = Encoding(centre, scale, *_side_by_side([plain]))
    if kind is None:
        return encoding
    n = rows.n_rows
    some = np.arange(n)
    if n > MOST_ROWS:
        some = np.sort(np.random.default_rng([seed, 1]).permutation(n)[:MOST_ROWS])
    part, of_fold = rows.take(some), fold[some]
    z = encoding.standard(part.X)
    columns = [j for j in range(z.shape[1]) if _has_more_than_two_values(z[:, j])]
    if kind == "periodic":
        pieces = [[plain, *(_waves(j) for j in columns)]]
    else:
        n_bins = min(MOST_BINS, MOST_IN_ALL // max(1, len(columns)))
        left_out: list[int | None] = list(range(n_folds)) if kind == "tree" else [None]
        pieces = [
            [plain, *(_bins(j, edges) for j, edges in _edges(z, columns, part, keep, n_bins, kind))]
            for keep in (np.ones(len(z), bool) if f is None else of_fold != f for f in left_out)
        ]
    sides = _side_by_side([np.concatenate(each, axis=1) for each in pieces])
    return Encoding(centre, scale, *sides, waves=kind == "periodic")


def _centre(rows: Rows) -> FloatArray:
    """Return the mean of each column (d,), of what is not missing."""
    there = ~np.isnan(rows.X)
    weights = np.broadcast_to(1.0 if rows.weights is None else rows.weights[:, None], there.shape)
    if there.all():
        return np.average(rows.X, axis=0, weights=rows.weights).astype(np.float64)
    total = np.where(there, weights, 0.0).sum(axis=0)
    sums = np.where(there, weights * rows.X, 0.0).sum(axis=0)
    return np.divide(sums, total, out=np.zeros(len(total)), where=total > 0)


def _has_more_than_two_values(values: FloatArray) -> bool:
    least, most = np.fmin.reduce(values), np.fmax.reduce(values)
    return bool(np.any((values > least) & (values < most)))


def _edges(
    z: FloatArray, columns: list[int], rows: Rows, keep: AnyArray, n_bins: int, kind: str
) -> list[tuple[int, FloatArray]]:
    """Return the edges of each column that has more than one bin, the outermost ones included."""
    if n_bins < 2:
        return []
    part = rows.take(np.flatnonzero(keep))
    z, edges = z[keep], []
    for j in columns:
        there = np.flatnonzero(~np.isnan(z[:, j]))
        if not len(there):
            continue
        values, own = z[there, j : j + 1], part if len(there) == len(z) else part.take(there)
        inner = _quantiles(values, n_bins) if kind == "quantile" else _changes(values, own, n_bins)
        cuts = np.unique(np.concatenate([[values.min()], inner, [values.max()]]))
        if len(cuts) > 2:
            edges.append((j, cuts))
    return edges


def _quantiles(values: FloatArray, n_bins: int) -> FloatArray:
    return np.quantile(values, np.arange(1, n_bins) / n_bins)


def _changes(values: FloatArray, rows: Rows, n_bins: int) -> FloatArray:
    """Return the thresholds of a tree of one column: where the target changes most."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    classes = isinstance(rows.target, Classes)
    tree: Any = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(
        max_leaf_nodes=n_bins,
        min_samples_leaf=max(LEAST_ROWS, int(len(values) * LEAST_SHARE)),
        random_state=0,
    )
    y = rows.codes if classes else rows.values
    inner = tree.fit(values, y, sample_weight=rows.weights).tree_
    thresholds: FloatArray = inner.threshold[inner.feature == 0]
    return thresholds


# Pieces of an encoding: arrays (5, D) of column, slope, offset, low and high of each entry.


def _scores(d: int) -> FloatArray:
    ones = np.ones(d)
    return np.stack([np.arange(d), ones, 0 * ones, -np.inf * ones, np.inf * ones])


def _bins(column: int, edges: FloatArray) -> FloatArray:
    """Return a column's bins, from −½ where the bin begins to ½ where it ends.

    The first and the last are open by one width more.
    """
    width = np.maximum(np.diff(edges.astype(np.float64)), 1e-9)
    low, high = np.full(len(width), -0.5), np.full(len(width), 0.5)
    low[0], high[-1] = -1.5, 1.5
    return np.stack([np.full(len(width), column), 1 / width, -edges[:-1] / width - 0.5, low, high])


def _waves(column: int) -> FloatArray:
    """Return sines and cosines of a column, each wave half as long as the one before."""
    slope = np.repeat(0.5 * np.pi * 2.0 ** np.arange(WAVES), 2)
    offset = np.tile([0.0, 0.5 * np.pi], WAVES)
    far = np.full(2 * WAVES, np.inf)
    return np.stack([np.full(2 * WAVES, column), slope, offset, -far, far])


def _side_by_side(
    pieces: list[FloatArray],
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Return column, slope, offset, low and high as (F, D), filled up with entries that are 0."""
    D = max(piece.shape[1] for piece in pieces)
    sides = np.zeros((5, len(pieces), D))
    for f, piece in enumerate(pieces):
        sides[:, f, : piece.shape[1]] = piece
    slope, offset, low, high = sides[1:].astype(np.float32)
    return sides[0].astype(np.int64), slope, offset, low, high
