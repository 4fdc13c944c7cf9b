"""k-nearest-neighbour prediction: the vote, the mean, and whose neighbours they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import get_tags

from vicinal import (
    EGOP,
    LDA,
    KNNClassifier,
    KNNRegressor,
    LocalLinearRegressor,
    MetricLearner,
    RadiusClassifier,
    RadiusRegressor,
)


class Mirror(MetricLearner):
    """Puts queries on the other side of zero: as asymmetric as a map can be."""

    def fit(self, X, y=None):
        self.components_ = np.eye(np.shape(X)[1])
        self.query_components_ = -self.components_
        self.n_features_in_ = np.shape(X)[1]
        return self


class Signs(TransformerMixin, BaseEstimator):
    """One bit a feature: whether it is positive (for queries: negative)."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        raise AssertionError("codes are wanted, not vectors")

    def encode(self, X):
        return np.packbits(np.asarray(X) > 0, axis=1)

    def encode_queries(self, X):
        return np.packbits(np.asarray(X) < 0, axis=1)


LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])


# The vote ---------------------------------------------------------------------------------------


def test_ties_go_to_the_nearest_neighbours_class():
    model = KNNClassifier(n_neighbors=2).fit([[0.0], [1.0]], ["near zero", "near one"])
    assert model.predict([[0.4], [0.6]]).tolist() == ["near zero", "near one"]


def test_ties_in_distance_go_to_the_lower_training_row():
    for order in ([0, 1], [1, 0]):
        X, y = np.array([[-1.0], [1.0]])[order], np.array(["left", "right"])[order]
        assert KNNClassifier(n_neighbors=1).fit(X, y).predict([[0.0]]).tolist() == [y[0]]


def test_a_tie_among_three_classes_leaves_out_the_one_that_lost():
    X = np.array([[0.1], [0.2], [0.3], [0.4], [0.5]])
    y = ["lonely", "b", "a", "a", "b"]
    assert KNNClassifier(n_neighbors=5).fit(X, y).predict([[0.0]]).tolist() == ["b"]


def test_probabilities_are_vote_shares_and_the_largest_is_predicted():
    X, y = load_iris(return_X_y=True)
    model = KNNClassifier(n_neighbors=4).fit(X[::2], y[::2])
    shares = model.predict_proba(X[1::2])
    labels = y[::2][model.kneighbors(X[1::2], return_distance=False)]
    np.testing.assert_allclose(shares, [[(row == r).mean() for r in range(3)] for row in labels])
    assert model.classes_[shares.argmax(axis=1)].tolist() == model.predict(X[1::2]).tolist()


def test_one_class_is_always_predicted():
    model = KNNClassifier(n_neighbors=1).fit(LINE, ["only"] * 5)
    assert model.predict([[3.0]]).tolist() == ["only"]
    assert model.predict_proba([[3.0]]).tolist() == [[1.0]]


def test_the_mean_is_of_the_neighbours_targets():
    model = KNNRegressor(n_neighbors=2).fit(LINE, [1.0, 3.0, 5.0, 7.0, 9.0])
    assert model.predict([[0.4], [10.6]]).tolist() == [2.0, 8.0]


def test_several_targets_are_averaged_each_by_itself():
    targets = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2])
    model = KNNRegressor(n_neighbors=2).fit(LINE, targets)
    assert model.predict([[10.6]]).tolist() == [[3.5, 12.5]]


def test_predictions_agree_with_scikit_learns_where_nothing_ties():
    X, y = load_diabetes(return_X_y=True)
    theirs = KNeighborsRegressor(n_neighbors=7).fit(X[:300], y[:300])
    ours = KNNRegressor(n_neighbors=7).fit(X[:300], y[:300])
    np.testing.assert_allclose(ours.predict(X[300:]), theirs.predict(X[300:]))
    labels = np.where(y > np.median(y), "high", "low")
    voters = KNeighborsClassifier(n_neighbors=7).fit(X[:300], labels[:300])
    model = KNNClassifier(n_neighbors=7).fit(X[:300], labels[:300])
    assert model.predict(X[300:]).tolist() == voters.predict(X[300:]).tolist()
    assert model.score(X[300:], labels[300:]) == voters.score(X[300:], labels[300:])
    np.testing.assert_allclose(model.predict_proba(X[300:]), voters.predict_proba(X[300:]))


