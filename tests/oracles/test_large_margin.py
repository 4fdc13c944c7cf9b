"""The loops of the large-margin loss, held to a case done by hand and to finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import large_margin


def test_the_loss_of_four_points_by_hand():
    # Targets: 0 <-> 1 at 1, 2 <-> 3 at 4. Margins 2 and 5; row 2 lies at 9 and 4 from 0 and 1.
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    chosen = large_margin.targets(np.eye(1), X, y, 1)
    assert chosen == [[1], [0], [3], [2]]
    assert large_margin.impostors(np.eye(1), X, y, chosen) == [(2, 3, 1)]
    assert large_margin.loss(np.eye(1), X, y, chosen, 0.25) == (0.75 * 10 + 0.25 * 1) / 4


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.integers(2, size=12)
    L, step = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    chosen = large_margin.targets(L, X, y, 2)
    ahead, behind = (large_margin.loss(L + h * step, X, y, chosen, 0.3) for h in (1e-6, -1e-6))
    slope = np.vdot(large_margin.gradient(L, X, y, chosen, 0.3), step)
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)
