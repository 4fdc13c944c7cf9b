from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vicinal.report._scales import Scale, round_steps


@given(low=st.floats(0, 1), span=st.floats(1e-6, 1), n=st.integers(2, 8))
def test_round_steps_cover_the_range_evenly_with_about_as_many_as_asked(
    low: float, span: float, n: int
) -> None:
    steps = round_steps(low, low + span, n)
    assert steps[0] <= low + 1e-9
    assert steps[-1] >= low + span - 1e-9
    assert 2 <= len(steps) <= n + 2
    step = steps[1] - steps[0]
    assert all(math.isclose(b - a, step, rel_tol=1e-6) for a, b in pairwise(steps))


def test_a_scale_meets_both_ends_and_halves_a_point() -> None:
    scale = Scale(1, 100, 0, 200)
    assert (scale(1), scale(100)) == (0, 200)
    assert Scale(1, 100, 0, 200, log=True)(10) == 100
    assert Scale(3, 3, 0, 200)(3) == 100
