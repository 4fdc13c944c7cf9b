"""Which search MLNG uses, and that each of them serves it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal import MLNG
from vicinal.metric.candidates import EXACT_UP_TO, SEARCHES, order_by_class
from vicinal.metric.gerrymander._options import check_options


def rows(n=1200, d=6, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d)), y


def fitted(search, **options):
    X, y = rows()
    told = {"init": "identity", "learning_rate": 0.03, "max_iter": 3, "random_state": 0}
    return MLNG(candidates=search, **told, **options).fit(X, y)


def test_few_rows_are_searched_exactly_and_very_many_approximately():
    found = [
        check_options(MLNG(), np.zeros((n, 1)), 1 - np.eye(2), None).search
        for n in (EXACT_UP_TO, EXACT_UP_TO + 1)
    ]
    assert found == ["exact", "approximate"]


def test_auto_and_exact_are_the_same_fit_for_few_rows():
    assert_array_equal(fitted("auto").components_, fitted("exact").components_)


def test_an_approximate_fit_does_not_depend_on_threads():
    one = fitted("approximate", n_jobs=1).components_
    assert_array_equal(fitted("approximate", n_jobs=2).components_, one)


def test_an_approximate_fit_learns_as_well():
    exact, approximate = fitted("exact"), fitted("approximate")
    assert approximate.loss_curve_[-1] == pytest.approx(exact.loss_curve_[-1], rel=0.05)


def test_an_unknown_search_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'exact', 'approximate', 'faiss'; got 'annoy'"):
        fitted("annoy")


def test_a_missing_faiss_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"candidates='faiss' needs.*vicinal\[faiss\]"):
        fitted("faiss")


def searched(n_threads=1, previous=None, scale=1.0):
    X, y = rows(4000)
    classes = order_by_class(y)
    mapped = (X * scale)[classes.order]
    return mapped, classes, SEARCHES["faiss"](
        mapped, classes, 9, 20, previous=previous, seed=(0,), n_threads=n_threads
    )  # fmt: skip


def share_found(found, exact):
    return np.mean(
        [np.isin(f, e).sum() / (e >= 0).sum() for f, e in zip(found, exact, strict=True)]
    )


def test_faiss_finds_most_exact_candidates_on_their_side():
    pytest.importorskip("faiss", reason="needs the extra faiss")
    mapped, classes, found = searched()
    codes = classes.codes
    assert share_found(found, SEARCHES["exact"](mapped, classes, 9, 20)) > 0.9
    assert ((codes[found[:, :9]] == codes[:, None]) | (found[:, :9] < 0)).all()
    assert ((codes[found[:, 9:]] != codes[:, None]) | (found[:, 9:] < 0)).all()
    assert (found != np.arange(len(found))[:, None]).all()


def test_lists_of_faiss_keep_what_was_known_and_do_not_depend_on_threads():
    pytest.importorskip("faiss", reason="needs the extra faiss")
    mapped, classes, found = searched()
    exact = SEARCHES["exact"](mapped, classes, 9, 20)
    again = searched(previous=exact)[2]
    assert share_found(again, exact) > 0.999
    assert_array_equal(searched(n_threads=2)[2], found)


def test_faiss_serves_a_fit():
    pytest.importorskip("faiss", reason="needs the extra faiss")
    assert fitted("faiss").loss_curve_[-1] == pytest.approx(
        fitted("exact").loss_curve_[-1], rel=0.05
    )
