"""Readers of the archives' own files, on files laid out as the archives do."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from tests.data import raw_layouts
from tests.data.raw_layouts import LAYOUTS

from vicinal.data._conversion import convert
from vicinal.data._decoding import number_groups
from vicinal.data._raw import read_idx
from vicinal.data._registry import DatasetEntry, get_entry, registry

# Large texts: their readers are tested on a part of the rows only.
LARGE = {"mnist", "covtype", "isolet", "ijcnn1", "codrna", "shuttle", "musk2", "usps"}


def stored_arrays(folder: Path, entry: DatasetEntry) -> dict[str, np.ndarray]:
    assert entry.stored is not None
    with np.load(folder / entry.stored.name) as archive:
        return {key: archive[key] for key in archive.files}


def raw_files(folder: Path, entry: DatasetEntry) -> dict[str, Path]:
    return {file.name: folder / file.name for file in entry.source.files}


def first_rows(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Cut large arrays to 300 rows of each part."""
    n_rows = len(arrays["y"]) if "y" in arrays else 0
    kept = np.r_[0:300, n_rows - 300 : n_rows]
    return {
        key: array[kept] if array.shape[:1] == (n_rows,) else array[: 300 if array.ndim else None]
        for key, array in arrays.items()
        if array.ndim
    }


def reader_of(entry: DatasetEntry) -> object:
    return getattr(entry.source.read, "func", entry.source.read)


def test_every_reader_has_a_layout_to_be_tested_on():
    readers = {reader_of(entry) for entry in registry().values()} - {None}
    assert readers == {reader_of(get_entry(name)) for name in LAYOUTS}


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - LARGE))
def test_a_source_converts_to_what_is_registered(real_data, tmp_path, name):
    entry = get_entry(name)
    arrays = stored_arrays(real_data, entry)
    LAYOUTS[name](arrays, tmp_path)
    path = convert(entry, raw_files(tmp_path, entry), tmp_path / "cache")
    with np.load(path) as made:
        for key in set(made.files) & set(arrays):
            np.testing.assert_array_equal(made[key], arrays[key], err_msg=key)


@pytest.mark.parametrize("name", sorted(LARGE - {"isolet"}))
def test_a_large_sources_rows_are_read_as_registered(real_data, tmp_path, name):
    entry = get_entry(name)
    arrays = first_rows(stored_arrays(real_data, entry))
    if "bag" in arrays:  # the molecules left are numbered anew
        arrays["bag"] = number_groups(arrays["bag"])
    LAYOUTS[name](arrays, tmp_path)
    assert entry.source.read is not None
    read = entry.source.read(raw_files(tmp_path, entry))
    for key in set(read) & set(arrays):
        np.testing.assert_array_equal(read[key], arrays[key], err_msg=key)


def test_isolets_groups_follow_from_the_row_counts(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(1, 6, dtype=np.uint8), [1560, 1560, 1560, 1558, 1559])
    arrays = {
        "X": rng.integers(-10_000, 10_001, size=(7797, 3)).astype(np.int16),
        "y": rng.integers(0, 26, size=7797).astype(np.uint8),
        "group": group,
        "is_test": group == 5,
    }
    LAYOUTS["isolet"](arrays, tmp_path)
    entry = get_entry("isolet")
    assert entry.source.read is not None
    read = entry.source.read(raw_files(tmp_path, entry))
    for key, array in arrays.items():
        np.testing.assert_array_equal(read[key], array, err_msg=key)


@pytest.mark.parametrize("name", ["letter", "magic"])
def test_the_layout_is_the_archives_own_to_the_byte(real_data, tmp_path, name):
    # So the reader is tested on the very file the archive serves.
    entry = get_entry(name)
    LAYOUTS[name](stored_arrays(real_data, entry), tmp_path)
    (file,) = entry.source.files
    assert hashlib.sha256((tmp_path / file.name).read_bytes()).hexdigest() == file.sha256


def test_the_digits_are_mnists_own_to_the_byte(real_data):
    images = stored_arrays(real_data, get_entry("mnist"))["X_train"]
    content = raw_layouts.idx(images)
    assert hashlib.sha256(content).hexdigest() == (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    )
    np.testing.assert_array_equal(read_idx(content), images)


def test_a_file_that_is_not_idx_is_refused():
    with pytest.raises(ValueError, match="not an IDX file"):
        read_idx(gzip.compress(b"something else"))


@pytest.mark.parametrize("name", ["letter", "magic", "page_blocks", "codrna", "kin8nm"])
def test_small_made_up_files_are_read_without_real_data(tmp_path, name):
    rng = np.random.default_rng(0)
    entry = get_entry(name)
    X = rng.integers(0, 16, size=(50, entry.measured.shape[1]))
    arrays = {"X": X.astype(np.float32 if name in ("codrna", "kin8nm") else np.uint8)}
    arrays["y"] = rng.integers(0, 2, size=50).astype(np.uint8)
    LAYOUTS[name](arrays, tmp_path)
    assert entry.source.read is not None
    read = entry.source.read(raw_files(tmp_path, entry))
    np.testing.assert_array_equal(read["X"], arrays["X"])
    np.testing.assert_array_equal(read["y"], arrays["y"])
