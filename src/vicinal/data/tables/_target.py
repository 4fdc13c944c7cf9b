"""The column to predict: what task it stands for, as classes or as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, Task
from vicinal.data.tables._cells import as_texts, without_words
from vicinal.data.tables._columns import FEW_ROWS
from vicinal.data.tables._numbers import parse_numbers
from vicinal.data.tables._reading import FROM_0, Column

if TYPE_CHECKING:
    import pandas as pd

# Squares of larger targets, summed over all rows there can be, leave the numbers.
LARGEST = 1e140
# An array of texts makes each as wide as the longest.
LONGEST_NAME = 1000


def plain_target(column: pd.Series, record: Column) -> pd.Series:
    """Return a target whose numbers are written by a convention as plain numbers."""
    import pandas as pd

    if column.dtype.kind in "iufb" or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    if record.kind not in ("number", "identifier", "constant"):
        return column
    texts = without_words(as_texts(column))
    values = parse_numbers(texts, record.convention)
    if any(np.isnan(value) and text is not None for value, text in zip(values, texts, strict=True)):
        return column  # one word in all rows
    return pd.Series(values, index=column.index, name=column.name)


def infer_task(column: pd.Series) -> Task:
    """Return the task a target stands for; of numbers as :func:`vicinal.rows.read_target` says."""
    import pandas as pd

    # Where rows are: whoever only names the parts of a table loads no scikit-learn.
    from vicinal.rows import holds_classes

    if not pd.api.types.is_numeric_dtype(column.dtype) or _is_flag(column):
        return "classification"
    values = column.to_numpy(dtype=np.float64)
    if not np.all(np.isfinite(values) & (values == np.round(values))):
        return "regression"
    return "classification" if holds_classes(values) else "regression"


def encode_target(
    column: pd.Series, task: Task | None = None
) -> tuple[Task, AnyArray, tuple[Any, ...]]:
    """Return the task, y of shape (n,), and the classes (empty for regression)."""
    _refuse_missing_targets(column)
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be classification or regression, got {task!r}.")
    task = task or infer_task(column)
    if task == "regression":
        return task, target_numbers(column), ()
    return task, *encode_classes(column)


def encode_classes(column: pd.Series) -> tuple[AnyArray, tuple[Any, ...]]:
    """Return y as codes 0..R-1 and what each is called (int, bool or str), in order."""
    names, codes, counts = np.unique(class_names(column), return_inverse=True, return_counts=True)
    once = int(np.sum(counts == 1))
    if names.dtype.kind == "U" and len(codes) >= FEW_ROWS and once > len(codes) / 2:
        raise ValueError(
            f"The target {column.name!r} holds a value of its own in {once:,} of {len(codes):,} "
            f"rows (such as {names.tolist()[0]!r}): names or dates, not classes. Check the target "
            "column."
        )
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
    texts = [str(value).strip() for value in column]
    longest = max(texts, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise ValueError(
            f"The target {column.name!r} holds a text of {len(longest):,} letters "
            f"({longest[:40]!r}...), which names no class. Check the target column."
        )
    return np.array(texts, dtype=np.str_)


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
    if np.abs(values).max() > LARGEST:
        raise ValueError(
            f"The target {column.name!r} holds {values[np.argmax(np.abs(values))]:.6g}, whose "
            "square no number can hold; write it in a larger unit."
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
