"""GW, EGOP and EJOP: what they learn, what they refuse, and what does not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import vicinal
from vicinal import (
    EGOP,
    EJOP,
    GradientWeights,
    KNNClassifier,
    KNNRegressor,
    Smoothing,
    gradient_metric,
)
from vicinal.metric.gradients._base import GradientMetric
from vicinal.metric.gradients._spectrum import (
    MetricKind,
    bootstrap_spectra,
    metric_components,
    spectrum,
)

ESTIMATORS = ["analytic", "difference", "local-linear", "kernel-ridge"]


def index_data(n, d=10, seed=0):
    """y depends on two directions of d: sin(2u₁) + u₂²."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    X = rng.normal(size=(n, d))
    u = X @ V
    return X, np.sin(2 * u[:, 0]) + u[:, 1] ** 2 + 0.1 * rng.normal(size=n), V


def three_classes(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])


def largest_angle(metric, V):
    return np.degrees(subspace_angles(metric.components_.T, V).max())


# What they learn -------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_leading_eigenvectors_approach_the_true_subspace_as_rows_are_added(estimator):
    angles = []
    for n in (200, 1200):
        X, y, V = index_data(n)
        once = EGOP(estimator, n_iter=1, n_components=2, random_state=0)
        angles.append(largest_angle(once.fit(X, y), V))
    assert angles[1] < 0.7 * angles[0]
    assert angles[1] < 30


def test_the_other_eigenvalues_vanish():
    X, y, _ = index_data(1200)
    values = EGOP("local-linear", n_iter=3, random_state=0).fit(X, y).eigenvalues_
    assert values[2:].sum() < 0.05 * values[:2].sum()


def shrinking_sines(n=1500, d=15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(X * (4 * 0.5 ** np.arange(d))).sum(axis=1)


def test_egop_survives_a_rotation_of_the_features_and_gradient_weights_do_not():
    X, y = shrinking_sines()
    R = np.linalg.qr(np.random.default_rng(1).normal(size=(15, 15)))[0]
    errors = {}
    for learner in (EGOP, GradientWeights):
        for name, Z in (("plain", X), ("rotated", X @ R)):
            metric = learner("analytic", diagonal=False, random_state=0, power=1.0)
            model = KNNRegressor(5, metric=metric)
            model.fit(Z[:1000], y[:1000])
            errors[learner, name] = np.mean((model.predict(Z[1000:]) - y[1000:]) ** 2) / y.var()
    assert abs(errors[EGOP, "rotated"] - errors[EGOP, "plain"]) < 1e-6
    assert errors[GradientWeights, "rotated"] > errors[GradientWeights, "plain"] + 0.05


@pytest.mark.parametrize("learner", [EJOP, GradientWeights])
def test_classes_are_parted_by_the_features_that_part_them(learner):
    X, y = three_classes()
    metric = learner(random_state=0).fit(X, y)
    assert set(np.argsort(metric.feature_relevance_)[-2:]) == {0, 1}
    plain = KNNClassifier(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    model = KNNClassifier(5, metric=learner(random_state=0)).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > plain + 0.05


def test_iterating_finds_two_features_among_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 12))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    relevance = [
        EGOP("local-linear", n_iter=n, random_state=0).fit(X, y).feature_relevance_[:2].sum()
        for n in (1, 4)
    ]
    assert relevance[1] > max(relevance[0], 0.9)


def test_classes_among_noise_are_iterated_on_without_being_asked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 12))
    y = (X[:, 0] > 0) + 2 * (X[:, 0] * X[:, 1] > 0)
    once, default = (EJOP(n_iter=n, random_state=0).fit(X, y) for n in (1, None))
    assert default.n_iter_ >= 2
    assert default.feature_relevance_[:2].sum() > once.feature_relevance_[:2].sum()