# Neighbours -------------------------------------------------------------------------------------


def test_neighbours_come_with_distances_not_squared():
    distances, indices = KNNClassifier(n_neighbors=2).fit(LINE, range(5)).kneighbors([[4.0]])
    assert distances.tolist() == [[2.0, 3.0]]
    assert indices.tolist() == [[2, 1]]


def test_another_number_of_neighbours_may_be_asked_for():
    model = KNNClassifier(n_neighbors=2).fit(LINE, range(5))
    assert model.kneighbors([[4.0]], 1, return_distance=False).tolist() == [[2]]


def test_without_queries_each_training_row_gets_the_others():
    model = KNNClassifier(n_neighbors=1).fit(LINE, range(5))
    distances, indices = model.kneighbors()
    assert indices.ravel().tolist() == [1, 0, 1, 4, 3]
    assert distances.ravel().tolist() == [1.0, 1.0, 1.0, 1.0, 1.0]


def test_a_row_is_left_out_even_among_its_duplicates():
    X = np.zeros((6, 2))
    indices = KNNClassifier(n_neighbors=2).fit(X, range(6)).kneighbors(return_distance=False)
    assert indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_leave_one_out_agrees_with_leaving_each_out():
    X = np.random.default_rng(0).integers(0, 3, (30, 2)).astype(float)
    distances, indices = KNNRegressor(n_neighbors=4).fit(X, range(30)).kneighbors()
    for i in range(30):
        others = np.delete(np.arange(30), i)
        alone = KNNRegressor(n_neighbors=4).fit(X[others], others)
        expected = alone.kneighbors(X[[i]])
        assert indices[i].tolist() == others[expected[1][0]].tolist()
        assert distances[i].tolist() == expected[0][0].tolist()


# Metrics ----------------------------------------------------------------------------------------


def test_queries_and_training_rows_go_through_their_own_maps():
    model = KNNClassifier(n_neighbors=1, metric=Mirror()).fit(LINE - 5, list("abcde"))
    assert model.predict([[5.0], [-5.5]]).tolist() == ["a", "d"]
    assert model.kneighbors([[5.0]])[0].tolist() == [[0.0]]
    # Row 0 stands at -5 as a row and at 5 as a query, nearest to row 3 at 5.
    assert model.kneighbors(return_distance=False).ravel().tolist() == [3, 3, 3, 0, 0]


@pytest.mark.parametrize("wrap", [make_pipeline, FrozenEstimator, None])
def test_a_pipeline_or_a_frozen_metric_keeps_its_two_maps(wrap):
    if wrap is make_pipeline:
        metric = make_pipeline(StandardScaler(with_std=False), Mirror())
    else:
        metric = make_pipeline(StandardScaler(with_std=False), Mirror()).fit(LINE - 5)
        metric = FrozenEstimator(metric) if wrap else make_pipeline(FrozenEstimator(metric))
    model = KNNClassifier(n_neighbors=1, metric=metric).fit(LINE - 5, list("abcde"))
    mean = (LINE - 5).mean()
    query = 2 * mean - (LINE[0] - 5)  # about the mean, the mirror image of row 0
    assert model.predict([query]).tolist() == ["a"]


def test_a_metric_that_encodes_is_searched_by_differing_bits():
    X = np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, -1]], dtype=float)
    model = KNNClassifier(n_neighbors=3, metric=Signs()).fit(X, [0, 1, 2])
    distances, indices = model.kneighbors([[-1.0, -1.0, -1.0]])
    assert distances.tolist() == [[0.0, 1.0, 3.0]]
    assert indices.tolist() == [[0, 1, 2]]
    assert model.kneighbors(n_neighbors=1)[1].ravel().tolist() == [2, 2, 0]


def test_a_plain_transformer_serves_as_a_metric():
    X, y = load_iris(return_X_y=True)
    model = KNNClassifier(n_neighbors=3, metric=PCA(2)).fit(X, y)
    projected = PCA(2).fit_transform(X)
    expected = KNNClassifier(n_neighbors=3).fit(projected, y)
    np.testing.assert_allclose(model.kneighbors(X)[0], expected.kneighbors(projected)[0])


