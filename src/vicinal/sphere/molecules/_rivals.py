"""Rivals: kernel ridge regression on descriptions of molecules, and perceptrons on matrices."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from vicinal import __version__
from vicinal._types import FloatArray, IntArray
from vicinal.sphere.molecules._composition import Composition
from vicinal.sphere.molecules._coulomb import (
    GaussianOrders,
    Perceptron,
    coulomb_matrices,
    orders_of,
)
from vicinal.sphere.molecules._molecules import Molecules
from vicinal.sphere.molecules._sources import Energies

CHOOSING = 1500  # molecules to choose the kernel's width and the ridge by, two thirds to fit
RIDGES = (1e-9, 1e-7, 1e-5)


class Describe(Protocol):
    """Molecules as something that kernels of several widths can be taken of."""

    @property
    def widths(self) -> Sequence[float]:
        """The widths to choose from."""

    def kernel(self, first: IntArray, second: IntArray, width: float) -> FloatArray:
        """Return the kernel between molecules of two lists of rows."""


@dataclass(frozen=True)
class Vectors:
    """Vectors, with the Laplacian kernel exp(−‖x − x'‖₁ / width)."""

    rows: FloatArray
    widths: Sequence[float]

    def kernel(self, first: IntArray, second: IntArray, width: float) -> FloatArray:
        """Return the kernel, O(n m d)."""
        answer: FloatArray = np.exp(
            cdist(self.rows[first], self.rows[second], "cityblock") / -width
        )
        return answer


@dataclass(frozen=True)
class Environments:
    """FCHL19 of every atom [christensen2020], with sums of Gaussian kernels over equal elements."""

    rows: FloatArray  # (n, N, d)
    charges: list[IntArray]
    widths: Sequence[float] = (2.0, 4.0, 8.0, 16.0)

    def kernel(self, first: IntArray, second: IntArray, width: float) -> FloatArray:
        """Return the kernel between molecules, O(atoms²)."""
        from qmllib.kernels import get_local_kernel

        one, other = ([self.charges[row] for row in rows] for rows in (first, second))
        answer: FloatArray = get_local_kernel(
            self.rows[second], self.rows[first], other, one, width
        )
        return answer


@dataclass(frozen=True)
class RivalOutcome:
    """A rival's errors on one fold, in the unit of the source."""

    method: str
    fold: int
    n_train: int
    n_test: int
    mae: float
    rmse: float
    cpu_seconds: float
    seed: int

    def record(self) -> dict[str, Any]:
        """Return the outcome as the record every command writes."""
        return {
            "method": self.method,
            "k": None,
            "fold": self.fold,
            "error_mean": self.mae,
            "error_sd": None,
            "mae": self.mae,
            "rmse": self.rmse,
            "fit_seconds": None,
            "cpu_seconds": self.cpu_seconds,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "seed": self.seed,
            "version": __version__,
        }


def coulomb_eigenvalues(molecules: Molecules) -> FloatArray:
    """Return the eigenvalues of the Coulomb matrices, descending by size, (n, N) [rupp2012]."""
    values = np.linalg.eigvalsh(coulomb_matrices(molecules))
    order = np.argsort(-np.abs(values), axis=1)
    return np.take_along_axis(values, order, axis=1)


def bag_of_bonds(molecules: Molecules) -> FloatArray:
    """Return the entries of the Coulomb matrices by pair of elements, sorted [hansen2015]."""
    matrices = coulomb_matrices(molecules)
    charges = molecules.charges
    pairs = np.triu(np.ones(matrices.shape[1:], bool), 1)
    elements = np.unique(charges[charges > 0])
    bags = [_bag(np.where(charges == of, matrices.diagonal(0, 1, 2), 0)) for of in elements]
    for one, other in combinations_with_replacement(elements, 2):
        here = (charges[:, :, None] == one) & (charges[:, None] == other)
        chosen = (here | here.swapaxes(1, 2)) & pairs
        bags.append(_bag(np.where(chosen, matrices, 0).reshape(len(molecules), -1)))
    return np.concatenate(bags, axis=1)


def _bag(values: FloatArray) -> FloatArray:
    """Sort values descending and leave out columns where no molecule has any."""
    ordered = -np.sort(-values, axis=1)
    return ordered[:, : int((ordered > 0).any(axis=0).sum())]


def _describe_eigenvalues(molecules: Molecules) -> Describe:
    return Vectors(coulomb_eigenvalues(molecules), tuple(10 * 2.0**step for step in range(1, 9)))


def _describe_bonds(molecules: Molecules) -> Describe:
    return Vectors(bag_of_bonds(molecules), tuple(10 * 2.0**step for step in range(1, 9)))


def _describe_fchl19(molecules: Molecules) -> Describe:
    try:
        from qmllib.representations import generate_fchl19
    except ImportError:
        raise ValueError("the rival fchl19 needs qmllib: pip install qmllib") from None
    atoms = [charges[charges > 0] for charges in molecules.charges]
    places = molecules.charges.shape[1]
    pairs = zip(atoms, molecules.positions, strict=True)
    elements = np.unique(np.concatenate(atoms)).tolist()
    rows = [
        generate_fchl19(of, where[: len(of)], elements=elements, pad=places) for of, where in pairs
    ]
    return Environments(np.stack(rows), atoms)


KERNELS: dict[str, Callable[[Molecules], Describe]] = {
    "eigenvalues": _describe_eigenvalues,
    "bag-of-bonds": _describe_bonds,
    "rbf-sorted": lambda molecules: GaussianOrders(orders_of(molecules, random=False)),
    "rbf-random": lambda molecules: GaussianOrders(orders_of(molecules, random=True)),
    "fchl19": _describe_fchl19,
}
# Perceptrons, and whether their matrices are sorted at random.
PERCEPTRONS = {"mlp-sorted": False, "mlp-random": True}
RIVALS = (*KERNELS, *PERCEPTRONS)


def run_rivals(
    names: Sequence[str],
    data: Energies,
    rows: IntArray,
    testing: IntArray,
    fold: int,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> list[RivalOutcome]:
    """Fit rivals to some rows and test them on others.

    The composition is fitted first, as for networks. Width and ridge are chosen on a part of the
    training molecules. Memory is the kernel's, 8 n² bytes: 0.3 GB of all training molecules.
    """
    data = data.rows(np.concatenate([rows, testing]))
    rows, testing = np.split(np.arange(len(data)), [len(rows)])
    elements = np.unique(data.molecules.charges[data.molecules.charges > 0]).tolist()
    composition = Composition.fit(data.molecules.rows(rows), data.energies[rows], elements)
    rest = data.energies - composition.predict(data.molecules)
    outcomes = []
    for name in names:
        say(f"{name} on fold {fold}")
        began = time.process_time()
        if name in KERNELS:
            predictions = _fit(KERNELS[name](data.molecules), rest, rows, testing)
        else:
            orders = orders_of(data.molecules, PERCEPTRONS[name])
            predictions = Perceptron(orders, seed).predict(rest, rows, testing)
        errors = predictions - rest[testing]
        outcomes.append(
            RivalOutcome(
                name,
                fold,
                len(rows),
                len(testing),
                float(np.abs(errors).mean()),
                float(np.sqrt((errors**2).mean())),
                round(time.process_time() - began, 1),
                seed,
            )
        )
    return outcomes


def _fit(described: Describe, rest: FloatArray, rows: IntArray, testing: IntArray) -> FloatArray:
    """Return what ridge regression on ``rows`` says of ``testing``."""
    part = rows[:CHOOSING]
    fitted, judged = part[: len(part) * 2 // 3], part[len(part) * 2 // 3 :]
    tried = []
    for width in described.widths:
        inner, outer = (
            described.kernel(fitted, fitted, width),
            described.kernel(judged, fitted, width),
        )
        for ridge in RIDGES:
            answers = outer @ _solve(inner, rest[fitted], ridge)
            tried.append((float(np.abs(answers - rest[judged]).mean()), width, ridge))
    _, width, ridge = min(tried)
    weights = _solve(described.kernel(rows, rows, width), rest[rows], ridge)
    answer: FloatArray = described.kernel(testing, rows, width) @ weights
    return answer


def _solve(kernel: FloatArray, targets: FloatArray, ridge: float) -> FloatArray:
    """Return (K + ridge · mean diagonal)⁻¹ y."""
    shift = ridge * float(np.diagonal(kernel).mean())
    answer: FloatArray = cho_solve(
        cho_factor(kernel + shift * np.eye(len(kernel)), overwrite_a=True), targets
    )
    return answer
