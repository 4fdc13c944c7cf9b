"""Cells as texts, and datetimes as days."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._types import AnyArray, BoolArray, FloatArray
from vicinal.data.tables._numbers import NO_NUMBER

if TYPE_CHECKING:
    import pandas as pd


def as_texts(column: pd.Series) -> AnyArray:
    """Return the column as an object array of str, None where missing."""
    values: AnyArray = column.astype(object).to_numpy()
    missing: BoolArray = column.isna().to_numpy()
    texts = np.array([str(value).strip() for value in values], dtype=object)
    texts[missing] = None
    return texts


def without_words(texts: AnyArray) -> AnyArray:
    """Return texts with None for the words that stand for no number."""
    cells = [None if t is None or t.lower() in NO_NUMBER else t for t in texts]
    return np.array(cells, dtype=object)


def days_of(column: pd.Series) -> FloatArray:
    """Return datetimes as days since 1970-01-01, NaN where missing."""
    import pandas as pd

    times = column.astype(str) if isinstance(column.dtype, pd.PeriodDtype) else column
    stamps = pd.to_datetime(times, utc=True, errors="coerce")
    seconds = stamps.astype("datetime64[ns, UTC]").astype("int64").to_numpy() / 1e9
    return np.where(stamps.isna().to_numpy(), np.nan, seconds / 86400)
