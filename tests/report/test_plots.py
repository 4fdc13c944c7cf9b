"""Plots of fitted metrics: true heights and places, names, and clear refusals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, scale

from vicinal import (
    EGOP,
    EJOP,
    LDA,
    GradientDiffusionMap,
    GradientWeights,
    KNNClassifier,
    KNNRegressor,
    plot_errors,
    plot_map,
    plot_relevance,
    plot_spectrum,
    plot_summary,
)
from vicinal.data import TableEncoder

NAMES = ["width", "height", "depth", "weight"]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(250, 4)), columns=NAMES)


@pytest.fixture(scope="module")
def target(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(np.sin(rows["width"] + 2 * rows["depth"]), name="load")


@pytest.fixture(scope="module")
def metric(rows: pd.DataFrame, target: pd.Series) -> EGOP:
    learner = EGOP("analytic", bandwidth="rule", store_gradients=True, random_state=0)
    return learner.fit(rows, target)


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def heights(ax) -> list[float]:
    return [bar.get_height() for bar in ax.patches]


def whiskers(ax) -> list[np.ndarray]:
    return [line.get_ydata() for line in ax.lines]


def test_the_spectrum_shows_the_eigenvalues_and_their_intervals(metric: EGOP) -> None:
    ax = plot_spectrum(metric)
    assert_allclose(heights(ax), metric.eigenvalues_)
    assert_allclose(whiskers(ax), metric.spectrum_interval())
    narrower = plot_spectrum(metric, level=0.5)
    assert np.ptp(whiskers(narrower)[0]) < np.ptp(whiskers(ax)[0])


def test_whiskers_can_be_left_out_or_insisted_on(metric, rows, target) -> None:
    assert plot_spectrum(metric, intervals=False).lines[:] == []
    plain = EGOP("analytic", bandwidth="rule", random_state=0).fit(rows, target)
    assert plot_spectrum(plain).lines[:] == []
    with pytest.raises(ValueError, match="fit with store_gradients=True"):
        plot_spectrum(plain, intervals=True)


def test_gradient_weights_show_their_own_eigenvalues_within_their_intervals(rows, target) -> None:
    learner = GradientWeights("analytic", bandwidth="rule", store_gradients=True, random_state=0)
    ax = plot_spectrum(learner.fit(rows, target))
    for height, (low, high) in zip(heights(ax)[:2], whiskers(ax)[:2], strict=True):
        assert low <= height <= high


def test_any_other_learner_shows_the_spectrum_of_its_matrix(wine) -> None:
    learner = LDA().fit(*wine)
    eigenvalues = np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[::-1]
    assert_allclose(heights(plot_spectrum(learner)), eigenvalues[:2])
    with pytest.raises(ValueError, match="LDA has no bootstrap intervals"):
        plot_spectrum(learner, intervals=True)


def test_what_is_not_shown_of_a_spectrum_is_said(wine) -> None:
    learner = EJOP("analytic", bandwidth="rule", random_state=0).fit(*wine)
    ax = plot_spectrum(learner, n_directions=3)
    assert len(ax.patches) == 3
    share = learner.eigenvalues_[3:].sum() / learner.eigenvalues_.sum()
    said = ax.get_xlabel().replace("\u00a0", " ")
    assert said.startswith("direction (3 of 13 directions; the others hold ")
    assert float(said.split()[-2]) == pytest.approx(100 * share, abs=0.6)


def test_relevance_bars_carry_the_names_of_the_frame_most_relevant_first(metric: EGOP) -> None:
    ax = plot_relevance(metric)
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == [NAMES[i] for i in np.argsort(-metric.feature_relevance_)]
    widths = [bar.get_width() for bar in ax.patches]
    assert_allclose(widths, np.sort(metric.feature_relevance_)[::-1])
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "share of the relevance"


def test_relevance_of_many_features_shows_the_top_and_says_the_rest(wine) -> None:
    ax = plot_relevance(LDA().fit(*wine), n_features=4)
    assert len(ax.patches) == 4
    assert [label.get_text()[0] for label in ax.get_yticklabels()] == ["x"] * 4
    said = ax.get_xlabel().replace("\u00a0", " ")
    assert said.startswith("share of the relevance (4 of 13 features; the others hold ")


def test_names_can_be_given_and_are_counted(wine) -> None:
    learner = LDA().fit(*wine)
    names = load_wine().feature_names
    ax = plot_relevance(learner, feature_names=names)
    assert {label.get_text() for label in ax.get_yticklabels()} <= {n[:31] + "…" for n in names} | {
        *names
    }
    with pytest.raises(ValueError, match="2 names for 13 features"):
        plot_relevance(learner, feature_names=["a", "b"])


def test_one_direction_of_a_number_is_points_and_a_curve(metric, rows, target) -> None:
    ax = plot_summary(metric, rows, target)
    (points,), (halo, curve) = ax.collections, ax.lines
    direction = np.linalg.eigh(metric.outer_product_)[1][:, -1]
    direction *= np.sign(direction[np.abs(direction).argmax()])
    x, y = np.asarray(points.get_offsets()).T
    assert_allclose(x, rows @ direction, atol=1e-6)
    assert_allclose(y, target)
    assert "depth" in ax.get_xlabel()
    assert ax.get_ylabel() == "load"
    label = ax.get_legend().get_texts()[0].get_text()
    assert label.startswith("explains ")
    assert float(label.split()[1]) > 70
    assert_allclose(halo.get_xydata(), curve.get_xydata())


def test_two_directions_of_a_number_are_coloured_with_a_colour_bar(metric, rows, target) -> None:
    ax = plot_summary(metric, rows, target, n_directions=2)
    (points,) = ax.collections
    assert_allclose(points.get_array(), target)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "load"


@pytest.mark.parametrize("n_directions", [1, 2])
def test_classes_have_colours_of_their_own(wine, n_directions: int) -> None:
    learner = EJOP("analytic", bandwidth="rule", random_state=0).fit(*wine)
    ax = plot_summary(learner, *wine, n_directions=n_directions)
    assert len(ax.collections) == 3
    assert len({tuple(c.get_facecolor()[0][:3]) for c in ax.collections}) == 3
    if n_directions == 2:
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
        sizes = [len(c.get_offsets()) for c in ax.collections]
        assert sizes == np.bincount(wine[1]).tolist()
    else:
        assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]


def test_of_many_classes_the_largest_are_drawn_and_that_is_said() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), np.arange(5, 25))
    X = rng.normal(size=(len(y), 3)) + y[:, None]
    ax = plot_summary(LDA().fit(X, y), X, y)
    assert [text.get_text() for text in ax.get_yticklabels()] == [str(c) for c in range(8, 20)]
    assert ax.get_title() == "the 12 largest of 20 classes"


def test_strings_are_classes_and_two_of_them_go_with_egop(rows) -> None:
    y = np.where(rows["width"] > 0, "yes", "no")
    learner = EGOP("analytic", bandwidth="rule", random_state=0).fit(rows, y)
    ax = plot_summary(learner, rows, y)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["no", "yes"]
    assert ax.get_ylabel() == "y"


def test_a_predictor_shows_the_metric_it_holds(rows, target) -> None:
    learner = EGOP("analytic", bandwidth="rule", random_state=0)
    model = KNNRegressor(metric=learner).fit(rows, target)
    assert_allclose(heights(plot_spectrum(model)), model.metric_.eigenvalues_)


def test_a_map_that_is_not_linear_shows_its_own_coordinates(rows, target) -> None:
    how = EGOP("analytic", bandwidth="rule")
    place = GradientDiffusionMap(gradients=how, random_state=0).fit(rows, target)
    ax = plot_summary(place, rows, target, n_directions=2)
    assert_allclose(ax.collections[0].get_offsets(), place.embedding_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 1", "coordinate 2")


def test_more_than_two_thousand_rows_are_sampled() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 2))
    ax = plot_summary(EGOP("analytic", bandwidth="rule").fit(X[:300], X[:300, 0]), X, X[:, 0])
    assert len(ax.collections[0].get_offsets()) == 2000


def test_plots_are_drawn_where_they_are_told(metric, rows, target) -> None:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    assert plot_spectrum(metric, axes[0]) is axes[0]
    assert plot_relevance(metric, axes[1]) is axes[1]
    assert plot_summary(metric, rows, target, axes[2]) is axes[2]
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (EGOP(), "this EGOP is not fitted yet: call fit"),
        (EGOP, "this EGOP is not fitted yet: call fit"),
        ("egop", "str is no metric learner"),
    ],
)
def test_what_was_not_fitted_is_refused(metric, message: str) -> None:
    for draw in (plot_spectrum, plot_relevance):
        with pytest.raises(ValueError, match=message):
            draw(metric)
    with pytest.raises(ValueError, match=message):
        plot_summary(metric, np.ones((3, 2)), np.ones(3))


def test_the_plain_distance_has_nothing_to_show(wine) -> None:
    with pytest.raises(ValueError, match="plain distance"):
        plot_spectrum(KNNClassifier().fit(*wine))


def test_rows_that_do_not_fit_the_metric_are_refused(metric, rows, target) -> None:
    with pytest.raises(ValueError, match=r"shape \(250, 3\).* fitted on 4 features"):
        plot_summary(metric, rows.iloc[:, :3], target)
    with pytest.raises(ValueError, match="columns of X are not those"):
        plot_summary(metric, rows[NAMES[::-1]], target)
    with pytest.raises(ValueError, match="X has 250 rows and y"):
        plot_summary(metric, rows, target[:-1])
    with pytest.raises(ValueError, match="NaN or infinity"):
        plot_summary(metric, rows.replace(rows.iloc[0, 0], np.nan), target)
    with pytest.raises(ValueError, match="at least two rows"):
        plot_summary(metric, rows[:1], target[:1])


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "all"])
def test_a_number_of_bars_that_is_none_is_refused(metric, wrong) -> None:
    with pytest.raises(ValueError, match="n_directions must be a whole number"):
        plot_spectrum(metric, n_directions=wrong)
    with pytest.raises(ValueError, match="n_features must be a whole number"):
        plot_relevance(metric, n_features=wrong)


def test_more_directions_than_there_are_cannot_be_drawn(wine) -> None:
    X, y = wine
    with pytest.raises(ValueError, match="n_directions must be 1 or 2, got 3"):
        plot_summary(LDA().fit(X, y), X, y, n_directions=3)
    one = LDA(n_components=1).fit(X, y)
    with pytest.raises(ValueError, match=r"has 1 direction\(s\)"):
        plot_summary(one, X, y, n_directions=2)


def test_no_screen_is_needed_and_matplotlib_waits_for_the_first_plot() -> None:
    code = (
        "import os, sys; os.environ.pop('DISPLAY', None); os.environ.pop('MPLBACKEND', None)\n"
        "import numpy as np, vicinal.report\n"
        "assert 'matplotlib' not in sys.modules\n"
        "class Fitted: components_ = np.eye(3)\n"
        "vicinal.plot_spectrum(Fitted())"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, pd.Series]:
    """Two numbers and a colour that says the class nine times of ten."""
    rng = np.random.default_rng(0)
    kind = np.array(["apple", "cherry"])[rng.integers(0, 2, 200)]
    colours = np.where(kind == "apple", "green", "red")
    colours[::10] = "yellow"
    frame = pd.DataFrame({"size": rng.normal(size=200), "colour": colours})
    frame["width"] = rng.normal(size=200) + 3 * (kind == "apple")
    return frame, pd.Series(kind, name="kind")


def labels(ax) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def encoders() -> list:
    one_hot = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    return [TableEncoder(), one_hot]


@pytest.mark.parametrize("encoder", encoders(), ids=["table", "one-hot"])
def test_a_pipeline_shows_the_shares_of_its_columns(encoder, table) -> None:
    model = make_pipeline(encoder, StandardScaler(), KNNClassifier(metric=LDA())).fit(*table)
    ax = plot_relevance(model)
    assert sorted(labels(ax)) == ["colour", "size", "width"]
    relevance = model[-1].metric_.feature_relevance_
    names = model[:-1].get_feature_names_out()
    of_colour = relevance[["colour" in name for name in names]].sum() / relevance.sum()
    assert ax.patches[labels(ax).index("colour")].get_width() == pytest.approx(of_colour)


def test_features_are_added_up_by_the_columns_given(wine) -> None:
    metric = LDA().fit(*wine)
    shares = metric.feature_relevance_ / metric.feature_relevance_.sum()
    ax = plot_relevance(metric, columns=["a"] * 6 + ["b"] * 7)
    assert dict(zip(labels(ax), heights_across(ax), strict=True)) == pytest.approx(
        {"a": shares[:6].sum(), "b": shares[6:].sum()}
    )
    with pytest.raises(ValueError, match="columns holds 1 names for 13 features"):
        plot_relevance(metric, columns=["a"])


def heights_across(ax) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def test_a_metric_inside_a_pipeline_or_a_search_is_found(wine) -> None:
    X, y = wine
    inside = make_pipeline(StandardScaler(), LDA(), KNeighborsClassifier()).fit(X, y)
    search = GridSearchCV(inside, {"kneighborsclassifier__n_neighbors": [3]}, cv=2).fit(X, y)
    expected = heights(plot_spectrum(LDA().fit(StandardScaler().fit_transform(X), y)))
    assert_allclose(heights(plot_spectrum(inside)), expected)
    assert_allclose(heights(plot_spectrum(search)), expected)
    assert plot_summary(search, X, y).get_xlabel()
    without = make_pipeline(StandardScaler(), KNNClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="plain distance"):
        plot_relevance(without)


def test_a_map_shows_rows_before_and_after(wine) -> None:
    X, y = wine
    model = make_pipeline(StandardScaler(), KNNClassifier(metric=LDA())).fit(X[::2], y[::2])
    left, right = plot_map(X[1::2], model, y[1::2])
    assert left.get_title().startswith("before: ")
    assert right.get_title() == "after: 98 % beside their own class"
    assert sum(len(dots.get_offsets()) for dots in right.collections) == len(X) // 2
    assert right.get_legend() is not None
    assert left.get_legend() is None
    rows = model[:-1].transform(X[1::2])
    same = plot_map(rows, model[-1].metric_.transform(rows), y[1::2])
    assert [ax.get_title() for ax in same] == [left.get_title(), right.get_title()]


def test_a_map_says_what_lies_beyond_its_frame(rows, target, metric) -> None:
    far = rows.copy()
    far.iloc[:2, 1] = [500.0, 600.0]
    left, right = plot_map(far, metric, target)
    assert left.get_xlabel() == "2\N{NO-BREAK SPACE}far points drawn at the edge"
    assert right.get_title().startswith("after: neighbours correlate by 0.")
    assert np.ptp(left.get_xlim()) < 50


def test_a_map_of_what_does_not_fit_is_refused(rows, target, metric) -> None:
    with pytest.raises(ValueError, match="X has 250 rows and y the shape"):
        plot_map(rows, metric, target[:9])
    with pytest.raises(ValueError, match="not fitted yet"):
        plot_map(rows, EGOP(), target)
    with pytest.raises(ValueError, match="two Axes are needed, got 1"):
        plot_map(rows, metric, target, plot_spectrum(metric))


def test_errors_are_drawn_from_the_top_of_the_package(make_row, make_comparison) -> None:
    comparison = make_comparison(make_row(), make_row(method="lda", title="LDA"))
    assert len(plot_errors(comparison).get_yticklabels()) == 2
