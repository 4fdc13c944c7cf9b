"""Preparation: scalings learned on the training part, against scikit-learn where it has them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal.data import Preparation, TableEncoder
from vicinal.data._preparation import normalize_histograms, principal_axes


@parametrize_with_checks([Preparation(), Preparation("none"), Preparation(n_components=1)])
def test_preparation_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def parts() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * [1, 10, 0.1, 3, 1, 1] + [0, 5, 0, -2, 7, 1]
    X[:, 4] = 7.0
    return X[:60], X[60:]


def test_zscores_use_the_training_moments_only(parts):
    train, test = parts
    mine = Preparation().fit(train)
    reference = StandardScaler().fit(train)
    np.testing.assert_allclose(mine.transform(test), reference.transform(test), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_column_is_centred_and_left_at_scale_one(value, dtype):
    X = np.column_stack([np.full(50, value), np.arange(50.0)]).astype(dtype)
    mine = Preparation().fit(X)
    assert mine.scale_[0] == 1.0
    np.testing.assert_allclose(mine.transform(X)[:, 0], 0.0, atol=1e-5)


def test_a_tiny_but_real_spread_is_scaled(parts):
    X = np.arange(50.0)[:, None] * 1e-12
    np.testing.assert_allclose(Preparation().fit_transform(X).std(), 1.0)


def test_single_precision_stays_single(parts):
    train, test = (part.astype(np.float32) for part in parts)
    for preparation in (Preparation(), Preparation(n_components=3), Preparation("none")):
        assert preparation.fit(train).transform(test).dtype == np.float32


def test_histograms_sum_to_one_and_empty_rows_stay_zero():
    X = np.array([[1.0, 3.0], [0.0, 0.0], [5.0, 0.0]])
    np.testing.assert_array_equal(
        Preparation("histogram").fit_transform(X), [[0.25, 0.75], [0, 0], [1, 0]]
    )


def test_unit_rows_have_length_one_and_empty_rows_stay_zero():
    X = np.array([[3.0, -4.0], [0.0, 0.0], [2.0, 0.0]])
    expected = np.array([[0.6, -0.8], [0, 0], [1, 0]])
    np.testing.assert_allclose(Preparation("unit").fit_transform(X), expected)


def test_histograms_refuse_negative_values_and_say_where():
    with pytest.raises(ValueError, match=r"row 1, column 0 is -2"):
        normalize_histograms(np.array([[1.0, 2.0], [-2.0, 1.0]]))


@pytest.mark.parametrize("shape", [(60, 6), (12, 30)])
def test_principal_axes_are_scikit_learns_up_to_sign(shape):
    X = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 4, shape[1])
    centre, axes = principal_axes(X, 5)
    reference = PCA(5, svd_solver="full").fit(X)
    np.testing.assert_allclose(centre, reference.mean_)
    np.testing.assert_allclose(np.abs(axes), np.abs(reference.components_), atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_axes_have_fixed_signs_and_do_not_depend_on_row_order(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * [5, 4, 3, 2, 1]
    axes = principal_axes(X, 5)[1]
    largest = np.abs(axes).argmax(axis=1)
    assert (axes[np.arange(5), largest] > 0).all()
    np.testing.assert_allclose(principal_axes(X[rng.permutation(40)], 5)[1], axes, atol=1e-7)


def test_components_come_in_order_of_variance(parts):
    train, _ = parts
    variances = Preparation(n_components=5).fit_transform(train).var(axis=0)
    assert all(a >= b for a, b in pairwise(variances))


def test_scaling_comes_before_reduction_unless_asked_otherwise(parts):
    train, test = parts
    mine = Preparation(n_components=3).fit(train)
    by_hand = Preparation("none", 3).fit(Preparation().fit_transform(train))
    np.testing.assert_allclose(
        mine.transform(test), by_hand.transform(Preparation().fit(train).transform(test))
    )
    reversed_ = Preparation(n_components=3, pca_first=True).fit_transform(train)
    np.testing.assert_allclose(reversed_.std(axis=0), 1.0)


def test_too_many_components_are_refused_with_the_number_there_is(parts):
    with pytest.raises(ValueError, match="1 to 6"):
        Preparation(n_components=7).fit(parts[0])


def test_an_unknown_scale_is_refused(parts):
    with pytest.raises(ValueError, match="zscore, histogram, none"):
        Preparation("minmax").fit(parts[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(("bad", "said"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_not_finite_are_refused_by_name(parts, bad, said):
    X = parts[0].copy()
    X[3, 2] = bad
    with pytest.raises(ValueError, match=said):
        Preparation().fit(X)
    with pytest.raises(ValueError, match=said):
        Preparation().fit(parts[0]).transform(X)


def test_output_columns_are_named(parts):
    train, _ = parts
    assert list(Preparation(n_components=2).fit(train).get_feature_names_out()) == ["pca0", "pca1"]
    assert list(Preparation().fit(train).get_feature_names_out())[:2] == ["x0", "x1"]


def test_given_deviations_stand_in_for_those_of_the_rows():
    X = np.array([[0.0, 1.0, 7.0], [2.0, 0.0, 7.0], [4.0, 0.0, 7.0]])
    scaled = Preparation(deviations=np.array([np.nan, 2**0.5, 1.0])).fit(X)
    np.testing.assert_allclose(scaled.scale_, [X[:, 0].std(), 2**0.5, 1.0])
    with pytest.raises(ValueError, match=r"deviations has shape \(2,\) for 3 features"):
        Preparation(deviations=np.ones(2)).fit(X)


def test_two_values_of_a_category_are_one_deviation_apart_whatever_their_frequency():
    frame = pd.DataFrame({"kind": ["a"] * 90 + ["b"] * 9 + ["c"] * 9, "n": range(108)})
    encoder = TableEncoder(keep="all").fit(frame)
    X = Preparation(deviations=encoder.deviations_).fit_transform(encoder.transform(frame))
    kinds = X[:, :3]
    np.testing.assert_allclose(np.linalg.norm(kinds[0] - kinds[95]), 1.0)
    np.testing.assert_allclose(np.linalg.norm(kinds[95] - kinds[-1]), 1.0)
