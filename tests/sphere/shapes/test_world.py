"""A training on shapes: what it finds, and that it can be stopped and used."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from tests.sphere.worlds.helpers import HELPERS

from vicinal.losses._objectives import LOSSES, make_objective, triplet_loss
from vicinal.report import write_training_page
from vicinal.sphere import load_network, random_rotations
from vicinal.sphere.shapes import (
    RIVALS,
    Caster,
    ShapeSetting,
    ShapeWorld,
    _world,
    class_weights,
    judge_rival,
    list_shape_presets,
    predict_shapes,
    read_shapes,
    smoothed_classification,
)
from vicinal.sphere.worlds import find_networks, run_world
from vicinal.sphere.worlds._classes import tabulate_classes


@pytest.fixture(scope="module", autouse=True)
def at_hand(few_shapes):
    """Let every set be the few shapes made up here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_world, "read_shapes", lambda source: few_shapes.shapes)
        patch.setattr(_world, "divide_shapes", lambda shapes, setting: few_shapes)
        yield few_shapes


def run(setting, folder, **options):
    return run_world(ShapeWorld(), setting, folder, helpers=HELPERS, **options)


@pytest.fixture(scope="module")
def trained(at_hand, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    return run(ShapeSetting(n_epochs=5), folder), folder


def test_shapes_of_three_kinds_are_told_apart(trained):
    outcome, _ = trained
    assert outcome.history[-1].loss < outcome.history[0].loss
    (record,) = outcome.records
    assert record["error_mean"] <= 0.1
    assert record["average_precision"] > 0.8
    assert (record["n_train"], record["n_validation"], record["n_test"]) == (54, 6, 30)
    json.dumps(record)


def test_a_stopped_training_goes_on_to_the_same_answers(trained, tmp_path):
    def stop(step):
        if step.epoch == 2 and step.finished:
            raise KeyboardInterrupt

    setting = ShapeSetting(n_epochs=5)
    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path, listener=stop)
    again = run(setting, tmp_path)
    scores = [{k: v for k, v in of.records[0].items() if "seconds" not in k}
              for of in (again, trained[0])]  # fmt: skip
    assert scores[0] == scores[1]
    one, other = (torch.load(at / "network.pt", weights_only=True) for at in (tmp_path, trained[1]))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_network_kept_gives_a_turned_mesh_the_scores_of_the_mesh(trained, few_shapes):
    network = load_network(trained[1])
    fragments = Caster(20, 14).fragments(few_shapes.shapes.bodies[:4])
    R = random_rotations(4, torch.Generator().manual_seed(0))
    with torch.no_grad():
        plain, turned = network(fragments), network(fragments.rotate(R))
    torch.testing.assert_close(turned, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "cross-entropy"])
def test_other_losses_learn_to_tell_shapes_apart(name, tmp_path):
    (record,) = run(ShapeSetting(loss=name, n_epochs=5), tmp_path).records
    assert record["method"] == f"cross, {name}"
    assert (record["class_error"] is None) == make_objective(name, smoothed_classification()).embeds
    assert record["error_mean"] <= 0.2


def test_members_and_turns_are_averaged_and_kept_in_one_folder(trained, few_shapes, tmp_path):
    setting = ShapeSetting(n_epochs=5, members=2, turns=3)
    outcome = run(setting, tmp_path)
    assert outcome.records[0]["members"] == 2
    assert outcome.records[0]["turns"] == 3
    assert outcome.records[0]["nearest"] >= 0.8
    networks = find_networks(tmp_path)
    assert [of.name for of in networks] == ["member-0", "member-1"]
    one, other = (torch.load(of / "network.pt", weights_only=True) for of in networks)
    assert not torch.equal(one["layers.0.weight"], other["layers.0.weight"])
    shares = predict_shapes(networks, few_shapes.shapes)
    assert shares.shape == (2, 90, 3)
    predictions = tabulate_classes(
        list(range(90)), few_shapes.shapes.classes, shares, None, proba=False, noun="shapes"
    )
    assert predictions.header == ("row", "predicted", "spread")
    alone = torch.load(trained[1] / "network.pt", weights_only=True)
    assert torch.equal(one["layers.0.weight"], alone["layers.0.weight"])


def test_balanced_classes_count_alike_however_many_shapes_they_have(few_shapes):
    rows = np.flatnonzero(few_shapes.shapes.labels != 1)[:33]  # 30 of the first, 3 of the last
    weights = class_weights(few_shapes.shapes, rows)
    labels = torch.from_numpy(few_shapes.shapes.labels[rows])
    scores = torch.randn(33, 3, generator=torch.Generator().manual_seed(0))
    plain = smoothed_classification().loss
    each = [float(plain(scores[labels == of], labels[labels == of])) for of in (0, 2)]
    alike = float(smoothed_classification(weights).loss(scores, labels))
    assert alike == pytest.approx(sum(each) / 2, rel=1e-6)
    assert float(plain(scores, labels)) == pytest.approx(
        (30 * each[0] + 3 * each[1]) / 33, rel=1e-5
    )


def test_members_of_embeddings_have_no_mean(tmp_path):
    with pytest.raises(ValueError, match="averaged by classes"):
        run(ShapeSetting(loss="triplet", members=2, n_epochs=1), tmp_path)


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
    judged = judge_rival(name, ShapeSetting(), few_shapes, HELPERS)
    assert judged.method == name
    assert judged.judged.error <= 0.25
    assert judged.judged.scores.n_queries == 30


def test_the_page_has_lists_of_network_and_rivals(tmp_path):
    outcome = run(ShapeSetting(n_epochs=1, rivals="d2"), tmp_path)
    assert [record["method"] for record in outcome.records] == ["cross", "d2"]
    page = write_training_page(outcome.page, tmp_path / "report.html").read_text()
    assert page.count("<article") == 3  # a list for each class
    assert page.count('<li class="right">') + page.count('<li class="wrong">') == 27
    assert "mAP" in outcome.lines[0]
    assert outcome.lines[2].startswith("d2")


def test_every_preset_can_be_built():
    for preset in list_shape_presets():
        assert preset.build(5).type_in == preset.reader.type


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"preset": "nosuch"}, "there are cross"),
        ({"n_train": 1}, "n_train=1"),
        ({"n_validation": -1}, "n_validation=-1"),
        ({"turns": 0}, "turns=0"),
        ({"members": 0}, "members=0"),
        ({"train": "sideways"}, "'turned' or 'upright'"),
        ({"rivals": "nosuch"}, "spectra-mlng"),
    ],
)
def test_what_cannot_be_trained_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        ShapeSetting(**given)


def test_sets_without_shapes_are_refused():
    with pytest.raises(ValueError, match="holds no meshes"):
        read_shapes("wine")
