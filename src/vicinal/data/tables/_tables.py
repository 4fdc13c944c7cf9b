"""A user's table as a data set: which column is asked for, what task it is, what the rest holds."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, Dataset, FloatArray, Task
from vicinal.data.tables._encoder import FROM_0, Imputer, TableEncoder
from vicinal.data.tables._files import quoted, read_frame, table_suffix

if TYPE_CHECKING:
    import pandas as pd

# More different whole numbers than this may be classes or quantities: the user must say which.
MAX_CLASSES_UNASKED = 100
# Where a data set keeps the column each feature was made from.
BLOCKS = "blocks"


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    task: Task | None = None,
    impute: bool = False,
) -> Dataset:
    """Read a CSV, TSV, Parquet or NPZ file as a data set.

    Text, flags and categories become one 0/1 feature a value, named ``column=value``. The task
    is classification for a target of text, flags, categories or whole numbers, regression for
    one of fractions, unless ``task`` says otherwise.

    Parameters
    ----------
    path : path
    target : str, optional
        The column to predict; an NPZ file's is its array ``y`` by default.
    task : "classification" or "regression", optional
    impute : bool
        Keep missing values as NaN for :func:`imputer_for`, rather than refuse them.

    Returns
    -------
    Dataset
        ``X`` (n, d) float64; ``y`` codes into ``classes`` or floats; with ``extras["blocks"]``
        (1, d), the column each feature was made from.

    Raises
    ------
    ValueError
        Whatever is wrong with the file or its columns, by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = file.write_text("grams,colour,kind\\n150,red,apple\\n5,red,cherry\\n160,green,apple\\n")
    >>> dataset = read_table(file, "kind")
    >>> dataset.feature_names, dataset.classes
    (('grams', 'colour=green', 'colour=red'), ('apple', 'cherry'))
    """
    target = require_target(path, target)
    frame = read_frame(path, target=target)
    features, column = split_target(frame, target, path)
    return dataset_of(features, column, name=Path(path).name, task=task, impute=impute)


def require_target(path: str | os.PathLike[str], target: str | None) -> str:
    """Return the target's name, "y" for an NPZ file; refuse to guess for other tables."""
    if target is not None:
        return target
    if table_suffix(path) == ".npz":
        return "y"
    names = [str(name) for name in read_frame(path).columns]
    raise ValueError(
        f"{path}: say which column to predict (target); the columns are {quoted(names, 30)}."
    )


