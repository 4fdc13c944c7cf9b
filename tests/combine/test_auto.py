"""AutoMetric: which learner it takes, and whether it can say why."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, scale

from vicinal import (
    EGOP,
    LDA,
    LMNN,
    AutoMetric,
    Euclidean,
    KNNClassifier,
    NeuralMetric,
    load_model,
    save_model,
)
from vicinal.combine._members import mean_of
from vicinal.combine._race import Standing
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import look
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import LinearMaps, SideBySideMaps
from vicinal.metric.means import near_squared_size
from vicinal.metric.selection import Score, first_within
from vicinal.rows import Rows, inner_folds, read_target


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def noisy(n=400, d=60, seed=0):
    """Two classes that the first feature tells apart, and noise that hides it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, d))
    X[:, 0] += 2.5 * y
    return X, y


class Refuses(Euclidean):
    def learn(self, rows):
        raise ValueError("it would not do.")


def test_the_learner_that_helps_is_taken_and_fitted_on_all_rows():
    X, y = noisy()
    learners = {"plain": Euclidean(), "lda": LDA(), "shrunk": LDA(shrinkage=0.1)}
    metric = AutoMetric(learners, random_state=0).fit(X, y)
    assert metric.best_ in ("lda", "shrunk")
    assert_allclose(metric.components_, learners[metric.best_].fit(X, y).components_)
    assert metric.leaderboard_[0]["name"] == metric.best_
    rows = {row["name"]: row for row in metric.leaderboard_}
    assert rows["plain"]["behind"] > rows["plain"]["noise"]
    assert rows["plain"]["note"].startswith("left out: behind ")
    assert rows["plain"]["n_splits"] < rows["lda"]["n_splits"]


def test_the_leaderboard_says_what_each_cost_and_how_far_it_is_behind():
    X, y = wine()
    board = (
        AutoMetric([Euclidean(), LDA(), LMNN(max_iter=3)], random_state=0).fit(X, y).leaderboard_
    )
    finished = [row for row in board if not row["note"]]
    assert [row["score"] for row in finished] == sorted(row["score"] for row in finished)
    assert finished[0]["behind"] == 0
    assert all(row["cpu_seconds"] > 0 for row in board if not row["name"].startswith("mean"))


def test_the_mean_of_two_leaders_is_a_candidate():
    X, y = wine()
    metric = AutoMetric([LDA(), LMNN(max_iter=3)], random_state=0).fit(X, y)
    names = {row["name"] for row in metric.leaderboard_}
    assert names & {"mean of LDA and LMNN", "mean of LMNN and LDA"}


def standing(name, losses):
    return Standing(name, (), scores=[Score(np.asarray(losses, float), None)])


def test_what_cannot_be_told_apart_is_averaged_and_the_clearly_worse_is_not():
    rng = np.random.default_rng(0)
    losses = rng.random(400)
    first, pair = standing("first", losses), standing("pair", losses + rng.normal(0, 0.5, 400))
    worse = standing("three", losses + 0.2 + rng.normal(0, 0.5, 400))
    assert worse.behind(first)[0] > 2 * worse.behind(first)[1]
    assert pair.behind(first)[0] <= pair.behind(first)[1]
    assert first_within([worse, pair, first], first) is pair
    assert first_within([worse, first], first) is first


def test_three_leaders_of_one_score_are_averaged():
    X, y = wine()
    same = {name: LDA() for name in ("a", "b", "c")}
    metric = AutoMetric(same, random_state=0).fit(X, y)
    assert metric.best_ == "mean of a, b and c"
    assert len(metric.metric_) == 3
    found, alone = (each.get_mahalanobis_matrix() for each in (metric, LDA().fit(X, y)))
    assert_allclose(found / np.trace(found), alone / np.trace(alone), atol=1e-6)


