"""NeuralMetric: what it learns, by which rows, again, from files, and what it refuses."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from tests.neural.conftest import rings
from tests.oracles.differences import gradient

from vicinal import KNNClassifier, NeuralMetric, load_model, save_model
from vicinal.neural._encoding import Encoding
from vicinal.neural._fitting import fit_members  # noqa: F401  (that torch is there)
from vicinal.neural._members import Members
from vicinal.neural._training import Material
from vicinal.rivals import LDA
from vicinal.rows import Rows, inner_folds, read_target


def quick(**settings):
    return NeuralMetric(**{"n_members": 4, "epochs": 40, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def fitted(ring_rows):
    return quick().fit(*ring_rows)


def test_classes_of_one_middle_are_told_apart_where_no_linear_map_can(fitted, ring_rows):
    X, y = rings(seed=1)
    learned = KNNClassifier(5, quick()).fit(*ring_rows).score(X, y)
    linear = KNNClassifier(5, LDA()).fit(*ring_rows).score(X, y)
    assert learned > 0.97 > linear + 0.1
    assert fitted.feature_relevance_.argmin() == 2
    assert fitted.feature_relevance_.sum() == pytest.approx(1)


@pytest.mark.parametrize("loss", ["softmax", "gerrymandering"])
def test_numbers_are_predicted_by_the_head_and_its_neighbours(wave_rows, loss):
    X, y = wave_rows
    metric = quick(loss=loss, epochs=60).fit(X[:300], y[:300])
    known, asked = metric.transform(X[:300]), metric.transform(X[300:])
    d = np.linalg.norm(asked[:, None] - known[None], axis=2)
    w = np.exp(-(d - d.min(axis=1, keepdims=True)) / metric.temperature_)
    w /= w.sum(axis=1, keepdims=True)
    predicted = asked @ metric.head_ + w @ (y[:300] - known @ metric.head_)
    assert np.mean((predicted - y[300:]) ** 2) < 0.15 * y.var()
    held = metric.held_out_prediction_
    assert np.mean((held - y[:300]) ** 2) < 0.2 * y.var()


def test_the_loss_falls_and_the_looks_are_told(fitted):
    steps = [look["step"] for look in fitted.history_]
    assert steps == sorted(steps)
    assert steps[-1] == fitted.n_iter_ == fitted.history_[0]["n_steps"]
    assert fitted.history_[-1]["loss"] < fitted.history_[0]["loss"]
    assert len(fitted.history_[0]["held_out"]) == 2


@pytest.mark.parametrize("settings", [{}, {"loss": "gerrymandering"}, {"n_members": 1}], ids=str)
def test_held_out_votes_of_a_row_do_not_depend_on_its_own_label(settings):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(240, 4)), rng.integers(0, 2, 240)  # nothing can be learned
    votes = quick(epochs=60, **settings).fit(X, y).held_out_proba_
    asked = ~np.isnan(votes[:, 0])
    assert asked.all() or settings == {"n_members": 1}
    assert asked.mean() > 0.2
    right = np.mean(votes[asked].argmax(axis=1) == y[asked])
    assert abs(right - 0.5) < 3.5 * 0.5 / np.sqrt(asked.sum())


def test_folds_of_somebody_else_are_those_that_members_do_not_see(ring_rows):
    X, _ = ring_rows
    y = np.random.default_rng(3).integers(0, 2, 300)  # nothing can be learned
    rows = Rows(X, read_target(y))
    folds = inner_folds(rows, 5)[:2]
    begun = quick(epochs=60).cross_fit(rows, folds)
    for fold in folds:
        maps = begun.without(fold)
        database, queries = maps.database(X[fold.train]), maps.database(X[fold.test])
        votes = KNNClassifier(5).fit(database, y[fold.train]).score(queries, y[fold.test])
        assert abs(votes - 0.5) < 3.5 * 0.5 / np.sqrt(len(fold.test))
    finished = begun.finish()
    assert finished.transform(X).shape == (300, min(48, 24 * len(finished.members_)))
    asked = ~np.isnan(finished.held_out_proba_[:, 0])
    assert asked[np.concatenate([fold.test for fold in folds])].all()


def test_the_same_seed_gives_the_same_map_and_leaves_torchs_own_numbers_alone(fitted, ring_rows):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    again = quick().fit(*ring_rows)
    assert torch.equal(torch.rand(3), expected)
    X, _ = ring_rows
    assert_array_equal(again.transform(X), fitted.transform(X))
    other = quick(random_state=1).fit(*ring_rows)
    assert not np.allclose(other.transform(X), fitted.transform(X))


def test_numpy_applies_what_torch_trained():
    torch.manual_seed(0)
    network = Members(4, 6, dropout=0.1, input_dropout=0.2)
    entries = torch.randn(2, 6, 50)
    for _ in range(5):
        network(entries)
    network.eval()
    from vicinal.neural._applied import _places

    state = {k: v.detach().numpy() for k, v in network.state_dict().items() if v.ndim}
    members = {
        k: v.reshape(4, -1, *v.shape[2:]) if v.ndim > 1 else v.reshape(4, -1)
        for k, v in state.items()
    }
    repeated = entries.numpy()[np.arange(4) % 2]
    places, _ = _places(members, repeated)
    with torch.no_grad():
        expected = network(entries).numpy()
    assert_allclose(places.swapaxes(1, 2), expected, rtol=1e-4, atol=1e-5)


def test_relevance_is_the_expected_gradient_outer_product_of_finite_differences(ring_rows):
    X, y = ring_rows
    metric = quick(encoding=None, n_components=5).fit(X, y)
    total = np.zeros(3)
    for row in X[:60]:
        for i in range(5):
            by_feature = gradient(lambda at, i=i: metric.transform(at[None])[0, i], row, step=1e-3)
            total += by_feature**2
    rng, repeated = np.random.default_rng(0), np.repeat(X[:60], 50, axis=0)
    measured = metric._applied().gradients(repeated, rng)
    assert_allclose(measured, total / 60 * X.var(axis=0), rtol=0.06)


def test_all_components_have_the_members_mean_squared_distance(ring_rows):
    X, y = ring_rows
    few, every = quick(n_components=10).fit(X, y), quick(n_components=None).fit(X, y)
    assert few.transform(X).shape == (300, 10)
    assert every.transform(X).shape == (300, 24 * len(every.members_))
    assert_allclose(np.abs(every.transform(X)[:, :10]), np.abs(few.transform(X)), atol=1e-8)


def test_a_file_gives_the_same_places(fitted, ring_rows, tmp_path):
    X, _ = ring_rows
    save_model(fitted, tmp_path / "rings.vicinal")
    loaded = load_model(tmp_path / "rings.vicinal")
    assert_array_equal(loaded.transform(X), fitted.transform(X))
    assert_array_equal(loaded.held_out_proba_, fitted.held_out_proba_)
    assert loaded.temperature_ == fitted.temperature_


def spoil(metric, change):
    spoilt = copy.deepcopy(metric)
    change(spoilt)
    return spoilt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.parameters_["up"].fill(np.nan), "up are not finite"),
        (lambda m: m.parameters_.pop("bias"), "do not have the parameters"),
        (lambda m: m.parameters_.update(down=np.zeros((4, 24, 3))), "down are of shape"),
        (lambda m: m.parameters_["last.running_var"].fill(-1), "below zero"),
        (lambda m: m.encoding_["column"].fill(7), "not one of its features"),
        (lambda m: m.encoding_["slope"].fill(np.inf), "slope are not finite"),
        (lambda m: m.encoding_.pop("waves"), "parts of one"),
        (lambda m: setattr(m, "members_", np.array([4])), "none of its members"),
        (lambda m: setattr(m, "axes_", m.axes_[:-1]), "axes are of shape"),
        (lambda m: setattr(m, "centre_", [0.0]), "centre are no array"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(change, message, fitted, tmp_path):
    save_model(spoil(fitted, change), tmp_path / "spoilt.vicinal")
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "spoilt.vicinal")


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, *where):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, NoTorch())
import numpy as np, vicinal
X = np.load({rows!r})
np.testing.assert_array_equal(vicinal.load_model({model!r}).transform(X), np.load({places!r}))
try:
    vicinal.NeuralMetric().fit(X, np.arange(len(X)) % 2)
except ImportError as error:
    assert "pip install 'vicinal[torch]'" in str(error), error
else:
    raise AssertionError
"""


