"""NumPy archives: ``X``, a target, and names, never a pickle."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.data.tables._raw_table import check_column_names, quoted

if TYPE_CHECKING:
    import pandas as pd


def read_npz(path: Path, target: str) -> pd.DataFrame:
    """Return ``X`` as columns, and the target beside it where there is one."""
    import pandas as pd

    arrays = _npz_arrays(path)
    X = _npz_features(arrays, path)
    names = _npz_feature_names(arrays.get("feature_names"), X.shape[1], path)
    frame = pd.DataFrame(X, columns=names)
    if target not in arrays or target == "X":
        return frame
    if target in names:
        raise ValueError(f"{path}: {target!r} names both an array and a feature of X.")
    y = arrays[target]
    if y.shape != (len(X),):
        raise ValueError(
            f"{path}: {target} must have shape ({len(X)},) to match the rows of X, got {y.shape}."
        )
    return pd.concat([frame, pd.Series(y, name=target)], axis=1)


def _npz_features(arrays: dict[str, Any], path: Path) -> Any:
    if "X" not in arrays:
        raise ValueError(f"{path}: no array named 'X'; found {quoted(sorted(arrays))}.")
    X = arrays["X"]
    if X.ndim != 2:
        raise ValueError(f"{path}: X must have shape (rows, features), got {X.shape}.")
    if len(X) == 0:
        raise ValueError(f"{path}: X has no rows, its shape is {X.shape}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers, got dtype {X.dtype}.")
    return X.astype(np.float64) if X.dtype.kind == "b" else X


_DAMAGE = (
    ValueError, OSError, EOFError, KeyError, NotImplementedError, SyntaxError, RuntimeError,
    zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _check_claim(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse an array that claims to be larger than what there is of it, before it is made."""
    if not member.filename.endswith(".npy"):
        return
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:  # the third is of records with names beyond Latin letters
            raise ValueError(f"{member.filename} holds no plain array")
        shape, _, dtype = _HEADERS[version](file)
    held = math.prod(shape) * max(dtype.itemsize, 1)
    if not dtype.hasobject and (min(shape, default=0) < 0 or held > member.file_size):
        raise ValueError(f"{member.filename} is not of the size it claims")


def _npz_arrays(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no archive of named arrays")
            with zipfile.ZipFile(file) as members:
                for member in members.infolist():
                    _check_claim(members, member)
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    except _DAMAGE as error:
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise ValueError(
                f"{path}: holds pickled Python objects, which could run code and are never "
                "loaded. Save plain number or text arrays with numpy.savez."
            ) from error
        raise ValueError(f"{path}: not a whole NPZ file ({error}).") from error


def _npz_feature_names(names: Any, n_features: int, path: Path) -> list[str]:
    if names is None:
        return [f"x{number}" for number in range(n_features)]
    if names.shape != (n_features,):
        raise ValueError(
            f"{path}: feature_names has shape {names.shape}, but X has {n_features} columns."
        )
    listed = [str(name) for name in names]
    check_column_names(listed, path)
    return listed
