"""Compiled kernels are kept from run to run, and none outlives a change of what it calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import caching

import vicinal
from vicinal._kernels._cache import digest_sources, install

# `_hamming` calls `merge_sorted` of `_order`. Prints the neighbours, the compilations, the folder.
SEARCH = """
import numpy as np
from vicinal._kernels._hamming import merge_nearest_codes as kernel
nearest, indices = np.full((1, 2), 65, np.int32), np.full((1, 2), -1)
kernel(np.array([[3, 1, 7]], np.uint64), 0, np.zeros((1, 1), np.uint64), nearest, indices)
print(*indices[0], len(kernel.stats.cache_misses), kernel._cache.cache_path, sep=",")
"""


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package that may be changed."""
    source = Path(vicinal.__file__).parent
    (tmp_path / "vicinal").mkdir()
    for name in ("__init__.py", "_types.py"):
        shutil.copy(source / name, tmp_path / "vicinal")
    kernels = tmp_path / "vicinal" / "_kernels"
    shutil.copytree(source / "_kernels", kernels, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def search(package, **environment):
    """Return the two neighbours, how often the kernel was compiled, and where it is kept."""
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    paths = {"PYTHONPATH": str(package), "XDG_CACHE_HOME": str(package / "home")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", SEARCH],
        env=inherited | paths | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, compiled, folder = done.stdout.strip().split(",")
    return (int(first), int(second)), int(compiled), Path(folder)


def test_a_kernel_is_compiled_once_and_again_when_another_file_it_calls_has_changed(package):
    nearest, compiled, folder = search(package)
    assert (nearest, compiled) == ((1, 0), 1)
    assert folder.parent == package / "vicinal" / "_kernels" / "__pycache__"
    assert search(package) == ((1, 0), 0, folder)
    callee = package / "vicinal" / "_kernels" / "_order.py"
    changed = callee.read_text().replace("first_row + rows[new]", "first_row + rows[new] + 40")
    callee.write_text(changed)
    nearest, compiled, new_folder = search(package)
    assert (nearest, compiled) == ((41, 40), 1)
    assert new_folder != folder
    assert search(package) == ((41, 40), 0, new_folder)


def test_the_users_folder_is_used_where_one_is_named(package):
    chosen = package / "chosen"
    folder = search(package, NUMBA_CACHE_DIR=str(chosen))[2]
    assert folder.is_relative_to(chosen)
    assert not (package / "vicinal" / "_kernels" / "__pycache__").exists()
    assert search(package, NUMBA_CACHE_DIR=str(chosen))[1] == 0


def test_a_package_that_cannot_be_written_to_keeps_its_kernels_with_the_user(package):
    # A file in the folder's place: permissions would not stop an administrator.
    (package / "vicinal" / "_kernels" / "__pycache__").write_text("")
    folder = search(package)[2]
    assert not folder.is_relative_to(package / "vicinal")
    assert search(package)[1:] == (0, folder)


def test_folders_of_earlier_kernels_are_removed_a_month_later(package):
    kept = package / "vicinal" / "_kernels" / "__pycache__"
    for name, days in (("vicinal-kernels-old", 31), ("vicinal-kernels-new", 3), ("other", 99)):
        (kept / name).mkdir(parents=True)
        os.utime(kept / name, (time.time() - days * 86400,) * 2)
    folder = search(package)[2]
    assert {path.name for path in kept.iterdir()} == {"vicinal-kernels-new", "other", folder.name}


def test_the_digest_sees_every_file_and_its_name(tmp_path):
    (tmp_path / "a.py").write_text("x")
    before = digest_sources(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    renamed = digest_sources(tmp_path)
    (tmp_path / "b.py").write_text("y")
    assert len({before, renamed, digest_sources(tmp_path)}) == 3


def test_every_place_numba_knows_is_turned_whatever_it_is_called(monkeypatch):
    class Own:
        pass

    known = [Own]
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", known)
    install()
    assert len(known) == 2
    assert known[0] is not Own
    assert issubclass(known[0], Own)
    assert known[1] is Own