def test_a_trained_map_needs_no_torch_and_a_fit_says_that_it_does(fitted, ring_rows, tmp_path):
    names = {name: str(tmp_path / f"{name}.npy") for name in ("rows", "places")}
    np.save(names["rows"], ring_rows[0])
    np.save(names["places"], fitted.transform(ring_rows[0]))
    save_model(fitted, tmp_path / "m.vicinal")
    code = WITHOUT_TORCH.format(model=str(tmp_path / "m.vicinal"), **names)
    subprocess.run([sys.executable, "-c", code], check=True)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("settings", [{}, {"loss": "gerrymandering"}], ids=str)
def test_an_interrupted_fit_goes_on_to_the_very_same_map(settings, ring_rows, tmp_path):
    X, y = ring_rows
    whole = quick(**settings).fit(X, y)
    seen = []

    def stop(look):
        seen.append(look["step"])
        if len(seen) == 4:
            raise Stopped

    path = tmp_path / "fit.pt"
    with pytest.raises(Stopped):
        quick(checkpoint=path, callbacks=[stop], **settings).fit(X, y)
    assert path.exists()
    rest: list = []
    resumed = quick(
        checkpoint=path, callbacks=[lambda look: rest.append(look["step"])], **settings
    ).fit(X, y)
    assert min(rest) > seen[2]
    assert_array_equal(resumed.transform(X), whole.transform(X))
    assert_array_equal(resumed.held_out_proba_, whole.held_out_proba_)
    assert resumed.history_ == whole.history_
    assert not path.exists()


