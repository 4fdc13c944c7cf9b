"""Every public estimator passes scikit-learn's own checks, but for those excused with a reason.

A new estimator needs one line in ``ESTIMATORS``; a test below says if it was forgotten.
"""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

import vicinal
import vicinal.metric

ESTIMATORS = [
    vicinal.KNNClassifier(),
    vicinal.KNNClassifier(metric=PCA()),
    vicinal.KNNClassifier(class_weight="balanced"),
    vicinal.KNNClassifier(1, weights="auto"),
    vicinal.KNNClassifier("auto", vicinal.LDA()),
    vicinal.KNNRegressor(),
    vicinal.KNNRegressor(1, weights="auto"),
    vicinal.KernelClassifier(),
    vicinal.KernelRegressor(),
    vicinal.KNNRegressor(metric=vicinal.EGOP(random_state=0)),
    vicinal.LocalLinearRegressor(),
    vicinal.NearestNeighbors(),
    vicinal.RadiusClassifier(),
    vicinal.RadiusRegressor(),
]

# Metric learners -------------------------------------------------------------------------------
ESTIMATORS += [
    vicinal.AutoMetric([vicinal.Euclidean(), vicinal.LDA()]),
    vicinal.Euclidean(),
    vicinal.LDA(),
    vicinal.MeanMetric(vicinal.LDA(), n_starts=2),
    vicinal.UnitLength(vicinal.LDA()),
    vicinal.metric.PublishedMLNG(max_iter=3),
    vicinal.metric.PublishedAsymmetricMLNG(max_iter=3),
    vicinal.metric.PublishedRegressionMLNG(gamma=1.0, max_iter=3),
    vicinal.metric.PublishedHammingMLNG(16, balance=1.0, max_iter=3),
    vicinal.LMNN(max_iter=10),
    vicinal.MLNG(max_iter=2),
    vicinal.AsymmetricMLNG(max_iter=2, learning_rate=0.03),
    vicinal.RegressionMLNG(max_iter=2, init="relieff", set_size=3),
    vicinal.HammingMLNG(n_bits=16, max_iter=2, margin=2.0),
    vicinal.HDML(n_bits=8, max_iter=2),
    vicinal.LSH(n_bits=16),
    vicinal.ITQ(n_bits=16, max_iter=5),
    vicinal.SpectralHashing(n_bits=16),
    vicinal.ClassifierCodes(),
    vicinal.NCA(max_iter=5),
    vicinal.NeuralMetric(4, epochs=2),
    vicinal.Covariance(),
    vicinal.GBLMNN(n_trees=3, max_depth=2),
    vicinal.ITML(prior="identity", gamma=0.1, max_iter=5),
    vicinal.KNCA(max_iter=3),
    vicinal.MCML(max_iter=3),
    vicinal.LFDA(),
    vicinal.LSML(prior="identity", max_iter=10),
    vicinal.MLKR(max_iter=5),
    vicinal.MLR(C=10.0, max_iter=2),
    vicinal.MMC(max_iter=5),
    vicinal.RCA(),
    vicinal.SCML(20, regularization=0.001, max_iter=20),
    vicinal.SDML(),
    vicinal.ReliefF(),
    vicinal.EGOP(),
    vicinal.EJOP(),
    vicinal.GradientWeights("difference"),
    vicinal.GradientDiffusionMap(),
    vicinal.QueryAdapter(max_iter=3),
]

# Smoothing is what a learner is told, and fits nothing.
ABSTRACT = {"MetricLearner", "Smoothing"}

# A repeated row is its own nearest neighbour and a weighted one is not, so the two must differ;
# scikit-learn excuses its own stochastic learners likewise. Within a radius the two are the same.
EXCUSED = {
    name: {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }
    for name, reason in {
        "MLNG": "weights count votes, not copies of rows",
        "AsymmetricMLNG": "weights count votes, not copies of rows",
        "RegressionMLNG": "weights count errors, not copies of rows",
        "HammingMLNG": "weights count votes, not copies of rows",
        "NeuralMetric": "rows are drawn into batches, so a row of weight two is not two rows",
        "MeanMetric": "as its learner's do, weights may count votes",
        "AutoMetric": "weights count votes, not copies of rows",
        "UnitLength": "held-out rows are judged by votes, not by copies of rows",
        "KNNClassifier": "k is a number of rows, so a row of weight two is not two rows",
        "KNNRegressor": "k is a number of rows, so a row of weight two is not two rows",
        "KernelClassifier": "the kernel is chosen on rows, not on copies of rows",
        "KernelRegressor": "the kernel is chosen on rows, not on copies of rows",
        "LocalLinearRegressor": "k is a number of rows, so a row of weight two is not two rows",
    }.items()
}


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: EXCUSED.get(type(estimator).__name__, {})
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(set(vicinal.__all__) - ABSTRACT))
def test_no_public_estimator_is_forgotten(name):
    value = getattr(vicinal, name)
    if inspect.isclass(value) and issubclass(value, BaseEstimator):
        assert any(type(estimator) is value for estimator in ESTIMATORS)