def test_cross_validation_takes_the_bandwidth_that_predicts_better():
    X, y, _ = index_data(600)
    metric = EGOP("analytic", random_state=0).fit(X, y)
    halves = slice(0, 300), slice(300, 600)
    errors = {}
    for h in (metric.bandwidth_, metric.bandwidth_ / 4):
        model = KNNRegressor(7, metric=EGOP("analytic", bandwidth=h)).fit(
            X[halves[0]], y[halves[0]]
        )
        errors[h] = np.mean((model.predict(X[halves[1]]) - y[halves[1]]) ** 2)
    assert errors[metric.bandwidth_] < errors[metric.bandwidth_ / 4]


# What they are ---------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_matrix_is_the_mean_outer_product_of_the_stored_gradients(estimator):
    X, y, _ = index_data(200, d=5)
    metric = EGOP(estimator, store_gradients=True, random_state=0).fit(X, y)
    expected = metric.gradients_.T @ metric.gradients_ / len(X)
    np.testing.assert_allclose(metric.outer_product_, expected, rtol=1e-10)
    np.testing.assert_allclose(metric.eigenvalues_.sum(), np.trace(expected), rtol=1e-10)


def test_jacobians_are_features_by_classes():
    X, y = three_classes(150)
    metric = EJOP("analytic", store_gradients=True, random_state=0).fit(X, y)
    assert metric.gradients_.shape == (150, 6, 3)
    np.testing.assert_allclose(metric.gradients_.sum(axis=2), 0, atol=1e-9)
    expected = np.einsum("mdc,mec->de", metric.gradients_, metric.gradients_) / 150
    np.testing.assert_allclose(metric.outer_product_, expected, rtol=1e-9, atol=1e-15)


def test_gradient_weights_are_mean_absolute_gradients_on_the_diagonal():
    X, y, _ = index_data(200, d=5)
    metric = GradientWeights("analytic", store_gradients=True, random_state=0).fit(X, y)
    expected = np.diag(np.abs(metric.gradients_).mean(axis=0))
    np.testing.assert_allclose(metric.outer_product_, expected, rtol=1e-10)


def test_the_map_is_the_root_of_the_matrix_scaled_to_mean_eigenvalue_one():
    X, y, _ = index_data(200, d=5)
    metric = EGOP("analytic", power=1.0, random_state=0).fit(X, y)
    M = metric.get_mahalanobis_matrix()
    np.testing.assert_allclose(np.trace(M), 5)
    np.testing.assert_allclose(
        M / np.trace(M), metric.outer_product_ / np.trace(metric.outer_product_), atol=1e-12
    )
    for row in metric.components_:
        assert row[np.abs(row).argmax()] >= 0


def test_fewer_components_are_the_leading_ones():
    X, y, _ = index_data(200, d=5)
    whole = EGOP(random_state=0).fit(X, y)
    part = EGOP(random_state=0, n_components=2).fit(X, y)
    np.testing.assert_allclose(part.components_, whole.components_[:2])
    assert part.transform(X).shape == (200, 2)


def test_the_power_bends_the_spectrum():
    matrix = np.diag([9.0, 4.0, 0.0])
    values, vectors = spectrum(matrix)
    np.testing.assert_allclose(values, [9, 4, 0])
    components = metric_components(values, vectors, power=0.5)
    expected = np.diag([3.0, 2.0, 0.0]) * 3 / 5
    np.testing.assert_allclose(components.T @ components, expected, atol=1e-12)


# Intervals -------------------------------------------------------------------------------------


def test_bootstrap_intervals_hold_the_estimate_and_narrow_with_more_points():
    widths = []
    for n in (150, 1000):
        X, y, _ = index_data(n, d=5)
        metric = EGOP("local-linear", store_gradients=True, random_state=0).fit(X, y)
        low, high = metric.spectrum_interval(n_resamples=60).T
        assert np.all(low[:2] <= metric.eigenvalues_[:2])
        assert np.all(metric.eigenvalues_[:2] <= high[:2])
        angles = metric.principal_angle_interval(n_components=2, n_resamples=60)
        assert angles.shape == (2, 2)
        widths.append(((high - low)[0] / metric.eigenvalues_[0], angles[-1, 1]))
    assert widths[1][0] < widths[0][0]
    assert widths[1][1] < widths[0][1]


