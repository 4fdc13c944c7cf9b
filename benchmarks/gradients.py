"""EGOP and EJOP against the bare products and exponentials their blocks consist of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks._measure import Case
from vicinal import EGOP, EJOP


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield made-up data of the shapes of small tables, images, and a million rows."""
    n = 2_000 if quick else 10_000
    yield real_target("EGOP 10,000 × 50, all points", n, n, 50, {"cpu_ratio": 4})
    n, m = (3_000, 300) if quick else (60_000, 5_000)
    yield real_target("EGOP 60,000 × 784, 5,000 points", n, m, 784, {"cpu_seconds": 15})
    yield classes("EJOP 60,000 × 784, 10 classes, 5,000 points", n, m, 784, {"cpu_seconds": 15})
    n = 20_000 if quick else 1_000_000
    limits = {"cpu_seconds": 120, "peak_mb": 1000}
    yield real_target("EGOP 1,000,000 × 50, 5,000 points", n, m, 50, limits)


def real_target(name: str, n: int, m: int, d: int, limits: Mapping[str, float]) -> Case:
    """A sine of one feature, analytic gradients at m of n points, the bandwidth given."""
    X = rows(n, d)
    return case(name, EGOP, X, np.sin(X[:, 0]), m, limits)


def classes(name: str, n: int, m: int, d: int, limits: Mapping[str, float]) -> Case:
    """Ten classes cut from one feature."""
    X = rows(n, d)
    cuts = np.quantile(X[:, 0], np.linspace(0, 1, 11)[1:-1])
    return case(name, EJOP, X, np.digitize(X[:, 0], cuts), m, limits)


def rows(n: int, d: int) -> Any:
    """Return normal single-precision rows."""

    return np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)


def case(name: str, learner: Any, X: Any, y: Any, m: int, limits: Mapping[str, float]) -> Case:
    """Compare a fit with its bare products; the metric must find the feature that counts."""
    metric = learner("analytic", bandwidth=0.5 * X.shape[1] ** 0.5, n_evaluations=m, random_state=0)

    def check(fitted: Any, _: Any) -> Mapping[str, Any]:
        assert fitted.feature_relevance_.argmax() == 0
        return {"note": f"relevance of the feature that counts {fitted.feature_relevance_[0]:.2f}"}

    return Case(
        name=name,
        peer_name="two products and exp",
        ours=lambda: metric.fit(X, y),
        peer=lambda: bare_products(X, m),
        warm_up=lambda: metric.fit(X[:500], y[:500]),
        check=check,
        limits=limits,
    )


def bare_products(X: Any, m: int) -> None:
    """Multiply, exponentiate, multiply: the same blocks without norms, targets or sums."""
    step = max(1, min(1000, 10**7 // len(X)))
    for start in range(0, m, step):
        weights = np.exp(X[start : start + step] @ X.T * 1e-3)
        weights @ X
