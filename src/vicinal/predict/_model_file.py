"""Model files: a fitted model on disk and back, bit for bit, without running any code.

A file is a zip archive of uncompressed members: ``model.json`` (format version, metadata, and the
model's structure, see ``_model_values``) and its arrays as ``0.npy``, ``1.npy``, ... Members are
never compressed, so no file is larger in memory than on disk; they are never unpacked to disk.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal import __version__
from vicinal._types import AnyArray
from vicinal._writing import replace_when_done
from vicinal.predict._model_values import STORED_KINDS, decode, encode

FORMAT = "vicinal model"
FORMAT_VERSION = 1
STRUCTURE = "model.json"
_MEMBER = re.compile(r"model\.json|(0|[1-9][0-9]{0,8})\.npy")
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
        structure = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "vicinal_version": __version__,
            "metadata": _as_json(metadata),
            "model": encode(model, _ArrayWriter(archive)),
        }
        archive.writestr(_member(STRUCTURE), json.dumps(structure))


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
        return decode(structure["model"], _ArrayReader(archive))


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

    def __call__(self, array: AnyArray) -> int:
        known = self.seen.get(id(array))
        if known is not None:
            return known[0]
        number = len(self.seen)
        with self.archive.open(_member(f"{number}.npy"), "w", force_zip64=True) as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
        self.seen[id(array)] = (number, array)  # kept alive, so that its id stays its own
        return number


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
    AttributeError, EOFError, IndexError, KeyError, NotImplementedError, OverflowError,
    RecursionError, RuntimeError, TypeError, UnicodeError, ValueError, struct.error,
    zipfile.BadZipFile,
)  # fmt: skip


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file; whatever goes wrong inside is a ValueError that names the file."""
    if os.path.isdir(path):
        raise ValueError(f"{path} is a directory, not a model file.")
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
    structure: dict[str, Any] = json.loads(archive.read(STRUCTURE))
    if structure["format"] != FORMAT or not isinstance(structure["format_version"], int):
        raise ValueError("it names another format")
    if structure["format_version"] > FORMAT_VERSION:
        raise _NewerVersion(
            f"was written by vicinal {structure['vicinal_version']} in model format "
            f"{structure['format_version']}; this is vicinal {__version__}, which reads formats "
            f"up to {FORMAT_VERSION}. Install a newer vicinal to load it."
        )
    return structure


class _ArrayReader:
    """Reads arrays by number, each once."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.read: dict[int, AnyArray] = {}

    def __call__(self, number: int) -> AnyArray:
        if number not in self.read:
            self.read[number] = parse_npy(self.archive.read(f"{int(number)}.npy"))
        return self.read[number]


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
    if size * dtype.itemsize != len(data) - file.tell() or min(shape, default=0) < 0:
        raise ValueError("an array is not of the size it claims")
    array = np.empty(size, dtype)
    if size and dtype.itemsize:
        array[:] = np.frombuffer(data, dtype, size, file.tell())
    return array.reshape(shape, order="F" if fortran_order else "C")
