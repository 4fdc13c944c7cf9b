"""Leading directions: those of the matrix, with signs that are determined, and in words."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.report._directions import (
    leading_directions,
    maps_linearly,
    phrase_direction,
    sample_rows,
    spectrum_of,
    top_loadings,
    weighs_features_alone,
)

RNG = np.random.default_rng(0)


def test_directions_are_the_leading_eigenvectors_of_the_mahalanobis_matrix() -> None:
    A = RNG.normal(size=(3, 6))
    values, vectors = np.linalg.eigh(A.T @ A)
    found = leading_directions(A, 2)
    for direction, vector in zip(found, vectors[:, ::-1].T, strict=False):
        assert abs(direction @ vector) == pytest.approx(1)
        assert direction[np.abs(direction).argmax()] > 0
    assert values[-1] > values[-2]


def test_a_metric_of_rank_one_has_one_direction() -> None:
    assert leading_directions(np.outer([1.0, 2.0], [0.0, -3.0, 0.0]), 2).shape == (1, 3)
    assert leading_directions(np.zeros((2, 3)), 2).shape == (0, 3)


class Mapped:
    """A learner whose map is what it is told to be."""

    def __init__(self, components, mapping) -> None:
        self.components_, self.transform = components, mapping


@pytest.mark.parametrize(
    ("mapping", "linear"),
    [
        (lambda A: lambda X: X @ A.T, True),
        (lambda A: lambda X: X @ A.T + 7.0, True),
        (lambda A: lambda X: np.tanh(X @ A.T), False),
        (lambda A: lambda X: X @ A.T > 0, False),
        (lambda A: lambda X: X, False),
    ],
)
def test_a_map_is_linear_where_its_components_say_what_it_does(mapping, linear) -> None:
    A = RNG.normal(size=(2, 4))
    assert maps_linearly(Mapped(A, mapping(A)), RNG.normal(size=(40, 4))) is linear


def test_what_has_no_components_is_not_linear() -> None:
    assert not maps_linearly(object(), np.ones((5, 2)))


def test_a_direction_is_told_by_the_features_that_weigh_most() -> None:
    direction = np.array([0.05, -0.9, 0.4, 0.02])
    assert_array_equal(top_loadings(direction), [1, 2])
    told = phrase_direction([("bmi", -0.9), ("a very long feature name", 0.4)], more=True)
    assert told == "−0.90 bmi + 0.40 a very long fea… + …"
    assert phrase_direction([("bmi", 1.0), ("s5", -0.2)], more=False) == "1.00 bmi − 0.20 s5"


def test_rows_are_drawn_once_each_and_the_same_every_time() -> None:
    rows = sample_rows(5000, 1000)
    assert_array_equal(rows, sample_rows(5000, 1000))
    assert len(set(rows.tolist())) == 1000
    assert_array_equal(sample_rows(3, 1000), [0, 1, 2])
    assert_allclose(rows, np.sort(rows))


def test_weights_give_the_spectrum_and_directions_of_the_dense_matrix() -> None:
    weights = np.array([0.5, 0.0, 3.0, 1.0])
    diagonal = np.diag(weights)
    assert_allclose(spectrum_of(diagonal), np.linalg.svd(diagonal, compute_uv=False) ** 2)
    assert_allclose(leading_directions(diagonal, 2), np.eye(4)[[2, 3]])
    assert_allclose(spectrum_of(diagonal[[2, 3]]), [9.0, 1.0])
    assert not weighs_features_alone(np.array([[1.0, 1.0]]))
