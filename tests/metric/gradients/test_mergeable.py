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

import vicinal
import vicinal.scale
from vicinal import EGOP, EJOP, GradientWeights, Smoothing
from vicinal.metric.gradients import mergeable
from vicinal.metric.gradients.mergeable import Estimate, Smoother
from vicinal.models import load_model, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
REAL = np.sin(X[:, 0] + X[:, 1])
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
SMOOTHERS = {
    "analytic": Smoother("analytic", 0.8, temperature=1.0),
    "local-linear": Smoother("local-linear", 1.0, kernel="epanechnikov", n_local=25),
}


def read(y: np.ndarray) -> mergeable.Targets:
    learner = EJOP() if y.dtype.kind == "i" else EGOP()
    return mergeable.read_input(learner, X, y)[0]


def estimate_of(smoother: Smoother, targets: mergeable.Targets, components=None) -> Estimate:
    prior = targets.columns().mean(axis=0)
    return Estimate(smoother, components, X.mean(axis=0), prior, targets.scale)


@pytest.mark.parametrize("name", SMOOTHERS)
@pytest.mark.parametrize("y", [REAL, CLASSES], ids=["real", "classes"])
@given(cuts=st.lists(st.integers(1, 239), min_size=1, max_size=5, unique=True))
@settings(max_examples=8, deadline=None)
def test_gradients_from_merged_parts_are_those_from_the_whole(name, y, cuts):
    targets, points = read(y), X[:40]
    estimate = estimate_of(SMOOTHERS[name], targets, components=np.diag([1.0, 2.0, 0.5, 1.0]))
    contribute = mergeable.parts_that_merge(estimate.smoother)
    parts = np.split(np.arange(len(X)), sorted(cuts))
    found = [contribute(points, X[rows], targets.take(rows), estimate) for rows in parts]
    merged = reduce(lambda one, other: one.merge(other), found)
    whole = mergeable.gradients_from_sample(points, X, targets, estimate)
    gradients = mergeable.gradients_from(merged, estimate)
    np.testing.assert_allclose(gradients, whole, rtol=1e-4, atol=1e-6 * np.abs(whole).max())


def test_sums_over_parts_of_the_points_add_up_to_those_of_all():
    targets = read(REAL)
    estimate = estimate_of(SMOOTHERS["analytic"], targets)
    gradients = mergeable.gradients_from_sample(X, X, targets, estimate)
    weights = RNG.uniform(size=len(X))
    whole = mergeable.sum_gradients(gradients, weights)
    parts = np.array_split(np.arange(len(X)), 7)
    merged = mergeable.merge_all(
        mergeable.sum_gradients(gradients[rows], weights[rows]) for rows in parts
    )
    assert merged.count == whole.count
    np.testing.assert_allclose(merged.total, whole.total, rtol=1e-12)


def test_a_plan_followed_with_sums_of_parts_gives_the_fit_in_memory():
    expected = EGOP("analytic", n_iter=2, random_state=0).fit(X, REAL)
    learner = EGOP("analytic", n_iter=2, random_state=0)
    targets, options = mergeable.read_input(learner, X, REAL)
    random = np.random.RandomState(0)
    plan = mergeable.plan_fit(options, X, targets, np.ones(len(X)), len(X), random)

    def evaluate(smoother, components):
        estimate = estimate_of(smoother, targets, components)
        gradients = mergeable.gradients_from_sample(X, X, targets, estimate)
        parts = np.array_split(gradients, 5)
        sums = [mergeable.sum_gradients(part, np.ones(len(part))) for part in parts]
        return mergeable.Evaluated(mergeable.merge_all(sums)), None

    mergeable.keep_fit(learner, mergeable.follow_plan(plan, evaluate))
    np.testing.assert_allclose(learner.components_, expected.components_, rtol=1e-6, atol=1e-8)
    assert learner.bandwidth_ == expected.bandwidth_
    assert learner.n_iter_ == expected.n_iter_


@pytest.mark.parametrize(
    "smoother", [Smoother("difference", 1.0), Smoother("local-linear", 1.0, n_local=None)]
)
def test_smoothers_whose_parts_do_not_merge_say_what_to_do(smoother):
    with pytest.raises(ValueError, match="give n_reference"):
        mergeable.parts_that_merge(smoother)


def imported(tree: ast.AST) -> list[str]:
    """Return the dotted names a module imports, modules and what is taken from them."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_nobody_outside_imports_what_is_private_to_the_gradient_metrics():
    source = Path(vicinal.__file__).parent
    room = source / "metric" / "gradients"
    for file in source.rglob("*.py"):
        if room not in file.parents:
            names = imported(ast.parse(file.read_text(encoding="utf-8")))
            assert [n for n in names if n.startswith("vicinal.metric.gradients._")] == [], file


def test_the_distributed_fits_touch_nothing_private_of_an_estimator():
    for name in ("_dask.py", "_chunk_sums.py"):
        tree = ast.parse((Path(vicinal.scale.__file__).parent / name).read_text(encoding="utf-8"))
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
    learner = EGOP("local-linear", smoothing=Smoothing(ridge=1e-6), random_state=0).fit(
        X, X @ slope
    )
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
