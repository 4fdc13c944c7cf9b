"""Neighbours of indexed rows: never the row itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vicinal.index import ExactIndex, without_itself


@given(st.lists(st.integers(0, 3), min_size=2, max_size=20), st.data())
def test_the_others_are_the_nearest_of_a_table_without_the_row(places, data):
    """Few places, so that more rows are equal than are asked for."""
    vectors = np.array(places, float)[:, None]
    k = data.draw(st.integers(1, len(places) - 1))
    own = np.arange(len(places))
    values, indices = without_itself(*ExactIndex(vectors).query(vectors, k + 1), own)
    for i in own:
        others = np.delete(own, i)
        squared = np.square(vectors[others, 0] - vectors[i, 0])
        order = np.argsort(squared, kind="stable")[:k]
        assert values[i].tolist() == squared[order].tolist()
        assert indices[i].tolist() == others[order].tolist()


def test_lists_of_one_and_no_lists_at_all_keep_their_shape():
    values, indices = np.zeros((3, 1)), np.arange(3)[:, None]
    assert [part.shape for part in without_itself(values, indices, np.arange(3))] == [(3, 0)] * 2
    nothing = without_itself(values[:0], indices[:0], np.arange(0))
    assert [part.shape for part in nothing] == [(0, 0)] * 2
