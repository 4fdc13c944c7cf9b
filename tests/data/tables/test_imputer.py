"""Filling holes, encoding and scaling: what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from vicinal.data import Imputer, Preparation, TableEncoder

ROWS = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "rows",
    [
        np.where(ROWS > 4, np.inf, ROWS),
        ROWS + 1j,
        ROWS.astype("M8[s]"),
        np.ma.masked_array(ROWS, mask=ROWS > 4),
        ROWS.astype(np.int64) + 2**60,
        np.full((6, 2), 10**400, dtype=object),
        ROWS[0],
        ROWS[..., None],
        3.0,
        None,
        {"a": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [Imputer, Preparation])
def test_what_is_no_table_of_real_numbers_is_refused(kind, rows):
    with pytest.raises((ValueError, TypeError)) as refused:
        kind().fit(rows)
    assert refused.type is ValueError or "sklearn" in str(refused.traceback[-1].path)
    with pytest.raises((ValueError, TypeError)):
        kind().fit(ROWS).transform(rows)


def test_no_rows_are_filled_to_no_rows():
    assert Imputer().fit(ROWS).transform(ROWS[:0]).shape == (0, 2)


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame(ROWS, columns=["a", "a"])
    with pytest.raises(ValueError, match="Two columns are named 'a'"):
        TableEncoder().fit(frame)
    fitted = TableEncoder().fit(pd.DataFrame(ROWS, columns=["a", "b"]))
    with pytest.raises(ValueError, match="Two columns are named 'a'"):
        fitted.transform(frame.assign(b=1.0))


def test_masked_tables_are_refused():
    encoder: Any = TableEncoder()
    with pytest.raises(ValueError, match="masked"):
        encoder.fit(np.ma.masked_array(ROWS, mask=ROWS > 4))
