"""Stored arrays -> features, targets, split and groups; one function a shape of file.

A stored file keeps what its source published, in the smallest lossless form. Here values get
back their units, labels start at 0, and rows that belong together get the same group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray

Stored = Mapping[str, AnyArray]


@dataclass(frozen=True)
class Decoded:
    """A set before the split is chosen; ``X`` may still be integers to be divided by `divisor`.

    ``row_extras`` have one entry a row and follow it into a split; ``extras`` do not.
    """

    X: AnyArray
    y: AnyArray
    divisor: float = 1.0
    is_test: BoolArray | None = None
    groups: IntArray | None = None
    feature_names: tuple[str, ...] = ()
    row_extras: Mapping[str, AnyArray] = field(default_factory=dict)
    extras: Mapping[str, AnyArray] = field(default_factory=dict)


Decoder = Callable[[Stored], Decoded]


def decode_table(
    stored: Stored,
    *,
    divisor: float = 1.0,
    first_label: int | None = 0,
    group_key: str | None = None,
) -> Decoded:
    """Decode the common form: ``X, y``, or ``X_train, y_train, X_test, y_test``.

    Parameters
    ----------
    stored : mapping
        May hold ``is_test`` or ``n_train`` (the first rows train), and ``feature_names``.
    divisor : float
        Stored integers over this number are the published values.
    first_label : int or None
        What the source calls the first class; None for regression.
    group_key : str or None
        The array that says which rows belong together.
    """
    if "X_train" in stored:
        parts = [stored["X_train"], stored["X_test"]]
        X = np.concatenate([part.reshape(len(part), -1) for part in parts])
        y = np.concatenate([stored["y_train"], stored["y_test"]])
    else:
        X, y = stored["X"], stored["y"]
    return Decoded(
        X=X,
        y=_targets(y, first_label),
        divisor=divisor,
        is_test=_official_test_rows(stored, len(y)),
        groups=None if group_key is None else number_groups(stored[group_key]),
        feature_names=tuple(str(name) for name in stored.get("feature_names", ())),
    )


def _targets(y: AnyArray, first_label: int | None) -> AnyArray:
    if first_label is None:
        return y.astype(np.float64)
    return y.astype(np.int64) - first_label


def _official_test_rows(stored: Stored, n_rows: int) -> BoolArray | None:
    if "is_test" in stored:
        return stored["is_test"].astype(bool)
    if "X_train" in stored:
        return np.arange(n_rows) >= len(stored["X_train"])
    if "n_train" in stored:
        return np.arange(n_rows) >= int(stored["n_train"])
    return None


def number_groups(names: AnyArray) -> IntArray:
    """Number groups 0, 1, ... in the order of their first row."""
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def decode_regression(stored: Stored) -> Decoded:
    """Decode ``X, y`` with a real target."""
    return decode_table(stored, first_label=None)


def decode_target(
    stored: Stored, *, target: int, group_rows: Callable[[Stored], IntArray] | None = None
) -> Decoded:
    """Decode one of several targets, on the rows where it is known.

    All targets of these rows are kept in ``row_extras["targets"]``.
    """
    y = stored["y"].astype(np.float64)
    finite = np.isfinite(y[:, target])
    split = _official_test_rows(stored, len(y))
    return Decoded(
        X=stored["X"][finite],
        y=y[finite, target],
        is_test=None if split is None else split[finite],
        groups=None if group_rows is None else group_rows(stored)[finite],
        feature_names=tuple(str(name) for name in stored["feature_names"]),
        row_extras={"targets": y[finite]},
    )


def group_by_subject(stored: Stored) -> IntArray:
    return number_groups(stored["subject"])


def group_by_time(stored: Stored, *, n_blocks: float) -> IntArray:
    """Cut a recording into blocks of time.

    The source's training and test parts are interleaved samples of one recording, each in order
    of time (a test row's nearest training row is the one recorded next to it). Time is thus
    the place within the part, and a block holds the rows of both parts.

    Parameters
    ----------
    stored : mapping
        ``y`` and ``n_train``.
    n_blocks : float
        Blocks to the whole recording; not a whole number where the last one is cut short.
    """
    n_train, n_rows = int(stored["n_train"]), len(stored["y"])
    time = [(np.arange(n) + 0.5) / n for n in (n_train, n_rows - n_train)]
    return (np.concatenate(time) * n_blocks).astype(np.int64)


def decode_covtype(stored: Stored) -> Decoded:
    """Set out the 4 wilderness areas and 40 soil types as 0/1 columns after the 10 numbers.

    The first 11,340 rows train and the next 3,780 validate, by the source's convention; both
    count as training here.
    """
    wilderness = stored["wilderness"][:, None] == np.arange(1, 5)
    soil = stored["soil"][:, None] == np.arange(1, 41)
    return Decoded(
        X=np.hstack([stored["X"], wilderness, soil]).astype(np.int16),
        y=_targets(stored["y"], 1),
        is_test=np.arange(len(stored["y"])) >= 11_340 + 3_780,
    )


def decode_surf(stored: Stored, *, domain: str | None = None) -> Decoded:
    """Take one of the four domains, or all of them with the domain as group."""
    names = [str(name) for name in stored["domain_names"]]
    rows = np.ones(len(stored["y"]), dtype=bool)
    if domain is not None:
        rows = stored["domain"] == names.index(domain)
    return Decoded(
        X=stored["X"][rows],
        y=_targets(stored["y"][rows], 0),
        groups=number_groups(stored["domain"]) if domain is None else None,
    )


def decode_qm7(stored: Stored) -> Decoded:
    """Describe a molecule by its Coulomb matrix with the rows in order of their norm.

    The upper triangle of the sorted 23 x 23 matrix is the usual vector that does not depend on
    how the atoms are numbered. The published five-fold partition is ``extras["folds"]``; atoms
    are in ``row_extras``: positions R (in Bohr), charges Z, and the matrix as published.
    """
    coulomb = stored["X"].astype(np.float32)
    upper = np.triu_indices(coulomb.shape[1])
    atoms = {"R": stored["R"], "Z": stored["Z"], "coulomb": coulomb}
    return Decoded(
        X=sort_by_row_norm(coulomb)[:, upper[0], upper[1]],
        y=stored["T"].astype(np.float64).ravel(),
        feature_names=tuple(f"C{i}_{j}" for i, j in zip(*upper, strict=True)),
        row_extras=atoms | ({"X_perm": stored["X_perm"]} if "X_perm" in stored else {}),
        extras={"folds": stored["P"]},
    )


def sort_by_row_norm(matrices: FloatArray) -> FloatArray:
    """Permute rows and columns of symmetric matrices (n, m, m) to descending row norm."""
    norms = np.linalg.norm(matrices.astype(np.float64), axis=2)
    order = np.argsort(-norms, axis=1, kind="stable")
    rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    return np.take_along_axis(rows, order[:, None, :], axis=2)


def decode_meshes(stored: Stored) -> Decoded:
    """Describe a mesh by where its surface lies: area by distance from the centre of area.

    X is the share of surface in 64 shells of equal thickness, the shape's radius being 1. It
    does not change under rotation. Mesh m is ``V[v_off[m]:v_off[m + 1]]`` with faces
    ``F[f_off[m]:f_off[m + 1]]`` in ``extras``.
    """
    meshes = {key: stored[key] for key in ("V", "F", "v_off", "f_off")}
    names = ("name", "nf_orig", "area_ratio", "method")
    per_mesh = {key: stored[key] for key in names if key in stored}
    y = _targets(stored["label"], 0)
    return Decoded(
        X=shell_areas(**meshes, n_shells=64),
        y=y,
        is_test=_official_test_rows(stored, len(y)),
        feature_names=tuple(f"shell{i}" for i in range(64)),
        row_extras=per_mesh,
        extras=meshes,
    )


def shell_areas(
    V: FloatArray, F: IntArray, v_off: IntArray, f_off: IntArray, *, n_shells: int
) -> FloatArray:
    """Return the share of each mesh's area by distance of the face from the origin.

    Parameters
    ----------
    V : ndarray of shape (n_vertices, 3)
    F : int ndarray of shape (n_faces, 3)
        Vertex numbers within their own mesh.
    v_off, f_off : int ndarrays of shape (n_meshes + 1,)
    n_shells : int
        Shells of equal thickness up to radius 1; what lies beyond counts as the outermost.

    Returns
    -------
    ndarray of shape (n_meshes, n_shells)
    """
    n_meshes = len(f_off) - 1
    mesh = np.repeat(np.arange(n_meshes), np.diff(f_off))
    corners = V[F.astype(np.int64) + v_off[mesh][:, None]].astype(np.float32)
    edges = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    radius = np.linalg.norm(corners.mean(axis=1), axis=1)
    shell = np.minimum((radius * n_shells).astype(np.int64), n_shells - 1)
    areas = np.bincount(mesh * n_shells + shell, weights=area, minlength=n_meshes * n_shells)
    areas = areas.reshape(n_meshes, n_shells)
    total = areas.sum(axis=1, keepdims=True)
    return areas / np.where(total > 0, total, 1.0)


def decode_points(stored: Stored) -> Decoded:
    """Describe a cloud of points by distances from its middle: shares of points in 64 shells.

    Shells are of equal thickness, the cloud's radius being 1, so that no rotation changes X. The
    clouds, (n, points, 3), are ``row_extras["points"]``.
    """
    points = stored["points"]
    radii = np.linalg.norm(points.astype(np.float32), axis=2)
    shells = np.minimum((64 * radii).astype(np.int64), 63) + 64 * np.arange(len(points))[:, None]
    counts = np.bincount(shells.ravel(), minlength=64 * len(points)).reshape(-1, 64)
    y = _targets(stored["label"], 0)
    return Decoded(
        X=counts / points.shape[1],
        y=y,
        is_test=_official_test_rows(stored, len(y)),
        feature_names=tuple(f"shell{i}" for i in range(64)),
        row_extras={"points": points},
    )


def decode_rmd17(stored: Stored) -> Decoded:
    """Describe frames of several molecules by the eigenvalues of their Coulomb matrices.

    The target is the energy above the mean of the molecule's training frames; a molecule is a
    group. Atoms, energies and forces are in ``extras`` as stored:
    ``<name>_Z``, ``_R``, ``_E``, ``_F``.
    """
    names = [str(name) for name in stored["molecules"]]
    is_test = stored["is_test"].astype(bool)
    X = np.zeros((len(names), len(is_test), max(len(stored[f"{name}_Z"]) for name in names)))
    y = np.empty(X.shape[:2])
    for row, name in enumerate(names):
        charges, places = stored[f"{name}_Z"].astype(float), stored[f"{name}_R"] / 0.529177210903
        gaps = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1) + np.eye(len(charges))
        matrices = charges[:, None] * charges / gaps
        at = np.arange(len(charges))
        matrices[:, at, at] = 0.5 * charges**2.4
        X[row, :, : len(charges)] = np.linalg.eigvalsh(matrices)[:, ::-1]
        y[row] = stored[f"{name}_E"] - stored[f"{name}_E"][~is_test].mean()
    return Decoded(
        X=X.reshape(-1, X.shape[2]),
        y=y.ravel(),
        is_test=np.tile(is_test, len(names)),
        groups=np.repeat(np.arange(len(names)), len(is_test)),
        feature_names=tuple(f"eigenvalue{i}" for i in range(X.shape[2])),
        extras={**stored, "is_test": is_test},
    )


def load_builtin(stored: Stored, *, loader: str, **options: Any) -> Decoded:
    """Return a set that ships with scikit-learn; there is nothing stored to decode."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{loader}")(**options)
    y = bunch.target.astype(np.float64 if bunch.target.dtype.kind == "f" else np.int64)
    names = tuple(str(name) for name in bunch.feature_names)
    return Decoded(X=bunch.data, y=y, feature_names=names)


