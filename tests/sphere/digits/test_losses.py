"""Claims about networks on digits that are trained to compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.sphere.worlds.helpers import HELPERS

from vicinal.sphere.digits import DigitSetting, DigitWorld, predict_images
from vicinal.sphere.worlds import run_world

FEW: dict[str, Any] = {"source": "digits", "preset": "compact", "train": "plain", "test": "plain"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    setting = DigitSetting(
        **FEW, loss="neighborhood", n_train=256, n_validation=0, n_epochs=3, seed=1
    )
    folder = tmp_path_factory.mktemp("digits")
    return run_world(DigitWorld(), setting, folder, helpers=HELPERS), folder


def test_digits_get_the_class_of_the_nearest_training_digit(trained):
    outcome, _ = trained
    (record,) = outcome.records
    assert np.sum(record["confusion"]) == record["n_test"]
    assert record["error_mean"] < 0.35
    assert record["average_precision"] > 0.3  # a tenth by chance
    assert record["method"] == "compact, neighborhood"


def test_a_network_of_embeddings_predicts_no_classes(trained):
    with pytest.raises(ValueError, match="places to compare images by, not classes"):
        predict_images([trained[1]], np.ones((1, 8, 8)))


def test_trainings_by_other_losses_have_other_folders():
    names = {DigitSetting(**FEW, loss=loss).folder_name() for loss in ("triplet", "neighborhood")}
    assert len(names) == 2
