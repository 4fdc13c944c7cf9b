"""What parts of the data contribute merges to what the whole would give, through one open seam."""

from __future__ import annotations

import ast
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import vicinal.scale
from vicinal import EGOP, EJOP, GradientWeights
from vicinal.metric.gradients import mergeable
from vicinal.metric.gradients.mergeable import Estimate, Setting
from vicinal.predict import load_model, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
REAL = np.sin(X[:, 0] + X[:, 1])
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
SETTINGS = {
    "analytic": Setting("analytic", 0.8, temperature=1.0),
    "local-linear": Setting("local-linear", 1.0, kernel="epanechnikov", n_local=25),
}


def read(y: np.ndarray) -> mergeable.Targets:
    learner = EJOP() if y.dtype.kind == "i" else EGOP()
    return mergeable.read_targets(learner, X, y)


def estimate_of(setting: Setting, targets: mergeable.Targets, components=None) -> Estimate:
    prior = targets.columns().mean(axis=0)
    return Estimate(setting, components, X.mean(axis=0), prior, targets.scale)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("y", [REAL, CLASSES], ids=["real", "classes"])
@given(cuts=st.lists(st.integers(1, 239), min_size=1, max_size=5, unique=True))
@settings(max_examples=8, deadline=None)
def test_gradients_from_merged_parts_are_those_from_the_whole(name, y, cuts):
    targets, points = read(y), X[:40]
    estimate = estimate_of(SETTINGS[name], targets, components=np.diag([1.0, 2.0, 0.5, 1.0]))
    contribute = mergeable.parts_that_merge(estimate.setting)
    parts = np.split(np.arange(len(X)), sorted(cuts))
    found = [contribute(points, X[rows], targets.take(rows), estimate) for rows in parts]
    merged = reduce(lambda one, other: one.merge(other), found)
    whole = mergeable.gradients_from_sample(points, X, targets, estimate)
    gradients = mergeable.gradients_from(merged, estimate)
    np.testing.assert_allclose(gradients, whole, rtol=1e-4, atol=1e-6 * np.abs(whole).max())


def test_sums_over_parts_of_the_points_add_up_to_those_of_all():
    targets = read(REAL)
    estimate = estimate_of(SETTINGS["analytic"], targets)
    gradients = mergeable.gradients_from_sample(X, X, targets, estimate)
    weights = RNG.uniform(size=len(X))
    whole = mergeable.sum_gradients(gradients, weights)
    parts = np.array_split(np.arange(len(X)), 7)
    merged = mergeable.merge_sums(
        mergeable.sum_gradients(gradients[rows], weights[rows]) for rows in parts
    )
    assert merged.count == whole.count
    np.testing.assert_allclose(merged.outer, whole.outer, rtol=1e-12)
    np.testing.assert_allclose(merged.absolute, whole.absolute, rtol=1e-12)


def test_a_plan_followed_with_sums_of_parts_gives_the_fit_in_memory():
    expected = EGOP("analytic", n_iter=2, random_state=0).fit(X, REAL)
    learner = EGOP("analytic", n_iter=2, random_state=0)
    targets = mergeable.read_targets(learner, X, REAL)
    random = np.random.RandomState(0)
    plan = mergeable.plan_fit(learner, X, targets, np.ones(len(X)), len(X), random)

    def evaluate(setting, components):
        estimate = estimate_of(setting, targets, components)
        gradients = mergeable.gradients_from_sample(X, X, targets, estimate)
        parts = np.array_split(gradients, 5)
        sums = [mergeable.sum_gradients(part, np.ones(len(part))) for part in parts]
        return mergeable.Evaluated(mergeable.merge_sums(sums), None)

    mergeable.follow_plan(learner, plan, evaluate)
    np.testing.assert_allclose(learner.components_, expected.components_, rtol=1e-6, atol=1e-8)
    assert learner.bandwidth_ == expected.bandwidth_
    assert learner.n_iter_ == expected.n_iter_


@pytest.mark.parametrize(
    "setting", [Setting("difference", 1.0), Setting("local-linear", 1.0, n_local=None)]
)
def test_settings_whose_parts_do_not_merge_say_what_to_do(setting):
    with pytest.raises(ValueError, match="give n_reference"):
        mergeable.parts_that_merge(setting)


def test_the_distributed_fits_stay_on_their_side_of_the_seam():
    """They import nothing private of the metrics, and touch nothing private of an estimator."""
    for name in ("_dask.py", "_chunk_sums.py"):
        tree = ast.parse((Path(vicinal.scale.__file__).parent / name).read_text(encoding="utf-8"))
        imported = [
            f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vicinal.metric")
            for alias in node.names
        ]
        assert all("._" not in path for path in imported), imported
        touched = [
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("estimator", "mergeable")
        ]
        assert [attribute for attribute in touched if attribute.startswith("_")] == []


# Gradients anywhere ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (EGOP("analytic", random_state=0), REAL),
        (EGOP("local-linear", n_iter=2, random_state=0), REAL),
        (EGOP("difference", bandwidth="rule", random_state=0), REAL),
        (EJOP(random_state=0), CLASSES),
        (GradientWeights("analytic", n_iter=2, bandwidth="rule", random_state=0), CLASSES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_gradients_at_the_samples_are_those_the_fit_stored(learner, y, tmp_path):
    learner.set_params(store_gradients=True).fit(X, y)
    found = learner.estimate_gradients(X, X, y)
    assert found.shape == learner.gradients_.shape
    scale = np.abs(learner.gradients_).max()
    np.testing.assert_allclose(found, learner.gradients_, rtol=1e-5, atol=1e-7 * scale)
    save_model(learner, tmp_path / "metric.vicinal")
    loaded = load_model(tmp_path / "metric.vicinal")
    np.testing.assert_array_equal(loaded.estimate_gradients(X, X, y), found)


def test_the_gradient_of_a_plane_is_its_slope_everywhere():
    slope = np.array([1.0, -2.0, 0.0, 0.5])
    learner = EGOP("local-linear", ridge=1e-6, random_state=0).fit(X, X @ slope)
    points = 0.5 * RNG.normal(size=(20, 4))
    found = learner.estimate_gradients(points, X, X @ slope)
    np.testing.assert_allclose(found, np.tile(slope, (20, 1)), atol=1e-3)


def test_gradients_need_a_fit_and_rows_of_its_width():
    with pytest.raises(NotFittedError):
        EGOP().estimate_gradients(X, X, REAL)
    learner = EGOP("analytic", bandwidth="rule", random_state=0).fit(X, REAL)
    with pytest.raises(ValueError, match="3 features"):
        learner.estimate_gradients(X[:, :3], X, REAL)
    with pytest.raises(ValueError, match="3 features"):
        learner.estimate_gradients(X, X[:, :3], REAL)
    assert learner.n_features_in_ == 4


def test_a_fit_that_stores_no_gradients_forgets_those_of_an_earlier_one():
    learner = EGOP("analytic", bandwidth="rule", store_gradients=True, random_state=0)
    assert hasattr(learner.fit(X, REAL), "gradients_")
    assert not hasattr(learner.set_params(store_gradients=False).fit(X, REAL), "gradients_")
