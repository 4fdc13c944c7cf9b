"""A user's table as a data set: which column is asked for, what task it is, what the rest holds."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, Dataset, FloatArray, Task
from vicinal.data.tables._columns import FEW_ROWS
from vicinal.data.tables._copies import copy_codes, find_copies, find_near_copies
from vicinal.data.tables._dependence import Dependence, Evidence, standardise
from vicinal.data.tables._doubts import list_doubts
from vicinal.data.tables._encoder import TableEncoder
from vicinal.data.tables._files import read_raw, table_suffix
from vicinal.data.tables._imputer import Imputer
from vicinal.data.tables._lines import describe_reading
from vicinal.data.tables._raw_table import quoted
from vicinal.data.tables._roles import Roles, TableParts, take_parts
from vicinal.data.tables._sampling import HEAD
from vicinal.data.tables._subjects import find_groups
from vicinal.data.tables._target import encode_target
from vicinal.data.tables._times import find_time

if TYPE_CHECKING:
    import pandas as pd

# Where a data set keeps which features are the values of one column.
BLOCKS = "blocks"
# And of which column each feature is.
COLUMNS = "columns"
# And what a standard deviation of each feature is, where rows do not say.
DEVIATIONS = "deviations"
OF_FEATURES = (BLOCKS, COLUMNS, DEVIATIONS)


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    task: Task | None = None,
    impute: bool = False,
    n_rows: int | None = None,
    seed: int = 0,
    **roles: Any,
) -> Dataset:
    """Read a table file as a data set.

    Columns are recognised one by one: numbers however they are written (decimal comma,
    thousands, currency, percent), texts that come again and flags, which become one 0/1 feature a
    value named ``column=value``, longer and other texts, which are compared by their letters, and
    dates, which become days and their parts. Identifiers, constant and empty columns are left
    out. Rows in the order of a date, and several rows of one subject, are recognised
    (``protocol``, ``groups``, ``times``). ``Dataset.notes`` says what was done. The task is
    classification for a target of text, flags, categories or whole numbers, regression for one of
    fractions, unless ``task`` says otherwise.

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
    n_rows, seed : int, optional
        Of a text of more than 100 MB, read about so many rows, drawn at random.
    **roles
        ``drop``, ``features`` (only these), ``keep`` (although it would be left out) and
        ``categories`` (codes, even where they are numbers): columns by name; ``id``: the column
        that names the rows; ``groups``: rows that belong together; ``weights``: what each row
        counts. ``missing``: words that stand for no value, such as "<LOD"; ``sheet``: the one of
        a workbook.

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
    target = require_target(path, target, roles.get("sheet"))
    named = Roles(**roles)
    table = read_raw(path, target=target, sheet=named.sheet, n_rows=n_rows, seed=seed)
    parts = take_parts(table, target, named, path)
    return dataset_of_parts(parts, name=Path(path).name, task=task, impute=impute)


def require_target(
    path: str | os.PathLike[str], target: str | None, sheet: str | None = None
) -> str:
    """Return the target's name, "y" for an NPZ file; refuse to guess for other tables."""
    if target is not None:
        return target
    if table_suffix(path) == ".npz":
        return "y"
    table = read_raw(path, sheet=sheet, n_rows=HEAD)
    names = [str(name) for name in table.frame.columns]
    notes = "".join(f" ({note}.)" for note in table.notes)
    raise ValueError(
        f"{path}: say which column to predict (target); the columns are {quoted(names, 30)}.{notes}"
    )


def imputer_for(dataset: Dataset) -> Imputer | None:
    """Return an unfitted imputer for a data set with missing values, else None.

    Fit it on the training rows of each fold and apply it to both parts.
    """
    if not np.isnan(dataset.X).any():
        return None
    blocks = dataset.extras.get(BLOCKS)
    return Imputer(blocks=None if blocks is None else np.ravel(blocks))


def deviations_for(dataset: Dataset) -> FloatArray | None:
    """Return the deviations of features that do not depend on the rows, None where all do."""
    deviations = dataset.extras.get(DEVIATIONS)
    return None if deviations is None or np.isnan(deviations).all() else np.ravel(deviations)


