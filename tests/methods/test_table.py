"""The table of methods: names that resolve, and names that do not."""

from __future__ import annotations

import pytest

from vicinal.methods import (
    METHODS,
    Method,
    choose_methods,
    get_method,
    list_methods,
    make_learner,
    own_method,
)
from vicinal.methods._making import import_factory
from vicinal.rivals import LDA


def test_names_are_unique_and_lower_case():
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and "," not in name and ":" not in name for name in names)


@pytest.mark.parametrize(
    "method", [m for m in METHODS if m.factory and not m.package], ids=lambda m: m.name
)
def test_every_method_makes_a_learner_with_its_k_and_seed(method):
    metric = make_learner(method, method.tasks[0], k=7, seed=5)
    assert hasattr(metric, "fit")
    assert metric.get_params().get("random_state", 5) == 5
    assert not method.depends_on_k or metric.n_neighbors == 7


def test_the_diffusion_map_is_for_numbers_and_keeps_its_own_neighbours():
    method = get_method("gdm")
    assert method.tasks == ("regression",)
    assert not method.default
    metric = make_learner(method, "regression", k=3)
    assert (metric.n_components, metric.n_neighbors) == (10, 20)


def test_euclidean_needs_no_learner():
    assert make_learner(get_method("euclidean"), "regression", k=3) is None


def test_parameters_given_outweigh_those_of_the_table_and_those_filled_in():
    method = Method("x", "X", "vicinal.rivals:NCA", parameters={"max_iter": 7, "tol": 0.1})
    given = {"max_iter": 9, "random_state": 4}
    metric = make_learner(method, "classification", k=3, parameters=given)
    assert (metric.max_iter, metric.tol, metric.random_state) == (9, 0.1, 4)


def test_an_unknown_name_gets_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"'mlgn'\. Did you mean mlng"):
        get_method("mlgn")
    with pytest.raises(ValueError, match=r"Known: euclidean, lda"):
        get_method("zzz")


def test_names_are_known_in_capitals_too():
    assert get_method("MLNG").name == "mlng"


def test_a_learner_of_the_users_own_is_known_by_its_import_path():
    method = get_method("vicinal.rivals:LDA")
    assert (method.title, method.depends_on_k) == ("LDA", False)
    assert set(method.tasks) == {"classification", "regression"}


@pytest.mark.parametrize("path", ["no.such.module:A", "vicinal.rivals:LDDA", "vicinal:"])
def test_a_path_that_leads_nowhere_is_refused(path):
    with pytest.raises(ValueError, match="cannot be imported"):
        import_factory(path)


def test_euclidean_comes_first_whether_asked_for_or_not():
    assert [m.name for m in choose_methods(["nca", "lda", "nca"], "classification")] == [
        "euclidean",
        "nca",
        "lda",
    ]
    assert choose_methods(["lda", "euclidean"], "classification")[0].name == "euclidean"


def test_nobody_asked_for_gets_the_default_methods_of_the_task():
    assert {"euclidean", "lda", "nca", "mlng"} <= {
        m.name for m in choose_methods(None, "classification")
    }
    assert choose_methods(None, "regression")[0].name == "euclidean"
    assert all("regression" in m.tasks for m in list_methods("regression"))


def test_a_method_for_another_task_is_refused():
    with pytest.raises(ValueError, match="lda: not made for regression"):
        choose_methods(["lda"], "regression")


def test_references_are_run_where_they_are_asked_for_only():
    plain = choose_methods(None, "classification")
    assert not any(method.reference for method in plain)
    more = choose_methods(["lda"], "classification", references=True)
    assert [m.name for m in more if m.reference] == ["hgb", "forest", "svm", "logistic"]
    numbers = choose_methods(["egop"], "regression", references=True)
    assert [m.name for m in numbers if m.reference] == ["hgb", "forest", "svm", "linear"]
    assert get_method("gp").reference  # of its own accord nobody waits for it


def test_a_model_of_a_package_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr("vicinal.methods._table.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"tabm needs the package pytabkit.*pip install pytabkit"):
        choose_methods(["lda", "tabm"], "classification")
    assert "tabm" not in [m.name for m in choose_methods(None, "regression", references=True)]


def test_an_estimator_of_ones_own_is_cloned_and_keeps_its_parameters():
    mine = LDA(n_components=1)
    method = own_method(mine, "my LDA")
    made = make_learner(method, "classification", k=3)
    assert made is not mine
    assert (made.n_components, method.title, method.name) == (1, "my LDA", "LDA(n_components=1)")
    with pytest.raises(ValueError, match="fit and transform"):
        own_method(LDA)


def test_a_method_may_wrap_another_that_gets_the_k():
    method = Method(
        "bag",
        "Bag",
        "sklearn.ensemble:BaggingClassifier",
        wraps="sklearn.neighbors:KNeighborsClassifier",
        depends_on_k=True,
    )
    assert make_learner(method, "classification", k=4).estimator.n_neighbors == 4
