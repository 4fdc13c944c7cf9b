"""Where rows hold what is no number: scikit-learn says that there is some, this says where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vicinal._types import AnyArray


@contextmanager
def telling_where(X: Any, *, missing: bool = False) -> Iterator[None]:
    """Have a refusal of rows name the first cell that is no number; ``missing`` ones may be."""
    try:
        yield
    except ValueError as error:
        words = _name_text(X) or _name_number(X, "infinity (inf)", np.isinf, "mend it")
        if not missing:
            fill = "fill it (scikit-learn's SimpleImputer)"
            words = words or _name_number(X, "missing (NaN)", np.isnan, fill)
        if words is None:
            raise
        raise ValueError(words) from error


def _name_text(X: Any) -> str | None:
    cells = [(name, *cell) for name, values in _columns_of(X) if (cell := _first_text(values))]
    if not cells:
        return None
    name, row, value = cells[0]
    which = "a column" if len(cells) == 1 else f"{len(cells)} columns"
    return (
        f"X holds text in {which}, first {value!r} in column {name!r}, row {row}; encode it "
        "(vicinal.data.TableEncoder, or scikit-learn's OneHotEncoder), or leave it out."
    )


def _name_number(
    X: Any, kind: str, is_such: Callable[[AnyArray], AnyArray], remedy: str
) -> str | None:
    cells = [(name, np.flatnonzero(is_such(_floats(column)))) for name, column in _columns_of(X)]
    cells = [(name, rows) for name, rows in cells if len(rows)]
    if not cells:
        return None
    (name, rows), count = cells[0], sum(len(rows) for _, rows in cells)
    which = "a value that is" if count == 1 else f"{count:,} values that are"
    return (
        f"X holds {which} {kind}, the first in column {name!r}, row {rows[0]}; {remedy}, or leave "
        "the row or the column out."
    )


def _columns_of(X: Any) -> Iterator[tuple[Any, AnyArray]]:
    """Yield names and values of the columns of a frame or an array."""
    if issparse(X):
        return
    if hasattr(X, "columns") and hasattr(X, "__dataframe__"):
        for place, name in enumerate(X.columns):
            column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
            yield str(name), np.asarray(column)
        return
    values = np.asarray(X)
    if values.ndim == 2:
        yield from enumerate(values.T)


def _first_text(values: AnyArray) -> tuple[int, str] | None:
    """Return the row and the text of the first that no float is made of."""
    if values.dtype.kind not in "OUST":
        return None
    for row, value in enumerate(values):
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return row, value
    return None


def _floats(values: AnyArray) -> AnyArray:
    """Return a column as floats: NaN for what is missing in any of its ways, 0 for no number."""
    if values.dtype.kind != "O":
        return values.astype(np.float64) if values.dtype.kind in "fiub" else np.zeros(len(values))
    return np.array([_float(value) for value in values])


def _float(value: Any) -> float:
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    return float(value) if isinstance(value, (int, float, np.number)) else 0.0
