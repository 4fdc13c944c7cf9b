"""EGOP and EJOP: whole fits with defaults, and the estimate against the bare products it is.

``OMP_NUM_THREADS=1 python -m benchmarks gradients`` prints CPU-seconds, all choices included, with
xRFM of one given setting (nothing chosen) and five iterations beside them in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import scale

from benchmarks._measure import Case
from benchmarks.gradients_xrfm import machine, quiet
from vicinal import EGOP, EJOP


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield made-up data of the shapes of small tables, images, and a million rows."""
    yield from whole_fits(0.2 if quick else 1.0)
    n = 2_000 if quick else 10_000
    yield real_target("EGOP 10,000 × 50, all points", n, n, 50, {"cpu_ratio": 4})
    n, m = (3_000, 300) if quick else (60_000, 5_000)
    yield real_target("EGOP 60,000 × 784, 5,000 points", n, m, 784, {"cpu_seconds": 15})
    yield classes("EJOP 60,000 × 784, 10 classes, 5,000 points", n, m, 784, {"cpu_seconds": 15})
    n = 20_000 if quick else 1_000_000
    limits = {"cpu_seconds": 120, "peak_mb": 1000}
    yield real_target("EGOP 1,000,000 × 50, 5,000 points", n, m, 50, limits)


def whole_fits(share: float) -> Iterator[Case]:
    """Yield fits with defaults, on a share of the rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((int(1_500 * share), 12), dtype=np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))
    yield whole_fit("EGOP", EGOP, X, y, {"cpu_seconds": 1.0})
    X, y = make_friedman1(int(3_000 * share), 10, noise=1.0, random_state=0)
    yield whole_fit("EGOP", EGOP, scale(X).astype(np.float32), y, {"cpu_seconds": 1.5})
    codes = rng.integers(0, 3, (int(2_500 * share), 60))
    X = scale(np.eye(3)[codes].reshape(len(codes), 180)).astype(np.float32)
    sites = (codes[:, 20] == codes[:, 21]) + 2 * (codes[:, 22] == 0)
    y = np.where(rng.random(len(X)) < 0.9, np.minimum(sites, 2), rng.integers(0, 3, len(X)))
    yield whole_fit("EJOP, one-hot,", EJOP, X, y, {"cpu_seconds": 5})
    X = rng.standard_normal((60, 5_000), dtype=np.float32)
    yield whole_fit("EGOP", EGOP, X, X[:, :5].sum(axis=1), {"cpu_seconds": 3}, peer=False)
    X = rng.standard_normal((int(10_000 * share), 50), dtype=np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))
    yield whole_fit("EGOP", EGOP, X, y, {"cpu_seconds": 10}, peer=False)


def whole_fit(
    name: str, learner: Any, X: Any, y: Any, limits: Mapping[str, float], *, peer: bool = True
) -> Case:
    """A fit with defaults against one xRFM or, where that takes minutes, against bare products."""
    metric = learner(random_state=0)

    def other() -> Any:
        if not peer:
            return bare_products(X, len(X))
        with quiet():
            return machine(("l2", 10.0, 1e-2)).fit(X, y, X[::5], y[::5])

    def check(fitted: Any, _: Any) -> Mapping[str, Any]:
        assert np.isfinite(fitted.components_).all()
        return {"note": f"{fitted.estimator_}, {fitted.n_iter_} iterations"}

    return Case(
        name=f"{name} {len(X):,} × {X.shape[1]:,} with defaults",
        peer_name="xRFM, five iterations" if peer else "two products and exp",
        ours=lambda: metric.fit(X, y),
        peer=other,
        warm_up=lambda: (metric.fit(X[:200], y[:200]), other()),
        check=check,
        limits=limits,
    )


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
