"""Binary codes: gradient by finite differences, packing, search, and bad input."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from vicinal import LSH, BinaryIndex, ExactIndex, HammingMLNG, KNNClassifier, load_model, save_model
from vicinal.metric.gerrymander import Layers
from vicinal.metric.gerrymander import _hamming_problem as _problem
from vicinal.metric.gerrymander._hamming_problem import HammingObjective, HammingOptions


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    return X[:600], y[:600], X[600:900], y[600:900]


def quick(**parameters):
    chosen = {"n_bits": 32, "margin": 3.0, "max_iter": 8, "hidden": 24, "random_state": 0}
    return HammingMLNG(**{**chosen, **parameters})


@pytest.fixture(scope="module")
def model(digits):
    return KNNClassifier(3, quick()).fit(*digits[:2])


def objective(relaxation, layers, seed=0):
    rng = np.random.default_rng(seed)
    options = HammingOptions(
        layers=layers, relaxation=relaxation, asymmetric=True, n_neighbors=3, costs=np.eye(1),
        margin=2.0, balance=0.7, dropout=0.0, learning_rate=0.1, max_iter=1, tol=0.0, n_threads=1,
        seed=0,
    )  # fmt: skip
    costs = 2.0 * (1 - np.eye(3))
    X, codes = rng.normal(size=(24, layers.widths[0])), rng.integers(0, 3, 24)
    return HammingObjective(X, codes, options, costs, None, rng)


@pytest.mark.parametrize("relaxation", ["tanh", "identity"])
@pytest.mark.parametrize("widths", [(4, 8), (4, 5, 8)])
@pytest.mark.parametrize("n_maps", [1, 2])
def test_the_gradient_is_that_of_finite_differences(relaxation, widths, n_maps):
    layers = Layers(widths)
    problem = objective(relaxation, layers)
    rng = np.random.default_rng(1)
    parameters = np.stack([layers.draw(2.0, rng, np.float64) for _ in range(n_maps)])
    rows = np.arange(24)

    def mean_loss(moved):
        return problem.gradient(moved, problem.infer(moved, rows), slice(0, 24))[0] / 24

    _, gradient = problem.gradient(parameters, problem.infer(parameters, rows), slice(0, 24))
    direction, step = rng.normal(size=parameters.shape), 1e-6
    slope = mean_loss(parameters + step * direction) - mean_loss(parameters - step * direction)
    assert np.sum(gradient * direction) == pytest.approx(slope / (2 * step), rel=1e-4)


@pytest.mark.parametrize(
    ("n_rows", "k", "expected"),
    [(24, 3, 3), (8, 3, 3), (2, 3, 1), (8, 1, 1), (12, 9, 5), (20, 9, 8), (10, 23, 9)],
)  # of 24 rows
def test_sets_of_a_step_hold_its_share_of_the_neighbours_and_enough_for_a_vote(n_rows, k, expected):
    layers = Layers((4, 8))
    problem = objective("tanh", layers)
    problem = replace(problem, options=replace(problem.options, n_neighbors=k))
    problem.codes[:] = 0  # any set is right, so that both have k rows, and differ in none
    parameters = layers.draw(2.0, np.random.default_rng(1), np.float64)[None]
    with pytest.MonkeyPatch.context() as patch:
        spy = Mock(wraps=_problem.new_inferred)
        patch.setattr(_problem, "new_inferred", spy)
        problem.infer(parameters, np.arange(n_rows))
    spy.assert_called_once_with(n_rows, expected)


def test_hidden_units_left_out_take_no_part_in_the_gradient():
    layers = Layers((3, 4, 8))
    parameters = layers.draw(1.0, np.random.default_rng(0), np.float64)
    masks = np.array([[2.0, 0.0, 2.0, 0.0]])
    _, inputs = layers.forward(parameters, np.ones((1, 3)), masks)
    gradient = layers.split(layers.backward(parameters, inputs, np.ones((1, 8)), masks))
    assert not gradient[0][0][[1, 3]].any()
    assert gradient[0][0][[0, 2]].all()


def test_codes_are_packed_signs(digits, model):
    metric, X = model.metric_, digits[2]
    codes = metric.encode(X)
    assert codes.dtype == np.uint8
    assert codes.shape == (len(X), 4)
    bits = np.unpackbits(codes, axis=1)
    assert_array_equal(bits == 1, metric.transform(X) > 0)
    assert_array_equal(np.packbits(metric.soften_queries(X) > 0, axis=1), metric.encode_queries(X))
    assert not np.array_equal(metric.encode_queries(X), codes)


def test_a_symmetric_metric_has_one_code(digits):
    metric = quick(asymmetric=False, max_iter=1).fit(*digits[:2])
    assert_array_equal(metric.encode(digits[2]), metric.encode_queries(digits[2]))


@pytest.mark.parametrize("hash_function", ["linear", "tanh", "two-layer"])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_learned_codes_err_less_than_random_ones(digits, hash_function, asymmetric):
    X, y, Z, z = digits
    learned = quick(hash_function=hash_function, asymmetric=asymmetric, max_iter=12)
    score = KNNClassifier(3, learned).fit(X, y).score(Z, z)
    assert score > KNNClassifier(3, LSH(32, random_state=0)).fit(X, y).score(Z, z)


def test_search_is_hamming_first_and_asymmetric_among_the_nearest(digits, model):
    X, _, Z, _ = digits
    metric = model.metric_
    distances, found = model.kneighbors(Z, 3)
    codes = np.unpackbits(metric.encode(X), axis=1).astype(int)
    soft = metric.soften_queries(Z)
    for q in range(0, len(Z), 40):
        hamming = np.sum(codes != (soft[q] > 0), axis=1)
        listed = np.lexsort((np.arange(len(X)), hamming))[:100]
        asymmetric = np.sum((codes - 0.5 - soft[q].astype(float)) ** 2, axis=1)
        order = listed[np.lexsort((listed, asymmetric[listed]))][:3]
        assert_allclose(asymmetric[found[q]], asymmetric[order], rtol=1e-5)
        assert_allclose(distances[q], asymmetric[order], rtol=1e-5)


def test_a_euclidean_index_gives_the_asymmetric_hamming_distance(digits, model):
    X, _, Z, _ = digits
    metric = model.metric_
    squared, _ = ExactIndex(metric.transform(X)).query(metric.transform_queries(Z), 1)
    distances, _ = model.kneighbors(Z, 1)
    assert np.all(squared <= distances + 1e-5)
    assert np.mean(np.isclose(squared, distances, rtol=1e-4)) > 0.95


def test_the_index_refuses_soft_codes_that_are_none(digits, model):
    index = BinaryIndex(model.metric_.encode(digits[0]))
    with pytest.raises(ValueError, match="32 columns"):
        index.query(np.zeros((2, 31)), 1)
    with pytest.raises(ValueError, match="between"):
        index.query(np.full((2, 32), 0.7), 1)


def test_equal_codes_come_in_order_of_their_rows():
    index = BinaryIndex(np.zeros((5, 1), np.uint8))
    _, found = index.query(np.full((1, 8), -0.2), 3)
    assert found.tolist() == [[0, 1, 2]]


def test_leave_one_out_neighbours_and_radii_use_the_codes(model):
    distances, found = model.kneighbors(n_neighbors=2)
    assert (found != np.arange(600)[:, None]).all()
    assert_array_equal(distances, np.round(distances))
    assert len(model.radius_neighbors(n_neighbors_rows(model), 3.0)[0]) == 2


def n_neighbors_rows(model):
    return np.zeros((2, model.n_features_in_), np.float32)


@pytest.mark.parametrize("hash_function", ["linear", "two-layer"])
def test_a_model_file_keeps_the_codes(digits, tmp_path, hash_function):
    X, y, Z, _ = digits
    model = KNNClassifier(3, quick(hash_function=hash_function, max_iter=1)).fit(X, y)
    save_model(model, tmp_path / "codes.vicinal")
    again = load_model(tmp_path / "codes.vicinal")
    assert_array_equal(again.predict(Z), model.predict(Z))
    assert_array_equal(again.metric_.encode(Z), model.metric_.encode(Z))


def test_it_is_deterministic(digits):
    first, second = (quick(max_iter=2).fit(*digits[:2]).encode(digits[2]) for _ in range(2))
    assert_array_equal(first, second)


def test_the_margin_is_chosen_on_inner_splits(digits):
    metric = quick(margin="auto", max_iter=2).fit(*digits[:2])
    assert len(metric.settings_) == 2
    assert metric.margin_ in (0.03 * 32, 0.1 * 32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_bits": 12}, "multiple of 8"),
        ({"n_bits": 0}, "at least 1"),
        ({"hash_function": "cubic"}, "hash_function must be one of"),
        ({"margin": 0.0}, "margin must be"),
        ({"balance": -1.0}, "balance must be"),
        ({"dropout": 1.0}, "dropout must be below 1"),
        ({"n_neighbors": 600}, "n_neighbors=600"),
    ],
)
def test_bad_input_is_refused_in_words(digits, change, message):
    with pytest.raises(ValueError, match=message):
        quick(**change).fit(*digits[:2])


def test_queries_of_another_width_are_refused(digits, model):
    with pytest.raises(ValueError, match="features"):
        model.metric_.encode_queries(digits[2][:, :10])
