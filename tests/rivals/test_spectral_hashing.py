"""Spectral hashing beside the Laplacian's own eigenvectors, and modes found by trying them all."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from vicinal import LSH, KNNClassifier, SpectralHashing
from vicinal.rivals._spectral_hashing import lowest_frequencies


def bits_of(metric, X):
    return np.unpackbits(metric.encode(X), axis=1)


def box(n=40, sides=(1.0, 0.42)):
    """Return a grid of rows in a box, turned and moved."""
    axes = [np.linspace(0, side, int(n * side) + 1) for side in sides]
    rows = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    return rows @ turn.T + [3.0, -1.0]


def test_bits_are_the_signs_of_the_laplacians_eigenvectors():
    X = box()
    affinity = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.05**2))
    degrees = np.diag(affinity.sum(axis=1))
    _, smoothest = eigh(degrees - affinity, degrees, subset_by_index=[0, 4])
    bits = bits_of(SpectralHashing(n_bits=8).fit(X), X)
    # Modes 1 and 2 along the long side and 1 along the short one, by their eigenvalues; the next
    # eigenvector is a product of two waves, which is no bit of spectral hashing.
    for number in range(3):
        function = smoothest[:, number + 1]
        clear = np.abs(function) > 0.1 * np.abs(function).max()  # else on the line between signs
        agree = np.mean((function > 0)[clear] == bits[clear, number])
        assert max(agree, 1 - agree) == 1


def test_the_lowest_frequencies_are_those_of_trying_them_all():
    rng = np.random.default_rng(0)
    for _ in range(20):
        widths = rng.uniform(0.1, 3.0, size=rng.integers(1, 6))
        places, frequencies = lowest_frequencies(widths, 8)
        every = sorted((np.pi * m / w, i) for i, w in enumerate(widths) for m in range(1, 60))[:8]
        assert_allclose(frequencies, [frequency for frequency, _ in every])
        assert_array_equal(places, [place for _, place in every])


def test_bits_are_balanced_on_rows_that_fill_a_box():
    X = box()
    assert_allclose(bits_of(SpectralHashing(n_bits=8).fit(X), X).mean(axis=0), 0.5, atol=0.06)


def test_more_bits_than_features_are_further_waves():
    X = np.linspace(0, 1, 201)[:, None]
    bits = bits_of(SpectralHashing(n_bits=8).fit(X), X)
    assert_array_equal(np.sum(bits[1:] != bits[:-1], axis=0), np.arange(1, 9))  # m changes of sign


def test_codes_know_no_shift_rotation_or_unit():
    X = load_digits().data[:300]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 64)))[0]

    def distances(rows):
        bits = bits_of(SpectralHashing(n_bits=32).fit(rows), rows).astype(float)
        return cdist(bits, bits, "cityblock")

    plain = distances(X)
    for moved in (X + 7.0, X @ turn, X * 2.0**-200, X * 2.0**200):
        assert np.mean(distances(moved) != plain) < 0.02


def test_near_rows_agree_more_than_under_random_projections():
    X, y = load_digits(return_X_y=True)
    metrics = SpectralHashing(n_bits=16), LSH(n_bits=16, random_state=0)
    models = [KNNClassifier(3, metric).fit(X[::2], y[::2]) for metric in metrics]
    scores = [model.score(X[1::2], y[1::2]) for model in models]
    assert scores[0] > scores[1]


def test_rows_that_are_one_have_one_code():
    metric = SpectralHashing(n_bits=8).fit(np.ones((5, 3)))
    assert np.ptp(metric.encode(np.ones((4, 3))), axis=0).max() == 0


@pytest.mark.parametrize("n_bits", [0, 12])
def test_bits_must_fill_bytes(n_bits):
    with pytest.raises(ValueError, match="n_bits"):
        SpectralHashing(n_bits=n_bits).fit(np.eye(5))
