"""A training on shapes: what it finds, and that it can be stopped and used."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from vicinal.cli._console import make_console
from vicinal.cli._sphere_shapes import LOSSES, RIVALS, judge_rival, make_loss, train_shapes
from vicinal.sphere import load_network, random_rotations
from vicinal.sphere.shapes import Caster, ShapeSetting, _experiment, list_shape_presets
from vicinal.sphere.shapes import run_on_shapes as run


@pytest.fixture
def at_hand(few_shapes, monkeypatch):
    """Let every set be the few shapes made up here."""
    monkeypatch.setattr(_experiment, "load_shapes", lambda setting: few_shapes)
    monkeypatch.setattr("vicinal.cli._sphere_shapes.load_shapes", lambda setting: few_shapes)
    return few_shapes


@pytest.fixture(scope="module")
def trained(few_shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_experiment, "load_shapes", lambda setting: few_shapes)
        return run(ShapeSetting(n_epochs=5), folder), folder


def test_shapes_of_three_kinds_are_told_apart(trained):
    outcome, _ = trained
    assert outcome.history[-1].loss < outcome.history[0].loss
    assert outcome.judged.one_nn_error <= 0.1
    assert outcome.judged.scores.average_precision > 0.8
    record = outcome.record()
    assert (record["n_train"], record["n_validation"], record["n_test"]) == (54, 6, 30)
    assert record["nearest"] == outcome.judged.scores.nearest
    json.dumps(record)


def test_a_stopped_training_goes_on_to_the_same_answers(trained, at_hand, tmp_path):
    def stop(step):
        if step.epoch == 2 and step.finished:
            raise KeyboardInterrupt

    setting = ShapeSetting(n_epochs=5)
    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path, listener=stop)
    again = run(setting, tmp_path)
    np.testing.assert_array_equal(again.embeddings, trained[0].embeddings)


def test_the_network_kept_gives_a_turned_mesh_the_scores_of_the_mesh(trained, few_shapes):
    network = load_network(trained[1])
    fragments = Caster(20, 14).fragments(few_shapes.shapes.meshes[:4])
    R = random_rotations(4, torch.Generator().manual_seed(0))
    with torch.no_grad():
        plain, turned = network(fragments), network(fragments.rotate(R))
    torch.testing.assert_close(turned, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "cross-entropy"])
def test_embeddings_are_learned_by_other_losses(name, at_hand, monkeypatch, tmp_path):
    setting = ShapeSetting(loss=name, n_epochs=5)
    monkeypatch.setattr(_experiment, "TOGETHER", 1)  # all of the few shapes are a batch already
    outcome = run(setting, tmp_path, loss=make_loss(name))
    assert outcome.embeddings.shape == (30, 64)
    assert outcome.judged.class_error is None
    assert outcome.judged.one_nn_error <= 0.2


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_are_judged_alike(name, few_shapes):
    judged = judge_rival(name, ShapeSetting(), few_shapes)
    assert judged.method == name
    assert judged.one_nn_error <= 0.25
    assert judged.scores.n_queries == 30


def test_the_command_prints_and_writes_network_and_rivals(at_hand, tmp_path, capsys):
    found = tmp_path / "found.json"
    train_shapes(
        ShapeSetting(n_epochs=1), ["d2"], tmp_path / "run", make_console(stderr=True),
        fresh=False, json=found,
    )  # fmt: skip
    methods = [record["method"] for record in json.loads(found.read_text())["records"]]
    assert methods == ["cross", "d2"]
    printed = capsys.readouterr().out
    assert "mAP" in printed
    assert "d2" in printed


def test_every_preset_can_be_built():
    for preset in list_shape_presets():
        network = preset.build(5)
        assert network.type_in.l_max == preset.l_max < preset.bandwidth


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"preset": "nosuch"}, "there are cross"),
        ({"n_train": 1}, "n_train=1"),
        ({"n_validation": -1}, "n_validation=-1"),
        ({"dataset": "wine"}, "holds no meshes"),
    ],
)
def test_what_cannot_be_trained_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        _experiment.load_shapes(ShapeSetting(**given))


def test_losses_and_rivals_that_do_not_exist_are_refused(tmp_path):
    with pytest.raises(ValueError, match="cross-entropy"):
        make_loss("nosuch")
    console = make_console(stderr=True)
    with pytest.raises(ValueError, match="spectra-mlng"):
        train_shapes(ShapeSetting(), ["nosuch"], tmp_path, console, fresh=False, json=None)
