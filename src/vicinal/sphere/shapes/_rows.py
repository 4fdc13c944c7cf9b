"""Which meshes are trained on and which are tested, and what a network is given of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from vicinal._types import IntArray
from vicinal.data import inner_split, load_dataset
from vicinal.sphere.harmonic import Fragments, random_rotations
from vicinal.sphere.shapes._channels import Caster
from vicinal.sphere.shapes._kept_rays import cast_once
from vicinal.sphere.shapes._meshes import Shapes, deform, random_stretches, shapes_of
from vicinal.sphere.training import LabelledSetting

TEST_SEED = 1_000_003  # meshes are turned alike for every network and rival


@dataclass(frozen=True)
class ShapeRows:
    """The rows of a set of shapes: to train on, to choose by, to test."""

    shapes: Shapes
    train: IntArray
    held_out: IntArray
    test: IntArray

    def inner(self) -> ShapeRows:
        """Return the rows to choose a setting by: those held out in place of the test rows."""
        return replace(self, held_out=self.held_out[:0], test=self.held_out)


@dataclass
class ShapeBatches:
    """Fragments of meshes with their classes."""

    fragments: Fragments
    targets: Tensor

    def take(self, rows: Tensor) -> Fragments:
        """Return the network's input for these rows."""
        return Fragments(self.fragments.type, self.fragments.packed[:, rows].contiguous())


def load_shapes(setting: LabelledSetting) -> ShapeRows:
    """Return the meshes of a set and its parts: the published ones, or a fixed half of each class.

    Where meshes are held out or only some are trained on, classes keep their proportions.
    """
    dataset = load_dataset(setting.dataset)
    shapes = shapes_of(dataset)
    if dataset.is_test is None:
        halves = inner_split(dataset.y, test_size=0.5, seed=0)
        rest, test = halves.train, halves.test
    else:
        rest, test = np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    rest, held_out = _hold_out(rest, shapes.labels, setting.n_validation or 0, setting.seed)
    if setting.n_train is not None and setting.n_train < len(rest):
        _, rest = _hold_out(rest, shapes.labels, setting.n_train, setting.seed + 1)
    return ShapeRows(shapes, rest, held_out, test)


def _hold_out(rows: IntArray, labels: IntArray, n: int, seed: int) -> tuple[IntArray, IntArray]:
    if not n:
        return rows, rows[:0]
    if n >= len(rows):
        raise ValueError(f"{n} meshes held out leave none of the {len(rows)} to train on.")
    fold = inner_split(labels[rows], test_size=n / len(rows), seed=seed)
    return rows[fold.train], rows[fold.test]


def draw_epoch(
    parts: ShapeRows, caster: Caster, stretch: float, seed: int, epoch: int
) -> ShapeBatches:
    """Return the training meshes of an epoch, each stretched and turned at random."""
    rng = np.random.default_rng([seed, epoch])
    stretches = random_stretches(len(parts.train), stretch, rng)
    meshes = [
        deform(parts.shapes.meshes[i], by) for i, by in zip(parts.train, stretches, strict=True)
    ]
    rotations = random_rotations(
        len(meshes), torch.Generator().manual_seed(int(rng.integers(2**31)))
    )
    targets = torch.from_numpy(parts.shapes.labels[parts.train])
    return ShapeBatches(caster.fragments(meshes, rotations), targets)


def turn_rows(parts: ShapeRows, rows: IntArray, caster: Caster) -> ShapeBatches:
    """Return meshes that are to be judged, each at the rotation its number in the set gives it."""
    rotations = random_rotations(
        len(parts.shapes.meshes), torch.Generator().manual_seed(TEST_SEED)
    )[rows]
    meshes = [parts.shapes.meshes[i] for i in rows]
    targets = torch.from_numpy(parts.shapes.labels[rows])
    return ShapeBatches(cast_once(caster, meshes, rotations), targets)
