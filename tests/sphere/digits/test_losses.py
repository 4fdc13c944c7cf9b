"""Claims about networks on digits that are trained to compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vicinal.cli._sphere_losses import make_objective
from vicinal.sphere.digits import SphereSetting, predict_images, run_on_sphere
from vicinal.sphere.digits._experiment import to_json
from vicinal.sphere.training import classification

FEW: dict[str, Any] = {
    "dataset": "digits",
    "preset": "compact",
    "train": "plain",
    "tests": ("plain",),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    setting = SphereSetting(
        **FEW, loss="neighborhood", n_train=256, n_validation=0, n_epochs=3, seed=1
    )
    folder = tmp_path_factory.mktemp("digits")
    objective = make_objective(setting.loss, classification())
    return run_on_sphere(setting, folder, objective=objective), folder


def test_digits_get_the_class_of_the_nearest_training_digit(trained):
    outcome, _ = trained
    (test,) = outcome.tests
    assert np.sum(test.confusion) == outcome.n_test
    assert test.error < 0.35
    assert test.scores.average_precision > 0.3  # a tenth by chance
    (record,) = to_json(outcome)["records"]
    assert record["method"] == "compact, neighborhood"
    assert record["average_precision"] == test.scores.average_precision


def test_a_network_of_embeddings_predicts_no_classes(trained):
    with pytest.raises(ValueError, match="places to compare images by, not classes"):
        predict_images(trained[1], np.ones((1, 8, 8)))


def test_trainings_by_other_losses_have_other_folders():
    names = {SphereSetting(**FEW, loss=loss).folder_name() for loss in ("triplet", "neighborhood")}
    assert len(names) == 2
