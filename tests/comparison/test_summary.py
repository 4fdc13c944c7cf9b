"""Rows of a table from records of folds: means, gains, the best, and what failed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vicinal.comparison._packing import pack_bits, unpack_bits
from vicinal.comparison._significance import corrected_t_test, mcnemar_test
from vicinal.comparison._summary import distinct_notes, summarize_records
from vicinal.methods import get_method

METHODS = [get_method(name) for name in ("euclidean", "lda", "nca")]


def ok(method, fold, error, k=3, **more):
    return {
        "key": f"{method}-{fold}-{k}",
        "status": "ok",
        "method": method,
        "fold": fold,
        "k": k,
        "error": error,
        "wrong": None,
        "n_train": 80,
        "n_test": 20,
        "fit_seconds": 1.0 + fold,
        "fit_cpu_seconds": 2.0,
        "predict_seconds": 3.0,
        "predict_cpu_seconds": 4.0,
        "peak_mb": 10.0 * (fold + 1),
        "notes": [],
        **more,
    }


def failed(method, fold, message, k=3):
    return {"status": "failed", "method": method, "fold": fold, "k": k, "message": message}


def rows_of(records, ks=(3,)):
    return {(r.method, r.k): r for r in summarize_records(records, METHODS, ks, "wine")[0]}


def test_a_row_holds_means_over_folds_in_their_order():
    rows = rows_of([ok("euclidean", 1, 0.3), ok("euclidean", 0, 0.1)])
    row = rows["euclidean", 3]
    assert row.errors == (0.1, 0.3)
    assert row.error_mean == pytest.approx(0.2)
    assert row.error_sd == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert row.fit_seconds == 1.5
    assert row.peak_mb == 20.0
    assert (row.n_train, row.n_test, row.status) == (80, 20, "ok")
    assert row.gain is None
    assert row.p_value is None


def test_the_gain_is_tested_pairwise_across_folds():
    plain, ours = [0.10, 0.14, 0.12], [0.08, 0.11, 0.11]
    rows = rows_of(
        [ok("euclidean", i, e) for i, e in enumerate(plain)]
        + [ok("lda", i, e) for i, e in enumerate(ours)]
    )
    assert rows["lda", 3].gain == pytest.approx(0.02)
    differences = np.subtract(plain, ours)
    assert rows["lda", 3].p_value == pytest.approx(corrected_t_test(differences, 0.25))


def test_one_split_is_tested_row_by_row():
    random = np.random.default_rng(0)
    plain, ours = random.random(20) < 0.5, random.random(20) < 0.2
    rows = rows_of(
        [
            ok("euclidean", 0, plain.mean(), wrong=pack_bits(plain)),
            ok("lda", 0, ours.mean(), wrong=pack_bits(ours)),
        ]
    )
    assert rows["lda", 3].p_value == pytest.approx(mcnemar_test(ours, plain))
    assert math.isnan(rows["lda", 3].error_sd)


def test_one_split_of_a_regression_has_a_gain_but_no_test():
    rows = rows_of([ok("euclidean", 0, 0.5), ok("lda", 0, 0.4)])
    assert rows["lda", 3].gain == pytest.approx(0.1)
    assert rows["lda", 3].p_value is None


def test_a_method_that_failed_says_why_and_the_others_stand():
    rows = rows_of(
        [ok("euclidean", 0, 0.2), failed("lda", 0, "no luck"), failed("nca", 0, "no memory")]
    )
    assert rows["lda", 3].status == "failed"
    assert rows["lda", 3].message == "no luck"
    assert math.isnan(rows["lda", 3].error_mean)
    assert rows["lda", 3].gain is None
    assert rows["euclidean", 3].best


def test_some_failed_folds_make_a_row_partial_and_compare_only_shared_folds():
    rows = rows_of(
        [ok("euclidean", i, e) for i, e in enumerate([0.2, 0.9, 0.4])]
        + [ok("lda", 0, 0.1), failed("lda", 1, "once"), ok("lda", 2, 0.2)]
    )
    row = rows["lda", 3]
    assert (row.status, row.message, row.errors) == ("partial", "once", (0.1, 0.2))
    assert row.gain == pytest.approx(0.15)
    assert not row.best, "a mean over fewer folds is no rival"


def test_the_best_of_each_k_is_marked_and_equals_share_the_mark():
    rows = rows_of(
        [
            ok(method, 0, error, k=k)
            for k, errors in ((3, (0.2, 0.1, 0.1)), (7, (0.2, 0.3, 0.4)))
            for method, error in zip(("euclidean", "lda", "nca"), errors, strict=True)
        ],
        ks=(3, 7),
    )
    assert [key for key, row in rows.items() if row.best] == [
        ("lda", 3),
        ("nca", 3),
        ("euclidean", 7),
    ]


def test_rows_come_by_k_and_then_by_method():
    rows = rows_of([], ks=(3, 7))
    assert list(rows) == [(m, k) for k in (3, 7) for m in ("euclidean", "lda", "nca")]
    assert {row.status for row in rows.values()} == {"failed"}


def test_notes_that_differ_in_numbers_only_are_told_once():
    assert distinct_notes(["fitted on 3,000 of 16,000", "fitted on 3,000 of 15,999", "x"]) == (
        "fitted on 3,000 of 16,000",
        "x",
    )


def test_references_come_last_gain_on_euclidean_at_its_best_and_fight_the_best():
    records = [ok("euclidean", f, e, k=k) for k, e in ((3, 0.3), (7, 0.2)) for f in (0, 1)]
    records += [ok("lda", f, 0.1 + 0.01 * f, k=k) for k in (3, 7) for f in (0, 1)]
    records += [ok("svm", f, 0.15, k=None) for f in (0, 1)]
    methods = [get_method(name) for name in ("euclidean", "lda", "svm")]
    rows, duels = summarize_records(records, methods, (3, 7), "wine")
    last = rows[-1]
    assert (last.method, last.k, last.reference, last.best) == ("svm", None, True, False)
    assert last.gain == pytest.approx(0.05)
    assert [(d.reference, d.p_value) for d in duels] == [
        ("svm", pytest.approx(corrected_t_test([0.05, 0.04], 0.25))),
        ("euclidean", pytest.approx(corrected_t_test([0.1, 0.09], 0.25))),
    ]


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4001])
def test_bits_come_back_as_they_went(n):
    bits = np.random.default_rng(n).random(n) < 0.3
    assert np.array_equal(unpack_bits(pack_bits(bits), n), bits)
