"""Model files: a fitted model on disk and back, bit for bit, without running any code.

A file is a zip archive of uncompressed members: ``model.json`` (format version, metadata, and the
model's structure, see ``_model_values``), its arrays as ``0.npy``, ``1.npy``, ..., and the digest
of ``model.json``, which holds those of the arrays. Members are never compressed and never unpacked
to disk, so an array is as large in memory as in the file. A digest tells damage and careless edits,
not malice: what a file says is checked all the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import struct
import tokenize
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal import __version__
from vicinal._types import AnyArray
from vicinal._writing import replace_when_done
from vicinal.models._checks import check_answers
from vicinal.models._values import STORED_KINDS, decode, encode

FORMAT = "vicinal model"
FORMAT_VERSION = 2  # 1 had no digests
STRUCTURE, DIGEST = "model.json", "model.sha256"
_MEMBER = re.compile(r"model\.json|model\.sha256|(0|[1-9][0-9]{0,8})\.npy")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a model gives the same bytes whenever it is saved


def save_model(model: Any, path: str | os.PathLike[str], **metadata: Any) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted predictor or metric learner of vicinal, or a scikit-learn ``Pipeline`` of such
        (table encoder, preparation, predictor). Functions among its parameters are refused.
    path : path
        Usually ends in ``.vicinal``. An existing file is replaced at the very end.
    **metadata
        Facts to keep beside the model, as JSON values; see :func:`read_metadata`.

    Raises
    ------
    ValueError
        Something in the model cannot be stored; the message says where it is.
    OSError
        The file cannot be written. What was at ``path`` is untouched.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from vicinal import KNNClassifier, load_model, save_model
    >>> model = KNNClassifier(1).fit([[0.0], [1.0]], ["low", "high"])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "levels.vicinal"
    >>> save_model(model, file, source="two points")
    >>> load_model(file).predict([[0.2]]).tolist()
    ['low']
    """
    check_is_fitted(model)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is not a regular file; choose another place for the model.")
    with replace_when_done(Path(path)) as file, zipfile.ZipFile(file, "w") as archive:
        arrays = _ArrayWriter(archive)
        structure = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "vicinal_version": __version__,
            "metadata": _as_json(metadata),
            "model": encode(model, arrays),
            "digests": arrays.digests,
        }
        text = json.dumps(structure).encode()
        archive.writestr(_member(STRUCTURE), text)
        archive.writestr(_member(DIGEST), _digest(text))


def check_storable(model: Any) -> None:
    """Refuse a model, fitted or not, that :func:`save_model` could not store.

    Asked before a long fit, it saves that time.

    Raises
    ------
    ValueError
        As :func:`save_model` does.
    """
    encode(model, lambda array: 0)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the model :func:`save_model` wrote.

    Its predictions are those of the saved model to the last bit, under the same versions of
    vicinal and NumPy. Whatever the file holds, no code of it is run: it can only name vicinal's
    public estimators and a short list of scikit-learn's.

    Raises
    ------
    ValueError
        The file is missing, damaged, cut short, from a newer version, or holds anything but
        what a model is made of.
    """
    with _opened(Path(path)) as archive:
        structure = _read_structure(archive)
        model = decode(structure["model"], _ArrayReader(archive, structure.get("digests")))
        check_answers(model)
        return model


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the facts saved beside a model, without loading the model."""
    with _opened(Path(path)) as archive:
        metadata: dict[str, Any] = _read_structure(archive)["metadata"]
        return metadata


# Writing --------------------------------------------------------------------------------------


class _ArrayWriter:
    """Writes each array once and numbers it; the same array again gets the same number."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.seen: dict[int, tuple[int, AnyArray]] = {}
        self.digests: list[str] = []

    def __call__(self, array: AnyArray) -> int:
        before = self.seen.get(id(array))
        if before is not None:
            return before[0]
        number = len(self.seen)
        with self.archive.open(_member(f"{number}.npy"), "w", force_zip64=True) as file:
            both = _Digesting(file)
            np.lib.format.write_array(both, array, allow_pickle=False)
        self.digests.append(both.sha256.hexdigest())
        self.seen[id(array)] = (number, array)  # kept alive, so that its id stays its own
        return number


class _Digesting:
    """A file one can write to, which digests what passes."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self.file.write(data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _EPOCH)


