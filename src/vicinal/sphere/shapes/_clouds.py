"""Clouds of points: their place and size, and what shells around their middle see of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_whole
from vicinal.sphere.harmonic import Fragments, FragmentType, real_waves

LEAST_POINTS = 10
MOST = 100  # degrees or shells
BLOCK = 32 * 1024  # points at a time: some 15 MB of waves at degree 10


@dataclass(frozen=True)
class Cloud:
    """Points about the origin, float64 (n, 3), their mean; the farthest at distance 1."""

    points: FloatArray


def make_cloud(points: AnyArray, *, name: str = "the cloud") -> Cloud:
    """Check points, put their mean at the origin and the farthest of them at distance 1.

    Raises
    ------
    ValueError
        Where they are not (n, 3), fewer than ten, not finite, or all in one place.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 3 or not np.issubdtype(points.dtype, np.number):
        raise ValueError(f"{name}: points must have the shape (n, 3), not {points.shape}.")
    points = points.astype(np.float64)
    if len(points) < LEAST_POINTS:
        raise ValueError(f"{name} has {len(points)} points; at least {LEAST_POINTS} are needed.")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} has points that are not finite numbers.")
    points = points - points[0]  # so that a far-away cloud keeps its digits
    points = points - points.mean(axis=0)
    radius = np.linalg.norm(points, axis=1).max()
    if not radius > 0:
        raise ValueError(f"{name} is a single point.")
    return Cloud(points / radius)


@dataclass(frozen=True)
class PointShells:
    """From clouds to fragments: a density on each of several shells around the middle.

    F[l, m; k] = mean over points of g_k(|x|) conj Y_l^m(x / |x|),
    g_k(r) = exp(−(r − r_k)² / 2σ²),  r_k = (k + ½) / n_shells,  σ = 1 / n_shells

    A turned cloud has the turned coefficients, to rounding: nothing is sampled on a grid.
    """

    l_max: int = 8
    n_shells: int = 8

    def __post_init__(self) -> None:
        check_whole("l_max", self.l_max, 0, MOST)
        check_whole("n_shells", self.n_shells, 1, MOST)

    @property
    def type(self) -> FragmentType:
        """Of the fragments: a channel a shell."""
        return FragmentType.uniform(self.n_shells, self.l_max).as_real()

    def make(self) -> PointShells:
        """Return what reads the clouds: these shells themselves."""
        return self

    def fragments(self, clouds: Sequence[Cloud], rotations: Tensor | None = None) -> Fragments:
        """Return the coefficients of clouds, each turned by its rotation.

        Clouds of one size that follow each other are read together.
        """
        halves = torch.cat(
            [self._read(clouds[rows], rotations, rows) for rows in _runs_of_one_size(clouds)]
        )  # (clouds, (L + 1)², shells)
        degrees = [halves[:, l * l : (l + 1) ** 2] for l in range(self.l_max + 1)]
        return Fragments.from_real_waves(degrees)

    def _read(self, clouds: Sequence[Cloud], rotations: Tensor | None, rows: slice) -> Tensor:
        """Return the half coefficients of clouds of one size, (clouds, (L + 1)², shells)."""
        places = torch.from_numpy(np.stack([cloud.points for cloud in clouds]))
        if rotations is not None:
            places = places @ rotations[rows].to(places).mT
        places = places.float()
        radii = torch.linalg.vector_norm(places, dim=2)
        outward = places / radii.clamp(min=1e-9)[..., None]
        middles = (torch.arange(self.n_shells) + 0.5) / self.n_shells
        shells = torch.exp(-0.5 * ((radii[..., None] - middles) * self.n_shells).square())
        return real_waves(self.l_max, outward).mT @ shells / places.shape[1]


def _runs_of_one_size(clouds: Sequence[Cloud]) -> list[slice]:
    """Return slices of clouds of as many points each, no more than fit into a block together."""
    runs: list[slice] = []
    start, held = 0, 0
    for row, cloud in enumerate(clouds):
        size = len(cloud.points)
        if row > start and (size != len(clouds[start].points) or held + size > BLOCK):
            runs.append(slice(start, row))
            start, held = row, 0
        held += size
    return [*runs, slice(start, len(clouds))]
