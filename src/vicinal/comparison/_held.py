"""The user's own arrays as a data set, in memory and in a file for worker processes."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, Dataset, Task
from vicinal.data import RawTable, Roles, dataset_of_parts, take_parts
from vicinal.runs import Source

_ARRAYS = ("X", "y", "groups", "is_test", "weights", "ids", "times")
_TEXTS = ("feature_names", "classes", "notes")
_FACTS = ("name", "task", "protocol", "target_name", "unit")


def hold_rows(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    task: Task | None = None,
    impute: bool = False,
    roles: Roles | None = None,
) -> Dataset:
    """Return arrays, or a table and its target, as a data set.

    Parameters
    ----------
    X : array-like of shape (n, d), or DataFrame
        Text, flags and categories of a frame become one 0/1 feature a value.
    y : array-like of shape (n,), or the name of a column of X
    groups : array-like of shape (n,), or the name of a column of X
        Rows of one group stay together in every fold; the column is no feature.
    task : "classification" or "regression", optional
        By default what the target looks like.
    impute : bool
        Fill in missing values from each training part, rather than refuse them.
    roles : Roles, optional
        Further columns of a frame by what they are for.
    """
    import pandas as pd

    frame = X if isinstance(X, pd.DataFrame) else _as_frame(X)
    roles = roles or Roles()
    frame, target = _with_column(frame, y, "y")
    if groups is not None:
        frame, tied = _with_column(frame, groups, "groups")
        roles = replace(roles, groups=tied)
    is_array = not isinstance(X, pd.DataFrame)
    table = RawTable(frame.rename(columns=str), is_array=is_array)
    parts = take_parts(table, target, roles, "X")
    return dataset_of_parts(parts, name="data", task=task, impute=impute)


def _as_frame(X: Any) -> Any:
    import pandas as pd

    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, shape (n, d); got shape {X.shape}.")
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


def _with_column(frame: Any, asked: Any, what: str) -> tuple[Any, str]:
    """Return a frame that has one column, and its name: one of its own, or one beside it."""
    if isinstance(asked, str):
        if asked not in frame.columns:
            raise ValueError(f"{what}={asked!r} is no column of X; it has {list(frame.columns)}.")
        return frame, asked
    values = np.asarray(asked)
    if values.shape != (len(frame),):
        raise ValueError(f"X has {len(frame)} rows and {what} the shape {values.shape}.")
    name = getattr(asked, "name", None)
    name = what if name is None else str(name)
    while name in frame.columns:
        name = f"{name} "
    column = asked.to_numpy() if hasattr(asked, "to_numpy") else values
    return frame.assign(**{name: column}), name


def source_of(dataset: Dataset, limit: int | None = None) -> Source:
    """Return where such rows come from: nowhere but themselves, known by their contents."""
    content = hashlib.sha256(repr((dataset.feature_names, dataset.classes)).encode())
    for name in _ARRAYS:
        array = getattr(dataset, name)
        content.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return Source(dataset.name, digest=content.hexdigest(), limit=limit, held=True)


def write_held(dataset: Dataset, path: Path) -> None:
    """Write a data set for workers to read: plain arrays, nothing pickled."""
    arrays: dict[str, AnyArray] = {
        name: getattr(dataset, name) for name in _ARRAYS if getattr(dataset, name) is not None
    }
    texts = {name: getattr(dataset, name) for name in _TEXTS}
    arrays |= {name: np.array(value) for name, value in texts.items() if len(value)}
    facts = np.array([getattr(dataset, name) for name in _FACTS])
    np.savez(path, facts=facts, **arrays, **{f"extra {k}": v for k, v in dataset.extras.items()})


def read_held(path: Path) -> Dataset:
    """Return the data set :func:`write_held` wrote."""
    with np.load(path, allow_pickle=False) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file.files}
    facts = dict(zip(_FACTS, arrays.pop("facts").tolist(), strict=True))
    extras = {key[6:]: arrays.pop(key) for key in list(arrays) if key.startswith("extra ")}
    texts: dict[str, Any] = {k: tuple(arrays.pop(k).tolist()) for k in _TEXTS if k in arrays}
    return Dataset(extras=extras, **facts, **texts, **arrays)
