"""How fast EGOP's leading directions approach the true ones, and what a rotation changes.

``python -m benchmarks.gradients_convergence [ESTIMATOR ...]`` (by default "analytic") fits
y = sin(2u₁) + u₂² + noise, u two directions of ten, with growing numbers of rows, and the sum of
shrinking sines with and without a rotation of the features. It writes the mean largest principal
angles, the slope of their logarithm against that of the rows, and the errors to
``results/gradients_convergence.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from benchmarks._measure import Case
from vicinal import EGOP, GradientWeights, KNNRegressor

ROWS, SEEDS, FEATURES = (250, 500, 1000, 2000, 4000), range(3), 10


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield nothing: there is no peer, the figures are written by ``python -m`` this file."""
    return iter(())


def angle(estimator: str, n: int, seed: int) -> float:
    """Return the largest angle in degrees between the leading two directions and the true two."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(FEATURES, 2)))[0]
    X = rng.normal(size=(n, FEATURES))
    u = X @ V
    y = np.sin(2 * u[:, 0]) + u[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    found = EGOP(estimator, n_components=2, random_state=0).fit(X, y).components_.T
    return float(np.degrees(subspace_angles(found, V).max()))


def convergence(estimator: str) -> dict[str, Any]:
    """Return mean angles by number of rows and the slope of their logarithms."""
    angles = [float(np.mean([angle(estimator, n, seed) for seed in SEEDS])) for n in ROWS]
    slope = float(np.polyfit(np.log(ROWS), np.log(angles), 1)[0])
    return {"rows": ROWS, "degrees": [round(a, 2) for a in angles], "slope": round(slope, 2)}


def rotation(learner: Any, seed: int = 0) -> dict[str, float]:
    """Return the 9-NN error on y = Σ sin(c_i x_i), c_i = 50 · 0.6^(i−1), as is and rotated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 50))
    y = np.sin(X * (50 * 0.6 ** np.arange(50))).sum(axis=1) + 0.1 * rng.normal(size=3000)
    turn = np.linalg.qr(rng.normal(size=(50, 50)))[0]
    errors = {}
    for name, rows in (("as is", X), ("rotated", X @ turn)):
        model = KNNRegressor(9, metric=learner).fit(rows[:2000], y[:2000])
        error = np.mean((model.predict(rows[2000:]) - y[2000:]) ** 2) / y[2000:].var()
        errors[name] = round(float(error), 4)
    return errors


def main(estimators: Sequence[str]) -> None:
    """Measure and write."""
    found: dict[str, Any] = {name: convergence(name) for name in estimators}
    for learner in (EGOP("analytic", random_state=0), GradientWeights("analytic", random_state=0)):
        found[f"{type(learner).__name__}, rotation"] = rotation(learner)
    for name, figures in found.items():
        print(name, figures)
    path = Path(__file__).parent / "results" / "gradients_convergence.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or ["analytic"])
