"""How the archives lay out their files, written from stored arrays: the readers' other half."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat
from tests.oracles.lzw import compress

Arrays = Mapping[str, Any]
Layout = Callable[[Arrays, Path], None]


def _lines(rows: Any, sep: str = ",") -> bytes:
    return "".join(sep.join(map(str, row)) + "\n" for row in rows).encode()


def _table(arrays: Arrays) -> list[list[Any]]:
    """Return rows of X followed by y, each number as short as single precision needs."""
    return [[*map(str, x), str(y)] for x, y in zip(arrays["X"], arrays["y"], strict=True)]


def _tar(path: Path, members: Mapping[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def idx(array: np.ndarray) -> bytes:
    lengths = np.array(array.shape, dtype=">i4").tobytes()
    return bytes([0, 0, 8, array.ndim]) + lengths + array.tobytes()


def mnist(arrays: Arrays, folder: Path) -> None:
    for part, stem in (("train", "train"), ("test", "t10k")):
        images, labels = idx(arrays[f"X_{part}"]), idx(arrays[f"y_{part}"])
        (folder / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(images, 1))
        (folder / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels, 1))


def letter(arrays: Arrays, folder: Path) -> None:
    rows = ([chr(65 + y), *x] for x, y in zip(arrays["X"], arrays["y"], strict=True))
    (folder / "letter-recognition.data").write_bytes(_lines(rows))


def usps(arrays: Arrays, folder: Path) -> None:
    for part in ("train", "test"):
        rows = zip(arrays[f"y_{part}"], arrays[f"X_{part}"], strict=True)
        text = "".join(
            f"{y:.4f} " + " ".join(f"{v / 1000:.4f}" for v in x) + " \n" for y, x in rows
        )
        (folder / f"zip.{part}.gz").write_bytes(gzip.compress(text.encode(), 1))


def isolet(arrays: Arrays, folder: Path) -> None:
    rows = zip(arrays["X"], arrays["y"], arrays["is_test"], strict=True)
    parts: dict[bool, list[str]] = {False: [], True: []}
    for x, y, is_test in rows:
        parts[bool(is_test)].append(", ".join(f"{v / 10000:.4f}" for v in x) + f", {y + 1}.\n")
    for name, is_test in (("isolet1+2+3+4.data.Z", False), ("isolet5.data.Z", True)):
        (folder / name).write_bytes(compress("".join(parts[is_test]).encode()))


def surf(arrays: Arrays, folder: Path) -> None:
    for number, stem in enumerate(("amazon", "Caltech10", "dslr", "webcam")):
        rows = arrays["domain"] == number
        labels = arrays["y"][rows, None].astype(np.float64) + 1
        features = arrays["X"][rows].astype(np.float64)
        savemat(folder / f"{stem}_SURF_L10.mat", {"fts": features, "labels": labels})


def covtype(arrays: Arrays, folder: Path) -> None:
    wilderness = (arrays["wilderness"][:, None] == np.arange(1, 5)).astype(int)
    soil = (arrays["soil"][:, None] == np.arange(1, 41)).astype(int)
    rows = np.hstack([arrays["X"], wilderness, soil, arrays["y"][:, None]])
    (folder / "covtype.data.gz").write_bytes(gzip.compress(_lines(rows), 1))


def magic(arrays: Arrays, folder: Path) -> None:
    rows = (
        [*(f"{v:.4f}".rstrip("0").rstrip(".") for v in x), "hg"[y]]
        for x, y in zip(arrays["X"], arrays["y"], strict=True)
    )
    (folder / "magic04.data").write_bytes(_lines(rows))


def page_blocks(arrays: Arrays, folder: Path) -> None:
    rows = zip(arrays["X"], arrays["y"], strict=True)
    text = "".join(
        "  ".join(f"{v:7.3f}" if v % 1 else f"{v:4.0f}" for v in x) + f"  {y}\n" for x, y in rows
    )
    (folder / "page-blocks.data.Z").write_bytes(compress(text.encode()))


def shuttle(arrays: Arrays, folder: Path) -> None:
    rows, is_test = np.array(_table(arrays)), np.asarray(arrays["is_test"])
    (folder / "shuttle.trn.Z").write_bytes(compress(_lines(rows[~is_test], " ")))
    (folder / "shuttle.tst").write_bytes(_lines(rows[is_test], " "))


def musk2(arrays: Arrays, folder: Path) -> None:
    rows = (
        [f"MUSK-{bag}", f"{bag}_1+{row}", *x, f"{y}."]
        for row, (x, y, bag) in enumerate(zip(arrays["X"], arrays["y"], arrays["bag"], strict=True))
    )
    (folder / "clean2.data.Z").write_bytes(compress(_lines(rows)))


def _svmlight(X: np.ndarray, y: np.ndarray) -> bytes:
    rows = (
        ["+1" if label else "-1", *(f"{j + 1}:{v}" for j, v in enumerate(x) if v)]
        for x, label in zip(X, y, strict=True)
    )
    return _lines(rows, " ")


def ijcnn1(arrays: Arrays, folder: Path) -> None:
    for part, name in (("train", "ijcnn1.bz2"), ("test", "ijcnn1.t.bz2")):
        text = _svmlight(arrays[f"X_{part}"], arrays[f"y_{part}"])
        (folder / name).write_bytes(bz2.compress(text, 1))


def codrna(arrays: Arrays, folder: Path) -> None:
    (folder / "cod-rna").write_bytes(_svmlight(arrays["X"], arrays["y"]))


def delve(stem: str) -> Layout:
    def write(arrays: Arrays, folder: Path) -> None:
        text = gzip.compress(_lines(_table(arrays), " "), 1)
        spec = {f"{stem}/Dataset.spec": b"# about"}
        _tar(folder / f"{stem}.tar.gz", spec | {f"{stem}/Dataset.data.gz": text})

    return write


def ailerons(arrays: Arrays, folder: Path) -> None:
    rows, n = _table(arrays), int(arrays["n_train"])
    parts = {"Ailerons/ailerons.data": rows[:n], "Ailerons/ailerons.test": rows[n:]}
    _tar(folder / "ailerons.tgz", {name: _lines(part) for name, part in parts.items()})


def delta_ailerons(arrays: Arrays, folder: Path) -> None:
    text = _lines(_table(arrays), " ")
    _tar(folder / "delta_ailerons.tgz", {"Ailerons/delta_ailerons.data": text})


def fann(stem: str) -> Layout:
    def write(arrays: Arrays, folder: Path) -> None:
        rows, n = _table(arrays), int(arrays["n_train"])
        for part, chosen in (("train", rows[:n]), ("test", rows[n:])):
            text = f"{len(chosen)} {len(rows[0]) - 1} 1\n"
            text += "".join(f"{' '.join(row[:-1])}\n{row[-1]}\n" for row in chosen)
            (folder / f"{stem}.{part}").write_text(text)

    return write


def arff(name: str) -> Layout:
    def write(arrays: Arrays, folder: Path) -> None:
        columns = arrays["X"].shape[1] + 1
        head = "@RELATION table\n" + "".join(f"@ATTRIBUTE c{i} REAL\n" for i in range(columns))
        (folder / name).write_bytes((head + "@DATA\n").encode() + _lines(_table(arrays)))

    return write


def boston(arrays: Arrays, folder: Path) -> None:
    text = "prose\n" * 22
    for row in _table(arrays):
        text += f" {'  '.join(row[:11])}\n  {'   '.join(row[11:])}\n"
    (folder / "boston").write_text(text)


def wine(colour: str) -> Layout:
    def write(arrays: Arrays, folder: Path) -> None:
        head = ";".join(f'"{name}"' for name in (*arrays["feature_names"], "quality")) + "\n"
        path = folder / f"winequality-{colour}.csv"
        path.write_bytes(head.encode() + _lines(_table(arrays), ";"))

    return write


def parkinsons(arrays: Arrays, folder: Path) -> None:
    names = list(arrays["feature_names"])
    head = ["subject#", *names[:3], "motor_UPDRS", "total_UPDRS", *names[3:]]
    rows = zip(arrays["subject"], arrays["X"], arrays["y"], strict=True)
    lines = ([subject, *x[:3], *y, *x[3:]] for subject, x, y in rows)
    (folder / "parkinsons_updrs.data").write_bytes(_lines([head]) + _lines(lines))


def arm(name: str) -> Layout:
    def write(arrays: Arrays, folder: Path) -> None:
        n, X, y = int(arrays["n_train"]), arrays["X"], arrays["y"]
        parts = {"X_train": X[:n], "Y_train": y[:n], "X_test": X[n:], "Y_test": y[n:]}
        savemat(folder / name, {key: part.astype(np.float64) for key, part in parts.items()})

    return write


def qm7(arrays: Arrays, folder: Path) -> None:
    kept = {key: arrays[key].astype(np.float32) for key in ("R", "Z", "X")}
    numbers = {"T": arrays["T"][None, :], "P": arrays["P"].astype(np.int64)}
    savemat(folder / "qm7.mat", kept | numbers)


LAYOUTS: dict[str, Layout] = {
    "mnist": mnist,
    "letter": letter,
    "usps": usps,
    "isolet": isolet,
    "amazon": surf,
    "covtype": covtype,
    "magic": magic,
    "page_blocks": page_blocks,
    "shuttle": shuttle,
    "musk2": musk2,
    "ijcnn1": ijcnn1,
    "codrna": codrna,
    "kin8nm": delve("kin-8nm"),
    "puma8nh": delve("pumadyn-8nh"),
    "kin32fm_fann4096": fann("kin32fm"),
    "puma32fm_fann1024": fann("pumadyn-32fm"),
    "ailerons": ailerons,
    "delta_ailerons": delta_ailerons,
    "concrete": arff("openml-4353.arff"),
    "boston_housing": boston,
    "wine_red": wine("red"),
    "parkinsons_motor": parkinsons,
    "sarcos_ias_1": arm("ias_sarcos_data.mat"),
    "barrett_1": arm("ias_real_barrett_data.mat"),
    "qm7": qm7,
}