def test_the_intervals_of_gradient_weights_are_those_of_their_own_matrix():
    X, y, _ = index_data(400, d=5)
    metric = GradientWeights("local-linear", store_gradients=True, random_state=0).fit(X, y)
    low, high = metric.spectrum_interval(n_resamples=60).T
    assert np.all((low[:2] <= metric.eigenvalues_[:2]) & (metric.eigenvalues_[:2] <= high[:2]))


def test_intervals_are_of_the_weighted_spectrum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    steep = X[:, 1] > 0
    y = np.where(steep, 3.0, 0.3) * X[:, 0]
    weights = np.where(steep, 10.0, 0.1)
    metric = EGOP("local-linear", n_iter=1, store_gradients=True, random_state=0)
    plain = metric.fit(X, y).spectrum_interval(n_resamples=60)[0]
    weighted = metric.fit(X, y, sample_weight=weights).spectrum_interval(n_resamples=60)[0]
    assert weighted[0] <= metric.eigenvalues_[0] <= weighted[1]
    assert plain[1] < weighted[0]
    more = metric.partial_fit(X[:50], sample_weight=weights[:50])
    low, high = more.spectrum_interval(n_resamples=60)[0]
    assert low <= more.eigenvalues_[0] <= high


def test_a_point_without_weight_is_not_resampled():
    rng = np.random.default_rng(1)
    gradients, weights = rng.normal(size=(40, 2, 3)), rng.random(40)
    weights[10:] = 0
    kind = MetricKind()
    spectra, angles = bootstrap_spectra(gradients, weights, 5, 2, np.random.RandomState(0), kind)
    kept = bootstrap_spectra(gradients[:10], weights[:10], 5, 2, np.random.RandomState(0), kind)
    np.testing.assert_allclose(spectra, kept[0])
    np.testing.assert_allclose(angles, kept[1])


def test_intervals_without_stored_gradients_say_what_to_do():
    X, y, _ = index_data(100, d=5)
    with pytest.raises(ValueError, match="store_gradients=True"):
        EGOP(random_state=0).fit(X, y).spectrum_interval()


# Sums that merge -------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_points_added_in_parts_give_what_points_added_at_once_give(estimator):
    X, y, _ = index_data(300, d=5)
    weights = np.random.default_rng(0).uniform(0.5, 5, 300)

    def learner():
        return EGOP(estimator, random_state=0, store_gradients=True)

    first = slice(0, 100)
    together = learner().partial_fit(X[first], y[first], weights[first])
    together.partial_fit(X[100:], sample_weight=weights[100:])
    apart = learner().partial_fit(X[first], y[first], weights[first])
    for part in (slice(100, 130), slice(130, 201), slice(201, 300)):
        apart.partial_fit(X[part], sample_weight=weights[part])
    assert apart.n_evaluations_ == together.n_evaluations_ == 300
    np.testing.assert_allclose(apart.outer_product_, together.outer_product_, rtol=1e-9)
    np.testing.assert_allclose(apart.gradients_, together.gradients_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("learner", "classes"),
    [(EGOP("analytic"), False), (EGOP(), False), (EJOP(), True), (GradientWeights(), True)],
    ids=lambda value: type(value).__name__ if isinstance(value, GradientMetric) else "",
)
def test_points_added_after_a_fit_count_beside_those_of_the_fit(learner, classes):
    X, y, _ = index_data(200, d=5)
    y = np.digitize(y, [0, 1]) if classes else y
    first, more = slice(0, 120), slice(120, 200)
    learner = clone(learner).set_params(random_state=0, store_gradients=True)
    added = clone(learner).fit(X[first], y[first]).partial_fit(X[more])
    assert added.n_evaluations_ == 200
    fitted = learner.fit(X[first], y[first])
    new = fitted.estimate_gradients(X[more], X[first], y[first])
    gradients = np.concatenate([fitted.gradients_, new]).reshape(200, 5, -1)
    if isinstance(learner, GradientWeights):
        expected = np.diag(np.abs(gradients).sum(axis=2).mean(axis=0))
    else:
        expected = np.einsum("mdc,mec->de", gradients, gradients) / 200
    scale = np.abs(expected).max()
    np.testing.assert_allclose(added.outer_product_, expected, rtol=1e-6, atol=1e-9 * scale)


