"""A plan: checked before the work, the same after a trip to a worker, one cell a fit."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from vicinal.comparison import Question, plan_cells, plan_comparison
from vicinal.comparison._plan import ComparisonPlan
from vicinal.methods import get_method
from vicinal.runs import Setting, Source, record_from_json

SETTING = Setting(Source("wine"))


def test_a_method_that_depends_on_k_gets_a_cell_for_each_and_others_one_for_all():
    cells = plan_cells(SETTING, [get_method("euclidean"), get_method("mlng")], (3, 7), 2)
    assert [(c.fold, c.method, c.ks) for c in cells] == [
        (0, "euclidean", (3, 7)),
        (0, "mlng", (3,)),
        (0, "mlng", (7,)),
        (1, "euclidean", (3, 7)),
        (1, "mlng", (3,)),
        (1, "mlng", (7,)),
    ]


def test_a_reference_is_fitted_once_whatever_the_k():
    cells = plan_cells(SETTING, [get_method("svm")], (3, 7), 1)
    assert [(c.method, c.ks) for c in cells] == [("svm", (None,))]


def test_questions_and_plans_survive_the_trip_to_a_worker():
    question = Question(Source("wine"), ("lda", "hgb"), (3, 5), references=True)
    assert record_from_json(Question, json.loads(json.dumps(asdict(question)))) == question
    plan = plan_comparison(question)
    again = ComparisonPlan.from_json(json.loads(json.dumps(plan.to_json())), {})
    assert again == plan
    assert again.cells == plan.cells
    assert again.default_folder == plan.default_folder


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Question(Source("wine"), ks=(0,)), "at least 1"),
        (Question(Source("wine"), ks=(500,)), "more than the 142 rows"),
        (Question(Source("wine"), seed=-1), "negative"),
        (Question(Source("wine"), protocol="loo"), "no protocol is called 'loo'"),
        (Question(Source("wine"), scale="log"), "scale must be one of"),
        (Question(Source("wine"), ("egop",)), "not made for classification"),
        (Question(Source("wine"), n_components=99), "n_components=99"),
    ],
)
def test_what_would_fail_on_every_fold_is_refused_before(question, words):
    with pytest.raises(ValueError, match=words):
        plan_comparison(question)