def test_the_metric_is_cloned_and_the_clone_fitted():
    metric = PCA(1)
    model = KNNClassifier(n_neighbors=1, metric=metric).fit(LINE, range(5))
    assert not hasattr(metric, "components_")
    assert model.metric_.components_.shape == (1, 1)
    assert KNNClassifier(n_neighbors=1).fit(LINE, range(5)).metric_ is None


def test_a_frozen_metric_is_not_fitted_again():
    metric = PCA(1).fit(np.random.default_rng(0).normal(size=(20, 2)))
    model = KNNClassifier(n_neighbors=1, metric=FrozenEstimator(metric)).fit(
        np.random.default_rng(1).normal(size=(9, 2)), range(9)
    )
    assert model.metric_.components_ is metric.components_


def test_parameters_of_the_metric_can_be_searched():
    model = KNNClassifier(metric=PCA()).set_params(metric__n_components=2, n_neighbors=1)
    assert clone(model).metric.n_components == 2


class Counting(MetricLearner):
    """Learns nothing, for a number of neighbours."""

    def __init__(self, n_neighbors=None):
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        self.components_ = np.eye(np.shape(X)[1])
        self.n_features_in_ = np.shape(X)[1]
        return self


class Wrapping(Counting):
    """Hands everything on to another."""

    def __init__(self, estimator):
        self.estimator = estimator


@pytest.mark.parametrize("predictor", [KNNClassifier, KNNRegressor])
def test_a_metric_without_a_number_of_neighbours_learns_for_the_predictors(predictor):
    metric = Counting()
    assert predictor(2, metric=metric).fit(LINE, range(5)).metric_.n_neighbors == 2
    assert metric.n_neighbors is None
    pipeline = make_pipeline(StandardScaler(), make_pipeline(Counting()))
    model = predictor(4, metric=pipeline).fit(LINE, range(5))
    assert model.metric_[-1][-1].n_neighbors == 4
    model = predictor(4, metric=Wrapping(Counting())).fit(LINE, range(5))
    assert model.metric_.estimator.n_neighbors == 4


def test_a_metric_with_a_number_of_neighbours_of_its_own_keeps_it():
    for metric in (Counting(3), FrozenEstimator(Counting().fit(LINE, None))):
        expected = metric.n_neighbors
        model = KNNClassifier(2, metric=metric).fit(LINE, range(5))
        assert model.metric_.n_neighbors == expected
    model = RadiusClassifier(metric=Counting()).fit(LINE, range(5))
    assert model.metric_.n_neighbors is None


def test_a_search_over_k_moves_the_metrics_too():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(KNNClassifier(metric=Counting()), {"n_neighbors": [60, 3]}, cv=3).fit(
        X, y
    )
    assert search.best_estimator_.metric_.n_neighbors == search.best_params_["n_neighbors"]


