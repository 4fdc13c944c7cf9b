"""Losses under one budget: the votes counted by hand, and a training that goes on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vicinal.neural.pictures import (
    LOSSES,
    Budget,
    Pictures,
    knn_errors,
    outcome_record,
    read_outcome,
    small_network,
    train_with,
)


def stripes(n=120, seed=0):
    """Return pictures with a bright row or a bright column, in noise."""
    rng = np.random.default_rng(seed)
    images = 0.3 * rng.random((n, 12, 10)).astype(np.float32)
    labels = np.arange(n) % 2
    for image, label in zip(images, labels, strict=True):
        image[rng.integers(12)] += 1 - label
        image[:, rng.integers(10)] += label
    return Pictures(images, torch.from_numpy(labels))


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_teaches_a_network_to_tell_rows_from_columns(loss):
    training, test = stripes(), stripes(60, seed=1)
    outcome = train_with(loss, training, test, Budget(None, 12, 40, 3e-3), ks=(1, 5, 500))
    assert list(outcome.errors) == [1, 5]
    assert outcome.errors[5] < 0.1
    assert outcome.cpu_seconds > 0
    assert read_outcome(outcome_record(outcome)) == outcome


def test_errors_are_those_of_the_votes():
    database, known = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0, 1, 1, 0])
    queries, wanted = np.array([[0.2], [8.0]]), np.array([0, 0])
    assert knn_errors(database, queries, known, wanted, (1, 3)) == {1: 0.0, 3: 1.0}


def test_a_training_that_was_stopped_comes_to_the_same_network(tmp_path):
    training, test, budget = stripes(), stripes(60, seed=1), Budget(None, 4, 40, 3e-3)
    whole = train_with("neighborhood", training, test, budget)

    class Stopped(Exception):
        pass

    def stop(step):
        if step.finished is not None and step.epoch == 2:
            raise Stopped

    path = tmp_path / "n.checkpoint"
    with pytest.raises(Stopped):
        train_with("neighborhood", training, test, budget, checkpoint=path, listener=stop)
    assert path.exists()
    epochs: list[int] = []
    again = train_with(
        "neighborhood", training, test, budget, checkpoint=path,
        listener=lambda step: epochs.append(step.epoch),
    )  # fmt: skip
    assert min(epochs) >= 2
    assert again.errors == whole.errors


def test_pictures_of_any_size_are_taken():
    for height, width in ((16, 16), (28, 28), (5, 7)):
        assert small_network(height, width)(torch.zeros(2, 1, height, width)).shape == (2, 32)


def test_a_loss_of_classes_is_refused():
    with pytest.raises(ValueError, match="learns classes"):
        train_with("cross-entropy", stripes(), stripes(), Budget())
