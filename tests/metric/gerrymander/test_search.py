"""Which settings share in the metric: the search for them, and companions of another kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from vicinal.metric.gerrymander._initialisation import Start
from vicinal.metric.gerrymander._records import Options, Progress, Rows, Setting, Watch
from vicinal.metric.gerrymander._search import Choice, Search, choose_settings, companion_setting
from vicinal.metric.selection._trials import Trial

from vicinal.metric import MLNG
from vicinal.metric.gerrymander._averaging import mean_map
from vicinal.metric.gerrymander._training import fit_setting, fit_settings

LEADER = Setting(Start("lda", 2, 0.1), 0.03)


def classes_in_noise(n_rows: int, n_features: int) -> tuple[Rows, Options]:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X[:, :3] += 2 * np.eye(3, dtype=np.float32)[codes]
    learner = MLNG(n_neighbors=3, random_state=0, n_jobs=1)
    learner.classes_ = np.arange(3)
    return Rows(X, codes, n_features, None, None), learner._options(X, codes, None)


def never(progress: object) -> bool:
    return False


def note_settings(seen: list[str], *, stop: bool = False) -> Watch:
    def watch(progress: Progress) -> bool:
        seen.append(progress.setting)
        return stop

    return watch


def test_a_companion_starts_from_features_and_walks_at_the_leaders_rate():
    rows, options = classes_in_noise(1600, 20)
    assert companion_setting(rows, options, LEADER) == Setting(Start("relieff"), 0.03)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "change"),
    [
        (1400, 20, {}),  # several splits tell epochs apart, one companion would cost four trials
        (1600, 15, {}),  # more than a hundred rows a feature
        (1600, 20, {"selection_rows": 1500}),
        (1600, 20, {"init": "lda"}),
        (1600, 20, {"solver": "psd"}),
        (1600, 20, {"n_components": 4}),
    ],
)
def test_no_companion_where_it_would_not_pay_or_was_not_asked_for(n_rows, n_features, change):
    rows, options = classes_in_noise(n_rows, n_features)
    assert companion_setting(rows, replace(options, **change), LEADER) is None


@pytest.mark.parametrize(
    ("leader", "companion"),
    [
        (Start("lda", 2, 0.6), Start("logistic", 2, 0.1)),
        (Start("pca", 30), Start("logistic", 2, 0.1)),
        (Start("logistic", 2, 0.1), Start("lda", 2, 0.8)),
    ],
)
def test_where_features_are_many_discriminants_and_logistic_weights_go_together(leader, companion):
    rows, options = classes_in_noise(300, 200)
    chosen = companion_setting(rows, options, Setting(leader, 0.03))
    assert chosen == Setting(companion, 0.03)


def test_sparse_rows_have_no_companion():
    rows, options = classes_in_noise(1600, 20)
    thin_X: Any = sparse.csr_array(rows.X)
    thin = Rows(thin_X, rows.codes, 20, None, None)
    assert companion_setting(thin, options, LEADER) is None


def test_a_companion_counts_as_much_as_all_the_others_together():
    rows, options = classes_in_noise(1600, 20)
    settings = (replace(LEADER, n_epochs=1), replace(LEADER, rate=0.1, n_epochs=1))
    companion = Setting(Start("relieff"), 0.03, n_epochs=1)
    learned = fit_settings(rows, options, Choice(settings, (0.1,), companion), never)
    alone = [fit_setting(rows, options, s, never).components for s in (*settings, companion)]
    expected = mean_map([mean_map(alone[:2]), alone[2]])
    np.testing.assert_allclose(
        learned.components.T @ learned.components, expected.T @ expected, rtol=1e-4, atol=1e-5
    )


def test_a_fit_that_is_stopped_does_not_begin_with_the_companion():
    rows, options = classes_in_noise(1600, 20)
    seen: list[str] = []
    choice = Choice((replace(LEADER, n_epochs=3),), (0.1,), Setting(Start("relieff"), 0.03, 0.0, 3))
    learned = fit_settings(rows, options, choice, note_settings(seen, stop=True))
    assert len(seen) == 1
    assert "relieff" not in seen[0]
    assert learned.components.shape == (2, 20)


def trial_of(setting: Setting, components: np.ndarray, score: float) -> Trial:
    return Trial(setting, [], [score], [1], [[components]])


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_epochs"),
    [
        (1600, 20, 3),  # one split: the last epoch it cannot tell from the best
        (600, 20, 2),  # several splits: the best
        (600, 400, 1),  # many features: the first they cannot tell from the best
    ],
)
def test_the_epoch_to_stop_at(n_rows, n_features, n_epochs):
    rows, options = classes_in_noise(n_rows, n_features)
    search = Search(rows, options, never)
    trial = Trial(LEADER, [], [0.5, 0.201, 0.2, 0.201, 0.5], list(range(5)), [[np.eye(1)]] * 5)
    assert search.choose_one(trial).settings[0].n_epochs == n_epochs


@pytest.mark.parametrize("joins", [True, False])
def test_a_companion_joins_unless_the_mean_metric_is_clearly_worse(joins):
    rows, options = classes_in_noise(1600, 20)
    search = Search(rows, options, never)
    good = np.eye(3, 20, dtype=np.float32)  # the features that part the classes
    noise = 3 * np.eye(20, dtype=np.float32)[5:]
    leader = trial_of(LEADER, good, search.judges[0](good))
    other = trial_of(Setting(Start("relieff"), 0.03), good if joins else noise, 0.0)
    choice = search.join(search.choose_several([leader]), [leader], other)
    assert choice.settings == (replace(LEADER, n_epochs=1),)
    assert (choice.companion is not None) == joins


def test_the_search_tries_the_companion_on_the_inner_split():
    rows, options = classes_in_noise(1600, 20)
    tried: list[str] = []
    settings = [LEADER, replace(LEADER, rate=0.1)]
    choose_settings(rows, replace(options, max_iter=4), settings, note_settings(tried))
    assert tried[-1].startswith("relieff")