def make_waveform(stored: Stored, *, n_rows: int, seed: int = 0) -> Decoded:
    """Draw the waveform set from its formula; there is nothing stored to decode.

    With the waves h_1(t) = max(6 − |t − 11|, 0), h_2(t) = h_1(t − 4), h_3(t) = h_1(t + 4), a row
    of class r is u h_a(t) + (1 − u) h_b(t) + ε_t for t = 1, ..., 21, the pair (a, b) one of three,
    u uniform on [0, 1] and ε standard normal; 19 columns more are standard normal alone.
    """
    random = np.random.default_rng(seed)
    t = np.arange(1, 22)
    waves = [np.maximum(6 - np.abs(t - 11 - shift), 0) for shift in (0, 4, -4)]
    firsts, seconds = (
        np.array([waves[a] for a in (0, 0, 1)]),
        np.array([waves[b] for b in (1, 2, 2)]),
    )
    y = np.arange(n_rows) % 3
    u = random.uniform(size=(n_rows, 1))
    X = random.normal(size=(n_rows, 40))
    X[:, :21] += u * firsts[y] + (1 - u) * seconds[y]
    names = (*(f"t{number}" for number in t), *(f"noise{number}" for number in range(1, 20)))
    return Decoded(X=X, y=y.astype(np.int64), feature_names=names)
