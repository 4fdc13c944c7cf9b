"""What users of scikit-learn's neighbours expect: weights, graphs, names, leave-one-out, sparse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neighbors import NearestNeighbors as TheirNeighbors
from sklearn.preprocessing import StandardScaler

from vicinal import (
    LDA,
    Euclidean,
    ExactIndex,
    FaissIndex,
    KNNClassifier,
    KNNRegressor,
    MetricLearner,
    NearestNeighbors,
    RadiusClassifier,
    ReliefF,
    SparseIndex,
    load_model,
    save_model,
)
from vicinal.predict._votes import by_softmax

X, y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0


# Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_weighted_shares_are_scikit_learns(weights):
    ours = KNNClassifier(7, weights=weights).fit(X[TRAIN], y[TRAIN])
    theirs = KNeighborsClassifier(7, weights=weights).fit(X[TRAIN], y[TRAIN])
    assert_allclose(ours.predict_proba(X[TEST]), theirs.predict_proba(X[TEST]), atol=1e-12)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
def test_weighted_means_are_scikit_learns_for_several_outputs_too(weights):
    A, b = load_diabetes(return_X_y=True)
    several = np.column_stack([b, -b, A[:, 0]])
    for target in (b, several):
        ours = KNNRegressor(5, weights=weights).fit(A[50:], target[50:]).predict(A)
        theirs = KNeighborsRegressor(5, weights=weights).fit(A[50:], target[50:]).predict(A)
        assert_allclose(ours, theirs)


@given(
    st.lists(st.just(0.0) | st.floats(1e-300, 1e3), min_size=2, max_size=8).map(sorted),
    st.floats(1e-3, 1e3),
)
def test_softmax_weights_do_not_depend_on_the_scale_of_the_metric(row, scale):
    distances = np.array([row])
    weights = by_softmax(distances)
    assert_allclose(by_softmax(distances * scale), weights, rtol=1e-6)
    assert weights[0, 0] == 1
    assert (np.diff(weights[0]) <= 1e-12).all()


def test_softmax_weights_are_those_of_the_formula():
    distances = np.array([[1.0, 2.0, 3.0]])
    scale = (1 + 4 + 9) / 3
    expected = np.exp(-np.array([1, 4, 9]) / scale)
    assert_allclose(by_softmax(distances)[0] / expected, np.exp(1 / scale))


def test_sample_weights_multiply_distance_weights():
    model = KNNRegressor(2, weights="distance")
    model.fit([[0.0], [3.0]], [0.0, 1.0], sample_weight=[1.0, 4.0])
    assert_allclose(model.predict([[1.0]]), (4 / 2) / (1 + 4 / 2))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("nearest", "weights must be one of 'uniform', 'distance', 'softmax'"),
        (lambda d: d[:, :1], r"must return an array of shape \(50, 5\)"),
        (lambda d: -d - 1, "none negative"),
        (lambda d: d * 0, "some above zero"),
    ],
)
def test_wrong_weights_are_refused_in_words(weights, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(weights=weights).fit(X[TRAIN], y[TRAIN]).predict(X[TEST])


# Graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("rows", [None, X[TEST]])
def test_graphs_are_scikit_learns(mode, rows):
    ours, theirs = (
        kind(n_neighbors=4, radius=0.7).fit(X[TRAIN]) for kind in (NearestNeighbors, TheirNeighbors)
    )
    near, within = (
        [model.kneighbors_graph(rows, mode=mode), model.radius_neighbors_graph(rows, mode=mode)]
        for model in (ours, theirs)
    )
    for mine, other in zip(near, within, strict=True):
        assert mine.shape == other.shape
        # Equal rows may stand for one another; how far and how many they are may not differ.
        assert_allclose(
            np.sort(mine.toarray(), axis=1), np.sort(other.toarray(), axis=1), atol=1e-7
        )


def test_graphs_of_a_learned_metric_measure_its_distances():
    model = KNNClassifier(3, metric=LDA()).fit(X, y)
    graph = model.kneighbors_graph(X[:5], mode="distance").toarray()
    mapped = model.metric_.transform(X)
    gaps = np.linalg.norm(mapped[:5, None] - mapped[None], axis=2)
    assert_allclose(graph[graph > 0], gaps[graph > 0])


def test_oversampling_and_editing_work_with_a_learned_metric():
    samplers = pytest.importorskip("imblearn.over_sampling")
    editors = pytest.importorskip("imblearn.under_sampling")
    A, b = make_classification(300, 6, weights=[0.85], random_state=0)
    near = NearestNeighbors(6, metric=FrozenEstimator(LDA().fit(A, b)))
    _, more = samplers.SMOTE(k_neighbors=near, random_state=0).fit_resample(A, b)
    assert np.ptp(np.bincount(more)) == 0
    near = NearestNeighbors(4, metric=FrozenEstimator(LDA().fit(A, b)))
    _, fewer = editors.EditedNearestNeighbours(n_neighbors=near).fit_resample(A, b)
    assert 100 < len(fewer) < len(b)


def test_neighbours_without_targets_want_a_fitted_metric():
    with pytest.raises(ValueError, match="FrozenEstimator"):
        NearestNeighbors(metric=LDA()).fit(X)
    assert NearestNeighbors(metric=LDA()).fit(X, y).metric_.components_.shape == (2, 4)


# Names, leave-one-out, parameters -------------------------------------------------------------


def test_a_metric_may_be_given_by_its_name(tmp_path):
    model = KNNClassifier(3, metric="lda").fit(X[TRAIN], y[TRAIN])
    same = KNNClassifier(3, metric=LDA()).fit(X[TRAIN], y[TRAIN])
    assert_array_equal(model.predict(X[TEST]), same.predict(X[TEST]))
    save_model(model, tmp_path / "m.vicinal")
    again = load_model(tmp_path / "m.vicinal")
    assert_array_equal(again.predict(X[TEST]), same.predict(X[TEST]))
    assert KNNRegressor(metric="relieff").fit(X, X[:, 0]).predict(X[:2]).shape == (2,)


@pytest.mark.parametrize(
    ("metric", "message"),
    [("mlgn", "no method is called 'mlgn'. Did you mean mlng"), ("svm", "asks no neighbours")],
)
def test_a_wrong_name_is_refused_with_the_nearest(metric, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(metric=metric).fit(X, y)


def test_predicting_none_leaves_each_row_out():
    model = KNNClassifier(3).fit(X, y)
    alone = [
        KNNClassifier(3).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0]
        for i in range(0, 150, 10)
    ]
    assert_array_equal(model.predict(None)[::10], alone)
    assert model.predict_proba(None).shape == (150, 3)
    assert model.score(None, y) == np.mean(model.predict(None) == y)
    assert RadiusClassifier(0.5).fit(X, y).predict(None).shape == (150,)
    A, b = load_diabetes(return_X_y=True)
    theirs = KNeighborsRegressor(4).fit(A, b).predict(None)
    assert_allclose(KNNRegressor(4).fit(A, b).predict(None), theirs)


class Listening(MetricLearner):
    """Remembers what its fit was given beside rows and targets."""

    def fit(self, X, y=None, sample_weight=None, **given):
        self.components_ = np.eye(X.shape[1])
        self.n_features_in_ = X.shape[1]
        self.heard_ = given
        return self


def test_fit_parameters_reach_the_metric_and_follow_its_rows():
    groups = np.arange(150)
    model = KNNClassifier(metric=Listening()).fit(X, y, groups=groups, hint="long")
    assert_array_equal(model.metric_.heard_["groups"], groups)
    assert model.metric_.heard_["hint"] == "long"
    kept = np.arange(150) % 2
    model.fit(X, y, sample_weight=kept, groups=groups)
    assert_array_equal(model.metric_.heard_["groups"], groups[kept > 0])
    with pytest.raises(TypeError, match="fit got groups, but no metric"):
        KNNClassifier().fit(X, y, groups=groups)


# Sparse rows ----------------------------------------------------------------------------------


def test_sparse_rows_are_searched_as_dense_ones():
    rng = np.random.default_rng(0)
    rows = random_sparse(300, 4000, 0.01, format="csr", random_state=rng)
    queries = random_sparse(40, 4000, 0.01, format="csr", random_state=rng)
    ours, dense = SparseIndex(rows, block_size=7), ExactIndex(rows.toarray())
    for mine, other in zip(ours.query(queries, 9), dense.query(queries.toarray(), 9), strict=True):
        assert_allclose(mine, other)
    radius = float(np.sqrt(np.median(dense.query(queries.toarray(), 20)[0])))
    found, expected = (
        index.query_radius(q, radius) for index, q in ((ours, queries), (dense, queries.toarray()))
    )
    for mine, other in zip(found, expected, strict=True):
        assert_allclose(mine, other)


def test_equal_sparse_rows_are_at_distance_zero_and_come_in_order():
    rows = csr_matrix(np.tile([0.1, 0.0, 1e8], (4, 1)))
    squared, indices = SparseIndex(rows).query(rows[:1], 4)
    assert_array_equal(squared, [[0, 0, 0, 0]])
    assert_array_equal(indices, [[0, 1, 2, 3]])


def test_sparse_training_rows_predict_without_a_metric():
    rows = csr_matrix(np.where(X > 2, X, 0))
    model = KNNClassifier(3).fit(rows[TRAIN], y[TRAIN])
    dense = KNNClassifier(3).fit(rows[TRAIN].toarray(), y[TRAIN])
    assert_array_equal(model.predict(rows[TEST]), dense.predict(rows[TEST].toarray()))
    assert_array_equal(model.predict(None), dense.predict(None))
    with pytest.raises(ValueError, match="faiss searches dense rows"):
        KNNClassifier(index="faiss").fit(rows, y)
    with pytest.raises(ValueError, match="3 columns"):
        model._index.query(csr_matrix(np.ones((1, 3))), 1)


# Faiss, distances as functions, relevance -----------------------------------------------------


def test_search_parameters_of_faiss_follow_the_factory():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(2000, 16)), rng.normal(size=(200, 16))
    truth = ExactIndex(rows).query(queries, 5)[1]
    narrow, wide = (
        np.mean(FaissIndex(rows, f"IVF32,Flat;nprobe={n}").query(queries, 5)[1] == truth)
        for n in (1, 32)
    )
    assert narrow < 0.9
    assert wide > 0.999
    labels = np.arange(2000) % 3
    model = KNNClassifier(index="faiss:IVF32,Flat;nprobe=32").fit(rows, labels)
    assert_array_equal(model.predict(queries), KNNClassifier().fit(rows, labels).predict(queries))
    with pytest.raises(ValueError, match="faiss cannot build 'Flat;nonsense=3'"):
        FaissIndex(rows, "Flat;nonsense=3")


def test_the_distance_as_a_function_takes_rows_and_may_be_squared():
    metric = LDA().fit(X, y)
    distance = metric.get_metric()
    expected = metric.pair_distance(X[None, :2])[0]
    assert distance(X[0], X[1]) == pytest.approx(expected)
    assert distance(X[:1], X[1:2], squared=True) == pytest.approx(expected**2)
    with pytest.raises(ValueError, match=r"shape \(4,\) or \(1, 4\), got \(3,\)"):
        distance(X[0], [1.0, 2.0, 3.0])


def test_relevance_accounts_for_the_spread_of_the_features():
    scaled = StandardScaler().fit_transform(X)
    stretched = scaled * [1, 10, 0.1, 1]
    assert_allclose(Euclidean().fit(scaled).feature_relevance_, np.full(4, 0.25))
    assert_allclose(
        Euclidean().fit(stretched).feature_relevance_, np.square([1, 10, 0.1, 1]) / 102.01
    )
    # A map that undoes the stretching makes the same distance, and the same shares.
    one, other = (
        LDA(shrinkage=0.0).fit(rows, y).feature_relevance_ for rows in (scaled, stretched)
    )
    assert_allclose(one, other, rtol=1e-6)
    sparse = Euclidean().fit(csr_matrix(stretched)).feature_relevance_
    assert_allclose(sparse, Euclidean().fit(stretched).feature_relevance_)


def test_a_feature_that_hardly_varies_is_not_relevant():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3))
    A[:, 2] = 0
    A[0, 2] = 1e-3
    metric = Euclidean().fit(A)
    metric.components_ = np.diag([1.0, 1.0, 100.0])
    assert metric.feature_relevance_[2] < 1e-4


def test_relevant_features_can_be_selected():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 6))
    b = (A[:, 1] + A[:, 4] > 0).astype(int)
    chosen = SelectFromModel(ReliefF()).fit(A, b)
    assert_array_equal(chosen.get_support(indices=True), [1, 4])
