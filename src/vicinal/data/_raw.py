"""The archives' own files -> the arrays that are stored; one reader a format.

Readers trust nothing: what they return is checked against the registry before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.data._containers import read_unwrapped

if TYPE_CHECKING:
    import pandas as pd

Files = Mapping[str, Path]
Arrays = dict[str, AnyArray]


def _frame(content: bytes, *, sep: str = ",", header: int | None = None, skip: int = 0) -> Any:
    """Parse a text table."""
    import pandas as pd

    frame: pd.DataFrame = pd.read_csv(BytesIO(content), sep=sep, header=header, skiprows=skip)
    return frame


def _numbers(content: bytes, *, sep: str = r"\s+", skip: int = 0) -> FloatArray:
    table: FloatArray = _frame(content, sep=sep, skip=skip).to_numpy(dtype=np.float64)
    return table


def read_idx(content: bytes) -> AnyArray:
    """Read an array of bytes in the IDX format: 0, 0, 8, its rank, its lengths, its values."""
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise ValueError("not an IDX file of bytes (its first bytes are wrong).")
    rank = content[3]
    lengths = np.frombuffer(content, dtype=">i4", count=rank, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank).reshape(lengths)


def read_mnist(files: Files) -> Arrays:
    names = {"X_train": "train-images-idx3", "y_train": "train-labels-idx1"}
    names |= {"X_test": "t10k-images-idx3", "y_test": "t10k-labels-idx1"}
    return {key: read_idx(read_unwrapped(files[f"{name}-ubyte.gz"])) for key, name in names.items()}


def read_letter(files: Files) -> Arrays:
    frame = _frame(read_unwrapped(files["letter-recognition.data"]))
    return {
        "X": frame.iloc[:, 1:].to_numpy(dtype=np.uint8),
        "y": np.array([ord(letter) - ord("A") for letter in frame[0]], dtype=np.uint8),
        "is_test": np.arange(len(frame)) >= 16_000,
    }


def read_usps(files: Files) -> Arrays:
    arrays: Arrays = {}
    for part in ("train", "test"):
        table = _numbers(read_unwrapped(files[f"zip.{part}.gz"]))
        arrays[f"X_{part}"] = np.rint(1000 * table[:, 1:257]).astype(np.int16)
        arrays[f"y_{part}"] = table[:, 0].astype(np.uint8)
    return arrays


def read_isolet(files: Files) -> Arrays:
    """Read both parts; the first four groups of 30 speakers are told apart by their row counts."""
    names = ("isolet1+2+3+4.data.Z", "isolet5.data.Z")
    parts = [_numbers(read_unwrapped(files[name]), sep=",") for name in names]
    table = np.concatenate(parts)
    group = np.repeat(np.arange(1, 6, dtype=np.uint8), [1560, 1560, 1560, 1558, 1559])
    return {
        "X": np.rint(10_000 * table[:, :-1]).astype(np.int16),
        "y": (table[:, -1] - 1).astype(np.uint8),
        "group": group,
        "is_test": group == 5,
    }


def read_surf(files: Files) -> Arrays:
    domains = {"amazon": "amazon", "caltech10": "Caltech10", "dslr": "dslr", "webcam": "webcam"}
    paths = [files[f"{stem}_SURF_L10.mat"] for stem in domains.values()]
    tables = [_matlab_numbers(path, "fts", "labels") for path in paths]
    counts = [len(table["labels"]) for table in tables]
    return {
        "X": np.concatenate([table["fts"] for table in tables]).astype(np.uint8),
        "y": (np.concatenate([table["labels"].ravel() for table in tables]) - 1).astype(np.uint8),
        "domain": np.repeat(np.arange(4, dtype=np.uint8), counts),
        "domain_names": np.array(list(domains)),
    }


def read_covtype(files: Files) -> Arrays:
    table = _frame(read_unwrapped(files["covtype.data.gz"])).to_numpy(dtype=np.int16)
    return {
        "X": table[:, :10],
        "wilderness": (table[:, 10:14].argmax(axis=1) + 1).astype(np.uint8),
        "soil": (table[:, 14:54].argmax(axis=1) + 1).astype(np.uint8),
        "y": table[:, 54].astype(np.uint8),
    }


def read_magic(files: Files) -> Arrays:
    frame = _frame(read_unwrapped(files["magic04.data"]))
    y = (frame[10] == "g").to_numpy(dtype=np.uint8)
    return {"X": frame.iloc[:, :10].to_numpy(dtype=np.float64), "y": y}


def read_page_blocks(files: Files) -> Arrays:
    table = _numbers(read_unwrapped(files["page-blocks.data.Z"]))
    return {"X": table[:, :10], "y": table[:, 10].astype(np.uint8)}


def read_shuttle(files: Files) -> Arrays:
    train = _numbers(read_unwrapped(files["shuttle.trn.Z"]))
    test = _numbers(read_unwrapped(files["shuttle.tst"]))
    table = np.concatenate([train, test])
    return {
        "X": table[:, :9].astype(np.int16),
        "y": table[:, 9].astype(np.uint8),
        "is_test": np.arange(len(table)) >= len(train),
    }


def read_musk2(files: Files) -> Arrays:
    """Read molecule, conformation, 166 numbers and the class of each row."""
    frame = _frame(read_unwrapped(files["clean2.data.Z"]))
    molecules = frame[0].to_numpy(dtype=str)
    first_seen = {name: number for number, name in enumerate(dict.fromkeys(molecules))}
    return {
        "X": frame.iloc[:, 2:168].to_numpy(dtype=np.int16),
        "y": frame[168].to_numpy(dtype=np.float64).astype(np.uint8),
        "bag": np.array([first_seen[name] for name in molecules], dtype=np.uint8),
    }


def _svmlight(content: bytes, n_features: int) -> tuple[AnyArray, AnyArray]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(BytesIO(content), n_features=n_features, zero_based=False)
    return X.toarray().astype(np.float32), (y > 0).astype(np.uint8)


def read_ijcnn1(files: Files) -> Arrays:
    X_train, y_train = _svmlight(read_unwrapped(files["ijcnn1.bz2"]), 22)
    X_test, y_test = _svmlight(read_unwrapped(files["ijcnn1.t.bz2"]), 22)
    return {"X_train": X_train, "y_train": y_train, "X_test": X_test, "y_test": y_test}


def read_codrna(files: Files) -> Arrays:
    X, y = _svmlight(read_unwrapped(files["cod-rna"]), 8)
    return {"X": X, "y": y}


def _regression(table: FloatArray, names: tuple[str, ...]) -> Arrays:
    """Store a table whose last column is the target."""
    X, y = table[:, :-1].astype(np.float32), table[:, -1].astype(np.float32)
    return {"X": X, "y": y, "feature_names": np.array(names)}


def read_delve(files: Files, *, names: tuple[str, ...]) -> Arrays:
    """Read ``<set>/Dataset.data.gz`` from a DELVE archive ``<set>.tar.gz``."""
    ((name, path),) = files.items()
    member = f"{name.removesuffix('.tar.gz')}/Dataset.data.gz"
    return _regression(_numbers(read_unwrapped(path, member)), names)


def read_torgo(files: Files, *, members: tuple[str, ...], names: tuple[str, ...]) -> Arrays:
    """Read the named tables of one archive of Torgo's collection, the first of them training."""
    (path,) = files.values()
    contents = [read_unwrapped(path, member).replace(b",", b" ") for member in members]
    tables = [_numbers(content) for content in contents]
    arrays = _regression(np.concatenate(tables), names)
    return arrays | ({"n_train": np.array(len(tables[0]))} if len(tables) > 1 else {})