def _as_json(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = json.loads(json.dumps(metadata))
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata must be JSON values: {error}.") from error
    return copied


# Reading --------------------------------------------------------------------------------------

_DAMAGE = (
    AttributeError, EOFError, IndexError, KeyError, MemoryError, NotImplementedError, OSError,
    OverflowError, RecursionError, RuntimeError, SyntaxError, TypeError, UnicodeError, ValueError,
    struct.error, tokenize.TokenError, zipfile.BadZipFile,
)  # fmt: skip


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file; whatever goes wrong inside is a ValueError that names the file."""
    if os.path.isdir(path):
        raise ValueError(f"{path} is a directory, not a model file.")
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe might never end
        raise ValueError(f"{path} is a device or a pipe, not a model file.")
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such model file.") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        _check_beginning(file, path)
        try:
            with zipfile.ZipFile(file) as archive:
                _check_members(archive, path.stat().st_size)
                yield archive
        except _NewerVersion as error:
            raise ValueError(f"{path} {error}") from None
        except _DAMAGE as error:
            reason = str(error) or type(error).__name__
            raise ValueError(
                f"{path} is not a model file that can be trusted: {reason}. It may be damaged, "
                "cut short or made by something else; nothing of it was run."
            ) from error


def _check_beginning(file: IO[bytes], path: Path) -> None:
    start = file.read(4)
    if not start:
        raise ValueError(f"{path}: the model file is empty.")
    if not start.startswith(b"PK"):
        pickled = " It looks like a pickle, which is never loaded." if start[0] == 0x80 else ""
        raise ValueError(f"{path} is not a vicinal model file.{pickled}")
    file.seek(0)


def _check_members(archive: zipfile.ZipFile, file_size: int) -> None:
    """Refuse archives that :func:`save_model` cannot have written."""
    members = archive.infolist()
    names = [member.filename for member in members]
    strange = [name for name in names if not _MEMBER.fullmatch(name)]
    if strange:
        raise ValueError(f"it holds a member named {strange[0][:80]!r}")
    if len(set(names)) < len(names):
        raise ValueError("it holds two members of one name")
    packed = [m for m in members if m.compress_type != zipfile.ZIP_STORED or m.flag_bits & 1]
    if packed or sum(member.file_size for member in members) > file_size:
        raise ValueError("its members are compressed or larger than the file itself")


class _NewerVersion(Exception):
    pass


def _read_structure(archive: zipfile.ZipFile) -> dict[str, Any]:
    if STRUCTURE not in archive.namelist():
        raise ValueError(f"{STRUCTURE} is missing")
    text = archive.read(STRUCTURE)
    structure: dict[str, Any] = json.loads(text)
    version = structure["format_version"]
    if structure["format"] != FORMAT or type(version) is not int or version < 1:
        raise ValueError("it names another format")
    if version > FORMAT_VERSION:
        raise _NewerVersion(
            f"was written by vicinal {structure['vicinal_version']} in model format "
            f"{structure['format_version']}; this is vicinal {__version__}, which reads formats "
            f"up to {FORMAT_VERSION}. Install a newer vicinal to load it."
        )
    if version > 1 and archive.read(DIGEST) != _digest(text).encode():
        raise ValueError("its structure is not the one that was written")
    if version > 1 and type(structure["digests"]) is not list:
        raise ValueError("it does not say what its arrays are")
    return structure


# A model refers to an array at most a few times: as the rows of an index, and where a metric
# keeps them. Each time may be a copy in memory.
_MOST_COPIES = 8


class _ArrayReader:
    """Reads arrays by number, each once, and counts what is asked for again and again."""

    def __init__(self, archive: zipfile.ZipFile, digests: list[str] | None) -> None:
        self.archive, self.digests = archive, digests
        self.read: dict[int, AnyArray] = {}
        self.asked: dict[int, int] = {}

    def __call__(self, number: int) -> AnyArray:
        if type(number) is not int or number < 0:
            raise ValueError("it numbers an array by something else than a number")
        if number not in self.read:
            data = self.archive.read(f"{number}.npy")
            if self.digests is not None and self.digests[number] != _digest(data):
                raise ValueError(f"its array {number} is not the one that was written")
            self.read[number] = parse_npy(data)
        self.asked[number] = self.asked.get(number, 0) + 1
        if self.asked[number] > _MOST_COPIES:
            raise ValueError(f"it refers to its array {number} more than {_MOST_COPIES} times")
        return self.read[number]


_MOST_EMPTY = 1 << 20


def parse_npy(data: bytes) -> AnyArray:
    """Return the array in the bytes of an .npy file, refusing objects and false sizes."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, fortran_order, dtype = readers[version](file)
    if dtype.kind not in STORED_KINDS:
        raise ValueError(f"an array is of dtype {dtype}")
    size = math.prod(shape)
    # An array without entries takes no memory, but what is made in its width may.
    wide = math.prod(max(length, 1) for length in shape) * max(dtype.itemsize, 1)
    if size * dtype.itemsize != len(data) - file.tell() or min(shape, default=0) < 0:
        raise ValueError("an array is not of the size it claims")
    if (size and not dtype.itemsize) or (not size and wide > _MOST_EMPTY):
        raise ValueError(f"an array of shape {shape} holds nothing")
    array = np.empty(size, dtype)
    if size and dtype.itemsize:
        array[:] = np.frombuffer(data, dtype, size, file.tell())
    return array.reshape(shape, order="F" if fortran_order else "C")
