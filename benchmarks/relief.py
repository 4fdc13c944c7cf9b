"""ReliefF against scikit-rebate, which needs minutes where ours needs a second."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks._measure import Case
from benchmarks.inference import letters, normal
from vicinal import ReliefF


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield equal work on few rows, then all 16,000 rows against the peer's few."""
    if importlib.util.find_spec("skrebate") is None:
        print("scikit-rebate is not installed (pip install skrebate): nothing to compare with")
        return
    X, y = letters() if "VICINAL_DATA" in os.environ else normal()
    X = X.astype(np.float64)
    few = 300 if quick else 2_000
    yield compare(X[:few], y[:few], X[:few], y[:few], 0.1)
    many = 2_000 if quick else 16_000
    yield compare(X[:many], y[:many], X[:few], y[:few], 0.1)


def compare(X: Any, y: Any, peer_X: Any, peer_y: Any, most: float) -> Case:
    """Weigh the features by both; the peer's time grows with the square of the rows.

    The peer is told that no feature is discrete and that y holds classes, as ours takes them.
    """

    import skrebate

    def peer() -> Any:
        settings = {"label_type": "multiclass", "categorical_threshold": 0, "n_jobs": 1}
        return skrebate.ReliefF(n_neighbors=10, **settings).fit(peer_X, peer_y)

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        ours = ReliefF(n_jobs=1).fit(peer_X, peer_y).feature_weights_
        alike = float(np.corrcoef(ours, expected.feature_importances_)[0, 1])
        if alike < 0.99:
            raise AssertionError(f"weights on the same rows correlate by {alike:.3f} only")
        factor = (len(X) / len(peer_X)) ** 2
        more = f"; all rows would take the peer {factor:g} times as long" if factor > 1 else ""
        return {"note": f"weights on the same rows correlate by {alike:.4f}{more}"}

    return Case(
        name=f"ReliefF on {len(X):,} × {X.shape[1]}, {len(np.unique(y))} classes, k=10, one thread",
        peer_name=f"scikit-rebate on {len(peer_X):,} rows",
        ours=lambda: ReliefF(n_jobs=1).fit(X, y),
        peer=peer,
        warm_up=lambda: ReliefF().fit(X[:100], y[:100]),
        check=check,
        limits={"cpu_ratio": most},
    )
