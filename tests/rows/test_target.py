"""What y is: classes or numbers, whatever type it is written in."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.rows import Classes, Numbers, as_classes, read_target, usual_neighbors


@pytest.mark.parametrize(
    ("y", "is_classes"),
    [
        (np.array(["a", "b"] * 5), True),
        (np.array([True, False] * 5), True),
        (np.arange(10) % 3, True),
        (np.arange(300), False),
        (np.arange(300.0), False),
        (np.linspace(0.1, 1.3, 10), False),
        ((np.arange(10) % 3).astype(float), True),
        (np.array([1e300, 2e300, 1e300]), True),
    ],
)
def test_what_a_target_is(y, is_classes):
    assert isinstance(read_target(y), Classes) == is_classes


@pytest.mark.parametrize("kind", [int, float, np.float32, str])
def test_a_label_may_be_written_in_any_type(kind):
    target = read_target((np.arange(12) % 3).astype(kind))
    assert isinstance(target, Classes)
    assert_array_equal(target.codes, np.arange(12) % 3)
    assert_array_equal(target.given, (np.arange(12) % 3).astype(kind))


def test_the_task_can_be_said():
    y = np.arange(10) % 3
    numbers = read_target(y, "regression")
    assert isinstance(numbers, Numbers)
    assert_array_equal(numbers.values, y.astype(float))
    assert isinstance(read_target(np.arange(300), "classification"), Classes)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        read_target(np.linspace(0.1, 1.3, 10), "classification")
    with pytest.raises(ValueError, match="y must hold numbers"):
        read_target(np.array(["a", "b"]), "regression")
    with pytest.raises(ValueError, match="task must be one of"):
        read_target(y, "clustering")


def test_taken_rows_keep_all_names_until_they_are_numbered_anew():
    target = as_classes(np.array(["a", "b", "c", "a"]))
    some = target.take(np.array([0, 2, 3]))
    assert some.names.tolist() == ["a", "b", "c"]
    assert some.codes.tolist() == [0, 2, 0]
    assert some.present().names.tolist() == ["a", "c"]
    assert some.present().codes.tolist() == [0, 1, 0]
    assert target.present() is target


def test_k_is_five_where_nobody_says_and_no_more_than_there_are_rows():
    assert usual_neighbors(None, 100) == 5
    assert usual_neighbors(None, 3) == 3
    assert usual_neighbors(7, 100) == 7
    with pytest.raises(ValueError, match="n_neighbors=7 is more than the n_samples=3"):
        usual_neighbors(7, 3)
