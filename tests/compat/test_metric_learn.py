"""metric-learn's documented names, signatures and behaviour over vicinal's learners."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal.compat import metric_learn as ml
from vicinal.compat.metric_learn.base_metric import MahalanobisMixin, _PairsClassifierMixin
from vicinal.compat.metric_learn.exceptions import NonPSDError

X, Y = load_iris(return_X_y=True)
SUPERVISED = [
    ml.Covariance(),
    ml.LMNN(max_iter=5),
    ml.NCA(max_iter=5),
    ml.LFDA(),
    ml.MLKR(max_iter=5),
    ml.RCA_Supervised(n_chunks=20),
    ml.ITML_Supervised(max_iter=5, n_constraints=100),
    ml.MMC_Supervised(max_iter=5, n_constraints=100),
    ml.SDML_Supervised(balance_param=1e-5, n_constraints=100),
    ml.LSML_Supervised(max_iter=20, n_constraints=100),
    ml.SCML_Supervised(n_basis=40, max_iter=500),
]
PAIRS = [ml.ITML(max_iter=20), ml.MMC(max_iter=10), ml.SDML(balance_param=1e-5)]
WEAK = [*PAIRS, ml.LSML(max_iter=20), ml.SCML(n_basis=40, max_iter=500)]


def name(estimator):
    return type(estimator).__name__


def tuples_for(estimator, n=60, seed=0):
    """Row numbers of tuples an estimator learns from, and labels of pairs (or None)."""
    rng = np.random.default_rng(seed)
    size = estimator._tuple_size
    rows = rng.integers(0, len(X), (n, size))
    if size != 2:
        return rows, None
    return rows, np.where(Y[rows[:, 0]] == Y[rows[:, 1]], 1, -1)


def fit(estimator, tuples, y):
    return estimator.fit(tuples) if y is None else estimator.fit(tuples, y)


@parametrize_with_checks([ml.NCA(max_iter=3), ml.Covariance()])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", SUPERVISED, ids=name)
def test_learners_of_labels_map_points_and_measure_pairs(estimator):
    learner = clone(estimator).fit(X, Y)
    L = learner.components_
    assert_allclose(learner.transform(X), X @ L.T)
    assert_allclose(learner.get_mahalanobis_matrix(), L.T @ L)
    pairs = X[[[0, 60], [100, 3]]]
    distances = np.linalg.norm(
        learner.transform(pairs[:, 0]) - learner.transform(pairs[:, 1]), axis=1
    )
    assert_allclose(learner.pair_distance(pairs), distances)
    assert_allclose(learner.pair_score(pairs), -distances)
    metric = learner.get_metric()
    assert_allclose(metric(X[0], X[60]), distances[0])
    assert_allclose(metric(X[0], X[60], squared=True), distances[0] ** 2)
    with pytest.warns(FutureWarning, match="pair_distance"):
        assert_allclose(learner.score_pairs(pairs), distances)


@pytest.mark.parametrize("estimator", SUPERVISED, ids=name)
def test_indices_and_points_give_the_same_map(estimator):
    learner = clone(estimator)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    formed = clone(learner).fit(X, Y)
    indexed = clone(learner).set_params(preprocessor=X).fit(np.arange(len(X)), Y)
    assert_allclose(formed.components_, indexed.components_)
    assert_allclose(indexed.transform([3, 5]), formed.transform(X[[3, 5]]))
    assert_allclose(indexed.pair_distance([[0, 1]]), formed.pair_distance(X[[[0, 1]]]))
    called = clone(learner).set_params(preprocessor=lambda rows: X[rows]).fit(np.arange(150), Y)
    assert_allclose(called.components_, formed.components_)


@pytest.mark.parametrize("estimator", WEAK, ids=name)
def test_learners_of_tuples_learn_from_points_and_from_indices(estimator):
    rows, y = tuples_for(estimator)
    settings = {"random_state": 0}
    formed = fit(clone(estimator).set_params(**settings), X[rows], y)
    indexed = fit(clone(estimator).set_params(preprocessor=X, **settings), rows, y)
    assert_allclose(formed.components_, indexed.components_)
    assert_array_equal(formed.predict(X[rows]), indexed.predict(rows))
    for wrong in (X[rows][:, :1], X[0], np.full((4, estimator._tuple_size, 2), np.nan)):
        with pytest.raises(ValueError):
            fit(clone(estimator), wrong, None if y is None else y[: len(wrong)])


@pytest.mark.parametrize("estimator", PAIRS, ids=name)
def test_pairs_are_scored_and_thresholds_set(estimator):
    rows, y = tuples_for(estimator)
    learner = clone(estimator).fit(X[rows], y)
    scores = learner.decision_function(X[rows])
    assert_allclose(scores, learner.pair_score(X[rows]))
    assert learner.score(X[rows], y) == roc_auc_score(y, scores)
    assert np.mean(learner.predict(X[rows]) == y) > 0.75
    assert learner.set_threshold(1.5) is learner
    assert_array_equal(learner.predict(X[rows]), np.where(-scores <= 1.5, 1, -1))
    with pytest.raises(ValueError, match="threshold takes a number"):
        learner.set_threshold("far")
    assert learner.calibrate_threshold(X[rows], y, "max_tpr", min_rate=1.0) is learner
    assert not (learner.predict(X[rows])[y == -1] == 1).any()


@pytest.mark.parametrize(
    ("strategy", "settings", "threshold"),
    [
        ("accuracy", {}, 2.0),
        ("f_beta", {"beta": 0.1}, 2.0),
        ("max_tpr", {"min_rate": 0.5}, 4.0),
        ("max_tnr", {"min_rate": 0.3}, 2.0),
    ],
)
def test_thresholds_are_the_best_of_all(strategy, settings, threshold):
    from vicinal.compat.metric_learn._thresholds import best_threshold

    scores, y = -np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 1, -1, 1, -1])
    given = {"min_rate": None, "beta": 1.0} | settings
    assert best_threshold(scores, y, strategy, **given) == threshold


@pytest.mark.parametrize(
    "settings",
    [
        {"strategy": "best"},
        {"strategy": "max_tpr", "min_rate": 2},
        {"strategy": "max_tnr"},
        {"strategy": "f_beta", "beta": "one"},
    ],
)
def test_bad_calibrations_are_refused_before_anything_is_learned(settings):
    rows, y = tuples_for(ml.MMC())
    learner = ml.MMC()
    with pytest.raises(ValueError):
        learner.fit(X[rows], y, calibration_params=settings)
    with pytest.raises(NotFittedError):
        learner.predict(X[rows])
    with pytest.raises(ValueError):
        clone(learner).fit(X[rows], y).calibrate_threshold(X[rows], y, **settings)


@pytest.mark.parametrize("estimator", [ml.LSML(), ml.SCML(n_basis=40, max_iter=500)], ids=name)
def test_the_order_of_tuples_is_predicted(estimator):
    rows, _ = tuples_for(estimator)
    learner = estimator.fit(X[rows])
    value = learner.decision_function(X[rows])
    assert_array_equal(learner.predict(X[rows]), np.sign(value))
    assert learner.score(X[rows]) == np.mean(value > 0)


def test_cross_validation_takes_pairs_of_indices():
    rows, y = tuples_for(ml.MMC(), 60)
    scores = cross_val_score(ml.MMC(preprocessor=X, max_iter=10), rows, y, cv=3)
    assert scores.mean() > 0.7
    assert np.isfinite(cross_val_score(ml.ITML(), X[rows], y, cv=3, scoring="accuracy")).all()


def test_labels_of_pairs_other_than_plus_and_minus_one_are_refused():
    rows, y = tuples_for(ml.ITML())
    with pytest.raises(ValueError, match="a pair is alike"):
        ml.ITML().fit(X[rows], y + 1)


def test_a_preprocessor_that_fails_says_so():
    def fails(rows):
        raise KeyError("no such picture")

    with pytest.raises(ml.PreprocessorError, match="no such picture"):
        ml.NCA(preprocessor=fails).fit(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="preprocessor must be"):
        ml.NCA(preprocessor=7).fit(X, Y)


def test_bounds_are_distances_and_kept():
    rows, y = tuples_for(ml.ITML())
    assert_array_equal(ml.ITML().fit(X[rows], y, bounds=[1, 3]).bounds_, [1, 3])
    with pytest.raises(ValueError, match="larger than the second"):
        ml.ITML().fit(X[rows], y, bounds=[3, 1])


def test_a_matrix_without_solution_warns_and_fails_in_words():
    rows, y = tuples_for(ml.SDML())
    with (
        pytest.warns(ConvergenceWarning, match="not positive semidefinite"),
        pytest.raises(RuntimeError, match="Lower balance_param"),
    ):
        ml.SDML(balance_param=100.0).fit(X[rows], y)


@pytest.mark.parametrize(
    ("estimator", "old"),
    [
        (ml.ITML_Supervised, "num_constraints"),
        (ml.ITML, "convergence_threshold"),
        (ml.RCA_Supervised, "num_chunks"),
        (ml.LMNN, "k"),
    ],
)
def test_old_names_of_parameters_warn(estimator, old):
    with pytest.warns(FutureWarning, match=f"{old}= is now called"):
        estimator(**{old: 7})


def test_priors_are_checked():
    rows, y = tuples_for(ml.ITML())
    with pytest.raises(ValueError, match="is unknown; use"):
        ml.ITML(prior="fancy").fit(X[rows], y)
    with pytest.raises(np.linalg.LinAlgError, match="eigenvalue of zero"):
        ml.ITML(prior=np.diag([1.0, 1, 1, 0])).fit(X[rows], y)
    with pytest.raises(ValueError, match="is unknown; use"):
        ml.LMNN(init="fancy").fit(X, Y)
    for prior in ("covariance", "random", np.eye(4)):
        assert np.isfinite(ml.LSML(prior=prior, random_state=0).fit(
            X[tuples_for(ml.LSML())[0]]).components_).all()  # fmt: skip


@pytest.mark.parametrize("init", ["auto", "pca", "lda", "identity", "random", np.eye(2, 4)])
def test_maps_start_where_they_are_told(init):
    learner = ml.NCA(init=init, n_components=2, max_iter=2, random_state=0).fit(X, Y)
    assert learner.components_.shape == (2, 4)


def test_constraints_hold_what_they_promise():
    labels = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    drawn = ml.Constraints(labels)
    with pytest.warns(UserWarning, match="fewer than the"):
        a, b, c, d = drawn.positive_negative_pairs(100, random_state=0)
    assert (labels[a] == labels[b]).all()
    assert (labels[c] != labels[d]).all()
    assert min(labels[np.concatenate([a, b, c, d])]) >= 0
    a, b, c, d = drawn.positive_negative_pairs(4, same_length=True, random_state=0)
    assert len(a) == len(b) == len(c) == len(d) == 4
    chunks = drawn.chunks(2, 2, random_state=0)
    assert sorted(chunks) == [-1, -1, -1, -1, 0, 0, 1, 1]
    for chunk in (0, 1):
        assert len(set(labels[chunks == chunk])) == 1
    with pytest.raises(ValueError, match="hold 2 chunks"):
        drawn.chunks(3, 2)
    points = np.array([[0.0], [1], [3], [10], [11], [13], [99], [98]])
    triplets = drawn.generate_knntriplets(points, 1, 1)
    assert triplets.tolist() == [[0, 1, 3], [1, 0, 3], [2, 1, 3], [3, 4, 2], [4, 3, 2], [5, 4, 2]]


def test_signatures_are_the_documented_ones():
    documented = {
        ml.LMNN: "init n_neighbors min_iter max_iter learn_rate regularization convergence_tol "
        "verbose preprocessor n_components random_state k",
        ml.NCA: "init n_components max_iter tol verbose preprocessor random_state",
        ml.LFDA: "n_components k embedding_type preprocessor",
        ml.MLKR: "n_components init tol max_iter verbose preprocessor random_state",
        ml.RCA: "n_components preprocessor",
        ml.SCML: "beta basis n_basis gamma max_iter output_iter batch_size verbose preprocessor "
        "random_state",
        ml.LSML: "tol max_iter prior verbose preprocessor random_state",
        ml.SDML: "balance_param sparsity_param prior verbose preprocessor random_state",
    }
    for estimator, words in documented.items():
        assert " ".join(inspect.signature(estimator).parameters) == " ".join(words.split())


def test_the_metric_takes_rows_of_one_and_single_numbers():
    model = ml.Covariance().fit(X)
    metric = model.get_metric()
    assert metric(X[:1], X[1:2]) == metric(X[0], X[1])
    single = ml.Covariance().fit(X[:, :1])
    assert single.get_metric()(5, 6.5) == pytest.approx(1.5 * single.components_[0, 0])


@pytest.mark.parametrize("estimator", [*WEAK, ml.LFDA()], ids=name)
def test_asking_changes_nothing_that_was_fitted(estimator):
    estimator = clone(estimator).set_params(preprocessor=X)
    if hasattr(estimator, "predict"):
        rows, y = tuples_for(estimator)
        fit(estimator, rows, y)
        ask = estimator.predict
    else:
        estimator.fit(X, Y)
        rows, ask = np.arange(5), estimator.transform
    before = dict(vars(estimator))
    ask(rows)
    assert vars(estimator).keys() == before.keys()
    assert all(vars(estimator)[key] is before[key] for key in before)


def test_learners_of_tuples_are_no_transformers_of_them():
    assert not any(isinstance(estimator, TransformerMixin) for estimator in WEAK)
    assert all(isinstance(estimator, TransformerMixin) for estimator in [*SUPERVISED, ml.RCA()])


def test_equally_far_pairs_are_not_in_order():
    model = ml.SCML(n_basis=40, max_iter=500).fit(X[tuples_for(ml.SCML())[0]])
    equal = X[np.array([[0, 1, 1], [2, 2, 2]])]
    assert_array_equal(model.predict(equal), [-1, -1])


def test_what_is_no_metric_has_an_error_of_its_own():
    rows, y = tuples_for(ml.ITML())
    with pytest.raises(NonPSDError, match="negative eigenvalues"):
        ml.ITML(prior=np.diag([1.0, 1, 1, -1])).fit(X[rows], y)


def test_a_start_without_inverse_is_said_where_it_will_do():
    rows, y = tuples_for(ml.MMC())
    twice = np.hstack([X, X[:, :1]])[rows]
    with pytest.warns(UserWarning, match="pseudo-inverse"):
        ml.MMC(init="covariance", max_iter=2).fit(twice, y)
    with pytest.raises(np.linalg.LinAlgError, match="no inverse"):
        ml.ITML(prior="covariance").fit(twice, y)


def test_a_class_may_have_as_many_points_as_neighbors():
    rows = [0, 1, 50, 51, 100]
    with pytest.warns(UserWarning, match="1 of 5 rows are alone in their class"):
        model = ml.LMNN(n_neighbors=1, max_iter=5).fit(X[rows], Y[rows])
    assert np.isfinite(model.components_).all()
    with pytest.raises(ValueError, match="a class has 1 points only, fewer than n_neighbors=2"):
        ml.LMNN(n_neighbors=2).fit(X[rows], Y[rows])


def test_learners_derive_from_the_mixins():
    class Plain(MahalanobisMixin, _PairsClassifierMixin):
        def fit(self, pairs, y):
            pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
            self.components_ = np.eye(pairs.shape[2])
            return self.calibrate_threshold(pairs, y)

    rows, y = tuples_for(ml.ITML())
    model = Plain(preprocessor=X).fit(rows, y)
    gaps = np.linalg.norm(X[rows[:, 0]] - X[rows[:, 1]], axis=1)
    assert_array_equal(model.predict(rows), np.where(gaps <= model.threshold_, 1, -1))


# 150 rows have no 100 chunks, and the graphical lasso needs smaller steps from the prior.
SETTINGS = {
    "RCA_Supervised": {"n_chunks": 30},
    "SDML_Supervised": {"balance_param": 1e-5, "prior": "covariance"},
}


@pytest.mark.parametrize(
    "name",
    [
        "Covariance", "ITML_Supervised", "LFDA", "LMNN", "LSML_Supervised", "MLKR",
        "MMC_Supervised", "NCA", "RCA_Supervised", "SCML_Supervised", "SDML_Supervised",
    ],
)  # fmt: skip
def test_all_eleven_learners_of_labelled_rows_fit_as_the_migration_page_says(name):
    from sklearn.datasets import load_iris

    from vicinal.compat import metric_learn

    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = getattr(metric_learn, name)(**SETTINGS.get(name, {})).fit(X, y)
    assert fitted.transform(X).shape[0] == len(X)
