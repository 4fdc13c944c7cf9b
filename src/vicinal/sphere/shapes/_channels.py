"""A mesh as six functions on the sphere, read off by rays from its centre."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from vicinal._kernels._rays import farthest_hits
from vicinal._threads import map_blocks, thread_count
from vicinal._types import FloatArray, IntArray
from vicinal.sphere.harmonic import Fragments, FragmentType, SphericalTransform
from vicinal.sphere.shapes._clouds import Cloud
from vicinal.sphere.shapes._embree import farthest_hits_embree
from vicinal.sphere.shapes._meshes import Mesh

Tracer = Callable[[FloatArray, FloatArray], tuple[FloatArray, IntArray]]
TRACERS: dict[str, Tracer] = {"numba": farthest_hits, "embree": farthest_hits_embree}
CHANNELS = ("distance", "cosine", "sine", "hull distance", "hull cosine", "hull sine")


def cast_rays(mesh: Mesh, directions: FloatArray, tracer: str = "numba") -> FloatArray:
    """Return the six channels of a mesh in some directions, (6, p).

    A ray from a sphere around the mesh towards its centre meets the mesh, and its convex hull,
    first where the ray from the centre outward leaves it last. The channels are the distance of
    that point from the centre, and |cos| and sin of the angle between the ray and the surface;
    zeros where a ray meets nothing. ``tracer`` is "numba", or "embree" where that is installed.
    """
    if tracer not in TRACERS:
        raise ValueError(f"no tracer {tracer!r}; there are {', '.join(TRACERS)}.")
    sides = (mesh.vertices[faces] for faces in (mesh.faces, mesh.hull))
    return np.concatenate([_read(side, directions, TRACERS[tracer]) for side in sides])


def _read(corners: FloatArray, directions: FloatArray, trace: Tracer) -> FloatArray:
    radii, faces = trace(corners, directions)
    met = faces >= 0
    a, b, c = corners[faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    cosines = np.abs((normals * directions).sum(1)) / np.where(lengths > 0, lengths, 1)
    cosines = np.where(met, np.minimum(cosines, 1), 0)
    sines = np.where(met, np.sqrt(1 - cosines**2), 0)
    return np.stack([radii, cosines, sines])


@dataclass(frozen=True)
class Rays:
    """How finely meshes are read: the bandwidth of a Gauss–Legendre grid, and the degrees kept."""

    bandwidth: int = 20
    l_max: int = 14

    @property
    def type(self) -> FragmentType:
        """Of the fragments: the six channels."""
        return FragmentType.uniform(len(CHANNELS), self.l_max).as_real()

    def make(self) -> Caster:
        """Return what casts the rays."""
        return Caster(self.bandwidth, self.l_max)


class Caster:
    """From meshes to fragments: rays in the directions of a grid, then the Fourier transform.

    Parameters
    ----------
    bandwidth : int
        Of a Gauss–Legendre grid of rays.
    l_max : int
        The highest degree that is kept.
    n_jobs : int or None
        Threads for the rays.
    """

    def __init__(self, bandwidth: int, l_max: int, *, n_jobs: int | None = None) -> None:
        self.bandwidth, self.l_max = bandwidth, l_max
        self.transform = SphericalTransform(bandwidth, l_max, "gauss-legendre", real=True)
        self.directions = self.transform.points().double().numpy().reshape(-1, 3)
        self.n_threads = thread_count(n_jobs)

    def signals(
        self,
        meshes: Sequence[Mesh],
        rotations: Tensor | None = None,
        tell: Callable[[int], None] = lambda n: None,
    ) -> Tensor:
        """Return the channels of meshes, each turned by its rotation, (n, 6, rings, points).

        The mesh R v in the direction u is the mesh v in the direction Rᵀu, so the rays are turned
        instead, and what comes out is the turned mesh read anew on the grid, not its coefficients
        turned. ``tell`` is called with the number of meshes after each block of them.
        """
        turns = None if rotations is None else rotations.double().numpy()

        def cast(i: int) -> FloatArray:
            directions = self.directions if turns is None else self.directions @ turns[i]
            return cast_rays(meshes[i], np.ascontiguousarray(directions))

        found: list[FloatArray] = []
        for start in range(0, len(meshes), 64):
            block = range(start, min(start + 64, len(meshes)))
            found += map_blocks(cast, list(block), self.n_threads)
            tell(len(found))
        values = torch.from_numpy(np.stack(found)).to(self.transform.theta.dtype)
        return values.reshape(len(meshes), len(CHANNELS), *self.transform.grid_shape)

    def fragments(self, meshes: Sequence[Mesh], rotations: Tensor | None = None) -> Fragments:
        """Return the coefficients of the channels."""
        transformed: Fragments = self.transform(self.signals(meshes, rotations))
        return transformed


def cross_spectra(fragments: Fragments) -> Tensor:
    """Return what no rotation changes of pairs of channels, (batch, (L + 1) C (C + 1) / 2).

    Re Σ_m f_c^m conj(f_d^m) / (2l + 1) for every degree l and pair c ≤ d, under a square root that
    keeps the sign, so that it has the unit of the channels.
    """
    sizes = [2 * l + 1 for l, t in enumerate(fragments.type.tau) for _ in range(t * (t + 1) // 2)]
    spectra = fragments.cross_spectrum()
    spectra = spectra / spectra.new_tensor(sizes)
    return torch.sign(spectra) * torch.sqrt(spectra.abs())


def shape_histograms(
    bodies: Sequence[Mesh | Cloud], *, n_bins: int = 64, n_pairs: int = 20_000, seed: int = 0
) -> FloatArray:
    """Return D2 shape distributions: how far apart random points of a surface are, (n, n_bins).

    Shares of pairs by distance, from 0 to 2, the largest possible [osada2002].
    """
    rng = np.random.default_rng(seed)
    histograms = np.empty((len(bodies), n_bins))
    for i, body in enumerate(bodies):
        if isinstance(body, Mesh):
            points = sample_surface(body.vertices, body.faces, 2 * n_pairs, rng)
        else:
            points = rng.choice(body.points, 2 * n_pairs)
        gaps = np.linalg.norm(points[::2] - points[1::2], axis=1)
        histograms[i] = np.histogram(gaps, n_bins, (0, 2))[0] / n_pairs
    return histograms


def sample_surface(
    vertices: FloatArray, faces: IntArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Return points spread evenly over the area of triangles, (n, 3)."""
    a, b, c = vertices[faces].swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(faces), n, p=areas / areas.sum())
    u, v = rng.random((2, n, 1))
    fold = u + v > 1  # the other half of the parallelogram
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    points: FloatArray = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points