def test_a_fit_begins_anew_and_a_part_goes_on():
    X, y, _ = index_data(120, d=4)
    metric = EGOP("analytic", random_state=0).fit(X[:60], y[:60]).partial_fit(X[60:])
    metric.fit(X, y)
    assert metric.n_evaluations_ == 120
    np.testing.assert_array_equal(
        metric.components_, EGOP("analytic", random_state=0).fit(X, y).components_
    )


def test_whether_gradients_are_stored_is_settled_by_the_fit():
    X, y, _ = index_data(120, d=4)
    metric = EGOP("analytic", random_state=0).fit(X, y)
    assert not hasattr(metric.set_params(store_gradients=True).partial_fit(X), "gradients_")
    metric.fit(X, y).set_params(store_gradients=False).partial_fit(X[:30])
    assert len(metric.gradients_) == metric.n_evaluations_ == 150


def test_a_first_part_alone_is_a_fit():
    X, y, _ = index_data(120, d=5)
    first = EGOP(random_state=0).partial_fit(X, y)
    np.testing.assert_array_equal(first.components_, EGOP(random_state=0).fit(X, y).components_)


def test_weights_count_rows_as_often_as_they_say():
    X, y, _ = index_data(120, d=4)
    times = np.random.default_rng(0).integers(0, 3, 120)
    weighed = EGOP("analytic", random_state=0).fit(X, y, sample_weight=times)
    repeated = EGOP("analytic", random_state=0).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert weighed.bandwidth_ == repeated.bandwidth_
    np.testing.assert_allclose(weighed.outer_product_, repeated.outer_product_, rtol=1e-8)
    np.testing.assert_allclose(weighed.feature_spread_, np.repeat(X, times, 0).std(axis=0))
    np.testing.assert_allclose(weighed.feature_relevance_, repeated.feature_relevance_, rtol=1e-8)


@pytest.mark.parametrize("learner", [EGOP, EJOP, GradientWeights])
def test_what_a_row_without_weight_says_does_not_matter(learner):
    X, y, _ = index_data(120, d=4)
    y = y if learner is EGOP else np.digitize(y, [-0.5, 0.5])
    strange = np.append(y, np.array([10**9], y.dtype))
    rows = np.vstack([X, np.full((1, 4), 1e6)])
    weighed = learner(random_state=0).fit(rows, strange, sample_weight=[1.0] * 120 + [0.0])
    alone = learner(random_state=0).fit(X, y)
    np.testing.assert_allclose(weighed.components_, alone.components_)
    np.testing.assert_allclose(weighed.feature_relevance_, alone.feature_relevance_)
    if learner is EJOP:
        np.testing.assert_array_equal(weighed.classes_, alone.classes_)


@pytest.mark.parametrize("learner", [EGOP, GradientWeights])
def test_a_saved_metric_is_the_same_metric(learner, tmp_path):
    X, y, _ = index_data(80, d=4)
    metric = learner(random_state=0).fit(X, y)
    vicinal.save_model(metric, tmp_path / "metric.vicinal")
    loaded = vicinal.load_model(tmp_path / "metric.vicinal")
    np.testing.assert_array_equal(loaded.transform(X), metric.transform(X))
    np.testing.assert_allclose(
        loaded.partial_fit(X + 0.1).outer_product_, metric.partial_fit(X + 0.1).outer_product_
    )


# What does not change them ---------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("estimator", ["auto", *ESTIMATORS])
def test_units_do_not_change_the_metric(scale, estimator):
    X, y, _ = index_data(150, d=4)
    plain = EGOP(estimator, random_state=0).fit(X, y)
    scaled = EGOP(estimator, random_state=0).fit(X * scale, y / scale)
    np.testing.assert_allclose(np.abs(scaled.components_), np.abs(plain.components_), atol=1e-5)


