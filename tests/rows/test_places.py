"""A refusal of rows names the first cell that is no number, and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from vicinal import LDA, KNNClassifier

Y = np.arange(30) % 2


def frame(**columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"length": rng.normal(size=30), "width": rng.normal(size=30), **columns})


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (frame(colour="red"), "text in a column, first 'red' in column 'colour', row 0; encode it"),
        (
            frame(size=["1"] * 29 + ["many"], colour="red"),
            "text in 2 columns, first 'many' in column 'size', row 29",
        ),
        (
            frame(age=[1.0, np.nan, np.nan, *range(27)]),
            "2 values that are missing (NaN), the first in column 'age', row 1; fill it",
        ),
        (
            frame(age=pd.array([None, *range(29)], dtype="Int64")),
            "a value that is missing (NaN), the first in column 'age', row 0",
        ),
        (
            frame(age=[1.0, np.inf, *range(28)]),
            "a value that is infinity (inf), the first in column 'age', row 1; mend it",
        ),
        (
            frame(age=[1.0, np.nan, *range(28)]).to_numpy(),
            "a value that is missing (NaN), the first in column 2, row 1",
        ),
    ],
)
def test_the_first_cell_that_is_no_number_is_named(X: Any, words: str) -> None:
    for estimator in (LDA(), KNNClassifier()):
        with pytest.raises(ValueError) as refusal:
            estimator.fit(X, Y)
        assert f"X holds {words}" in str(refusal.value)


def test_new_rows_are_told_of_in_the_same_words() -> None:
    fitted = LDA().fit(frame(), Y)
    with pytest.raises(ValueError, match=r"missing .* in column 'width', row 4"):
        fitted.transform(frame(width=[*range(4), np.nan, *range(25)]))


def test_what_is_wrong_otherwise_is_said_as_before() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LDA().fit(frame(), Y[:20])
    with pytest.raises(ValueError, match="NaN"):  # whose cells have no place to be named
        KNNClassifier().fit(csr_array(np.where(np.eye(30) == 1, np.nan, 0)), Y)
