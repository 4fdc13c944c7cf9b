"""A metric is told what y is to its predictor: it does not read y again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    EGOP,
    AutoMetric,
    Euclidean,
    GradientWeights,
    KNNClassifier,
    KNNRegressor,
    LocalLinearRegressor,
    MeanMetric,
    ReliefF,
)
from vicinal.predict._sides import last_step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
# A quantity that takes seven whole values, which alone would be read as classes.
COUNTS = np.clip(np.rint(3 + 2 * X[:, 0]), 0, 6).astype(int)
EITHER = [
    EGOP(random_state=0),
    GradientWeights(random_state=0),
    ReliefF(random_state=0),
    MeanMetric(EGOP(), n_starts=2, random_state=0),
    AutoMetric({"plain": Euclidean(), "egop": EGOP(random_state=0)}, random_state=0),
]


@pytest.mark.parametrize("choice", [{}, {"weights": "learned"}], ids=["given", "learned"])
@pytest.mark.parametrize("metric", EITHER, ids=lambda metric: type(metric).__name__)
def test_whole_numbers_are_no_classes_to_the_metric_of_a_regressor(
    metric: Any, choice: dict[str, Any]
) -> None:
    shifted = COUNTS + 0.25  # the same quantity, which nobody would read as classes
    for each in (metric, make_pipeline(StandardScaler(), metric)):
        fitted, meant = (
            last_step(KNNRegressor(metric=each, **choice).fit(X, y).metric_)
            for y in (COUNTS, shifted)
        )
        np.testing.assert_allclose(fitted.transform(X), meant.transform(X), atol=1e-6)


def test_a_pipeline_learns_what_its_learner_learns_from_prepared_rows() -> None:
    scaled = StandardScaler().fit_transform(X)
    alone = LocalLinearRegressor(metric=EGOP(random_state=0)).fit(scaled, COUNTS)
    behind = LocalLinearRegressor(metric=make_pipeline(StandardScaler(), EGOP(random_state=0))).fit(
        X, COUNTS
    )
    np.testing.assert_array_equal(behind.metric_[-1].components_, alone.metric_.components_)


def test_many_classes_by_number_are_classes_to_the_metric_of_a_classifier() -> None:
    labels = np.arange(len(X)) // 2  # sixty classes of two rows: alone, a quantity
    fitted = KNNClassifier(1, metric=ReliefF(n_neighbors=1)).fit(X, labels).metric_
    assert len(fitted.classes_) == 60