def test_a_subsample_of_points_is_nearly_the_whole():
    X, y, V = index_data(1000)
    metric = EGOP("analytic", n_evaluations=300, n_components=2, random_state=0).fit(X, y)
    assert metric.n_evaluations_ == 300
    assert largest_angle(metric, V) < 30


@pytest.mark.parametrize("estimator", ["analytic", "local-linear", "kernel-ridge"])
def test_of_more_features_than_rows_only_directions_between_rows_count(estimator):
    X = np.random.default_rng(0).normal(size=(30, 50))
    metric = EGOP(estimator, random_state=0).fit(X, X[:, 0])
    between = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:29]
    projected = metric.components_ @ between.T @ between
    np.testing.assert_allclose(metric.components_, projected, atol=1e-6)
    assert metric.feature_relevance_.argmax() == 0


def test_single_precision_stays_single_precision():
    X, y, _ = index_data(100, d=4)
    metric = EGOP(random_state=0).fit(X.astype(np.float32), y)
    assert metric.components_.dtype == np.float32
    assert metric.transform(X.astype(np.float32)).dtype == np.float32


# Targets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([0.5, 1.0, 7.25], EGOP),
        ([1.0, 2.0, 3.0], EJOP),
        ([0, 1, 1], EGOP),
        (["a", "b", "b"], EGOP),
        ([0, 1, 2], EJOP),
        (["a", "b", "c"], EJOP),
        (list(range(150)), EGOP),
    ],
)
def test_the_target_picks_its_metric(y, expected):
    assert type(gradient_metric(y)) is expected


def test_two_classes_by_any_name_are_zero_and_one():
    X, y, _ = index_data(100, d=4)
    numbers = EGOP(random_state=0).fit(X, (y > 0).astype(float))
    names = EGOP(random_state=0).fit(X, np.where(y > 0, "yes", "no"))
    np.testing.assert_allclose(names.components_, numbers.components_)


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bandwidth": 0}, "bandwidth must be a number above zero, got 0"),
        ({"bandwidth": -1.0}, "bandwidth must be a number above zero"),
        ({"bandwidth": np.nan}, "bandwidth must be a number above zero"),
        ({"bandwidth": "wide"}, "bandwidth must be a number, None or 'rule'"),
        ({"estimator": "numerical"}, "estimator must be one of"),
        (
            {"estimator": "analytic", "smoothing__kernel": "triangle"},
            "differentiates a Gaussian kernel",
        ),
        ({"smoothing__kernel": "boxcar"}, "kernel must be one of"),
        ({"smoothing__indicator": "maybe"}, "indicator must be one of"),
        ({"estimator": "difference", "smoothing__step": 0.0}, "step must be above zero"),
        ({"estimator": "difference", "smoothing__step": [1.0, 2.0]}, "one a feature"),
        (
            {"estimator": "difference", "smoothing__step": np.ones(4), "n_iter": 2},
            "one number where n_iter",
        ),
        ({"n_iter": 0}, "n_iter must be at least 1, got 0"),
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"n_components": 5}, "n_components=5 is more than the 4 features; ask for at most 4"),
        ({"smoothing__n_local": 1}, "n_local must be at least 2, got 1"),
        ({"n_evaluations": "many"}, "n_evaluations must be a whole number"),
        ({"smoothing__temperature": 0.0}, "temperature must be a number above zero"),
        ({"smoothing__ridge": -1}, "ridge must be a number above zero"),
        ({"power": 0}, "power must be a number above zero"),
        ({"smoothing__confidence": 1.5}, "confidence must be below 1"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"block_size": 0}, "block_size"),
        ({"bandwidth": 1.0}, "estimator='auto' chooses the bandwidth"),
    ],
)
def test_nonsense_is_refused_with_its_value(parameters, message):
    X, y, _ = index_data(60, d=4)
    with pytest.raises(ValueError, match=message):
        EGOP(smoothing=Smoothing()).set_params(**parameters).fit(X, y)