def test_unlike_maps_are_averaged_side_by_side_at_the_size_of_their_neighbourhoods():
    X, y = wine()
    bent = FunctionTransformer(lambda rows: 50 * rows**3)
    alone = {"lda": LDA(), "bent": PCA(5)}
    maps = mean_of([maps_of(each.fit(X, y)) for each in alone.values()], X)
    assert isinstance(maps, SideBySideMaps)
    lda, pca = (part.database(X) for part in maps.parts)
    scale = [near_squared_size(np.ascontiguousarray(part)) for part in (lda, pca)]
    gaps = [
        np.sum((part[0] - part[7]) ** 2) / size / 2
        for part, size in zip((lda, pca), scale, strict=True)
    ]
    mapped = maps.database(X)
    assert_allclose(np.sum((mapped[0] - mapped[7]) ** 2), sum(gaps))
    other = mean_of([maps_of(LDA().fit(X, y)), maps_of(bent.fit(X))], X)
    again = mean_of([maps_of(LDA().fit(X, y)), maps_of(FunctionTransformer(lambda r: r**3))], X)
    assert_allclose(other.queries(X[:3]), again.queries(X[:3]))


def test_a_neural_map_is_judged_by_members_blind_to_the_folds_and_stored(tmp_path):
    X, y = wine()
    learners = {"one": NeuralMetric(epochs=8, random_state=0), "two": NeuralMetric(epochs=8)}
    metric = AutoMetric(learners, random_state=0).fit(X, y)
    assert metric.best_ in ("mean of one and two", "mean of two and one")
    assert metric.transform(X).shape == (178, metric._n_features_out)
    assert metric.feature_relevance_.sum() == pytest.approx(1)
    save_model(metric, tmp_path / "mean.vicinal")
    assert_array_equal(load_model(tmp_path / "mean.vicinal").transform(X), metric.transform(X))


def test_numbers_are_predicted_by_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.sin(2 * X[:, 0])
    metric = AutoMetric([Euclidean(), EGOP("analytic")], random_state=0).fit(X, y)
    assert "EGOP" in metric.best_
    assert metric.leaderboard_[0]["score"] < np.var(y)


def test_the_defaults_serve_classes_and_numbers():
    X, y = wine()
    metric = AutoMetric(random_state=0).fit(X[::4], y[::4])
    named = {row["name"] for row in metric.leaderboard_}
    assert {"euclidean", "lda", "relieff", "gradient-weights", "ejop", "mlng"} <= named
    numbers = AutoMetric(random_state=0).fit(X[::2, :4], X[::2, 5])
    named = {row["name"] for row in numbers.leaderboard_}
    assert {"euclidean", "relieff", "gradient-weights", "egop", "mlkr", "mlng"} <= named


def test_a_cross_fit_races_once_and_its_maps_are_those_of_the_chosen():
    rows = Rows(*(lambda X, y: (X, read_target(y)))(*wine()))
    folds = inner_folds(rows, 0)
    metric = AutoMetric([LDA(), LMNN(max_iter=3)], random_state=0)
    begun = metric.cross_fit(rows, folds)
    assert not hasattr(metric, "metric_")
    held = [look(begun.without(fold), rows.X, fold, 5) for fold in folds]
    wrong = [rows.codes[part.near] != rows.codes[part.rows][:, None] for part in held]
    share = np.concatenate(wrong)
    score = np.mean(share.sum(axis=1) >= 3) + share.mean() / 4
    fitted = begun.finish()
    assert fitted is metric
    assert abs(fitted.leaderboard_[0]["score"] - score) < 0.01


def test_a_candidate_is_fitted_once_and_only_the_chosen_on_all_rows():
    X, y = wine()
    Counted.sizes.clear()
    AutoMetric({"lda": LDA(), "plain": Euclidean(), "counted": Counted()}, random_state=0).fit(X, y)
    assert Counted.sizes.count(len(X)) == 0
    assert 1 <= len(Counted.sizes) <= 4


class Counted(MetricLearner):
    """A bad metric that notes how many rows it was given."""

    sizes: ClassVar[list[int]] = []

    def learn(self, rows):
        self.sizes.append(rows.n_rows)
        return LinearMaps(np.eye(1, rows.X.shape[1], 2))


def test_what_refuses_the_rows_is_named_and_left_out():
    X, y = wine()
    metric = AutoMetric({"no": Refuses(), "lda": LDA()}, random_state=0).fit(X, y)
    assert metric.best_ == "lda"
    notes = {row["name"]: row["note"] for row in metric.leaderboard_}
    assert notes["no"] == "left out: it would not do."
    with pytest.raises(ValueError, match="no candidate could be fitted: no left out: it would"):
        AutoMetric({"no": Refuses()}).fit(X, y)