def split_target(
    frame: pd.DataFrame, target: str, path: str | os.PathLike[str]
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and the target; a wrong name gets the nearest one suggested."""
    names = [str(name) for name in frame.columns]
    if target in names:
        return frame.drop(columns=target), frame[target]
    near = difflib.get_close_matches(target.lower(), [name.lower() for name in names], n=1)
    meant = next((name for name in names if near and name.lower() == near[0]), None)
    hint = f" Did you mean {meant!r}?" if meant else ""
    raise ValueError(f"{path}: no column {target!r}.{hint} The columns are {quoted(names, 30)}.")


def imputer_for(dataset: Dataset) -> Imputer | None:
    """Return an unfitted imputer for a data set with missing values, else None.

    Fit it on the training rows of each fold and apply it to both parts.
    """
    if not np.isnan(dataset.X).any():
        return None
    blocks = dataset.extras.get(BLOCKS)
    return Imputer(blocks=None if blocks is None else np.ravel(blocks))


def dataset_frame(dataset: Dataset) -> tuple[pd.DataFrame, pd.Series]:
    """Return a data set as a table: its features by name, and its target with class names."""
    import pandas as pd

    n_features = dataset.X.shape[1]
    names = list(dataset.feature_names) or [f"x{number}" for number in range(n_features)]
    target = np.array(dataset.classes)[dataset.y] if dataset.classes else dataset.y
    return pd.DataFrame(dataset.X, columns=names), pd.Series(target, name="target")


def infer_task(column: pd.Series) -> Task:
    """Return the task a target stands for; see :func:`read_table` for the rule."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column.dtype) or _is_flag(column):
        return "classification"
    values = column.to_numpy(dtype=np.float64)
    if not np.all(np.isfinite(values) & (values == np.round(values))):
        return "regression"
    n_distinct = len(np.unique(values))
    if n_distinct > MAX_CLASSES_UNASKED:
        raise ValueError(
            f"The target {column.name!r} holds {n_distinct} different whole numbers, which may be "
            "classes or quantities: say whether this is classification or regression (task)."
        )
    return "classification"


def encode_target(
    column: pd.Series, task: Task | None = None
) -> tuple[Task, AnyArray, tuple[Any, ...]]:
    """Return the task, y of shape (n,), and the classes (empty for regression)."""
    _refuse_missing_targets(column)
    task = task or infer_task(column)
    if task == "regression":
        return task, target_numbers(column), ()
    return task, *encode_classes(column)


def encode_classes(column: pd.Series) -> tuple[AnyArray, tuple[Any, ...]]:
    """Return y as codes 0..R-1 and what each is called (int, bool or str), in order."""
    names, codes = np.unique(class_names(column), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"The target {column.name!r} holds one class ({names.tolist()[0]!r}) in all "
            f"{len(codes)} rows; at least two are needed. Check the target column."
        )
    return codes.astype(np.int64), tuple(names.tolist())


def class_names(column: pd.Series) -> AnyArray:
    """Return a target column as bools, integers or texts, of shape (n,)."""
    import pandas as pd

    if _is_flag(column):
        return column.to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy()
        whole = values.dtype.kind in "iu" or np.array_equal(values, np.round(values))
        return values.astype(np.int64) if whole and np.abs(values).max() < 2**62 else values
    return np.array([str(value).strip() for value in column], dtype=np.str_)


def target_numbers(column: pd.Series) -> FloatArray:
    """Return a regression target as floats; refuse text, infinity and a constant."""
    import pandas as pd

    values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ValueError(
            f"The target {column.name!r} must hold finite numbers for regression, but row "
            f"{wrong[0]} ({FROM_0}) holds {str(column.iloc[wrong[0]])!r}."
        )
    if np.ptp(values) == 0:
        raise ValueError(
            f"The target {column.name!r} is {values[0]} in every row; there is nothing to predict."
        )
    return values


def _is_flag(column: pd.Series) -> bool:
    import pandas as pd

    return pd.api.types.is_bool_dtype(column.dtype)


def _refuse_missing_targets(column: pd.Series) -> None:
    rows = np.flatnonzero(column.isna().to_numpy())
    if len(rows):
        shown = ", ".join(str(row) for row in rows[:10])
        more = f" and {len(rows) - 10} more" if len(rows) > 10 else ""
        raise ValueError(
            f"The target {column.name!r} is missing in {len(rows)} row{'s' * (len(rows) > 1)} "
            f"({shown}{more}, {FROM_0}). Fill it in or remove those rows; targets are never "
            "imputed."
        )


def dataset_of(
    features: pd.DataFrame, column: pd.Series, *, name: str, task: Task | None, impute: bool
) -> Dataset:
    """Return a table and the column to predict as a data set; see :func:`read_table`."""
    task, y, classes = encode_target(column, task)
    encoder = TableEncoder(keep_missing=impute).fit(features)
    X = encoder.transform(features)
    _refuse_empty_columns(X, encoder)
    return Dataset(
        name=name,
        X=X,
        y=y,
        task=task,
        feature_names=tuple(encoder.feature_names_),
        classes=classes,
        extras={BLOCKS: encoder.blocks_[None, :]},  # not one entry a row: never to be sampled
    )


def _refuse_empty_columns(X: FloatArray, encoder: TableEncoder) -> None:
    empty = np.unique(encoder.blocks_[np.isnan(X).all(axis=0)])
    if len(empty):
        names = [encoder.columns_[number] for number in empty]
        raise ValueError(f"There is no value at all in {quoted(names)}; remove such columns.")
