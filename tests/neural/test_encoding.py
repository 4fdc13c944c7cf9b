"""Places of rows in bins: the formula entry by entry, folds left out, finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles.differences import gradient

from vicinal.neural._encoding import FARTHEST, MOST_IN_ALL, make_encoding
from vicinal.rows import Classes, Numbers, Rows


def table(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(3, 2, n), rng.uniform(size=n), rng.integers(0, 2, n), np.full(n, 7.0)]
    return X, (X[:, 0] > 3.5).astype(int)


def encoded(X, y, kind, n_folds=2, fold=None):
    fold = np.arange(len(y)) % n_folds if fold is None else fold
    target = Classes(np.unique(y), y) if y.dtype.kind == "i" else Numbers(y)
    return make_encoding(Rows(X, target), fold, n_folds, kind, 0)


def piecewise(value, edges):
    """Return the places of a value in bins, first and last open by a width, as a loop."""
    places, last = [], len(edges) - 2
    for b in range(len(edges) - 1):
        share = (value - edges[b]) / (edges[b + 1] - edges[b])
        lowest, highest = (-1 if b == 0 else 0), (2 if b == last else 1)
        places.append(min(max(share, lowest), highest) - 0.5)
    return places


def test_the_first_entries_are_the_standard_scores():
    X, y = table()
    for kind in (None, "tree", "quantile", "periodic"):
        encoding = encoded(X, y, kind)
        z = encoding.standard(X)
        moving = X[:, :3]
        expected = (moving - moving.mean(axis=0)) / moving.std(axis=0)
        assert_allclose(z[:, :3], expected, rtol=1e-4, atol=1e-5)
        assert_array_equal(z[:, 3], 0)
        for fold in encoding.entries(z):
            assert_array_equal(fold[:4], z.T)


def test_quantile_bins_are_the_formula_written_out():
    X, y = table()
    encoding = encoded(X, y, "quantile")
    z = encoding.standard(X)
    edges = np.quantile(z[:, 0], np.arange(13) / 12)
    (entries,) = encoding.entries(z)
    assert encoding.n_entries == 4 + 2 * 12  # columns of two values and of one have no bins
    for row in range(0, 400, 37):
        assert_allclose(entries[4:16, row], piecewise(z[row, 0], edges), atol=1e-3)


def test_tree_bins_are_cut_where_the_target_changes():
    X, y = table()
    encoding = encoded(X, y, "tree")
    border = (3.5 - X[:, 0].mean()) / X[:, 0].std()
    for fold in range(2):
        of_first = encoding.column[fold] == 0
        of_first[:4] = False
        slope, offset = encoding.slope[fold][of_first], encoding.offset[fold][of_first]
        edges = (-0.5 - offset) / slope
        assert np.abs(edges - border).min() < 0.05


def test_bins_of_a_fold_do_not_know_the_targets_of_the_fold_they_leave_out():
    X, y = table()
    fold = np.arange(400) % 2
    other = np.where(fold == 0, (X[:, 1] > 0.3).astype(int), y)
    one, two = encoded(X, y, "tree", fold=fold), encoded(X, other, "tree", fold=fold)
    z = one.standard(X)
    for before, after in zip(
        (one.slope[0], one.offset[0], one.column[0]),
        (two.slope[0], two.offset[0], two.column[0]),
        strict=True,
    ):
        used = min(len(before), len(after))
        assert_array_equal(before[:used], after[:used])
        assert not before[used:].any()
    assert not np.array_equal(one.entries(z)[1], two.entries(z)[1])


def test_many_columns_share_the_bins_and_very_many_have_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 100))
    assert encoded(X, np.arange(60) % 2, "quantile").n_entries <= 100 + MOST_IN_ALL
    X = rng.normal(size=(20, MOST_IN_ALL // 2 + 1))
    assert encoded(X, np.arange(20) % 2, "tree").n_entries == X.shape[1]


def test_far_queries_stay_finite():
    X, y = table()
    encoding = encoded(X, y, "tree")
    z = encoding.standard(np.array([[1e70, -1e70, 0.0, 7.0]]))
    assert np.abs(z).max() == FARTHEST
    assert np.isfinite(encoding.entries(z)).all()


@pytest.mark.parametrize("kind", ["tree", "quantile", "periodic", None])
def test_slopes_are_the_finite_differences_of_the_column_an_entry_looks_at(kind):
    X, y = table(n=120)
    encoding = encoded(X, y.astype(float) + X[:, 1], kind)
    z = encoding.standard(X)[5:6].astype(np.float64)
    slopes = encoding.slopes(z, 0.1)[0, :, 0]
    for entry in range(encoding.n_entries):
        by_column = gradient(lambda at, e=entry: encoding.entries(at)[0, e, 0], z, step=0.1)[0]
        column = encoding.column[0, entry]
        assert_allclose(by_column[column], slopes[entry], rtol=1e-4, atol=1e-4)
        assert_allclose(np.delete(by_column, column), 0, atol=1e-6)


def test_a_column_that_does_not_vary_says_nothing_of_a_query_either():
    X, y = table()
    X[:, 3] = 0.1 + 0.2
    assert_array_equal(encoded(X, y, "tree").standard(X + 5)[:, 3], 0)
