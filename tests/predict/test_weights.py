"""Weights: of votes and means, of classes, on their way to the metric, and of rows without any."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from vicinal import (
    LDA,
    KNNClassifier,
    KNNRegressor,
    LocalLinearRegressor,
    MetricLearner,
    RadiusClassifier,
    RadiusRegressor,
)
from vicinal.predict._votes import by_softmax

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
CLASSIFIERS = [KNNClassifier(3), RadiusClassifier(1.5)]
REGRESSORS = [KNNRegressor(3), RadiusRegressor(1.5), LocalLinearRegressor(20, ridge=0.1)]


class Remembering(MetricLearner):
    """Keeps the weights it was given."""

    def fit(self, X, y, sample_weight=None):
        self.components_ = np.eye(X.shape[1])
        self.n_features_in_ = X.shape[1]
        self.seen_ = None if sample_weight is None else np.asarray(sample_weight).tolist()
        return self


class Careless(TransformerMixin, BaseEstimator):
    """Takes no weights."""

    def fit(self, X, y=None):
        self.n_rows_ = len(X)
        return self

    def transform(self, X):
        return X


def draw(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return (
        X,
        rng.integers(0, 3, n),
        rng.integers(0, 4, n).astype(float),
        rng.uniform(-1, 1, (60, 2)),
    )


def outputs(model, Q):
    return model.predict_proba(Q) if hasattr(model, "predict_proba") else model.predict(Q)


# Votes and means --------------------------------------------------------------------------------


def test_a_heavy_neighbour_outvotes_two_light_ones():
    model = KNNClassifier(3).fit(LINE, list("abbcc"), sample_weight=[3, 1, 1, 1, 1])
    assert model.predict([[1.0]]).tolist() == ["a"]
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.6, 0.4, 0.0]])


def test_tied_weights_go_to_the_nearest_neighbours_class():
    weights = [0.3, 0.1, 0.1, 0.1, 0.5]
    X = np.array([[-0.5], [1.0], [2.0], [3.0], [90.0]])
    for order in (slice(None), slice(None, None, -1)):
        model = KNNClassifier(4).fit(X[order], list("abbbc")[order], np.array(weights)[order])
        assert model.predict([[0.0], [2.0]]).tolist() == ["a", "b"]
        shares = model.predict_proba([[0.0], [2.0]])
        np.testing.assert_allclose(shares, [[0.5, 0.5, 0], [0.5, 0.5, 0]])
        assert shares.argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_shares_are_of_the_neighbours_weights_and_the_largest_is_predicted(model):
    X, y, weights, Q = draw()
    weights += 0.25
    model = clone(model).fit(X, y, weights)
    shares = model.predict_proba(Q)
    if isinstance(model, KNNClassifier):
        near = list(model.kneighbors(Q, return_distance=False))
    else:
        near = list(model.radius_neighbors(Q, return_distance=False))
    for row, found in zip(shares, near, strict=True):
        totals = np.bincount(y[found], weights[found], minlength=3)
        np.testing.assert_allclose(row, totals / totals.sum(), rtol=1e-10)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(Q)).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("model", REGRESSORS[:2], ids=repr)
def test_the_mean_is_by_weight(model, n_outputs):
    X, _, weights, Q = draw()
    weights += 0.25
    targets = np.random.default_rng(1).normal(size=(150, n_outputs))
    model = clone(model).fit(X, targets if n_outputs > 1 else targets[:, 0], weights)
    if isinstance(model, KNNRegressor):
        near = list(model.kneighbors(Q, return_distance=False))
    else:
        near = list(model.radius_neighbors(Q, return_distance=False))
    expected = [np.average(targets[found], axis=0, weights=weights[found]) for found in near]
    np.testing.assert_allclose(model.predict(Q).reshape(60, -1), expected)


def test_the_plane_is_fitted_by_weight():
    X, _, weights, Q = draw()
    y = X @ [1.0, -2.0] + np.random.default_rng(1).normal(size=150)
    weights += 0.25
    plain = LocalLinearRegressor(150, ridge=0.0)
    model = clone(plain).fit(X, y, weights)
    for q, found in zip(Q[:5], model.predict(Q[:5]), strict=True):
        squared = np.square(X - q).sum(axis=1)
        kernel = 1 - squared / (squared.max() * (1 + 0.1 / 150))  # Epanechnikov's
        plane = LinearRegression().fit(X, y, sample_weight=kernel * weights)
        assert found == pytest.approx(plane.predict([q])[0])
    assert not np.allclose(plain.fit(X, y).predict(Q), model.predict(Q))


def test_open_settings_are_chosen_by_the_weighted_error():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, 400)[:, None]
    wavy = X[:, 0] > 0.5
    y = np.where(wavy, np.sin(60 * X[:, 0]), rng.normal(size=400))
    for heavy, expected in ((wavy, 15), (~wavy, 201)):
        model = LocalLinearRegressor(ridge=0.1).fit(X, y, np.where(heavy, 1.0, 1e-6))
        assert model.n_neighbors_ == expected


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=repr)
@pytest.mark.parametrize("weight", [1.0, 0.1, 7])
def test_equal_weights_change_no_bit(model, weight):
    X, y, _, Q = draw()
    expected = outputs(clone(model).fit(X, y), Q)
    assert (outputs(clone(model).fit(X, y, np.full(150, weight)), Q) == expected).all()
    assert (outputs(clone(model).fit(X, y, weight), Q) == expected).all()


# Rows without weight ----------------------------------------------------------------------------


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=repr)
def test_weights_of_zero_and_one_are_the_fit_on_some_of_the_rows(model):
    X, y, weights, Q = draw()
    some = weights > 1
    part = clone(model).fit(X[some], y[some])
    whole = clone(model).fit(X, y, some)
    assert (outputs(whole, Q) == outputs(part, Q)).all()
    assert (whole.predict(Q) == part.predict(Q)).all()
    rows = np.flatnonzero(some)
    assert (whole.kneighbors(Q, 4)[1] == rows[part.kneighbors(Q, 4)[1]]).all()
    assert (whole.kneighbors(n_neighbors=4)[1] == rows[part.kneighbors(n_neighbors=4)[1]]).all()
    assert (
        whole.targets_of(whole.kneighbors(Q)[1]) == part.targets_of(part.kneighbors(Q)[1])
    ).all()
    for X_ in (Q, None):
        found, expected = (m.radius_neighbors(X_, 0.5)[1] for m in (whole, part))
        assert all((a == rows[b]).all() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("model", [RadiusClassifier(1.5), RadiusRegressor(1.5)], ids=repr)
def test_within_a_radius_weights_are_repetitions(model):
    X, y, weights, Q = draw()
    often = np.repeat(np.arange(150), weights.astype(int))
    weighted, repeated = clone(model).fit(X, y, weights), clone(model).fit(X[often], y[often])
    far = np.vstack([Q, [[50.0, 50.0]]])
    np.testing.assert_allclose(outputs(weighted, far), outputs(repeated, far), rtol=1e-12)


def test_k_counts_rows_with_weight():
    with pytest.raises(ValueError, match="n_neighbors=4 is more than the n_samples=3"):
        KNNClassifier(4).fit(LINE, list("abbcc"), [0, 0, 1, 1, 1])


BAD = {
    "must have shape": [1.0, 2.0],
    "not negative": [1, -1, 1, 1, 1],
    "finite": [1, np.nan, 1, 1, 1],
    "not all zero": np.zeros(5),
}


@pytest.mark.parametrize("message", BAD)
@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=repr)
def test_senseless_weights_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(LINE, [0, 1, 1, 0, 0], BAD[message])


# Weights of classes -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_class_weights_multiply_sample_weights(model):
    X, y, weights, Q = draw()
    by_class = {0: 2.0, 2: 0.5}
    found = clone(model).set_params(class_weight=by_class).fit(X, y, weights)
    expected = clone(model).fit(X, y, weights * np.array([2.0, 1.0, 0.5])[y])
    np.testing.assert_allclose(outputs(found, Q), outputs(expected, Q))


def test_balanced_classes_weigh_the_same_in_total():
    model = RadiusClassifier(99.0, class_weight="balanced").fit(LINE, list("aaabc"))
    np.testing.assert_allclose(model.class_prior_, [1 / 3] * 3)
    model.fit(LINE, list("aaabc"), [1, 2, 3, 4, 5])
    np.testing.assert_allclose(model.predict_proba([[3.0]]), [[1 / 3] * 3])
    model.fit(LINE, list("aaabc"), [1, 2, 3, 4, 0])
    np.testing.assert_allclose(model.predict_proba([[3.0]]), [[0.5, 0.5, 0.0]])


def test_a_class_of_weight_zero_is_never_predicted():
    X, y = load_iris(return_X_y=True)
    model = KNNClassifier(5, class_weight={1: 0}).fit(X, y)
    assert set(model.predict(X)) == {0, 2}
    assert (model.predict_proba(X)[:, 1] == 0).all()
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="leaves no row any weight"):
        KNNClassifier(1, class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)


BAD_CLASSES = {
    "class_weight must be None": "even",
    "names the class 'd', which y does not hold; its classes are 'a', 'b', 'c'": {"d": 1, "a": 2},
    r"class_weight\['a'\] must be a number zero or more, got -1": {"a": -1},
    r"class_weight\['b'\] must be a number": {"b": None},
}


@pytest.mark.parametrize("message", BAD_CLASSES)
def test_senseless_class_weights_are_refused(message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(1, class_weight=BAD_CLASSES[message]).fit(LINE, list("abbcc"))


def test_a_class_that_is_missing_from_a_fold_may_have_a_weight():
    model = KNNClassifier(1, class_weight={"a": 1, "b": 2, "c": 1, "d": 5})
    assert model.fit(LINE, list("abbcc")).predict([[0.0]]).tolist() == ["a"]


# The metric -------------------------------------------------------------------------------------


@pytest.mark.parametrize("predictor", [KNNClassifier, RadiusRegressor])
def test_weights_reach_a_metric_that_takes_them(predictor):
    weights = [1, 2, 3, 4, 5]
    model = predictor(1, metric=Remembering()).fit(LINE, range(5), weights)
    assert model.metric_.seen_ == weights
    assert predictor(1, metric=Remembering()).fit(LINE, range(5)).metric_.seen_ is None
    pipeline = make_pipeline(Careless(), make_pipeline(StandardScaler(), Remembering()))
    model = predictor(1, metric=pipeline).fit(LINE, range(5), weights)
    assert model.metric_[-1][-1].seen_ == weights


def test_a_metric_without_weights_sees_the_rows_that_have_some():
    X, y, weights, _ = draw()
    some = weights > 0
    model = KNNClassifier(3, metric=LDA()).fit(X, y, weights)
    expected = LDA().fit(X[some], y[some])
    assert (model.metric_.components_ == expected.components_).all()
    assert KNNClassifier(3, metric=Careless()).fit(X, y, weights).metric_.n_rows_ == some.sum()


def test_a_metric_is_given_the_weights_of_the_rows_it_is_given():
    model = KNNClassifier(1, metric=Remembering(), class_weight={"c": 0})
    assert model.fit(LINE, list("abbcc"), [1, 0, 3, 4, 5]).metric_.seen_ == [1, 3]


def test_a_frame_keeps_its_names_where_rows_are_left_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(load_iris().data, columns=list("abcd"), index=range(7, 157))
    y, weights = load_iris().target, np.arange(150) % 3
    model = KNNClassifier(3, metric=StandardScaler()).fit(frame, y, weights)
    assert model.metric_.feature_names_in_.tolist() == list("abcd")
    expected = KNNClassifier(3, metric=StandardScaler()).fit(frame.to_numpy(), y, weights)
    assert (model.predict_proba(frame) == expected.predict_proba(frame.to_numpy())).all()


def test_a_frozen_metric_is_given_nothing():
    metric = FrozenEstimator(Remembering().fit(LINE, None))
    model = KNNClassifier(1, metric=metric).fit(LINE, range(5), [1, 2, 3, 4, 5])
    assert model.metric_.seen_ is None
    with config_context(enable_metadata_routing=True):
        model.fit(LINE, range(5), sample_weight=[1, 2, 3, 4, 5])


# Metadata routing -------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def asking(**settings):
    """A predictor and a metric that both ask for weights, behind a scaler that does not."""
    metric = Remembering().set_fit_request(sample_weight=True)
    predictor = KNNClassifier(3, metric=metric, **settings).set_fit_request(sample_weight=True)
    predictor.set_score_request(sample_weight=True)
    return make_pipeline(StandardScaler().set_fit_request(sample_weight=False), predictor)


def test_routed_weights_reach_the_metric_and_the_vote(routing):
    X, y, weights, Q = draw()
    weights += 0.5
    model = asking().fit(X, y, sample_weight=weights)
    assert model[-1].metric_.seen_ == weights.tolist()
    scaled = model[0].transform(X)
    expected = KNNClassifier(3).fit(scaled, y, weights)
    assert (model.predict(Q) == expected.predict(model[0].transform(Q))).all()
    assert (KNNClassifier(3).fit(scaled, y).predict(scaled) != model.predict(X)).any()


def test_a_metric_may_decline_routed_weights_and_must_say_something(routing):
    weights = [1.0, 2, 3, 4, 5]
    declining = Remembering().set_fit_request(sample_weight=False)
    model = KNNClassifier(1, metric=declining).fit(LINE, range(5), sample_weight=weights)
    assert model.metric_.seen_ is None
    assert model._weights is not None
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        KNNClassifier(1, metric=Remembering()).fit(LINE, range(5), sample_weight=weights)
    for metric in (None, Careless(), LDA()):
        KNNClassifier(1, metric=metric).fit(LINE, list("abbcc"), sample_weight=weights)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="before scikit-learn 1.8 the score of a Pipeline cannot be asked for weights",
)
def test_searches_and_cross_validation_route_weights(routing):
    X, y, weights, _ = draw()
    parameters = {"sample_weight": weights}
    scores = cross_validate(asking(), X, y, params=parameters, return_estimator=True, cv=3)
    for model, score in zip(scores["estimator"], scores["test_score"], strict=True):
        assert set(model[-1].metric_.seen_) == {1, 2, 3}
        assert 0 <= score <= 1
    search = GridSearchCV(asking(), {"knnclassifier__n_neighbors": [1, 9]}, cv=3)
    search.fit(X, y, **parameters)
    assert search.best_estimator_[-1].metric_.seen_ == weights[weights > 0].tolist()


def test_without_routing_a_pipeline_hands_weights_on_by_name():
    X, y, weights, _ = draw()
    model = make_pipeline(StandardScaler(), KNNClassifier(3, metric=Remembering()))
    model.fit(X, y, knnclassifier__sample_weight=weights)
    assert model[-1].metric_.seen_ == weights[weights > 0].tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_softmax_weights_do_not_depend_on_the_unit_of_distances(scale):
    distances = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(by_softmax(distances * scale), by_softmax(distances))
