"""A training on shapes: what it finds, and that it can be stopped and used."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from vicinal.cli._console import make_console
from vicinal.cli._sphere_losses import LOSSES, make_objective, triplet_loss
from vicinal.cli._sphere_shapes import RIVALS, judge_rival, train_shapes
from vicinal.sphere import load_network, random_rotations
from vicinal.sphere.shapes import (
    Caster,
    ShapeSetting,
    _experiment,
    list_shape_presets,
    load_shapes,
    smoothed_classification,
)
from vicinal.sphere.shapes import run_on_shapes as run


@pytest.fixture
def at_hand(few_shapes, monkeypatch):
    """Let every set be the few shapes made up here."""
    monkeypatch.setattr(_experiment, "load_shapes", lambda setting: few_shapes)
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
    assert outcome.found.judged.error <= 0.1
    assert outcome.found.judged.scores.average_precision > 0.8
    record = outcome.record()
    assert (record["n_train"], record["n_validation"], record["n_test"]) == (54, 6, 30)
    assert record["nearest"] == outcome.found.judged.scores.nearest
    json.dumps(record)


def test_a_stopped_training_goes_on_to_the_same_answers(trained, at_hand, tmp_path):
    def stop(step):
        if step.epoch == 2 and step.finished:
            raise KeyboardInterrupt

    setting = ShapeSetting(n_epochs=5)
    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path, listener=stop)
    again = run(setting, tmp_path)
    np.testing.assert_array_equal(again.found.embeddings, trained[0].found.embeddings)


def test_the_network_kept_gives_a_turned_mesh_the_scores_of_the_mesh(trained, few_shapes):
    network = load_network(trained[1])
    fragments = Caster(20, 14).fragments(few_shapes.shapes.meshes[:4])
    R = random_rotations(4, torch.Generator().manual_seed(0))
    with torch.no_grad():
        plain, turned = network(fragments), network(fragments.rotate(R))
    torch.testing.assert_close(turned, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "cross-entropy"])
def test_other_losses_learn_to_tell_shapes_apart(name, few_shapes, tmp_path):
    setting = ShapeSetting(loss=name, n_epochs=5)
    objective = make_objective(name, smoothed_classification())
    outcome = run(setting, tmp_path, objective=objective, parts=few_shapes)
    assert outcome.record()["method"] == f"cross, {name}"
    assert outcome.found.embeddings.shape == (30, 64 if objective.embeds else 3)
    assert (outcome.found.class_error is None) == objective.embeds
    assert outcome.found.judged.error <= 0.2


def test_options_of_a_loss_reach_it():
    rng = torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(12, 4, generator=rng), torch.arange(12) % 3
    classes = smoothed_classification()

    def value(text):
        return float(make_objective(text, classes).loss(embeddings, labels))

    assert value("triplet:margin=4") == pytest.approx(float(triplet_loss(embeddings, labels, 4.0)))
    assert value("gerrymandering:k=3,margin=2") != value("gerrymandering:k=3")
    assert value("gerrymandering:k=3") != value("gerrymandering")
    assert value("neighborhood:temperature=0.1") != value("neighborhood")
    both = value("cross-entropy+gerrymandering:weight=2")
    plain = value("cross-entropy")
    assert both - plain == pytest.approx(
        2 * (value("cross-entropy+gerrymandering") - plain), rel=1e-4
    )


def test_the_triplet_loss_is_the_mean_over_broken_triplets():
    rng = torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(9, 2, generator=rng).double(), torch.arange(9) % 3
    gaps = [
        1 + float((a - p).square().sum() - (a - n).square().sum())
        for i, a in enumerate(embeddings)
        for j, p in enumerate(embeddings)
        for k, n in enumerate(embeddings)
        if i != j and labels[i] == labels[j] != labels[k]
    ]
    expected = np.mean([gap for gap in gaps if gap > 0])
    assert float(triplet_loss(embeddings, labels, 1.0)) == pytest.approx(expected)
    apart = torch.eye(3)[labels].double() * 100
    assert float(triplet_loss(apart, labels, 1.0)) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nosuch", "there are cross-entropy"),
        ("triplet:k=3", "options margin"),
        ("cross-entropy:k=3", "no options"),
        ("triplet:margin=-1", "above zero"),
        ("triplet:margin=x", "not 'x'"),
        ("gerrymandering:k=1.5", "n_neighbors"),
    ],
)
def test_losses_that_cannot_be_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        make_objective(text, smoothed_classification())


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_are_judged_alike(name, few_shapes):
    judged = judge_rival(name, ShapeSetting(), few_shapes)
    assert judged.method == name
    assert judged.judged.error <= 0.25
    assert judged.judged.scores.n_queries == 30


def test_the_command_prints_and_writes_network_and_rivals(at_hand, tmp_path, capsys):
    found = tmp_path / "found.json"
    train_shapes(
        ShapeSetting(n_epochs=1), ["d2"], tmp_path / "run", make_console(stderr=True),
        fresh=False, json=found,
    )  # fmt: skip
    methods = [record["method"] for record in json.loads(found.read_text())["records"]]
    assert methods == ["cross", "d2"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("<article") == 3  # a list for each class
    assert page.count('<li class="right">') + page.count('<li class="wrong">') == 27
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
        load_shapes(ShapeSetting(**given))


def test_rivals_that_do_not_exist_are_refused(tmp_path):
    console = make_console(stderr=True)
    with pytest.raises(ValueError, match="spectra-mlng"):
        train_shapes(ShapeSetting(), ["nosuch"], tmp_path, console, fresh=False, json=None)
