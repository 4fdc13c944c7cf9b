"""A user's table as a data set: which column is asked for, what task it is, what the rest holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import Dataset, Task
from vicinal.data.tables._columns import recognise_columns
from vicinal.data.tables._doubts import list_doubts
from vicinal.data.tables._encoder import TableEncoder, as_frame
from vicinal.data.tables._files import read_raw, table_suffix
from vicinal.data.tables._imputer import Imputer
from vicinal.data.tables._lines import describe_reading
from vicinal.data.tables._raw_table import quoted
from vicinal.data.tables._roles import Roles, TableParts, take_parts
from vicinal.data.tables._target import encode_target, plain_target

if TYPE_CHECKING:
    import pandas as pd

# Where a data set keeps which features are the values of one column.
BLOCKS = "blocks"
# And of which column each feature is.
COLUMNS = "columns"


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    task: Task | None = None,
    impute: bool = False,
    **roles: Any,
) -> Dataset:
    """Read a table file as a data set.

    Columns are recognised one by one: numbers however they are written (decimal comma,
    thousands, currency, percent), texts that come again and flags, which become one 0/1 feature a
    value named ``column=value``, and dates, which become days and their parts. Identifiers, free
    text, constant and empty columns are left out. ``Dataset.notes`` says what was done. The task
    is classification for a target of text, flags, categories or whole numbers, regression for
    one of fractions, unless ``task`` says otherwise.

    Parameters
    ----------
    path : path
        CSV and other separated text, JSON lines, ARFF (each also as .gz), Parquet, Feather, Excel
        or NPZ, by the end of its name.
    target : str, optional
        The column to predict; an NPZ file's is its array ``y`` by default.
    task : "classification" or "regression", optional
    impute : bool
        Keep missing values as NaN for :func:`imputer_for`, rather than refuse them.
    **roles
        ``drop``, ``features`` (only these), ``keep`` (although it would be left out) and
        ``categories`` (codes, even where they are numbers): columns by name; ``id``: the column
        that names the rows; ``groups``: rows that belong together; ``weights``: what each row
        counts.

    Returns
    -------
    Dataset
        ``X`` (n, d) float64; ``y`` codes into ``classes`` or floats; with ``extras["blocks"]``
        (1, d), which features are the values of one column, and ``extras["columns"]`` (1, d),
        what it is called.

    Raises
    ------
    ValueError
        Whatever is wrong with the file or its columns, by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> rows = "grams;colour;kind", "150,5;red;apple", "5;red;cherry", "160;green;apple"
    >>> _ = file.write_text("\\n".join(rows))
    >>> dataset = read_table(file, "kind")
    >>> dataset.feature_names, dataset.classes
    (('grams', 'colour=green', 'colour=red'), ('apple', 'cherry'))
    >>> dataset.notes
    ('read 1 number, 1 category → 3 features; decimal comma',)
    """
    target = require_target(path, target)
    parts = take_parts(read_raw(path, target=target), target, Roles(**roles), path)
    return dataset_of_parts(parts, name=Path(path).name, task=task, impute=impute)


def require_target(path: str | os.PathLike[str], target: str | None) -> str:
    """Return the target's name, "y" for an NPZ file; refuse to guess for other tables."""
    if target is not None:
        return target
    if table_suffix(path) == ".npz":
        return "y"
    table = read_raw(path)
    names = [str(name) for name in table.frame.columns]
    found = "".join(f" ({note}.)" for note in table.notes)
    raise ValueError(
        f"{path}: say which column to predict (target); the columns are {quoted(names, 30)}.{found}"
    )


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


def dataset_of(
    features: pd.DataFrame,
    column: pd.Series,
    *,
    name: str,
    task: Task | None,
    impute: bool,
    keep: Any = (),
) -> Dataset:
    """Return a frame and the column to predict as a data set; see :func:`read_table`."""
    frame = as_frame(features)
    record = recognise_columns(column.to_frame("target")).columns[0]
    reading = recognise_columns(frame, keep=keep)
    parts = TableParts(frame, reading, plain_target(column, record), record.convention.unit)
    return dataset_of_parts(parts, name=name, task=task, impute=impute)


def dataset_of_parts(parts: TableParts, *, name: str, task: Task | None, impute: bool) -> Dataset:
    """Return a table taken apart by roles as a data set."""
    assert parts.target is not None
    task = task or ("regression" if parts.unit else None)  # what has a unit is a quantity
    task, y, classes = encode_target(parts.target, task)
    encoder = TableEncoder(keep_missing=impute).fit(parts.features, reading=parts.reading)
    X = encoder.transform(parts.features)
    used = [column for column in parts.reading.columns if column.used]
    target = str(parts.target.name)
    doubts = list_doubts(X, y, used, classes, target)
    return Dataset(
        name=name,
        X=X,
        y=y,
        task=task,
        feature_names=tuple(encoder.feature_names_),
        classes=classes,
        groups=parts.groups,
        protocol="kfold" if parts.groups is None else "grouped",
        extras={  # not one entry a row: never to be sampled
            BLOCKS: encoder.blocks_[None, :],
            COLUMNS: np.array([encoder.feature_columns]),
        },
        weights=parts.weights,
        ids=parts.ids,
        notes=(*parts.notes, *describe_reading(parts.reading), *doubts),
        target_name=target,
        unit=parts.unit,
    )
