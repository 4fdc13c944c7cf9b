"""What a prediction comes from: neighbours, votes, and the features that brought them near."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from vicinal import LDA, KNNClassifier, KNNRegressor

X, y = load_wine(return_X_y=True, as_frame=True)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


def test_an_explanation_has_the_neighbours_and_votes_of_the_prediction():
    model = KNNClassifier(7, metric=LDA()).fit(X[TRAIN], y[TRAIN])
    explanations = model.explain(X[TEST])
    assert [each.prediction for each in explanations] == list(model.predict(X[TEST]))
    distances, rows = model.kneighbors(X[TEST])
    shares = model.predict_proba(X[TEST])
    for i, each in enumerate(explanations):
        assert list(each.indices) == list(rows[i])
        assert list(each.distances) == list(distances[i])
        assert list(each.targets) == list(y[TRAIN].iloc[rows[i]])
        assert each.votes == {c: shares[i, c] for c in model.classes_}
        assert each.nearness is None


@pytest.mark.parametrize("metric", [None, LDA()])
def test_nearness_sums_to_how_much_nearer_than_rows_at_random(metric):
    rows = (X / X.std())[TRAIN]
    model = KNNClassifier(3, metric=metric).fit(rows, y[TRAIN])
    queries = (X / X.std())[TEST]
    mapped = rows.to_numpy() if metric is None else model.metric_.transform(rows)
    pairs = mapped[:, None] - mapped[None]
    typical = np.mean(np.sum(pairs**2, axis=2))
    for each in model.explain(queries, rows):
        np.testing.assert_allclose(each.nearness.sum(axis=1), typical - each.distances**2)


def test_the_feature_that_brings_rows_near_is_named():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"noise": rng.normal(size=200), "cause": rng.normal(size=200) * 9})
    model = KNNClassifier(3).fit(rows, rows["cause"] > 0)
    explanation = model.explain(rows[:1] + 0.01, rows)[0]
    assert explanation.nearest_features(0, 1) == ("cause",)
    text = str(explanation)
    assert text.startswith(f"predicted: {explanation.prediction}\nvotes: ")
    assert "alike in cause" in text


def test_numbers_have_neighbours_and_no_votes():
    model = KNNRegressor(3).fit(X[TRAIN], X["hue"][TRAIN])
    explanation = model.explain(X[TEST][:2])[1]
    assert explanation.votes is None
    np.testing.assert_allclose(explanation.prediction, explanation.targets.mean())


def test_other_training_rows_are_refused():
    model = KNNClassifier(3).fit(X[TRAIN], y[TRAIN])
    with pytest.raises(ValueError, match="training_rows are 10, but fit was given 89"):
        model.explain(X[TEST], X[:10])


def test_of_many_neighbours_the_nearest_are_told_and_the_others_counted():
    text = str(KNNClassifier(12).fit(X[TRAIN], y[TRAIN]).explain(X[TEST][:1])[0])
    assert text.count("  row ") == 10
    assert "\n  and 2 more, up to " in text
