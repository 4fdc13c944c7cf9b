"""Who takes sparse rows: those that the page on choosing names, and nobody else unawares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification

from vicinal import KNNClassifier
from vicinal.methods import get_method, list_methods, make_learner

TAKE_SPARSE = {"mlng", "mlng-asymmetric"}
LEARNERS = [m.name for m in list_methods() if m.factory is not None and not m.reference]
PAGE = Path(__file__).parents[2] / "docs" / "how-to-choose.md"


@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_rows_are_taken_or_refused_in_words(name):
    method = get_method(name)
    task = method.tasks[0]
    X, y = make_classification(60, 6, random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    learner = make_learner(method, task, k=3)
    target = y if task == "classification" else X[:, 0]
    if name in TAKE_SPARSE:
        learner.fit(csr_array(X), target)
        dense = make_learner(method, task, k=3).fit(X, target)
        np.testing.assert_allclose(learner.transform(csr_array(X)), dense.transform(X), atol=1e-6)
    else:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            learner.fit(csr_array(X), target)


def test_the_page_names_them():
    line = next(row for row in PAGE.read_text().splitlines() if row.startswith("| sparse rows"))
    names = {get_method(name).factory.rpartition(":")[2] for name in TAKE_SPARSE}
    assert all(f"`{name}`" in line for name in names)


@pytest.mark.parametrize("metric", [None, "cosine", "mlng"])
def test_predictors_vote_over_sparse_rows(metric):
    X, y = make_classification(60, 6, random_state=0)
    X[:, 1:][np.abs(X[:, 1:]) < 0.5] = 0.0  # no row of zeros: it has no direction
    sparse, dense = (
        KNNClassifier(metric=metric, n_neighbors=3).fit(kind(X), y)
        for kind in (csr_array, np.asarray)
    )
    assert (sparse.predict(csr_array(X)) == dense.predict(X)).all()
