"""Unwrapping: gzip, bzip2 and tar by the library, Unix compress against gzip's own reader."""

from __future__ import annotations

import bz2
import gzip
import io
import shutil
import subprocess
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.lzw import compress

from vicinal.data._containers import decompress_lzw, read_unwrapped

CONTENT = b"0.1234, -0.5000, 1.0000\n" * 500


@settings(max_examples=80, deadline=None)
@given(content=st.binary(max_size=600), max_bits=st.sampled_from([10, 12, 16]))
def test_what_was_compressed_comes_back(content, max_bits):
    assert decompress_lzw(compress(content, max_bits)) == content


@pytest.mark.parametrize("n_letters", [1, 2, 12, 256])
@pytest.mark.parametrize("max_bits", [10, 16])
@pytest.mark.parametrize("clear", [False, True])
def test_wide_codes_full_tables_and_clearing(n_letters, max_bits, clear):
    content = bytes(np.random.default_rng(0).integers(0, n_letters, 150_000).astype(np.uint8))
    packed = compress(content, max_bits, clear_when_full=clear)
    assert decompress_lzw(packed) == content


@pytest.mark.skipif(shutil.which("gzip") is None, reason="no gzip to compare with")
@pytest.mark.parametrize("n_letters", [1, 12, 256])
@pytest.mark.parametrize("clear", [False, True])
def test_the_test_compressor_writes_what_gzip_reads(n_letters, clear):
    content = bytes(np.random.default_rng(1).integers(0, n_letters, 100_000).astype(np.uint8))
    packed = compress(content, 12, clear_when_full=clear)
    done = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
    assert done.stdout == content


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (b"", "first bytes"),
        (b"PK\x03\x04", "first bytes"),
        (b"\x1f\x9d\x1f", "up to 31 bits"),
        (b"\x1f\x9d\x90\xff\xff\xff", "does not exist yet"),
    ],
)
def test_damaged_files_are_refused(damaged, said):
    with pytest.raises(ValueError, match=said):
        decompress_lzw(damaged)


def test_wrappings_are_told_by_the_name(tmp_path):
    wrapped = {"a.gz": gzip.compress(CONTENT), "a.bz2": bz2.compress(CONTENT)}
    wrapped |= {"a.Z": compress(CONTENT), "a.data": CONTENT}
    for name, content in wrapped.items():
        (tmp_path / name).write_bytes(content)
        assert read_unwrapped(tmp_path / name) == CONTENT


def test_a_member_is_found_by_the_end_of_its_name_and_nothing_is_written(tmp_path):
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        for name in ("../../evil", "set/notDataset.data", "set/Dataset.data"):
            info = tarfile.TarInfo(name)
            info.size = len(CONTENT)
            archive.addfile(
                info, io.BytesIO(CONTENT if name.endswith("/Dataset.data") else b"-" * len(CONTENT))
            )
    assert read_unwrapped(tmp_path / "a.tgz", "Dataset.data") == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["a.tgz"]
    with pytest.raises(ValueError, match="no member other"):
        read_unwrapped(tmp_path / "a.tgz", "other")
