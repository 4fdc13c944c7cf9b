"""The paired tests against plain arithmetic and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from vicinal.comparison._significance import corrected_t_test, mcnemar_test


def test_without_a_test_part_the_corrected_test_is_students():
    differences = [0.01, 0.03, -0.01, 0.02, 0.02]
    assert corrected_t_test(differences, 0.0) == pytest.approx(ttest_1samp(differences, 0).pvalue)


def test_the_correction_widens_the_variance_by_the_share_of_the_test_part():
    differences = np.array([0.01, 0.03, -0.01, 0.02, 0.02])
    plain = ttest_1samp(differences, 0).statistic
    # 5 folds: (1/5 + 1/4) instead of 1/5, so t shrinks by a factor of 2/3.
    shrunk = differences - differences.mean() + differences.mean() * 2 / 3
    assert ttest_1samp(shrunk, 0).statistic == pytest.approx(plain * 2 / 3)
    assert corrected_t_test(differences, 0.25) == pytest.approx(ttest_1samp(shrunk, 0).pvalue)


def test_under_the_null_the_corrected_test_rarely_finds_anything():
    random = np.random.default_rng(0)
    p_values = [corrected_t_test(random.normal(size=5), 0.25) or 0.0 for _ in range(1000)]
    assert np.mean(np.array(p_values) < 0.05) < 0.05


def test_no_difference_at_all_is_no_evidence_and_one_fold_no_test():
    assert corrected_t_test([0.0, 0.0, 0.0], 0.25) == 1.0
    assert corrected_t_test([0.1], 0.25) is None


def test_the_same_difference_in_every_fold_leaves_nothing_to_judge_it_by():
    assert corrected_t_test([0.1, 0.1, 0.1], 0.25) is None


def test_mcnemar_counts_the_rows_only_one_of_them_gets_wrong():
    ours = np.array([True] * 2 + [False] * 9 + [True] * 50 + [False] * 50)
    rival = np.array([False] * 2 + [True] * 9 + [True] * 50 + [False] * 50)
    assert mcnemar_test(ours, rival) == pytest.approx(2 * binom.cdf(2, 11, 0.5))
    assert mcnemar_test(ours, ours) == 1.0