def test_a_checkpoint_of_other_rows_is_refused(ring_rows, tmp_path):
    X, y = ring_rows

    seen = []

    def stop(look):
        seen.append(look)
        if len(seen) == 2:
            raise Stopped

    path = tmp_path / "fit.pt"
    with pytest.raises(Stopped):
        quick(checkpoint=path, callbacks=[stop]).fit(X, y)
    with pytest.raises(ValueError, match="belongs to a fit of other rows or settings"):
        quick(checkpoint=path).fit(X + 1, y)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="is no checkpoint of a fit"):
        quick(checkpoint=path).fit(X, y)


def test_a_callback_may_end_the_training(ring_rows):
    metric = quick(callbacks=[lambda look: look["step"] > 10]).fit(*ring_rows)
    assert len(metric.history_) == 1
    assert metric.n_iter_ < metric.history_[0]["n_steps"]


def test_a_warm_start_goes_on_from_the_last_fit(ring_rows):
    metric = quick(epochs=40, warm_start=True).fit(*ring_rows)
    first = metric.history_[-1]["loss"]
    metric.set_params(epochs=3, learning_rate=1e-4).fit(*ring_rows)
    cold = quick(epochs=3, learning_rate=1e-4).fit(*ring_rows)
    assert metric.history_[-1]["loss"] < 1.2 * first < cold.history_[-1]["loss"]


def test_a_row_of_weight_zero_is_no_row(ring_rows):
    X, y = ring_rows
    weights = np.ones(300)
    weights[200:] = 0
    weighed = quick(epochs=10).fit(X, y, sample_weight=weights)
    assert_array_equal(weighed.transform(X), quick(epochs=10).fit(X[:200], y[:200]).transform(X))


def test_rows_that_weigh_more_are_voted_right_more_often():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(150, 2)), 2, axis=0)
    y = np.tile([0, 1], 150)  # each place holds both classes
    light = np.where(y == 0, 9.0, 1.0)
    votes = quick(epochs=10).fit(X, y, sample_weight=light).held_out_proba_
    assert votes[:, 0].mean() > 0.7


