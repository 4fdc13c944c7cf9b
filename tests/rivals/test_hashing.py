"""Rivals of binary codes: exact inference by exhaustive search, and what each should know."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from vicinal import HDML, ITQ, LSH, ClassifierCodes, KNNClassifier, unseen_class_error
from vicinal.rivals._hdml import pair_shares, triplet_shares, violate


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600], X[600:900], y[600:900]


@pytest.mark.parametrize("n_rows", [2, 3])
def test_the_violating_codes_are_those_of_exhaustive_search(n_rows):
    rng = np.random.default_rng(n_rows)
    c = 3
    shares = pair_shares() if n_rows == 2 else triplet_shares()
    projected = rng.normal(size=(12, n_rows, c))
    slope, offset = rng.normal(size=(2, 12)) * 3
    found = violate(projected, slope, offset, shares)
    assert 0 < np.count_nonzero(found.loss) < 12  # both sides of the hinge are met

    def hinge(b, g):
        m = np.sum(g[0] != g[1]) - (np.sum(g[0] != g[2]) if n_rows == 3 else 0)
        return max(0.0, slope[b] * m + offset[b]) + np.sum(g * projected[b])

    for b in range(12):
        every = (np.reshape(g, (n_rows, c)) for g in product((-1.0, 1.0), repeat=n_rows * c))
        best = max(hinge(b, g) for g in every)
        assert hinge(b, found.codes[b]) == pytest.approx(best)
        assert found.loss[b] == pytest.approx(best - np.abs(projected[b]).sum())


@pytest.mark.parametrize(
    "parameters",
    [{"loss": "triplet"}, {"loss": "hinge"}],
)
def test_hdml_errs_less_than_random_codes_and_its_bound_falls(digits, parameters):
    X, y, Z, z = digits
    metric = HDML(32, max_iter=12, random_state=0, **parameters)
    model = KNNClassifier(3, metric).fit(X, y)
    plain = KNNClassifier(3, LSH(32, random_state=0)).fit(X, y)
    assert model.score(Z, z) > plain.score(Z, z)
    assert model.metric_.loss_curve_[-1] < model.metric_.loss_curve_[0]


def test_hdml_learns_two_layers(digits):
    X, y, Z, z = digits
    metric = HDML(32, hash_function="two-layer", hidden=24, max_iter=12, random_state=0)
    model = KNNClassifier(3, metric).fit(X, y)
    assert model.metric_.loss_curve_[-1] < 0.7 * model.metric_.loss_curve_[0]
    assert model.score(Z, z) > 0.7
    assert not hasattr(model.metric_, "components_")


def test_random_projections_differ_in_proportion_to_the_angle():
    angle = 1.0
    rows = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    metric = LSH(4096, random_state=0).fit(np.vstack([rows, -rows]))
    first, second = np.unpackbits(metric.encode(rows), axis=1)
    assert np.mean(first != second) == pytest.approx(angle / np.pi, abs=0.03)


def test_a_rotation_brings_principal_components_nearer_to_their_signs(digits):
    X = digits[0]

    def distance(metric):
        projected = (X - metric.centre_) @ metric.components_.T
        return np.mean((projected - np.sign(projected)) ** 2)

    short, long = (ITQ(16, max_iter=n, random_state=0).fit(X) for n in (1, 30))
    assert distance(long) < distance(short)
    assert_allclose(long.components_ @ long.components_.T, np.eye(16), atol=1e-8)


def test_codes_of_a_classifier_are_its_answers(digits):
    X, y, Z, z = digits
    metric = ClassifierCodes().fit(X / 16, y)
    bits = np.unpackbits(metric.encode(Z / 16), axis=1)
    assert metric.n_bits_ == 16
    assert_array_equal(bits.sum(axis=1), 1)
    assert_array_equal(metric.classes_[bits.argmax(axis=1)], metric.estimator_.predict(Z / 16))
    scores = KNNClassifier(3, ClassifierCodes(64, codes="lsh", random_state=0)).fit(X / 16, y)
    assert scores.score(Z / 16, z) > 0.85


def test_answers_of_a_classifier_do_badly_among_classes_it_has_not_seen(digits):
    X, y = digits[0] / 16, digits[1]
    codes = unseen_class_error(ClassifierCodes(), X, y, n_unseen=4)
    assert codes > 3 * unseen_class_error(None, X, y, n_unseen=4)
    with pytest.raises(ValueError, match="n_unseen must be"):
        unseen_class_error(None, X, y, n_unseen=9)


@pytest.mark.parametrize("metric", [LSH(12), ITQ(12), HDML(12), ClassifierCodes(12, codes="lsh")])
def test_bits_must_fill_bytes(digits, metric):
    with pytest.raises(ValueError, match="multiple of 8"):
        metric.fit(*digits[:2])


def test_bad_choices_are_refused(digits):
    with pytest.raises(ValueError, match="loss must be one of"):
        HDML(8, loss="quartet").fit(*digits[:2])
    with pytest.raises(ValueError, match="codes must be one of"):
        ClassifierCodes(codes="two-hot").fit(*digits[:2])
