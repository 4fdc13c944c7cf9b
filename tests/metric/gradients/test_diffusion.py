"""Gradient diffusion maps: the kernel, its spectrum, new rows, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons
from tests.oracles import diffusion as oracle
from tests.oracles.gradients import kernel_estimate, softmax

import vicinal
from vicinal.metric.gradients._graph import diffusion_coordinates

BANDWIDTH = 0.6
ANALYTIC = vicinal.EGOP("analytic", bandwidth=BANDWIDTH)


@pytest.fixture(scope="module")
def wave():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(80, 3))
    return X, np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] ** 2, random.uniform(-1, 1, size=(7, 3))


def classes(X):
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.3, 0.3])]


def oracle_gradients(X, y, points):
    """Return g at points: of the smoother of a real y, or Σ_c |J_c| after the softmax."""
    if y.dtype.kind == "f":
        found = oracle.numerical_gradients(
            lambda x: kernel_estimate(x, X, y[:, None], BANDWIDTH, "gaussian"), points
        )
        return found[:, 0]
    columns = (y[:, None] == np.unique(y)).astype(float)
    found = oracle.numerical_gradients(
        lambda x: softmax(kernel_estimate(x, X, columns, BANDWIDTH, "gaussian"), 1.0), points
    )
    return np.abs(found).sum(axis=1)


@pytest.mark.parametrize("multiclass", [False, True])
@pytest.mark.parametrize("time", [1, 3])
def test_the_map_is_that_of_the_dense_laplacian_at_old_and_new_rows(wave, multiclass, time):
    X, y, new = wave
    y = classes(X) if multiclass else y
    kind = vicinal.EJOP if multiclass else vicinal.EGOP
    learner = vicinal.GradientDiffusionMap(
        3, n_neighbors=9, diffusion_time=time, gradients=kind("analytic", bandwidth=BANDWIDTH)
    ).fit(X, y)
    g = oracle_gradients(X, y, X)
    np.testing.assert_allclose(learner.gradients_, g, rtol=1e-5, atol=1e-7)
    scales = oracle.median_scales(X, g, 9)
    np.testing.assert_allclose([learner.sigma1_, learner.sigma2_], scales, rtol=1e-5)
    values, phi = oracle.diffusion_map(oracle.kernel(X, g, 9, *scales), 3)
    np.testing.assert_allclose(learner.eigenvalues_, values, rtol=1e-6)
    np.testing.assert_allclose(learner.embedding_, phi * values**time, atol=1e-4)
    expected = [
        oracle.nystroem(x, gx, X, g, 9, scales[0], scales[1], phi) * values ** (time - 1)
        for x, gx in zip(new, oracle_gradients(X, y, new), strict=True)
    ]
    np.testing.assert_allclose(learner.transform(new), expected, atol=1e-4)


@pytest.mark.parametrize("estimator", ["analytic", "difference", "local-linear", "kernel-ridge"])
def test_summed_with_their_signs_the_gradients_of_classes_cancel(wave, estimator):
    X, _, _ = wave
    metric = vicinal.EJOP(estimator, bandwidth="rule", store_gradients=True).fit(X, classes(X))
    J = metric.gradients_
    assert np.abs(J).sum(axis=2).max() > 0.1
    assert np.abs(J.sum(axis=2)).max() < 1e-4 * np.abs(J).sum(axis=2).max()


def test_the_local_distance_is_the_kernels_exponent(wave):
    X, y, new = wave
    learner = vicinal.GradientDiffusionMap(gradients=ANALYTIC).fit(X, y)
    pairs = np.stack([new[:-1], new[1:]], axis=1)
    g = oracle_gradients(X, y, new)
    expected = []
    for a in range(len(pairs)):
        squared, change = oracle.terms(new[a], g[a], new[a + 1], g[a + 1])
        expected.append(np.sqrt(squared / learner.sigma1_ + change / learner.sigma2_))
    np.testing.assert_allclose(learner.local_distance(pairs), expected, rtol=1e-5)


def test_the_reweighted_metric_is_the_mean_of_the_local_ones(wave):
    X, y, new = wave
    learner = vicinal.GradientDiffusionMap(output="reweighted", gradients=ANALYTIC).fit(X, y)
    g = oracle_gradients(X, y, X)
    M = np.eye(3) / learner.sigma1_ + g.T @ g / len(g) / learner.sigma2_
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), M, rtol=1e-5, atol=1e-7)
    gap = new[0] - new[1]
    assert learner.get_metric()(new[0], new[1]) == pytest.approx(np.sqrt(gap @ M @ gap), rel=1e-5)
    assert learner.transform(new).shape == (7, 3)
    assert learner.get_feature_names_out().shape == (3,)


def test_the_sparse_solver_finds_what_the_dense_one_does(monkeypatch):
    random = np.random.default_rng(1)
    X = random.uniform(size=(500, 2)) * [3, 1]
    learner = vicinal.GradientDiffusionMap(4, gradients=vicinal.EGOP("analytic", bandwidth=0.3))
    dense = learner.fit(X, X[:, 1]).embedding_
    monkeypatch.setattr("vicinal.metric.gradients._graph._DENSE_ROWS", 0)
    sparse = learner.fit(X, X[:, 1]).embedding_
    np.testing.assert_allclose(sparse, dense, atol=1e-5)
    np.testing.assert_array_equal(learner.fit(X, X[:, 1]).embedding_, sparse)


@pytest.mark.parametrize("dense_rows", [0, 600])
def test_separate_pieces_are_told_apart_by_the_first_coordinate(monkeypatch, dense_rows):
    monkeypatch.setattr("vicinal.metric.gradients._graph._DENSE_ROWS", dense_rows)
    block = np.exp(-((np.arange(40)[:, None] - np.arange(40)) ** 2) / 50.0)
    W = np.kron(np.eye(2), block)
    values, phi = diffusion_coordinates(csr_array(W), 2)
    assert values[0] == pytest.approx(1)
    np.testing.assert_allclose(phi[:40, 0] * phi[40:, 0], -1, atol=1e-6)


def test_diffusion_follows_the_direction_f_changes_in_and_not_the_longer_side():
    X = np.random.default_rng(2).uniform(size=(900, 2)) * [1.3, 1.0]
    y = np.sin(2 * X[:, 1])
    how = vicinal.EGOP("analytic", bandwidth=0.15)
    plain = vicinal.GradientDiffusionMap(1, sigma2=np.inf, gradients=how).fit_transform(X, y)
    learned = vicinal.GradientDiffusionMap(1, gradients=how).fit_transform(X, y)

    def correlation(embedding, side):
        return abs(np.corrcoef(embedding[:, 0], X[:, side])[0, 1])

    assert correlation(plain, 0) > 0.9
    assert correlation(plain, 1) < 0.3
    assert correlation(learned, 1) > 0.9
    assert correlation(learned, 0) < 0.3


def test_new_rows_are_placed_between_the_old_ones():
    X = np.random.default_rng(3).uniform(size=(1500, 2)) * [1.0, 2.0]
    y = X[:, 1]
    learner = vicinal.GradientDiffusionMap(1, gradients=vicinal.EGOP("analytic", bandwidth=0.2))
    learner.fit(X[:1000], y[:1000])
    # Along f the first coordinate is a cosine: monotone.
    old, new = learner.embedding_[:, 0], learner.transform(X[1000:])[:, 0]
    order = np.argsort(y[:1000])
    expected = np.interp(y[1000:], y[:1000][order], old[order])
    assert np.sqrt(np.mean((new - expected) ** 2)) < 0.2 * old.std()


def test_the_map_does_not_depend_on_units_rotation_origin_or_order_of_rows(wave):
    X, y, new = wave
    rotation = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    order = np.random.default_rng(5).permutation(len(X))
    learner = vicinal.GradientDiffusionMap(2, gradients=ANALYTIC).fit(X, y)
    other = vicinal.GradientDiffusionMap(
        2, gradients=vicinal.EGOP("analytic", bandwidth=1e6 * BANDWIDTH)
    )
    other.fit(1e6 * (X[order] @ rotation + 5), 1e-3 * y[order] + 2)
    np.testing.assert_allclose(other.embedding_, learner.embedding_[order], atol=1e-5)
    moved = other.transform(1e6 * (new @ rotation + 5))
    np.testing.assert_allclose(moved, learner.transform(new), atol=1e-5)


def test_rows_of_the_sample_keep_their_place_and_repeated_rows_share_one(wave):
    X, y, _ = wave
    learner = vicinal.GradientDiffusionMap(gradients=ANALYTIC).fit(X, y)
    np.testing.assert_array_equal(learner.transform(X[5:9]), learner.embedding_[5:9])
    X2, y2 = np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]])
    places = vicinal.GradientDiffusionMap(gradients=ANALYTIC).fit_transform(X2, y2)
    np.testing.assert_array_equal(places[:30], places[80:])


def test_it_serves_k_nn_as_a_metric():
    X, y = make_moons(400, noise=0.15, random_state=0)
    metric = vicinal.GradientDiffusionMap(4, random_state=0)
    model = vicinal.KNNClassifier(n_neighbors=5, metric=metric).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    X, y = load_iris(return_X_y=True)
    for output in ("embedding", "reweighted"):
        metric = vicinal.GradientDiffusionMap(4, output=output, random_state=0)
        model = vicinal.KNNClassifier(n_neighbors=5, metric=metric).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.9


def test_a_saved_map_places_new_rows_as_before(wave, tmp_path):
    X, y, new = wave
    model = vicinal.KNNRegressor(metric=vicinal.GradientDiffusionMap(gradients=ANALYTIC)).fit(X, y)
    vicinal.save_model(model, tmp_path / "map.vicinal")
    loaded = vicinal.load_model(tmp_path / "map.vicinal")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.metric_.transform(new), model.metric_.transform(new))


def test_a_row_far_from_all_others_is_placed_with_the_nearest(wave):
    X, y, _ = wave
    learner = vicinal.GradientDiffusionMap(gradients=ANALYTIC).fit(X, y)
    place = learner.transform([[1e6, 0.0, 0.0]])
    eigenvectors = learner.embedding_ / learner.eigenvalues_
    np.testing.assert_allclose(place[0], eigenvectors[X[:, 0].argmax()], atol=1e-9)


def test_one_row_far_out_neither_is_a_coordinate_nor_moves_the_others(wave):
    X, y, _ = wave
    learner = vicinal.GradientDiffusionMap(gradients=ANALYTIC, sigma1=0.3, sigma2=0.3)
    alone = learner.fit(X, y).embedding_
    far = np.concatenate([X, [[30.0, 0.0, 0.0]]])
    joined = learner.fit(far, np.append(y, 0.0)).embedding_
    np.testing.assert_allclose(joined[:-1], alone, atol=1e-3)
    assert np.abs(joined[-1]).max() <= np.abs(alone).max()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        (
            {"n_components": 80},
            "n_components=80 is more than the 79 .* at most 79",
        ),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"sigma1": 0.0}, "sigma1 must be a number above zero, got 0.0"),
        ({"sigma2": -1}, "sigma2 must be a number above zero, got -1"),
        ({"diffusion_time": 0}, "diffusion_time must be at least 1, got 0"),
        ({"output": "map"}, "output must be one of 'embedding', 'reweighted'; got 'map'"),
        ({"gradients": "analytic"}, "gradients must be EGOP, EJOP, GradientWeights or None"),
    ],
)
def test_bad_settings_are_refused_with_their_value(wave, parameters, words):
    X, y, _ = wave
    with pytest.raises(ValueError, match=words):
        vicinal.GradientDiffusionMap(**parameters).fit(X, y)


def test_one_row_is_refused_in_words():
    with pytest.raises(ValueError, match=r"one \(n_samples=1\) is too few"):
        vicinal.GradientDiffusionMap().fit([[1.0, 2.0]], [0.5])
