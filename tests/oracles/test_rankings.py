"""Measures of rankings agree with scikit-learn's and with values by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from tests.oracles import rankings


def test_measures_are_scikit_learns():
    ranking = np.array([1, 0, 1, 1, 0, 0], bool)
    scores = -np.arange(6.0)
    assert rankings.loss(ranking, "auc", 3) == pytest.approx(1 - roc_auc_score(ranking, scores))
    average = average_precision_score(ranking, scores)
    assert rankings.loss(ranking, "map", 3) == pytest.approx(1 - average)
    gain = ndcg_score(ranking[None].astype(float), scores[None])
    assert rankings.loss(ranking, "ndcg", 3) == pytest.approx(1 - gain)
    assert rankings.loss(ranking, "precision", 3) == pytest.approx(1 / 3)
