"""Made-up data of the published studies: sums of sines, as they come or rotated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import Dataset, FloatArray

N_ROWS = 8000


@dataclass(frozen=True)
class Sines:
    r"""y = Σ_i sin(c_i x_i), x uniform on [−side, side]^d; ``rotated`` turns x after y is made."""

    coefficients: tuple[float, ...]
    side: float
    rotated: bool = False


# With sides of 0.1 the steepest sine makes one and a half turns over its domain.
FALLING = tuple(50 * 0.6**i for i in range(50))
TWELVE = (5, 3, 1, 0.5, 0.2, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02)
SYNTHETIC = {
    "sines": Sines(FALLING, 0.1),
    "sines_rotated": Sines(FALLING, 0.1, rotated=True),
    "sines12_rotated": Sines(TWELVE, 1.0, rotated=True),
}


def make_synthetic(name: str, n_rows: int = N_ROWS, seed: int = 0) -> Dataset:
    """Return the rows of a made-up set, the same for the same seed."""
    recipe = SYNTHETIC[name]
    X, y = draw_sines(recipe, n_rows, seed)
    return Dataset(name=name, X=X, y=y, task="regression", protocol="repeated")


def draw_sines(recipe: Sines, n_rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return X (n_rows, d) and y (n_rows,); twins with and without rotation share y."""
    random = np.random.default_rng(seed)
    c = np.array(recipe.coefficients)
    X = random.uniform(-recipe.side, recipe.side, size=(n_rows, len(c)))
    y = np.sin(c * X).sum(axis=1)
    if recipe.rotated:
        X = X @ random_rotation(len(c), random)
    return X, y


def random_rotation(d: int, random: np.random.Generator) -> FloatArray:
    """Return a rotation drawn evenly from all, of shape (d, d)."""
    q, r = np.linalg.qr(random.normal(size=(d, d)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return np.asarray(q)