def test_what_is_no_smoothing_is_refused():
    X, y, _ = index_data(60, d=4)
    with pytest.raises(
        ValueError, match=r"smoothing must be a vicinal.Smoothing or None, got 'tri"
    ):
        EGOP(smoothing="triangle").fit(X, y)


def test_a_smoothing_is_cloned_saved_and_searched_with_its_metric(tmp_path):
    X, y, _ = index_data(60, d=4)
    metric = EGOP("local-linear", smoothing=Smoothing(n_local=20, ridge=0.1), random_state=0)
    fitted = clone(metric).fit(X, y)
    assert (fitted.n_local_, fitted.ridge_) == (20, 0.1)
    vicinal.save_model(fitted, tmp_path / "m.vicinal")
    again = vicinal.load_model(tmp_path / "m.vicinal")
    assert again.get_params()["smoothing__n_local"] == 20
    assert_allclose(again.transform(X), fitted.transform(X))
    model = KNNRegressor(metric=metric, n_neighbors=3)
    found = GridSearchCV(model, {"metric__smoothing__ridge": [0.1, 1.0]}, cv=2).fit(X, y)
    assert found.best_params_["metric__smoothing__ridge"] in (0.1, 1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"estimator": "analytic"},
        {"estimator": "difference"},
        {"estimator": "difference", "smoothing": Smoothing("biweight")},
        {"estimator": "local-linear"},
    ],
)
def test_a_bandwidth_nothing_is_within_is_refused_with_a_better_one(parameters):
    X, y, _ = index_data(60, d=4)
    with pytest.raises(
        ValueError, match=r"bandwidth=1e-06.*median distance.*try bandwidth="
    ) as info:
        EGOP(bandwidth=1e-6, **parameters).fit(X, y)
    better = float(str(info.value).split("try bandwidth=")[1].split(",")[0])
    EGOP(bandwidth=better, **parameters).fit(X, y)


@pytest.mark.parametrize("value", [0.0, 3.7, 1e12])
def test_a_constant_target_is_refused(value):
    X, _, _ = index_data(60, d=4)
    with pytest.raises(ValueError, match="y is constant"):
        EGOP().fit(X, np.full(60, value))


def test_a_target_whose_squares_overflow_is_refused():
    X, y, _ = index_data(60, d=4)
    with pytest.raises(ValueError, match="squares overflow; rescale"):
        EGOP().fit(X, y * 1e200)


def test_too_few_rows_for_the_theoretical_indicator_are_refused_with_a_way_out():
    X, y, _ = index_data(60, d=4)
    with pytest.raises(ValueError, match="use indicator='practical'"):
        EGOP("difference", smoothing=Smoothing(indicator="theoretical")).fit(X, y)


@pytest.mark.parametrize("learner", [EGOP, EJOP])
def test_one_class_is_refused(learner):
    X, _, _ = index_data(60, d=4)
    with pytest.raises(ValueError, match="one class"):
        learner().fit(X, ["a"] * 60)


def test_egop_sends_several_classes_to_ejop_and_ejop_sends_numbers_to_egop():
    X, y = three_classes(60)
    with pytest.raises(ValueError, match=r"y holds 3 classes.*Use EJOP"):
        EGOP().fit(X, y)
    with pytest.raises(ValueError, match="from numbers, such as EGOP"):
        EJOP().fit(X, X[:, 0])


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="all rows of X are equal"):
        EGOP().fit(np.ones((40, 3)), np.arange(40.0))


@pytest.mark.parametrize("learner", [EGOP, EJOP, GradientWeights])
def test_more_components_than_features_are_refused_before_anything_is_fitted(learner):
    X, y = three_classes(60)
    y = y > 0 if learner is EGOP else y
    metric = learner(n_components=7)
    with pytest.raises(ValueError, match="n_components=7 is more than the 6 features"):
        metric.fit(X, y)
    assert not hasattr(metric, "components_")
    metric.set_params(n_components=6, store_gradients=True).fit(X, y)
    with pytest.raises(ValueError, match="n_components=7 is more than the 6 features"):
        metric.principal_angle_interval(n_components=7)


