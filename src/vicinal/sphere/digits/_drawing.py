"""Images on the sphere, ready for a network: drawn, rotated, transformed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from vicinal._types import AnyArray
from vicinal._validation import check_positive, check_whole
from vicinal.data import check_projection, draw_warps, project_images
from vicinal.sphere.digits._cohen2018 import GROUP, draw_cohen2018
from vicinal.sphere.digits._panoramas import sample_panoramas
from vicinal.sphere.harmonic import (
    Fragments,
    FragmentType,
    SphericalTransform,
    random_rotations,
    spherical_grid,
)

MOST = 500  # the largest bandwidth: a signal of a million directions
BLOCK = 1000  # images drawn at a time, whole groups: some 15 MB of signals at bandwidth 30

Protocol = Literal["resampled", "coefficients", "cohen2018"]
PROTOCOLS = get_args(Protocol)


@dataclass(frozen=True)
class Drawing:
    """How images become functions on the sphere.

    ``protocol`` says what a rotation acts on: "resampled" draws the image on the rotated sphere
    and transforms what the grid sees; "coefficients" transforms the unrotated drawing and turns
    its coefficients by Wigner matrices, which an equivariant network cannot tell apart but for
    rounding. "cohen2018" is drawn as by that paper's generator, which has a map and a sampler of
    its own; ``projection`` is for the other two.
    """

    bandwidth: int = 30
    l_max: int | None = 8  # None keeps the signal on the grid
    rotated: bool = False
    protocol: Protocol = "resampled"
    projection: str = "lambert"  # or "stereographic"; "equirectangular" has the whole sphere
    warp: float = 0.0  # strength of random affine maps of the image, for training
    shift: float = 0.02  # of those maps, in halves of a side at strength 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.projection != "equirectangular":
            check_projection(self.projection)
        check_whole("bandwidth", self.bandwidth, 1, MOST)
        if self.l_max is not None:
            check_whole("l_max", self.l_max, 0, MOST)
        check_whole("seed", self.seed, 0)
        for name in ("warp", "shift"):
            check_positive(name, getattr(self, name), zero=True)
        if self.projection == "equirectangular" and self.warp:
            raise ValueError("warps are maps of planar images, and panoramas are none: warp=0.")
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"protocol={self.protocol!r}: take one of {', '.join(PROTOCOLS)}.")
        if self.protocol == "coefficients" and self.l_max is None and self.rotated:
            raise ValueError(
                "the protocol 'coefficients' rotates coefficients, but this network reads the "
                "signal on the grid; take 'resampled'."
            )

    @property
    def map_name(self) -> str:
        """The map that lays the image on the sphere."""
        return "stereographic" if self.protocol == "cohen2018" else self.projection

    def at_epoch(self, epoch: int) -> Drawing:
        """Return the drawing of one epoch: another one each time where images are varied."""
        return replace(self, seed=self.seed + 7919 * (epoch + 1)) if self.warp else self

    def faithful(self, seed: int) -> Drawing:
        """Return the drawing of images as they are, for validation and test."""
        return replace(self, warp=0.0, seed=seed)


class FragmentBatches:
    """Coefficients of labelled signals, sample first in memory so that rows are cheap to take."""

    def __init__(self, fragment_type: FragmentType, rows: Tensor, targets: Tensor) -> None:
        self.type = fragment_type
        self.rows = rows
        self.targets = targets

    def take(self, rows: Tensor) -> Fragments:
        """Return the fragments of these samples."""
        return Fragments(self.type, self.rows[rows].T.contiguous())


class SignalBatches:
    """Labelled signals on the grid, (n, 2b, 2b)."""

    def __init__(self, signals: Tensor, targets: Tensor) -> None:
        self.signals = signals
        self.targets = targets

    def take(self, rows: Tensor) -> Tensor:
        """Return the signals of these samples, (batch, 1, 2b, 2b)."""
        return self.signals[rows].unsqueeze(1)


def draw_digits(
    images: AnyArray, labels: AnyArray, drawing: Drawing
) -> FragmentBatches | SignalBatches:
    """Draw images on the sphere and return them as a network's labelled inputs.

    Parameters
    ----------
    images : array of shape (n, height, width), values from 0 to 1
    labels : int array of shape (n,)
    drawing : Drawing
        The rotation of each image is Haar-distributed and, like its warp, follows from the
        drawing's seed alone.

    Notes
    -----
    Works in blocks: beyond the result, memory is that of ``BLOCK`` signals.
    """
    targets = torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64))
    blocks = [images[start : start + BLOCK] for start in range(0, len(images), BLOCK)]
    if drawing.l_max is None:
        return SignalBatches(
            torch.cat([_draw(b, i, drawing)[0] for i, b in enumerate(blocks)]), targets
        )
    transform = SphericalTransform(drawing.bandwidth, drawing.l_max)
    parts = [_transform(transform, b, i, drawing) for i, b in enumerate(blocks)]
    return FragmentBatches(parts[0].type, torch.cat([p.packed.T for p in parts]), targets)


def draw_rotations(n: int, drawing: Drawing) -> Tensor:
    """Return the rotations, (n, 3, 3), that `draw_digits` gives n images."""
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    return torch.cat([_rotations(size, i, drawing) for i, size in enumerate(sizes)])


def _block_seed(seed: int, block: int) -> int:
    return seed * 100_003 + block


def _rotations(n: int, block: int, drawing: Drawing) -> Tensor:
    group = GROUP if drawing.protocol == "cohen2018" else 1
    generator = torch.Generator().manual_seed(_block_seed(drawing.seed, block))
    return random_rotations(-(-n // group), generator).repeat_interleave(group, 0)[:n]


def _draw(images: AnyArray, block: int, drawing: Drawing) -> tuple[Tensor, Tensor]:
    """Return the signals of a block of images and their rotations."""
    rotations = _rotations(len(images), block, drawing)
    resampled = drawing.rotated and drawing.protocol != "coefficients"
    turns = rotations.numpy() if resampled else np.tile(np.eye(3), (len(images), 1, 1))
    warps = None
    if drawing.warp:
        generator = np.random.default_rng(_block_seed(drawing.seed, block))
        warps = draw_warps(len(images), generator, strength=drawing.warp, shift=drawing.shift)
    grid = spherical_grid(drawing.bandwidth)
    if drawing.protocol == "cohen2018":
        images = images if warps is None else _warp(images, warps)
        points = grid.points().flatten(0, 1).numpy()
        values = draw_cohen2018(images, points, turns[::GROUP])
        return torch.from_numpy(values).unflatten(1, grid.shape), rotations
    if drawing.projection == "equirectangular":
        points = grid.points().flatten(0, 1).numpy()
        values = sample_panoramas(images, points, turns)
        return torch.from_numpy(values).unflatten(1, grid.shape), rotations
    values = project_images(
        images,
        grid.theta.numpy()[:, None],
        grid.phi.numpy(),
        rotations=turns,
        warps=warps,
        projection=drawing.projection,
        n_jobs=torch.get_num_threads(),
    )
    return torch.from_numpy(values), rotations


def _warp(images: AnyArray, warps: AnyArray) -> AnyArray:
    """Return images that show, at p, what the given ones have at A p + b."""
    pixels = torch.from_numpy(np.asarray(images, np.float32))[:, None]
    places = affine_grid(torch.from_numpy(warps).float(), list(pixels.shape), align_corners=False)
    moved: AnyArray = grid_sample(pixels, places, mode="bicubic", align_corners=False).numpy()
    return moved[:, 0].clip(0, 1)


def _transform(
    transform: SphericalTransform, images: AnyArray, block: int, drawing: Drawing
) -> Fragments:
    signals, rotations = _draw(images, block, drawing)
    with torch.no_grad():
        fragments = transform(signals.unsqueeze(1))
        turned = drawing.rotated and drawing.protocol == "coefficients"
        return fragments.rotate(rotations) if turned else fragments