@pytest.mark.parametrize(
    ("metric", "several"),
    [
        (None, True),
        (PCA(1), True),
        (EGOP(), False),
        (make_pipeline(StandardScaler(), EGOP()), False),
        (make_pipeline(StandardScaler(), PCA(1)), True),
        (FrozenEstimator(EGOP()), True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("predictor", [KNNRegressor, RadiusRegressor, LocalLinearRegressor])
def test_several_targets_are_claimed_where_the_metric_takes_them(predictor, metric, several):
    tags = get_tags(predictor(metric=metric)).target_tags
    assert tags.multi_output is several
    assert tags.single_output


def test_a_metric_that_gives_frames_is_searched_by_their_values():
    X, y = load_iris(return_X_y=True)
    for metric in (LDA(), make_pipeline(StandardScaler(), LDA(), "passthrough")):
        expected = KNNClassifier(metric=metric).fit(X, y).predict(X)
        model = KNNClassifier(metric=metric.set_output(transform="pandas")).fit(X, y)
        assert isinstance(model._training_queries(), np.ndarray)
        assert (model.predict(X) == expected).all()


def test_column_names_reach_the_metric():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(load_iris().data, columns=list("abcd"))
    model = KNNClassifier(metric=StandardScaler()).fit(frame, load_iris().target)
    assert model.metric_.feature_names_in_.tolist() == list("abcd")
    assert model.feature_names_in_.tolist() == list("abcd")
    model.predict(frame)


def test_sparse_rows_are_taken_where_the_metric_takes_them():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = load_iris(return_X_y=True)
    model = KNNClassifier(metric=TruncatedSVD(2, random_state=0))
    dense = clone(model).fit(X, y).predict(X)
    assert model.fit(sparse.csr_array(X), y).predict(sparse.csr_array(X)).tolist() == dense.tolist()
    plain = KNNClassifier().fit(X, y).predict(X)
    assert KNNClassifier().fit(sparse.csr_array(X), y).predict(X).tolist() == plain.tolist()


@pytest.mark.parametrize("metric", [3, PCA, object()])
def test_what_is_no_metric_is_refused(metric):
    with pytest.raises(ValueError, match=r"metric must have fit and transform, .* or None"):
        KNNClassifier(n_neighbors=1, metric=metric).fit(LINE, range(5))


# Settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"block_size": 7}, {"n_jobs": 2}, {"n_jobs": 1}])
def test_predictions_do_not_depend_on_blocks_or_threads(settings):
    rng = np.random.default_rng(0)
    X, y, Q = rng.integers(0, 4, (300, 3)), rng.integers(0, 3, 300), rng.integers(0, 4, (99, 3))
    expected = KNNClassifier(n_neighbors=4).fit(X, y).predict(Q)
    assert KNNClassifier(n_neighbors=4, **settings).fit(X, y).predict(Q).tolist() == list(expected)


def test_faiss_may_do_the_search():
    pytest.importorskip("faiss")
    X, y = load_iris(return_X_y=True)
    metric = GaussianRandomProjection(3, random_state=0)
    exact = KNNClassifier(n_neighbors=3, metric=metric).fit(X[::2], y[::2])
    for index in ("faiss", "faiss:Flat", "faiss:HNSW16"):
        model = clone(exact).set_params(index=index).fit(X[::2], y[::2])
        assert (model.predict(X[1::2]) == exact.predict(X[1::2])).mean() > 0.95


@pytest.mark.parametrize("index", ["exactly", "exact:Flat", "hnsw", 3, None])
def test_an_unknown_index_is_refused(index):
    with pytest.raises(ValueError, match="index must be 'exact', 'faiss'"):
        KNNClassifier(n_neighbors=1, index=index).fit(LINE, range(5))


def test_codes_and_faiss_do_not_go_together():
    with pytest.raises(ValueError, match="bit codes"):
        KNNClassifier(n_neighbors=1, metric=Signs(), index="faiss").fit(LINE, range(5))


@pytest.mark.parametrize("predictor", [KNNClassifier, KNNRegressor])
@pytest.mark.parametrize("k", [0, -1, 6, 2.0, "3", None])
def test_a_number_of_neighbours_that_cannot_be_is_refused_at_once(predictor, k):
    with pytest.raises(ValueError, match="n_neighbors"):
        predictor(n_neighbors=k).fit(LINE, range(5))


def test_leaving_one_out_leaves_one_neighbour_fewer():
    model = KNNClassifier(n_neighbors=5).fit(LINE, range(5))
    with pytest.raises(ValueError, match="use at most 4"):
        model.kneighbors()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        KNNClassifier(n_neighbors=1).fit([[0.0], [bad]], [0, 1])
    model = KNNClassifier(n_neighbors=1).fit(LINE, range(5))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict([[bad]])
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0, 2.0]])


def test_the_targets_of_neighbours_are_those_given_to_fit():
    X, names = [[0.0], [1.0], [9.0]], ["b", "a", "b"]
    votes = KNNClassifier(n_neighbors=2).fit(X, names)
    near = votes.kneighbors([[8.0], [0.1]], return_distance=False)
    assert votes.targets_of(near).tolist() == [["b", "a"], ["b", "a"]]
    numbers = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    means = KNNRegressor(n_neighbors=1).fit(X, numbers)
    assert means.targets_of([2, 0]).tolist() == [[5.0, 6.0], [1.0, 2.0]]


@pytest.mark.parametrize("predictor", [KNNClassifier(), KNNRegressor()])
def test_the_targets_of_an_unfitted_predictor_are_refused(predictor):
    with pytest.raises(NotFittedError):
        predictor.targets_of([0])
