"""Maps: what is learned is what is delivered, for every learner, by every way on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal import AsymmetricMLNG, AutoMetric, KNNClassifier, MeanMetric
from vicinal.methods import list_methods, make_learner
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import CodeMaps, FunctionMaps, LinearMaps, relevance
from vicinal.rows import Classes, Rows, read_target

QUICK = {
    "max_iter": 2,
    "n_trees": 3,
    "n_basis": 20,
    "hidden": 8,
    "n_bits": 16,
    "n_starts": 2,
    "epochs": 2,
}
LEARNERS = [
    method.name
    for method in list_methods("classification")
    if not method.reference and method.factory is not None
]


def learner_of(name: str) -> Any:
    method = next(method for method in list_methods() if method.name == name)
    learner = make_learner(method, "classification", k=3, seed=0)
    known = learner.get_params()
    quick = {} if name == "sdml" else QUICK  # whose lasso must converge
    return learner.set_params(**{key: quick[key] for key in quick if key in known})


def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in ("auto", "neural")])
def test_what_was_judged_is_what_is_delivered(name):
    X, y = wine()
    learner = learner_of(name)
    alone = clone(learner).fit(X[::2], y[::2])
    chosen = AutoMetric({"only": learner}, n_neighbors=3, random_state=0).fit(X[::2], y[::2])
    for verb in ("transform", "transform_queries"):
        mapped = getattr(chosen, verb)(X[1::2])
        assert_array_equal(mapped, getattr(alone, verb)(X[1::2]))
    assert chosen.maps_.space == alone.maps_.space
    votes = [
        KNNClassifier(3, FrozenEstimator(metric)).fit(X[::2], y[::2]).kneighbors(X[1::2])
        for metric in (alone, chosen)
    ]
    assert_array_equal(votes[0][1], votes[1][1])


def test_a_transformer_of_another_library_is_delivered_as_it_was_judged():
    X, y = make_moons(200, noise=0.25, random_state=0)
    metric = AutoMetric({"p": PCA(whiten=True)}, n_neighbors=5, random_state=0).fit(X, y)
    assert_allclose(metric.transform(X), PCA(whiten=True).fit(X).transform(X))


@pytest.mark.parametrize("name", LEARNERS)
def test_labels_of_any_type_give_the_same_metric(name):
    X, y = wine()
    words = np.array(["a", "b", "c"])[y]
    images = [
        learner_of(name).fit(X[::2], labels[::2]).transform(X[1::2])
        for labels in (y, y.astype(float), words)
    ]
    for other in images[1:]:
        assert_allclose(other, images[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["mlng", "mlng-asymmetric"])
def test_a_features_unit_does_not_change_its_relevance(name):
    X, y = wine()
    units = 10.0 ** np.arange(-6, 7)
    plain, scaled = (learner_of(name).fit(rows, y).feature_relevance_ for rows in (X, X * units))
    assert_allclose(plain, scaled, atol=0.02)
    assert_allclose(plain.sum(), 1)


def test_the_relevance_of_two_maps_counts_both_in_the_rows_own_spread():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=300), rng.normal(size=300) * 1e-3]
    y = (X[:, 0] + rng.normal(size=300) * 0.3 > 0).astype(int)
    assert AsymmetricMLNG(random_state=0).fit(X, y).feature_relevance_[0] > 0.5


class Counting(vicinal.LDA):
    """Counts how often rows are mapped."""

    n_mapped = 0

    @property
    def maps_(self):
        linear = super().maps_
        assert isinstance(linear, LinearMaps)

        def count(X):
            Counting.n_mapped += 1
            return linear.database(X)

        return FunctionMaps(count)


def test_a_symmetric_metric_maps_the_training_rows_once():
    X, y = wine()
    metric = FrozenEstimator(Counting().fit(X, y))
    Counting.n_mapped = 0
    KNNClassifier(3, metric).fit(X, y)
    assert Counting.n_mapped == 1


@pytest.mark.parametrize(
    "name", ["gblmnn", "mlng-hamming", "hdml", "lsh", "itq", "spectral-hashing", "classifier-codes"]
)
def test_who_has_no_single_linear_map_gives_no_mahalanobis_matrix_and_no_mean(name):
    X, y = wine()
    with pytest.raises(ValueError, match="has no Mahalanobis matrix"):
        learner_of(name).fit(X, y).get_mahalanobis_matrix()
    with pytest.raises(ValueError, match="has no single linear map"):
        MeanMetric(learner_of(name), n_starts=1).fit(X, y)


def test_either_side_of_linear_maps_may_be_the_identity():
    rng = np.random.default_rng(0)
    X, Q, b = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    frozen = LinearMaps(None, Q, b)
    assert frozen.database(X) is X
    assert_allclose(frozen.queries(X), X @ Q.T + b)
    assert not frozen.is_symmetric
    assert LinearMaps(Q).is_symmetric
    assert_allclose(LinearMaps(Q, b=b).queries(X), X @ Q.T + b)


def test_codes_are_packed_and_queries_keep_what_bits_lose():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(16, 3))
    maps = CodeMaps(lambda X: X @ W.T, np.ones(16), weights=(W,))
    X = rng.normal(size=(4, 3))
    assert_array_equal(np.unpackbits(maps.database(X), axis=1), X @ W.T > 0)
    assert_array_equal(maps.query_codes(X), maps.database(X))
    assert_allclose(maps.queries(X), np.tanh(X @ W.T) / 2)
    shares = relevance(maps, 1.0)
    assert shares is not None
    assert_allclose(shares, (W**2).sum(axis=0) / (W**2).sum())


def test_a_pipeline_maps_behind_its_first_steps():
    X, y = wine()
    pipeline = make_pipeline(StandardScaler(), vicinal.LDA()).fit(X * 3 + 1, y)
    maps = maps_of(FrozenEstimator(pipeline))
    assert maps.is_symmetric
    assert_allclose(maps.database(X * 3 + 1), pipeline.transform(X * 3 + 1))
    assert maps_of(None).database(X) is X


def test_a_learner_takes_checked_rows_and_writes_what_fit_writes():
    X, y = wine()
    rows = Rows(
        X,
        read_target(np.array(["a", "b", "c"])[y]),
        names=np.array([f"c{i}" for i in range(13)], object),
    )
    metric = vicinal.LDA().fit_rows(rows)
    assert metric.n_features_in_ == 13
    assert metric.feature_names_in_[0] == "c0"
    assert metric.classes_.tolist() == ["a", "b", "c"]
    assert_array_equal(metric.components_, vicinal.LDA().fit(X, y).components_)


def test_classes_that_a_part_of_the_rows_misses_are_not_learned_from():
    X, y = wine()
    rows = Rows(X, Classes(np.arange(3), y)).take(np.flatnonzero(y != 1))
    metric = vicinal.LDA().fit_rows(rows)
    assert metric.classes_.tolist() == [0, 2]
    assert len(metric.components_) == 1