def test_sparse_rows_are_refused():
    X, y, _ = index_data(60, d=4)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        EGOP().fit(sparse.csr_array(X), y)


def test_a_constant_feature_counts_nothing_even_among_repeated_rows():
    X, y, _ = index_data(90, d=4)
    X[:, 2] = 5.0
    X[:60] = X[0]
    relevance = EGOP(random_state=0).fit(X, y).feature_relevance_
    assert relevance[2] < 1e-12
    np.testing.assert_allclose(relevance.sum(), 1)


# Conventions -----------------------------------------------------------------------------------


def test_every_estimator_and_iteration_passes_scikit_learns_checks():
    check_estimator(EGOP("local-linear", n_iter=2), on_skip=None)


@pytest.mark.parametrize("estimator", ["analytic", "local-linear", "kernel-ridge", "difference"])
@given(seed=st.integers(0, 2**16))
@example(seed=209)  # two ridges have the same neighbours, in another order
@settings(max_examples=8)
def test_a_row_given_twice_and_a_row_weighed_twice_are_the_same(estimator, seed):
    rng = np.random.default_rng(seed)
    X, counts = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    y = X[:, 0] + rng.normal(size=40)
    how = {"n_iter": 2, "random_state": 0, "power": 1.0}
    weighed = EGOP(estimator, **how).fit(X, y, sample_weight=counts)
    given = EGOP(estimator, **how).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(weighed.outer_product_, given.outer_product_, rtol=1e-6, atol=1e-10)


def test_fewer_rows_than_features_are_fitted_in_the_plane_they_span():
    rng = np.random.default_rng(0)
    narrow = rng.normal(size=(40, 6))
    turn = np.linalg.qr(rng.normal(size=(90, 90)))[0][:6]
    y = narrow[:, 0] + narrow[:, 1] ** 2
    how = {"bandwidth": 2.0, "store_gradients": True}
    plain = EGOP("analytic", **how).fit(narrow, y)
    wide = EGOP("analytic", **how).fit(narrow @ turn, y)
    assert wide.components_.shape == (6, 90)
    assert wide.eigenvalues_.shape == (90,)
    np.testing.assert_allclose(wide.eigenvalues_[:6], plain.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(wide.outer_product_, turn.T @ plain.outer_product_ @ turn, atol=1e-9)
    np.testing.assert_allclose(wide.gradients_, plain.gradients_ @ turn, atol=1e-8)
    assert np.trace(wide.get_mahalanobis_matrix()) == pytest.approx(90)
    plain.partial_fit(narrow[:9] + 0.1)
    wide.partial_fit((narrow[:9] + 0.1) @ turn)
    np.testing.assert_allclose(wide.eigenvalues_[:6], plain.eigenvalues_, rtol=1e-6)
    found = wide.estimate_gradients((narrow[:5] + 0.1) @ turn, narrow @ turn, y)
    expected = plain.estimate_gradients(narrow[:5] + 0.1, narrow, y)
    np.testing.assert_allclose(found, expected @ turn, atol=1e-8)
    assert wide.spectrum_interval(n_resamples=5).shape == (90, 2)


def test_as_many_directions_are_kept_as_stand_out():
    X, y, V = index_data(800)
    metric = EGOP("local-linear", n_components="auto", n_iter=2, random_state=0).fit(X, y)
    assert metric.components_.shape == (2, 10)
    assert largest_angle(metric, V) < 20
    assert metric.partial_fit(X[:20]).transform(X).shape == (800, 2)


def test_the_mean_of_the_local_metrics_is_the_metric():
    X, y = three_classes()
    metric = EJOP("analytic", bandwidth=1.0).fit(X, y)
    local = metric.local_metric(X)
    assert local.shape == (300, 6, 6)
    np.testing.assert_allclose(local.mean(axis=0), metric.outer_product_, atol=1e-10)
