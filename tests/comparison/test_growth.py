"""What methods cost as the rows grow."""

from __future__ import annotations

import numpy as np
import pytest

from vicinal.comparison._growth import growth_exponent, measure_growth, plan_growth
from vicinal.runs import Source


@pytest.mark.parametrize("power", [1.0, 2.0, 2.7])
def test_the_exponent_of_a_power_law_is_its_power(power):
    rows = np.array([500.0, 1000.0, 4000.0])
    assert growth_exponent(rows, 1e-3 * rows**power) == pytest.approx(power)


def test_fits_too_short_to_tell_have_no_exponent():
    assert growth_exponent(np.array([500.0, 1000.0]), np.array([0.001, 0.019])) is None


def test_there_is_one_cell_for_each_size_and_method_smallest_first():
    cells = plan_growth(Source("wine"), [120, 60], methods=["euclidean", "lda"], k=3, seed=0)
    assert [(c.setting.source.limit, c.method, c.fold) for c in cells] == [
        (60, "euclidean", 0),
        (60, "lda", 0),
        (120, "euclidean", 0),
        (120, "lda", 0),
    ]


def test_without_sizes_a_quarter_a_half_and_all_rows_are_taken():
    cells = plan_growth(Source("wine"), None, methods=["euclidean"], k=3, seed=0)
    assert [cell.setting.source.limit for cell in cells] == [44, 89, 178]


def test_a_size_beyond_the_data_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"500 is more than the 178 rows of wine"):
        plan_growth(Source("wine"), [60, 500], methods=["lda"], k=3, seed=0)


def test_failed_cells_are_left_out_and_sizes_ascend():
    def record(method, n, seconds, status="ok"):
        return {
            "method": method, "n_train": n, "fit_cpu_seconds": seconds, "peak_mb": 1.0,
            "status": status,
        }  # fmt: skip

    growths = measure_growth(
        [record("a", 200, 0.4), record("a", 100, 0.1), {"method": "b", "status": "failed"}]
    )
    assert [g.method for g in growths] == ["a"]
    assert growths[0].n_train == (100, 200)
    assert growths[0].exponent == pytest.approx(2.0)
