"""Rays that were cast are read back, and cast again where the file is not as it was written."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vicinal.sphere import random_rotations
from vicinal.sphere.shapes import Caster
from vicinal.sphere.shapes._kept_rays import cast_once

R = random_rotations(3, torch.Generator().manual_seed(0))


class Counting(Caster):
    n_casts = 0

    def fragments(self, meshes, rotations=None):
        self.n_casts += 1
        return super().fragments(meshes, rotations)


@pytest.fixture
def meshes(few_shapes):
    return few_shapes.shapes.bodies[:3]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path))
    return tmp_path


def test_a_second_run_does_not_cast_again(meshes, cache):
    caster = Counting(8, 4)
    first, second = cast_once(caster, meshes, R), cast_once(caster, meshes, R)
    assert caster.n_casts == 1
    assert torch.equal(first.packed, second.packed)
    assert torch.equal(first.packed, Caster(8, 4).fragments(meshes, R).packed)


def test_other_meshes_rotations_and_grids_are_cast(meshes, cache):
    cast_once(Counting(8, 4), meshes, R)
    for caster, of, turned in (
        (Counting(9, 4), meshes, R),
        (Counting(8, 5), meshes, R),
        (Counting(8, 4), meshes[::-1], R),
        (Counting(8, 4), meshes, R.flip(0)),
    ):
        cast_once(caster, of, turned)
        assert caster.n_casts == 1


@pytest.mark.parametrize("damage", ["bit", "half", "text", "numbers", "pickle"])
def test_a_damaged_file_is_cast_anew_and_runs_nothing(meshes, cache, damage):
    expected = cast_once(Counting(8, 4), meshes, R).packed
    (path,) = (cache / "rays").iterdir()
    content = bytearray(path.read_bytes())
    if damage == "bit":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "half":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "text":
        path.write_text("no archive")
    elif damage == "numbers":
        np.savez(path, packed=np.full(expected.shape, np.nan, np.float32))
    else:
        np.savez(path, packed=np.array([object()]))
    caster = Counting(8, 4)
    assert torch.equal(cast_once(caster, meshes, R).packed, expected)
    assert caster.n_casts == 1


def test_a_cache_that_cannot_be_written_is_no_matter(meshes, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "file"))
    caster = Counting(8, 4)
    for _ in range(2):
        cast_once(caster, meshes, R)
    assert caster.n_casts == 2
