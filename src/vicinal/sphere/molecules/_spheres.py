"""What each atom sees around it, as coefficients of real functions on a sphere.

A real function has f̂_l^{−m} = (−1)^m conj f̂_l^m, so that Re f̂_l^m, m ≥ 0, and Im f̂_l^m, m ≥ 1, say
everything: 2l + 1 real numbers a degree, kept as (atoms, (L + 1)², channels).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from vicinal._validation import check_positive, check_whole
from vicinal.sphere.harmonic import SphericalTransform, real_waves
from vicinal.sphere.molecules._molecules import ELEMENTS, Molecules

MOST = 100  # degrees, shells or steps of a grid: beyond, memory is gone before anything is learned
BLOCK = 100  # molecules at a time: some 40 MB


@dataclass(frozen=True)
class GaussianShells:
    """Neighbours by element and distance: a density on each of several shells around an atom.

    F_i[l, m; z, k] = Σ_{j≠i, z_j=z} g_k(r_ij) conj Y_l^m(direction of j from i),
    g_k(r) = exp(−(ln r − ln r_k)² / 2σ²) (r_0 / r)²

    Shells lie at equal steps σ of ln r: the same resolution near and far. Lengths are in Å.
    """

    l_max: int = 3
    n_shells: int = 12
    nearest: float = 0.9
    farthest: float = 6.0
    elements: tuple[int, ...] = ELEMENTS

    def __post_init__(self) -> None:
        _check_elements(self)
        check_whole("l_max", self.l_max, 0, MOST)
        check_whole("n_shells", self.n_shells, 2, MOST)
        if check_positive("nearest", self.nearest) >= check_positive("farthest", self.farthest):
            raise ValueError(f"shells lie from {self.nearest} to {self.farthest}; swap them.")

    @property
    def channels(self) -> int:
        """How many functions an atom gets."""
        return self.n_shells * len(self.elements)

    def coefficients(self, arrows: Tensor, kinds: Tensor, own: Tensor) -> Tensor:
        """Return the coefficients of atoms that see ``kinds`` in the directions ``arrows``."""
        distances = torch.linalg.vector_norm(arrows, dim=-1)
        steps = torch.linspace(math.log(self.nearest), math.log(self.farthest), self.n_shells)
        steps = steps.to(arrows)
        gaps = (distances.log()[..., None] - steps) / (steps[1] - steps[0])
        shells = torch.exp(-0.5 * gaps.square()) * (self.nearest / distances).square()[..., None]
        weights = (kinds[..., None] * shells[..., None, :]).flatten(2)  # (atoms, N, channels)
        waves = real_waves(self.l_max, arrows / distances[..., None])
        return waves.mT @ weights


@dataclass(frozen=True)
class CoulombSpheres:
    """The potential of each element on a sphere around every atom, as published [kondor2018].

    U_z(x) = Σ_{j≠i, z_j=z} z_i z / |x − p_j|,    |x − p_i| = radius

    The radius, in Å, is below half of the shortest distance between two atoms.
    """

    l_max: int = 3
    bandwidth: int = 10
    radius: float = 0.45
    elements: tuple[int, ...] = ELEMENTS

    def __post_init__(self) -> None:
        _check_elements(self)
        check_whole("bandwidth", self.bandwidth, 1, MOST)
        check_whole("l_max", self.l_max, 0, self.bandwidth - 1)
        check_positive("radius", self.radius)

    @property
    def channels(self) -> int:
        """How many functions an atom gets."""
        return len(self.elements)

    def coefficients(self, arrows: Tensor, kinds: Tensor, own: Tensor) -> Tensor:
        """Return the coefficients of atoms of charges ``own``."""
        transform = SphericalTransform(self.bandwidth, self.l_max).to(arrows.dtype)
        points = self.radius * transform.points().flatten(0, 1)
        gaps = torch.cdist(points.expand(len(arrows), -1, -1), arrows)  # (atoms, points, N)
        charges = kinds * kinds.new_tensor(self.elements)
        potentials = own[:, None, None] * (gaps.reciprocal() @ charges)
        fragments = transform(potentials.mT.unflatten(2, transform.grid_shape).contiguous())
        return torch.cat([_halve(part.mT) for part in fragments], -1).mT


Spheres = GaussianShells | CoulombSpheres


def _check_elements(spheres: Spheres) -> None:
    elements = tuple(spheres.elements)  # a file has a list
    if not elements or list(elements) != sorted(set(elements)):
        raise ValueError(f"elements are atomic numbers, rising, not {elements}.")
    for number in elements:
        check_whole("atomic number", number, 1, MOST)
    object.__setattr__(spheres, "elements", elements)


def _halve(part: Tensor) -> Tensor:
    """Return Re f^0 … Re f^l, Im f^1 … Im f^l of coefficients (…, 2l + 1) of a real function."""
    l = part.shape[-1] // 2
    return torch.cat([part.real[..., l:], part.imag[..., l + 1 :]], -1)


@dataclass(frozen=True)
class Atoms:
    """Atoms of several molecules, those of one element together.

    Attributes
    ----------
    coefficients : Tensor of shape (atoms, (L + 1)², channels)
    elements : int Tensor of shape (atoms,)
        Places in the spheres' elements, ascending.
    molecules : int Tensor of shape (atoms,)
        The molecule that each belongs to, 0 to n_molecules − 1.
    n_molecules : int
    """

    coefficients: Tensor
    elements: Tensor
    molecules: Tensor
    n_molecules: int

    def moments(self, n_elements: int) -> Tensor:
        """Return Σ_m f_c^m f_c'^m / (2l + 1), averaged over the atoms of an element.

        To those of an element as many average atoms are added as there are channels, so that a rare
        one, which cannot show how all channels vary, has the moments of the others. Shape
        (L + 1, elements, channels, channels), double precision.
        """
        values = self.coefficients.detach()
        n_degrees, channels = math.isqrt(values.shape[1]), values.shape[2]
        counts = torch.bincount(self.elements, minlength=n_elements).double()
        sums = values.new_zeros(n_degrees, n_elements, channels, channels, dtype=torch.float64)
        for element in range(n_elements):
            seen = values[self.elements == element].double()
            for l in range(n_degrees):
                part = seen[:, l * l : (l + 1) ** 2].flatten(0, 1)
                sums[l, element] = part.T @ part / (2 * l + 1)
        average = sums.sum(1, keepdim=True) / counts.sum()
        return (sums + channels * average) / (counts + channels)[:, None, None]


class AtomBatches:
    """Molecules with targets, their spheres made once.

    Memory is 4 (L + 1)² · channels bytes an atom, 3.8 kB of the default shells.
    """

    def __init__(self, molecules: Molecules, targets: Tensor, spheres: Spheres) -> None:
        self.targets = targets
        self._n_elements = len(spheres.elements)
        self._elements = torch.from_numpy(np.searchsorted(spheres.elements, _present(molecules)))
        self._ends = np.cumsum(molecules.n_atoms)
        self._sizes = molecules.n_atoms
        starts = range(0, len(molecules), BLOCK)
        blocks = [molecules.rows(slice(start, start + BLOCK)) for start in starts]
        self._coefficients = torch.cat([see_neighbours(block, spheres) for block in blocks]).float()

    def take(self, rows: Tensor) -> Atoms:
        """Return the atoms of these molecules."""
        sizes, ends = self._sizes[rows.numpy()], self._ends[rows.numpy()]
        of = np.repeat(np.arange(len(rows)), sizes)
        within = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        atoms = torch.from_numpy((ends - sizes)[of] + within)
        order = torch.argsort(self._elements[atoms], stable=True)
        atoms = atoms[order]
        molecules = torch.from_numpy(of)[order]
        return Atoms(self._coefficients[atoms], self._elements[atoms], molecules, len(rows))

    def moments(self) -> Tensor:
        """Return the moments of all atoms, see `Atoms.moments`."""
        atoms = Atoms(self._coefficients, self._elements, self._elements, 0)
        return atoms.moments(self._n_elements)


def see_neighbours(molecules: Molecules, spheres: Spheres) -> Tensor:
    """Return the coefficients of all atoms, (atoms, (L + 1)², channels), in double precision."""
    n = 1 + int(np.flatnonzero((molecules.charges > 0).any(axis=0)).max())
    positions = torch.from_numpy(molecules.positions[:, :n])
    return look_around(positions, torch.from_numpy(molecules.charges[:, :n]), spheres)


def look_around(positions: Tensor, charges: Tensor, spheres: Spheres) -> Tensor:
    """Return what atoms at positions (n, N, 3) see; a smooth function of the positions."""
    there = charges > 0
    n = positions.shape[1]
    arrows = (positions[:, None] - positions[:, :, None])[there]  # (atoms, N, 3)
    kinds = (charges[..., None] == charges.new_tensor(spheres.elements)).to(positions.dtype)
    others = (1 - torch.eye(n, dtype=positions.dtype))[:, :, None]
    seen = (kinds[:, None] * others)[there]  # (atoms, N, elements)
    # An atom does not see itself, nor what is not there: any arrow will do, but zero has no angle.
    away = arrows.new_tensor([0.0, 0.0, 1.0]).expand_as(arrows)
    arrows = torch.where(seen.any(-1, keepdim=True), arrows, away)
    return spheres.coefficients(arrows, seen, charges[there].to(positions.dtype))


def _present(molecules: Molecules) -> np.ndarray:
    return molecules.charges[molecules.charges > 0]
