"""Errors known from elsewhere, on real data."""

from __future__ import annotations

import os

import numpy as np
import pytest

from vicinal import KNNClassifier, load_dataset

needs_data = pytest.mark.skipif(
    "VICINAL_DATA" not in os.environ, reason="needs the data sets: set VICINAL_DATA to their folder"
)


@needs_data
def test_three_neighbours_misread_283_of_mnists_10000_test_digits():
    digits = load_dataset("mnist")
    assert digits.is_test is not None
    train, test = ~digits.is_test, digits.is_test
    model = KNNClassifier(n_neighbors=3).fit(digits.X[train], digits.y[train])
    assert int(np.sum(model.predict(digits.X[test]) != digits.y[test])) == 283
