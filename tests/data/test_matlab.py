"""MATLAB files: numbers are read, and nothing else is decoded."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from vicinal.data._raw import read_qm7

GOOD = {name: np.ones((2, 3)) for name in "RZTPX"}


def test_named_numbers_are_read_and_the_rest_is_left_alone(tmp_path):
    savemat(tmp_path / "qm7.mat", GOOD | {"more": {"a": "structure"}})
    arrays = read_qm7({"qm7.mat": tmp_path / "qm7.mat"})
    assert sorted(arrays) == ["P", "R", "T", "X", "Z"]


@pytest.mark.parametrize(
    "other",
    [{"a": 1}, np.array([["text"]], dtype=object), "text"],
    ids=["structure", "cell", "text"],
)
def test_a_variable_of_another_kind_is_refused(tmp_path, other):
    savemat(tmp_path / "qm7.mat", GOOD | {"Z": other})
    with pytest.raises(ValueError, match=r"Z in qm7.mat is (struct|cell|char), not numbers"):
        read_qm7({"qm7.mat": tmp_path / "qm7.mat"})


def test_a_missing_variable_is_named(tmp_path):
    savemat(tmp_path / "qm7.mat", {"R": np.ones(2)})
    with pytest.raises(ValueError, match="is missing"):
        read_qm7({"qm7.mat": tmp_path / "qm7.mat"})