def test_rows_of_a_group_are_held_out_together(ring_rows):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 3)), 5, axis=0)
    y = np.repeat(rng.integers(0, 2, 60), 5)  # copies tell the label, nothing else does
    groups = np.repeat(np.arange(60), 5)
    apart = quick(epochs=60).fit(X, y).held_out_proba_
    together = quick(epochs=60).fit(X, y, groups=groups).held_out_proba_
    assert np.mean(apart.argmax(axis=1) == y) > 0.9
    assert np.mean(together.argmax(axis=1) == y) < 0.75


def test_a_class_of_one_row_votes_and_is_asked_by_nobody(ring_rows):
    X, y = ring_rows
    y = np.where(np.arange(300) == 5, 9, y)
    metric = quick(epochs=10).fit(X, y)
    assert metric.n_left_out_ == 1
    assert np.isnan(metric.held_out_proba_[5]).all()
    assert np.isfinite(np.delete(metric.held_out_proba_, 5, axis=0)).all()
    assert metric.held_out_proba_.shape == (300, 3)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_rows_are_learned_from(n):
    X, y = rings(n)
    assert np.isfinite(quick(epochs=5).fit(X, y).transform(X)).all()


def test_no_row_is_twice_in_a_batch_where_it_would_vote_on_itself(monkeypatch):
    batches, batch = [], Material.batch

    def kept(self, rows):
        batches.append(rows)
        return batch(self, rows)

    monkeypatch.setattr(Material, "batch", kept)
    quick(batch_size=40, epochs=8).fit(*rings(100))
    assert len(batches) == 20
    assert all(len(np.unique(rows)) == 40 for rows in batches)
    assert len(np.unique(batches)) == 100


def test_a_class_that_is_in_no_batch_does_no_harm():
    X, y = rings(200)
    y = np.where(np.arange(200) < 3, 2, y)
    metric = quick(batch_size=8, epochs=3).fit(X, y)
    assert np.isfinite(metric.transform(X)).all()
    assert metric.classes_.tolist() == [0, 1, 2]


def test_constant_and_very_skewed_columns_are_no_trouble():
    X, y = rings(200)
    X = np.c_[X, np.full(200, 3.0), np.exp(8 * X[:, 0]), np.r_[np.zeros(199), 1e60]]
    metric = quick(epochs=10).fit(X, y)
    assert np.isfinite(metric.transform(X * 1e3)).all()
    assert metric.feature_relevance_[3] == 0


@pytest.mark.parametrize("encoding", ["tree", "quantile", "periodic", None])
def test_every_encoding_learns(encoding, ring_rows):
    metric = quick(encoding=encoding, epochs=100).fit(*ring_rows)
    X, y = rings(seed=1)
    model = KNNClassifier(5, clone(metric)).fit(*ring_rows)
    assert model.score(X, y) > 0.9


