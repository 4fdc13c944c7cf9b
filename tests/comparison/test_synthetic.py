"""Made-up sines: the stated function, and a rotation that changes no distance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances

from vicinal.comparison._synthetic import (
    FALLING,
    SYNTHETIC,
    TWELVE,
    draw_sines,
    make_synthetic,
    random_rotation,
)
from vicinal.data import list_datasets


def test_the_target_is_the_sum_of_sines() -> None:
    dataset = make_synthetic("sines", n_rows=20)
    assert dataset.X.shape == (20, 50)
    expected = [sum(np.sin(c * x) for c, x in zip(FALLING, row, strict=True)) for row in dataset.X]
    assert_allclose(dataset.y, expected)
    assert FALLING[0] == 50
    assert FALLING[3] == pytest.approx(50 * 0.6**3)
    assert len(TWELVE) == 12


def test_a_rotation_turns_the_rows_and_leaves_target_and_distances() -> None:
    plain, rotated = make_synthetic("sines", 50), make_synthetic("sines_rotated", 50)
    assert_array_equal(plain.y, rotated.y)
    assert not np.allclose(plain.X, rotated.X)
    assert_allclose(euclidean_distances(plain.X), euclidean_distances(rotated.X), atol=1e-9)


def test_rotations_are_orthogonal_and_turn_nothing_over() -> None:
    q = random_rotation(7, np.random.default_rng(0))
    assert_allclose(q @ q.T, np.eye(7), atol=1e-12)
    assert np.linalg.det(q) == pytest.approx(1)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_same_seed_gives_the_same_rows(name: str) -> None:
    first, second = (draw_sines(SYNTHETIC[name], 10, seed=4) for _ in range(2))
    assert_array_equal(first[0], second[0])
    assert not np.array_equal(first[0], draw_sines(SYNTHETIC[name], 10, seed=5)[0])


def test_no_known_data_set_has_the_name_of_a_made_up_one() -> None:
    assert not set(list_datasets()) & set(SYNTHETIC)
