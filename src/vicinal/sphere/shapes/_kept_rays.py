"""Rays that were cast once are not cast again: coefficients of meshes, kept in the user's cache."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vicinal._types import FloatArray
from vicinal._writing import replace_when_done
from vicinal.data import cache_folder
from vicinal.sphere.harmonic import Fragments, FragmentType
from vicinal.sphere.shapes._channels import CHANNELS, Caster
from vicinal.sphere.shapes._meshes import Mesh

EDITION = 2  # of what a ray reads; to be raised when that changes


def cast_once(caster: Caster, meshes: Sequence[Mesh], rotations: Tensor) -> Fragments:
    """Return the coefficients of turned meshes, from the cache where they have been cast before.

    The file is named by a digest of meshes, rotations and grid, holds numbers only, and is read
    with its checksum; one that is damaged is cast anew. Where the cache cannot be written, nothing
    is kept.
    """
    kind = FragmentType.uniform(len(CHANNELS), caster.l_max).as_real()
    path = cache_folder() / "rays" / f"{_digest(caster, meshes, rotations)}.npz"
    packed = _read(path, (kind.n_rows, len(meshes)))
    if packed is None:
        packed = caster.fragments(meshes, rotations).packed.numpy()
        _keep(path, packed)
    return Fragments(kind, torch.from_numpy(packed))


def _digest(caster: Caster, meshes: Sequence[Mesh], rotations: Tensor) -> str:
    grid = (EDITION, CHANNELS, caster.bandwidth, caster.l_max, len(meshes))
    digest = hashlib.sha256(repr(grid).encode())
    digest.update(rotations.double().numpy().tobytes())
    for mesh in meshes:
        for part in (mesh.vertices, mesh.faces, mesh.hull):
            digest.update(repr((part.shape, str(part.dtype))).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:32]


def _read(path: Path, shape: tuple[int, int]) -> FloatArray | None:
    """Return the numbers of a file, None where there is none or it is not as it was written."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            found: FloatArray = archive["packed"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = found.shape == shape and found.dtype == np.float32 and np.isfinite(found).all()
    return found if whole else None


def _keep(path: Path, packed: FloatArray) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_when_done(path) as file:
            np.savez(file, packed=packed)
    except OSError:
        pass  # the next run casts again
