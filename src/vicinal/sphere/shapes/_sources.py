"""Shapes of known sets and of folders, the parts they are divided in, and a network's inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vicinal._types import BoolArray, Dataset, IntArray
from vicinal.data import inner_split, load_dataset
from vicinal.sphere.harmonic import Fragments, random_rotations
from vicinal.sphere.shapes._channels import Caster
from vicinal.sphere.shapes._clouds import Cloud, PointShells, make_cloud
from vicinal.sphere.shapes._files import SUFFIXES, read_shape
from vicinal.sphere.shapes._kept_rays import cast_once
from vicinal.sphere.shapes._meshes import Mesh, deform, make_mesh, random_stretches
from vicinal.sphere.worlds import LabelledSetting, divide, list_labelled

TEST_SEED = 1_000_003  # shapes are turned alike for every network and rival
KNOWN = ("shrec2012", "shapedb69", "modelnet10")

Body = Mesh | Cloud
Reader = Caster | PointShells


@dataclass(frozen=True)
class Shapes:
    """Meshes, or clouds of points, with the numbers of their classes."""

    bodies: tuple[Body, ...]
    labels: IntArray
    classes: tuple[str, ...]
    is_test: BoolArray | None = None
    names: tuple[str, ...] | None = None

    def rows(self, chosen: Iterable[int]) -> Shapes:
        """Return some of them."""
        chosen = list(chosen)
        return Shapes(tuple(self.bodies[i] for i in chosen), self.labels[chosen], self.classes)

    @property
    def noun(self) -> str:
        """What they are called."""
        return "meshes" if isinstance(self.bodies[0], Mesh) else "clouds"


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
    """Fragments of shapes with their classes."""

    fragments: Fragments
    targets: Tensor

    def take(self, rows: Tensor) -> Fragments:
        """Return the network's input for these rows."""
        return Fragments(self.fragments.type, self.fragments.packed[:, rows].contiguous())


def read_shapes(source: str) -> Shapes:
    """Return the shapes of a registered set, or of a folder of files by class."""
    if not Path(source).is_dir():
        return shapes_of(load_dataset(source))
    files = list_labelled(Path(source), SUFFIXES)
    bodies = tuple(read_shape(path) for path in files.paths)
    check_alike(bodies, [str(path) for path in files.paths])
    names = tuple(path.name for path in files.paths)
    return Shapes(bodies, files.labels, files.classes, files.is_test, names)


def check_alike(bodies: Sequence[Body], names: Sequence[str]) -> None:
    """Refuse meshes among clouds of points: a network reads one or the other."""
    for body, name in zip(bodies, names, strict=True):
        if type(body) is not type(bodies[0]):
            kinds = {Mesh: "a mesh", Cloud: "a cloud of points"}
            raise ValueError(
                f"{name} is {kinds[type(body)]} and {names[0]} {kinds[type(bodies[0])]}: give "
                "meshes alone, or points alone."
            )


def shapes_of(dataset: Dataset) -> Shapes:
    """Return the shapes that a registered set holds in its extras."""
    bodies: tuple[Body, ...]
    if "points" in dataset.extras:
        clouds = dataset.extras["points"]
        bodies = tuple(make_cloud(of, name=f"cloud {i}") for i, of in enumerate(clouds))
    elif {"V", "F", "v_off", "f_off"} <= set(dataset.extras):
        V, F, v_off, f_off = (dataset.extras[key] for key in ("V", "F", "v_off", "f_off"))
        bodies = tuple(
            make_mesh(V[v_off[i] : v_off[i + 1]], F[f_off[i] : f_off[i + 1]], name=f"mesh {i}")
            for i in range(len(v_off) - 1)
        )
    else:
        raise ValueError(f"{dataset.name} holds no meshes or points; take {', '.join(KNOWN)}.")
    classes = tuple(map(str, dataset.classes or range(int(dataset.y.max()) + 1)))
    return Shapes(bodies, np.asarray(dataset.y, np.int64), classes, dataset.is_test)


def divide_shapes(shapes: Shapes, setting: LabelledSetting) -> ShapeRows:
    """Return the published parts, or a fixed half of each class; a folder's quarter is tested.

    Where shapes are held out or only some are trained on, classes keep their proportions.
    """
    share = 0.5 if shapes.names is None else 0.25
    rest, test = divide(shapes.labels, shapes.is_test, share)
    rest, held_out = _hold_out(rest, shapes.labels, setting.n_validation or 0, setting.seed)
    if setting.n_train is not None and setting.n_train < len(rest):
        _, rest = _hold_out(rest, shapes.labels, setting.n_train, setting.seed + 1)
    return ShapeRows(shapes, rest, held_out, test)


def _hold_out(rows: IntArray, labels: IntArray, n: int, seed: int) -> tuple[IntArray, IntArray]:
    if not n:
        return rows, rows[:0]
    if n >= len(rows):
        raise ValueError(f"{n} shapes held out leave none of the {len(rows)} to train on.")
    fold = inner_split(labels[rows], test_size=n / len(rows), seed=seed)
    return rows[fold.train], rows[fold.test]


def draw_epoch(
    parts: ShapeRows, reader: Reader, stretch: float, seed: int, epoch: int, *, turned: bool = True
) -> ShapeBatches:
    """Return the training shapes of an epoch, each stretched and turned at random."""
    rng = np.random.default_rng([seed, epoch])
    stretches = random_stretches(len(parts.train), stretch, rng)
    bodies = [
        _stretch(parts.shapes.bodies[i], by) for i, by in zip(parts.train, stretches, strict=True)
    ]
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    rotations = random_rotations(len(bodies), generator) if turned else None
    targets = torch.from_numpy(parts.shapes.labels[parts.train])
    return ShapeBatches(_read(reader, bodies, rotations), targets)


def turn_rows(parts: ShapeRows, rows: IntArray, reader: Reader, turn: int = 0) -> ShapeBatches:
    """Return shapes that are to be judged, each at a rotation its number in the set gives it."""
    generator = torch.Generator().manual_seed(TEST_SEED + turn)
    rotations = random_rotations(len(parts.shapes.bodies), generator)[rows]
    bodies = [parts.shapes.bodies[i] for i in rows]
    targets = torch.from_numpy(parts.shapes.labels[rows])
    return ShapeBatches(_read(reader, bodies, rotations, keep=True), targets)


def _stretch(body: Body, matrix: np.ndarray) -> Body:
    if isinstance(body, Mesh):
        return deform(body, matrix)
    points = body.points @ matrix.T
    return Cloud(points / np.linalg.norm(points, axis=1).max())


def _read(
    reader: Reader, bodies: Sequence[Body], rotations: Tensor | None, *, keep: bool = False
) -> Fragments:
    """Return what a reader makes of bodies; rays that are cast again and again are kept."""
    kind = Mesh if isinstance(reader, Caster) else Cloud
    alike = [body for body in bodies if isinstance(body, kind)]
    if len(alike) < len(bodies):
        raise ValueError(
            "rays need meshes, and shells clouds of points: take another preset, or other shapes."
        )
    if isinstance(reader, PointShells):
        return reader.fragments(alike, rotations)  # type: ignore[arg-type]
    if keep and rotations is not None:
        return cast_once(reader, alike, rotations)  # type: ignore[arg-type]
    return reader.fragments(alike, rotations)  # type: ignore[arg-type]
