"""Experiments become cells, each measured once, and records become outcomes."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from vicinal.methods import get_method, make_learner
from vicinal.methods._making import import_factory
from vicinal.published import (
    Experiment,
    Outcome,
    outcome_record,
    published_experiments,
    select_experiments,
)
from vicinal.published._reproduce import (
    QUICK_FOLDS,
    QUICK_ROWS,
    count_folds,
    experiment_cells,
    experiment_setting,
    learner_of,
    plan_experiments,
    reproduce,
    summarise,
)
from vicinal.runs import RunProgress, record_key

WINE = Experiment(
    name="nobody2000_euclidean_wine_zscore_k3",
    table="nobody2000_table",
    citation="nobody2000",
    dataset="wine",
    protocol="kfold",
    folds={"n_folds": 3, "seed": 0},
    preparation={"scale": "zscore"},
    method="euclidean",
    parameters={},
    k=3,
    error=4.0,
    spread=2.0,
    unit="percent",
)
WINE_7 = replace(WINE, name="nobody2000_euclidean_wine_zscore_k7", k=7)
WINE_LDA = replace(WINE, name="nobody2000_lda_wine_zscore_k3", method="lda")


def known_of(experiment: Experiment, errors: list[float], **more: object) -> dict[str, dict]:
    cells = experiment_cells(experiment)[: len(errors)]
    common = {"status": "ok", "n_train": 100, "n_test": 50, "fit_seconds": 1.0}
    return {
        record_key(cell, experiment.k): {**common, "fit_cpu_seconds": 2.0, "error": error, **more}
        for cell, error in zip(cells, errors, strict=True)
    }


def test_one_fit_serves_every_k_where_the_method_allows() -> None:
    cells = plan_experiments([WINE, WINE_7, WINE_LDA])
    assert [(cell.fold, cell.method, cell.ks) for cell in cells] == [
        (fold, method, ks)
        for fold in range(3)
        for method, ks in (("euclidean", (3, 7)), ("lda", (3,)))
    ]


def test_a_method_that_learns_for_its_k_gets_a_cell_for_each() -> None:
    cells = plan_experiments(select_experiments(["*_mlng_letter_zscore_*"]))
    assert sorted((cell.fold, cell.ks) for cell in cells) == [
        (fold, (k,)) for fold in range(5) for k in (3, 7, 11)
    ]


def test_a_variant_is_run_by_another_constructor_of_the_methods_learner() -> None:
    (plain,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])
    (variant,) = select_experiments(["trivedi2014_mlng-as-published_letter_zscore_k3"])
    assert {cell.method for cell in experiment_cells(plain)} == {"mlng"}
    assert {c.method for c in experiment_cells(variant)} == {"vicinal.metric:MLNG.as_published"}
    assert summarise(variant, known_of(plain, [0.02] * 5)).errors == ()


def test_every_variant_makes_a_learner_of_its_k_and_a_seed() -> None:
    variants = [e for e in published_experiments() if e.variant]
    assert {(e.method, e.variant) for e in variants} == {("mlng", "as_published")}
    for e in variants:
        learner = make_learner(
            get_method(learner_of(e)), "classification", k=int(e.k), parameters=e.parameters
        )
        assert type(learner).__name__ == "PublishedMLNG"
        assert (learner.n_neighbors, learner.random_state) == (e.k, 0)


def test_a_constructor_of_a_class_can_be_named_as_a_method() -> None:
    assert import_factory("collections:Counter.fromkeys").__self__ is Counter
    with pytest.raises(ValueError, match="cannot be imported"):
        import_factory("collections:Counter.as_published")


def test_an_experiment_named_twice_is_measured_once() -> None:
    assert plan_experiments([WINE, WINE]) == plan_experiments([WINE])


def test_cells_of_one_data_set_and_preparation_follow_each_other() -> None:
    cells = plan_experiments(published_experiments())
    places = [(c.setting.source.name, str(c.setting.preparation)) for c in cells]
    changes = sum(a != b for a, b in itertools.pairwise(places))
    assert changes + 1 == len(set(places))


def test_the_plan_covers_every_fold_of_every_experiment() -> None:
    experiments = published_experiments()
    planned = {key for cell in plan_experiments(experiments) for key in cell.keys().values()}
    wanted = {
        record_key(c, None if get_method(e.method).reference else e.k)
        for e in experiments
        for c in experiment_cells(e)
    }
    assert planned == wanted


def test_a_model_that_asks_no_neighbours_is_found_again_in_its_records() -> None:
    experiment = replace(WINE, method="logistic", k="knn")
    (cell, *_) = experiment_cells(experiment)
    known = {record_key(cell, None): {"status": "ok", "error": 0.1, "n_train": 9, "n_test": 5,
                                      "fit_seconds": 1.0, "fit_cpu_seconds": 2.0}}  # fmt: skip
    assert summarise(experiment, known).errors == (0.1,)


def test_quick_cuts_rows_and_folds_and_keeps_its_results_apart() -> None:
    setting = experiment_setting(WINE, quick=True)
    assert setting.source.limit == QUICK_ROWS
    assert count_folds(setting.protocol, setting.folds) == QUICK_FOLDS
    whole = {record_key(cell, 3) for cell in experiment_cells(WINE)}
    quick = {record_key(cell, 3) for cell in experiment_cells(WINE, quick=True)}
    assert len(quick) == QUICK_FOLDS
    assert not whole & quick


@pytest.mark.parametrize(
    ("protocol", "folds", "count"),
    [
        ("official", {}, 1),
        ("kfold", {}, 5),
        ("kfold", {"n_folds": 4}, 4),
        ("repeated", {"n_repeats": 7}, 7),
        ("grouped", {"n_folds": 2}, 2),
    ],
)
def test_the_number_of_folds_follows_the_protocol(
    protocol: str, folds: dict[str, int], count: int
) -> None:
    assert count_folds(protocol, folds) == count


def test_an_outcome_is_the_mean_over_its_folds() -> None:
    outcome = summarise(WINE, known_of(WINE, [0.02, 0.04, 0.06]))
    assert outcome.measured == pytest.approx(0.04)
    assert (outcome.complete, outcome.n_train, outcome.fit_cpu_seconds) == (True, 100, 2.0)
    assert outcome.verdict == "within"


def test_missing_and_failed_folds_leave_an_outcome_incomplete() -> None:
    known = known_of(WINE, [0.02, 0.04])
    last = experiment_cells(WINE)[2]
    known[record_key(last, 3)] = {"status": "failed", "message": "no memory"}
    outcome = summarise(WINE, known)
    assert (len(outcome.errors), outcome.complete, outcome.verdict) == (2, False, None)
    assert outcome.messages == ("no memory",)
    nothing = summarise(WINE, {})
    assert (nothing.errors, math.isnan(nothing.measured)) == ((), True)


def test_records_are_strict_json_and_tell_what_is_missing() -> None:
    outcomes = [Outcome(WINE, (0.03,), expected=3), Outcome(WINE_7, (), expected=3)]
    text = json.dumps([outcome_record(outcome) for outcome in outcomes], allow_nan=False)
    assert [record["status"] for record in json.loads(text)] == ["partial", "failed"]


@pytest.mark.usefixtures("one_process")
def test_a_run_measures_what_scikit_learn_measures_and_goes_on_where_it_stopped(
    tmp_path: Path,
) -> None:
    first = reproduce([WINE], tmp_path / "run")
    seen: list[RunProgress] = []
    both = reproduce([WINE, WINE_7, WINE_LDA], tmp_path / "run", listener=seen.append)
    assert both[0].errors == first[0].errors
    assert all(outcome.complete for outcome in both)
    ended = [(p.ended.fold, p.ended.method, p.ended.ks) for p in seen if p.ended is not None]
    assert sorted(ended) == [
        (fold, method, ks)
        for fold in range(3)
        for method, ks in (("euclidean", (7,)), ("lda", (3,)))
    ]
    assert first[0].measured == pytest.approx(plain_error(3), abs=1e-12)


def plain_error(k: int) -> float:
    """Measure the same with scikit-learn alone, on vicinal's folds."""
    import numpy as np
    from sklearn.datasets import load_wine
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    from vicinal.data import load_dataset, make_folds

    X, y = load_wine(return_X_y=True)
    errors = []
    for fold in make_folds(load_dataset("wine"), "kfold", n_folds=3, seed=0):
        scaler = StandardScaler().fit(X[fold.train])
        model = KNeighborsClassifier(k).fit(scaler.transform(X[fold.train]), y[fold.train])
        errors.append(np.mean(model.predict(scaler.transform(X[fold.test])) != y[fold.test]))
    return float(np.mean(errors))
