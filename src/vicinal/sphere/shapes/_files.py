"""Files of shapes: meshes (.off, .obj, .ply, .stl) and points (.pcd, .ply, .npy)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray
from vicinal.sphere.shapes._clouds import Cloud, make_cloud
from vicinal.sphere.shapes._meshes import Mesh, make_mesh

SUFFIXES = (".off", ".obj", ".ply", ".stl", ".pcd", ".npy")
_PCD_TYPES = {"F": "f", "I": "i", "U": "u"}


def read_shape(path: Path) -> Mesh | Cloud:
    """Return the mesh of a file, or its points where it has no faces.

    Raises
    ------
    ValueError
        Where the file cannot be read as its suffix says, or holds no shape; it names the file.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: shapes are files {', '.join(SUFFIXES)}.")
    try:
        if suffix == ".npy":
            return make_cloud(np.load(path, allow_pickle=False), name=str(path))
        if suffix == ".pcd":
            return make_cloud(read_pcd(path.read_bytes()), name=str(path))
        loaded = _load_mesh(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        said = str(error)
        raise ValueError(said if str(path) in said else f"{path}: {said}") from error
    vertices, faces = loaded
    if len(faces):
        return make_mesh(vertices, faces, name=str(path))
    return make_cloud(vertices, name=str(path))


def _load_mesh(path: Path) -> tuple[AnyArray, AnyArray]:
    try:
        import trimesh
    except ImportError:
        raise ValueError("reading meshes needs trimesh: pip install 'vicinal[torch]'") from None
    try:
        loaded: Any = trimesh.load(path, process=False, skip_materials=True)
        if isinstance(loaded, trimesh.Scene):
            loaded = loaded.to_geometry()
        vertices = np.asarray(loaded.vertices, np.float64).reshape(-1, 3)
        faces = np.asarray(getattr(loaded, "faces", np.zeros((0, 3))), np.int64).reshape(-1, 3)
    except Exception as error:
        # A reader of many formats fails in as many ways.
        raise ValueError(
            f"it cannot be read as a mesh ({type(error).__name__}: {error})."
        ) from error
    return vertices, faces


def read_pcd(content: bytes) -> AnyArray:
    """Return the points (n, 3) of a PCD file, as text or in binary."""
    header = re.search(rb"^DATA[ \t]+(\w+)[ \t]*\r?\n", content, re.MULTILINE)
    if header is None:
        raise ValueError("it has no line DATA, and is no PCD file.")
    lines = content[: header.start()].decode("ascii", "replace").splitlines()
    told = {line.split()[0]: line.split()[1:] for line in lines if line.split()}
    try:
        fields, n = told["FIELDS"], int(told["POINTS"][0])
        columns = [fields.index(axis) for axis in "xyz"]
        body = content[header.end() :]
        if header[1] == b"ascii":
            rows = np.array([line.split() for line in body.decode("ascii").splitlines() if line])
            points = rows[:n, columns].astype(np.float64)
        elif header[1] == b"binary":
            counts = told.get("COUNT", ["1"] * len(fields))
            kinds = zip(fields, told["TYPE"], told["SIZE"], counts, strict=True)
            layout = [
                (f"{name}{at}", f"<{_PCD_TYPES[kind]}{size}", (int(count),))
                for at, (name, kind, size, count) in enumerate(kinds)
            ]
            rows = np.frombuffer(body, np.dtype(layout), count=n)
            names = rows.dtype.names or ()
            points = np.column_stack([rows[names[at]][:, 0] for at in columns])
        else:
            raise ValueError(
                f"points as {header[1].decode()!r} are not read: save ascii or binary."
            )
    except (KeyError, IndexError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"its header and its points do not go together ({error}).") from error
    if len(points) != n:
        raise ValueError(f"{n} points are announced, {len(points)} follow.")
    return points