def test_a_module_of_ones_own_is_trained_the_same_way(ring_rows):
    def make(n_inputs):
        return torch.nn.Sequential(
            torch.nn.Linear(n_inputs, 32), torch.nn.ReLU(), torch.nn.Linear(32, 5)
        )

    X, y = rings(seed=1)
    model = KNNClassifier(5, quick(module=make, epochs=200)).fit(*ring_rows)
    assert model.metric_.transform(X).shape == (300, 5)
    assert model.score(X, y) > 0.9
    fixed = quick(module=make(3), encoding=None, epochs=5)
    before = [p.clone() for p in fixed.module.parameters()]
    fixed.fit(*ring_rows)
    assert all(torch.equal(a, b) for a, b in zip(before, fixed.module.parameters(), strict=True))
    with pytest.raises(ValueError, match="cannot be stored in a model file"):
        save_model(fixed, "never.vicinal")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_members": 3}, "n_members must be 1, or an even number"),
        ({"n_members": 2}, "n_members must be 1, or an even number"),
        ({"loss": "triplet"}, "loss must be one of 'softmax', 'gerrymandering'"),
        ({"encoding": "bins"}, "encoding must be one of"),
        ({"epochs": 0}, "epochs must be a number above zero"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"dropout": 1.0}, "dropout must be below 1"),
        ({"input_dropout": -0.1}, "input_dropout must be a number zero or more"),
        ({"learning_rate": 0}, "learning_rate must be a number above zero"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"module": 3}, "module must be a torch module"),
        ({"module": lambda d: "net"}, "which returned 'net'"),
        ({"module": torch.nn.Flatten(0)}, r"must map rows of shape .* to a tensor"),
        ({"module": torch.nn.Linear(2, 2)}, "module cannot map rows"),
        ({"module": torch.nn.Identity()}, "module has no parameters to learn"),
        ({"device": "nowhere"}, "device"),
        ({"callbacks": print}, "callbacks must be a list of functions"),
        ({"callbacks": [3]}, "callbacks must be a list of functions"),
        ({"checkpoint": 3}, "checkpoint must be the path of a file"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, message, ring_rows):
    with pytest.raises(ValueError, match=message):
        quick(**settings).fit(*ring_rows)


def test_one_class_and_infinite_values_are_refused(ring_rows):
    X, y = ring_rows
    with pytest.raises(ValueError, match="at least two classes"):
        quick().fit(X, np.zeros(300, int))
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(np.where(np.arange(900).reshape(300, 3) == 4, np.inf, X), y)


def test_a_row_with_a_hole_is_mapped_as_one_whose_entries_are_hidden(ring_rows):
    X, y = ring_rows
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    holed = np.c_[np.where(holes, np.nan, X), np.full(300, np.nan)]  # and a column of holes alone
    metric = quick().fit(holed, y)
    encoding, plain = (Encoding(**m.encoding_) for m in (metric, quick().fit(X, y)))
    entries = encoding.entries(encoding.standard(holed))
    for f, column in enumerate(encoding.column):
        assert np.all(entries[f][np.isnan(holed.T[column])] == 0)
    assert_allclose(encoding.centre[:3], np.nanmean(holed[:, :3], axis=0))
    assert_allclose(encoding.scale[:3], np.nanstd(holed[:, :3], axis=0))
    assert_allclose(plain.scale, X.std(axis=0))
    assert np.isfinite(metric.transform(holed)).all()
    assert metric.feature_relevance_[3] == 0


def test_holes_cost_little_and_other_metrics_refuse_them(ring_rows):
    (X, y), (new, truth) = ring_rows, rings(seed=1)
    X, new = (np.where(np.arange(900).reshape(300, 3) % 16 == 0, np.nan, Z) for Z in (X, new))
    model = KNNClassifier("auto", quick(), weights="auto").fit(X, y)
    assert model.score(new, truth) > 0.9
    for metric in (None, LDA(), "auto"):
        with pytest.raises(ValueError, match="NaN"):
            KNNClassifier(metric=metric).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        KNNClassifier(metric=LDA()).fit(rings()[0], y).predict(new)


class Exploding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.n_calls = 0

    def forward(self, rows):
        self.n_calls += 1
        return rows * self.scale * (torch.inf if self.n_calls > 4 else 1)


def test_a_loss_that_is_no_number_ends_the_fit_with_the_step_and_the_cause(ring_rows):
    with pytest.raises(ValueError, match=r"the loss is nan at step [45] of .* has diverged"):
        quick(module=Exploding(), encoding=None).fit(*ring_rows)


def test_memory_is_told_before_it_is_taken(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 10_000)) < 0.01).astype(float)
    quick(epochs=1, verbose=1).fit(X, np.arange(40) % 2)
    assert "as 10,000 entries" in capsys.readouterr().out
    import vicinal.neural._fitting as fitting

    monkeypatch.setattr(fitting, "needed_bytes", lambda *sizes: 10**18)
    with pytest.raises(ValueError, match=r"needs about 1,000,000,000\.0 GB and the machine has"):
        quick().fit(X, np.arange(40) % 2)