def dataset_frame(dataset: Dataset) -> tuple[pd.DataFrame, pd.Series]:
    """Return a data set as a table: its features by name, and its target with class names."""
    import pandas as pd

    n_features = dataset.X.shape[1]
    names = list(dataset.feature_names) or [f"x{number}" for number in range(n_features)]
    target = np.array(dataset.classes)[dataset.y] if dataset.classes else dataset.y
    return pd.DataFrame(dataset.X, columns=names), pd.Series(target, name="target")


@dataclass(frozen=True)
class EncodedTable:
    """A table as numbers: features (n, d), targets (n,), and how its rows belong together."""

    task: Task
    X: FloatArray
    y: AnyArray
    classes: tuple[Any, ...]
    encoder: TableEncoder
    dependence: Dependence
    notes: tuple[str, ...]


def encode_parts(parts: TableParts, task: Task | None, *, impute: bool) -> EncodedTable:
    """Return a table taken apart by roles as numbers.

    A column that turns out to say which rows belong together is no feature, unless asked for.
    """
    assert parts.target is not None
    settled = task is not None or bool(parts.unit)
    task = task or ("regression" if parts.unit else None)  # what has a unit is a quantity
    task, y, classes = encode_target(parts.target, task)
    encoder = TableEncoder(keep_missing=impute).fit(parts.features, reading=parts.reading)
    X = encoder.transform(parts.features)
    target = str(parts.target.name)
    dependence = find_dependence(parts, encoder, X, y, len(classes))
    if dependence.column:
        parts = parts.without(dependence.column)
        encoder = TableEncoder(keep_missing=impute).fit(parts.features, reading=parts.reading)
        X = encoder.transform(parts.features)
    used = [column for column in parts.reading.columns if column.used]
    doubts = list_doubts(X, y, used, classes, target, settled)
    notes = (*parts.notes, *describe_reading(parts.reading), *dependence.notes, *doubts)
    return EncodedTable(task, X, y, classes, encoder, dependence, notes)


def find_dependence(
    parts: TableParts, encoder: TableEncoder, X: FloatArray, y: AnyArray, n_classes: int
) -> Dependence:
    """Return how rows belong together: as the user says, else as the table shows."""
    if parts.copies:
        return Dependence("grouped", copy_codes(X, y))
    if parts.groups is not None:
        return Dependence("grouped", parts.groups)
    if len(y) < FEW_ROWS:
        return Dependence()
    rows = Evidence(X, np.array(encoder.feature_columns), standardise(y, n_classes))
    free = [c for c in parts.reading.columns if c.name not in parts.kept]
    used = [c for c in free if c.used]
    clocks = [c for c in free if c.used or c.kind == "identifier"]
    looks = (
        find_time(clocks, parts.features, rows),
        find_groups(used, parts.features, rows),
        find_copies(X, y) or find_near_copies(rows),
    )
    dependences = [each for each in looks if each is not None]
    chosen = next((each for each in dependences if each.protocol != "kfold"), Dependence())
    times = next((each.times for each in dependences if each.times is not None), None)
    weak = [line for each in dependences if each.protocol == "kfold" for line in each.notes]
    return replace(chosen, times=times, notes=(*chosen.notes, *weak))


def dataset_of_parts(parts: TableParts, *, name: str, task: Task | None, impute: bool) -> Dataset:
    """Return a table taken apart by roles as a data set."""
    assert parts.target is not None
    table = encode_parts(parts, task, impute=impute)
    encoder = table.encoder
    return Dataset(
        name=name,
        X=table.X,
        y=table.y,
        task=table.task,
        feature_names=tuple(encoder.feature_names_),
        classes=table.classes,
        groups=table.dependence.groups,
        times=table.dependence.times,
        protocol=table.dependence.protocol,
        extras={  # not one entry a row: never to be sampled
            BLOCKS: encoder.blocks_[None, :],
            COLUMNS: np.array([encoder.feature_columns]),
            DEVIATIONS: encoder.deviations_[None, :],
        },
        weights=parts.weights,
        ids=parts.ids,
        notes=table.notes,
        target_name=str(parts.target.name),
        unit=parts.unit,
    )
