"""What every metric learner shares: two maps with names, pairs, and what scikit-learn is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

from vicinal import EGOP, LDA, NCA, GradientDiffusionMap, MetricLearner, ReliefF
from vicinal.metric.maps import LinearMaps

FRAME = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"], index=range(50, 200))
TARGET = load_iris().target


class Twofold(MetricLearner):
    """Twice as far for queries, by a map of its own."""

    def learn(self, rows):
        plain = np.eye(rows.X.shape[1])
        return LinearMaps(plain, 2 * plain)


@pytest.mark.parametrize("learner", [LDA(), Twofold(), GradientDiffusionMap()], ids=repr)
def test_queries_come_in_the_container_asked_for_as_rows_do(learner):
    learner.fit(FRAME, TARGET)
    rows, queries = learner.transform(FRAME), learner.transform_queries(FRAME)
    assert isinstance(rows, np.ndarray)
    assert isinstance(queries, np.ndarray)
    learner.set_output(transform="pandas")
    named_rows, named = learner.transform(FRAME), learner.transform_queries(FRAME)
    assert isinstance(named, pd.DataFrame)
    assert named.columns.tolist() == named_rows.columns.tolist()
    assert named.index.tolist() == FRAME.index.tolist()
    assert (named.to_numpy() == queries).all()


def test_queries_follow_the_global_setting():
    learner = LDA().fit(FRAME, TARGET)
    with config_context(transform_output="pandas"):
        assert isinstance(learner.transform_queries(FRAME), pd.DataFrame)
    assert isinstance(learner.transform_queries(FRAME), np.ndarray)


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("learner", [LDA(), ReliefF(), GradientDiffusionMap()], ids=repr)
def test_pairs_have_their_distance_without_a_warning_after_a_frame(learner, output):
    learner.fit(FRAME, TARGET).set_output(transform=output)
    pairs = np.stack([FRAME.to_numpy()[:9], FRAME.to_numpy()[40:49]], axis=1)
    with config_context(transform_output="default"):
        mapped = np.asarray(learner.transform(FRAME))
    expected = np.linalg.norm(mapped[:9] - mapped[40:49], axis=1)
    assert_allclose(learner.pair_distance(pairs), expected)
    assert_allclose(learner.pair_score(pairs), -expected)


def test_pairs_of_another_width_are_refused():
    with pytest.raises(ValueError, match="pairs have 3 features, but LDA was fitted on 4"):
        LDA().fit(FRAME, TARGET).pair_distance(np.zeros((2, 2, 3)))


@pytest.mark.parametrize("learner", [LDA(), NCA(), ReliefF(), EGOP()], ids=repr)
def test_scikit_learn_is_told_that_targets_are_needed(learner):
    assert get_tags(learner).target_tags.required
