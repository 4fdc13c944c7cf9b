"""Loading a known data set by name."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, BoolArray, Dataset, FloatArray
from vicinal.data._decoding import Decoded, Stored
from vicinal.data._registry import DatasetEntry, get_entry
from vicinal.data._storage import obtain

SPLITS = ("train", "test", None)


def load_dataset(name: str, split: str | None = None) -> Dataset:
    """Load a known data set, decoded and ready to use.

    Looks in the folder named by ``VICINAL_DATA``, then in the user's cache, then at the public
    source, whose file is checked before it is used.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`. The name of a file with several targets stands for the
        first of them: "parkinsons" is "parkinsons_motor", "sarcos_ias" is "sarcos_ias_1".
    split : {"train", "test"} or None
        One side of the official split, or all rows (None), with the split in ``is_test``.

    Returns
    -------
    Dataset
        Unpacks to ``X, y``: features as published, neither scaled nor shuffled; labels
        0..R-1, or real targets.

    Raises
    ------
    ValueError
        The name is unknown, or the set has no official split.
    DataUnavailableError
        The set is not on this computer and cannot be fetched. The message says where to put it.
    DataCorruptError
        A file is there, but it is not the registered one.

    Examples
    --------
    >>> from vicinal import load_dataset
    >>> X, y = load_dataset("digits")
    >>> X.shape
    (1797, 64)
    """
    entry = get_entry(name)
    if split not in SPLITS:
        raise ValueError(f"split must be 'train', 'test' or None, got {split!r}.")
    if split is not None and not entry.measured.n_test:
        raise ValueError(
            f"{entry.name} has no official split; leave `split` out and choose the protocol "
            "'kfold' or 'repeated'."
        )
    return _as_dataset(entry, entry.decode(_read_stored(entry)), split)


def _read_stored(entry: DatasetEntry) -> Stored:
    if entry.stored is None:
        return {}
    with np.load(obtain(entry), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def _as_dataset(entry: DatasetEntry, decoded: Decoded, split: str | None) -> Dataset:
    rows = _rows_of(split, decoded.is_test)
    dtype = np.float32 if entry.single_precision else np.float64
    X: FloatArray = decoded.X[rows].astype(dtype)
    if decoded.divisor != 1.0:
        X /= decoded.divisor
    names = decoded.feature_names or entry.feature_names
    row_extras = {key: array[rows] for key, array in decoded.row_extras.items()}
    return Dataset(
        name=entry.name,
        X=X,
        y=decoded.y[rows],
        task=entry.task,
        feature_names=names or tuple(f"x{i}" for i in range(X.shape[1])),
        classes=entry.classes,
        is_test=decoded.is_test if split is None else None,
        groups=None if decoded.groups is None else decoded.groups[rows],
        image_shape=entry.image_shape,
        protocol=entry.protocol if split is None or entry.protocol != "official" else "kfold",
        citation=entry.citation,
        licence=entry.licence,
        extras={**row_extras, **decoded.extras},
    )


def _rows_of(split: str | None, is_test: BoolArray | None) -> AnyArray | slice:
    if split is None or is_test is None:
        return slice(None)
    return np.flatnonzero(is_test if split == "test" else ~is_test)