def test_no_fit_is_begun_when_the_budget_is_spent():
    X, y = wine()
    metric = AutoMetric([Euclidean(), LDA(), LMNN()], cpu_seconds=1e-9, random_state=0).fit(X, y)
    assert metric.best_ == "Euclidean"
    assert [row["n_splits"] for row in metric.leaderboard_] == [1, 0, 0]
    assert metric.leaderboard_[1]["note"] == "not tried: the budget was spent"


def test_groups_are_not_parted():
    """Rows of a group are near copies: with groups parted, the plain distance looks perfect."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    y = (np.arange(40) % 2)[groups]
    X = rng.normal(size=(40, 30))[groups] + 0.01 * rng.normal(size=(400, 30))
    X[:, 0] = 1.5 * y + rng.normal(size=400)
    plain = AutoMetric([Euclidean(), LDA()], random_state=0)
    assert plain.fit(X, y).leaderboard_[0]["score"] < 0.05
    assert plain.fit(X, y, groups=groups).leaderboard_[0]["score"] > 0.1


def test_the_same_seed_gives_the_same_choice():
    X, y = wine()
    fits = [AutoMetric([LDA(), LMNN(max_iter=3)], random_state=5).fit(X, y) for _ in range(2)]
    assert_array_equal(fits[0].components_, fits[1].components_)
    scores = [[row["score"] for row in metric.leaderboard_] for metric in fits]
    assert scores[0] == scores[1]


def test_its_k_is_handed_to_candidates_that_leave_theirs_open():
    X, y = wine()
    metric = AutoMetric([LMNN(max_iter=1)], n_neighbors=9, random_state=0).fit(X, y)
    assert metric.metric_.n_neighbors == 9


def test_progress_names_every_fit(capsys):
    X, y = wine()
    AutoMetric([Euclidean(), LDA()], random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[AutoMetric] Euclidean: score ")
    assert lines[1].startswith("[AutoMetric] LDA: score ")


def test_it_serves_a_classifier():
    X, y = wine()
    model = KNNClassifier(3, metric=AutoMetric([Euclidean(), LDA()], random_state=0))
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": []}, "candidates are empty"),
        ({"candidates": "mlng"}, "candidates must be a dict or a list"),
        ({"candidates": [LDA]}, "must be a metric learner, .* not a class"),
        ({"task": "ranking"}, "task must be one of"),
        ({"cpu_seconds": 0}, "cpu_seconds must be a number above zero, got 0"),
        ({"n_neighbors": 500}, "n_neighbors=500 is more than the n_samples=177"),
    ],
)
def test_a_bad_setting_is_refused_with_its_value(parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoMetric(**parameters).fit(*wine())


def test_too_few_rows_to_hold_any_out_take_the_first_candidate():
    metric = AutoMetric([Euclidean(), LDA()], n_neighbors=1).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert metric.best_ == "Euclidean"
    assert metric.leaderboard_[0]["note"] == "not tried: too few rows to hold any out"


class TwoMaps(Euclidean):
    """Queries are mapped to minus what database rows are."""

    @property
    def maps_(self):
        return LinearMaps(self.components_, -self.components_)


def test_a_winner_with_a_map_of_its_own_for_queries_keeps_both():
    X, y = wine()
    metric = AutoMetric([TwoMaps()], random_state=0).fit(X, y)
    assert not hasattr(metric, "components_")
    assert_array_equal(metric.transform(X), X)
    assert_array_equal(metric.transform_queries(X), -X)


def test_held_out_rows_are_mapped_as_queries():
    """By its own vote it is far behind the plain distance, though the maps' shapes are equal."""
    X, y = wine()
    metric = AutoMetric({"two": TwoMaps(), "plain": Euclidean()}, random_state=0).fit(X, y)
    assert metric.best_ == "plain"
    scores = {row["name"]: row["score"] for row in metric.leaderboard_}
    assert scores["two"] > 2 * scores["plain"]