def read_fann(files: Files, *, names: tuple[str, ...]) -> Arrays:
    """Read a FANN benchmark: counts, then inputs and targets on alternate lines."""
    tables = []
    for path in files.values():  # in the order of the registry: training first
        numbers = np.array(read_unwrapped(path).split(), dtype=np.float64)
        rows, inputs, outputs = numbers[:3].astype(int)
        tables.append(numbers[3:].reshape(rows, inputs + outputs))
    return _regression(np.concatenate(tables), names) | {"n_train": np.array(len(tables[0]))}


def read_arff(files: Files, *, names: tuple[str, ...] = ()) -> Arrays:
    """Read an ARFF table of numbers whose last column is the target."""
    from scipy.io import arff

    (path,) = files.values()
    data, meta = arff.loadarff(path)
    table = np.column_stack([data[name].astype(np.float64) for name in meta.names()])
    return _regression(table, names or tuple(meta.names()[:-1]))


def read_boston(files: Files, *, names: tuple[str, ...]) -> Arrays:
    """Read StatLib's layout: 22 lines of prose, then two lines a record."""
    lines = read_unwrapped(files["boston"]).decode("latin-1").splitlines()[22:]
    numbers = np.array(" ".join(lines).split(), dtype=np.float64)
    return _regression(numbers.reshape(-1, 14), names)


def read_wine_quality(files: Files, *, names: tuple[str, ...]) -> Arrays:
    (path,) = files.values()
    return _regression(_numbers(read_unwrapped(path), sep=";", skip=1), names)


def read_parkinsons(files: Files) -> Arrays:
    frame = _frame(read_unwrapped(files["parkinsons_updrs.data"]), header=0)
    targets = ["motor_UPDRS", "total_UPDRS"]
    inputs = [name for name in frame.columns if name not in ("subject#", *targets)]
    return {
        "X": frame[inputs].to_numpy(dtype=np.float32),
        "y": frame[targets].to_numpy(dtype=np.float32),
        "feature_names": np.array(inputs),
        "subject": frame["subject#"].to_numpy(dtype=np.int16),
    }


def read_robot_arm(files: Files, *, names: tuple[str, ...]) -> Arrays:
    (path,) = files.values()
    arrays = _matlab_numbers(path, "X_train", "X_test", "Y_train", "Y_test")
    return {
        "X": np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float32),
        "y": np.concatenate([arrays["Y_train"], arrays["Y_test"]]).astype(np.float32),
        "feature_names": np.array(names),
        "n_train": np.array(len(arrays["X_train"])),
    }


def read_qm7(files: Files) -> Arrays:
    arrays = _matlab_numbers(files["qm7.mat"], "R", "Z", "T", "P", "X")
    return {
        "R": arrays["R"].astype(np.float32),
        "Z": arrays["Z"].astype(np.uint8),
        "T": arrays["T"].ravel().astype(np.float32),
        "P": arrays["P"].astype(np.int16),
        "X": arrays["X"].astype(np.float32),
    }


def _matlab_numbers(path: Path, *names: str) -> Arrays:
    """Return the named variables of a MATLAB file; only arrays of numbers are decoded."""
    from scipy.io import loadmat, whosmat

    kinds = {name: kind for name, _, kind in whosmat(path)}
    for name in names:
        if not re.fullmatch("double|single|logical|u?int(8|16|32|64)", kinds.get(name, "")):
            raise ValueError(f"{name} in {path.name} is {kinds.get(name, 'missing')}, not numbers")
    arrays: Arrays = loadmat(path, variable_names=names)
    return arrays
