"""Images on the sphere, ready for a network: drawn, rotated, transformed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import numba
import numpy as np
import torch
from torch import Tensor

from vicinal._types import AnyArray
from vicinal.data._bending import bend_images
from vicinal.data._signals import check_projection, draw_warps, project_images
from vicinal.sphere.harmonic import (
    Fragments,
    FragmentType,
    SphericalTransform,
    random_rotations,
    spherical_grid,
)

BLOCK = 1000  # images drawn at a time: some 15 MB of signals at bandwidth 30

Protocol = Literal["resampled", "coefficients"]


@dataclass(frozen=True)
class Drawing:
    """How images become functions on the sphere.

    ``protocol`` says what a rotation acts on: "resampled" draws the image on the rotated sphere
    and transforms what the grid sees; "coefficients" transforms the unrotated drawing and turns
    its coefficients by Wigner matrices, which an equivariant network cannot tell apart but for
    rounding.
    """

    bandwidth: int = 30
    l_max: int | None = 8  # None keeps the signal on the grid
    rotated: bool = False
    protocol: Protocol = "resampled"
    projection: str = "lambert"  # or "stereographic"
    warp: float = 0.0  # strength of random affine maps of the image, for training
    shift: float = 0.02  # of those maps, in halves of a side at strength 1
    bend: float = 0.0  # strength of random elastic distortions, for training
    seed: int = 0

    def __post_init__(self) -> None:
        check_projection(self.projection)
        if self.protocol not in ("resampled", "coefficients"):
            raise ValueError(f"protocol={self.protocol!r}: take 'resampled' or 'coefficients'.")
        if self.protocol == "coefficients" and self.l_max is None and self.rotated:
            raise ValueError(
                "the protocol 'coefficients' rotates coefficients, but this network reads the "
                "signal on the grid; take 'resampled'."
            )

    def at_epoch(self, epoch: int) -> Drawing:
        """Return the drawing of one epoch: another one each time where images are varied."""
        varied = self.warp or self.bend
        return replace(self, seed=self.seed + 7919 * (epoch + 1)) if varied else self

    def faithful(self, seed: int) -> Drawing:
        """Return the drawing of images as they are, for validation and test."""
        return replace(self, warp=0.0, bend=0.0, seed=seed)


class FragmentBatches:
    """Coefficients of labelled signals, sample first in memory so that rows are cheap to take."""

    def __init__(self, fragment_type: FragmentType, rows: Tensor, labels: Tensor) -> None:
        self.type = fragment_type
        self.rows = rows
        self.labels = labels

    def take(self, rows: Tensor) -> Fragments:
        """Return the fragments of these samples."""
        return Fragments(self.type, self.rows[rows].T.contiguous())


class SignalBatches:
    """Labelled signals on the grid, (n, 2b, 2b)."""

    def __init__(self, signals: Tensor, labels: Tensor) -> None:
        self.signals = signals
        self.labels = labels

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
    with _threads_of_torch():
        return _draw_blocks(images, labels, drawing)


def _draw_blocks(
    images: AnyArray, labels: AnyArray, drawing: Drawing
) -> FragmentBatches | SignalBatches:
    targets = torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64))
    blocks = [images[start : start + BLOCK] for start in range(0, len(images), BLOCK)]
    if drawing.l_max is None:
        return SignalBatches(
            torch.cat([_draw(b, i, drawing)[0] for i, b in enumerate(blocks)]), targets
        )
    transform = SphericalTransform(drawing.bandwidth, drawing.l_max)
    parts = [_transform(transform, b, i, drawing) for i, b in enumerate(blocks)]
    return FragmentBatches(parts[0].type, torch.cat([p.packed.T for p in parts]), targets)


@contextmanager
def _threads_of_torch() -> Iterator[None]:
    """Draw in as many threads as torch works in, and leave that number as it was.

    Numba sets the number of OpenMP threads, and torch, on the same OpenMP, would go on with it:
    a training in one thread would become one in several that wait for each other.
    """
    n_threads, drawing_threads = torch.get_num_threads(), numba.get_num_threads()
    numba.set_num_threads(min(n_threads, drawing_threads))
    try:
        yield
    finally:
        numba.set_num_threads(drawing_threads)
        torch.set_num_threads(n_threads)


def draw_rotations(n: int, seed: int) -> Tensor:
    """Return the rotations, (n, 3, 3), that `draw_digits` gives n images with this seed."""
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    return torch.cat(
        [
            random_rotations(size, torch.Generator().manual_seed(_block_seed(seed, block)))
            for block, size in enumerate(sizes)
        ]
    )


def _block_seed(seed: int, block: int) -> int:
    return seed * 100_003 + block


def _draw(images: AnyArray, block: int, drawing: Drawing) -> tuple[Tensor, Tensor]:
    """Return the signals of a block of images and their rotations."""
    seed = _block_seed(drawing.seed, block)
    rotations = random_rotations(len(images), torch.Generator().manual_seed(seed))
    generator = np.random.default_rng(seed)
    warps = None
    if drawing.warp:
        warps = draw_warps(len(images), generator, strength=drawing.warp, shift=drawing.shift)
    if drawing.bend:
        images = bend_images(images, generator, strength=drawing.bend)
    resampled = drawing.rotated and drawing.protocol == "resampled"
    grid = spherical_grid(drawing.bandwidth)
    signals = project_images(
        images,
        grid.theta.numpy()[:, None],
        grid.phi.numpy(),
        rotations=rotations.numpy() if resampled else None,
        warps=warps,
        projection=drawing.projection,
    )
    return torch.from_numpy(signals), rotations


def _transform(
    transform: SphericalTransform, images: AnyArray, block: int, drawing: Drawing
) -> Fragments:
    signals, rotations = _draw(images, block, drawing)
    with torch.no_grad():
        fragments = transform(signals.unsqueeze(1))
        turned = drawing.rotated and drawing.protocol == "coefficients"
        return fragments.rotate(rotations) if turned else fragments
