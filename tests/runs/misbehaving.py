"""Learners that misbehave on purpose, for workers to import by path."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings

import numpy as np

from vicinal.metric.learner import MetricLearner


class Plain(MetricLearner):
    """The Euclidean distance, as a learner; ``n_components_`` of the identity."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.asarray(X).shape[1]
        self.components_ = np.eye(self.n_features_in_)
        return self


class Curved(Plain):
    """Maps otherwise than its components say."""

    def transform(self, X):
        return np.tanh(np.asarray(X))

    transform_queries = transform


class Slow(Plain):
    """Sleeps before it has learned nothing (not on the small sample of the warm-up)."""

    seconds = 0.3

    def fit(self, X, y=None):
        if np.asarray(X).shape[1] != 8:
            time.sleep(self.seconds)
        return super().fit(X, y)


class Random(Plain):
    """Draws its map from the global generator, as old code does."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.components_ = np.random.normal(size=self.components_.shape)  # noqa: NPY002
        return self


class Raising(Plain):
    """Fails with a message of several lines."""

    def fit(self, X, y=None):
        raise RuntimeError("the matrix\n  is not what it was")


class Crashing(Plain):
    """Takes its process down without a word."""

    def fit(self, X, y=None):
        if np.asarray(X).shape[1] != 8:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().fit(X, y)


class Killed(Plain):
    """Is killed, as the system does when memory runs out."""

    def fit(self, X, y=None):
        os.kill(os.getpid(), signal.SIGKILL)


class Leaving(Plain):
    """Ends the process with a last word."""

    def fit(self, X, y=None):
        sys.stderr.write("licence expired\n")
        sys.stderr.flush()
        os._exit(7)


class Greedy(Plain):
    """Needs 200 MB for a moment."""

    def fit(self, X, y=None):
        if np.asarray(X).shape[1] != 8:
            np.ones(200_000_000, dtype=np.uint8).sum()
        return super().fit(X, y)


class Chatty(Plain):
    """Prints, and warns twice of the same."""

    def fit(self, X, y=None):
        print('{"records": []}')  # noqa: T201
        for _ in range(2):
            warnings.warn("only a few rows were used", UserWarning, stacklevel=1)
        return super().fit(X, y)


class Lost(Plain):
    """Maps everything to nowhere."""

    def transform(self, X):
        return np.full(np.asarray(X).shape, np.nan)

    transform_queries = transform


class Neighborly(Plain):
    """Takes k, and learns from whole fits only where k is what it should be."""

    def __init__(self, n_neighbors=1, random_state=None):
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y=None):
        super().fit(X, y)
        self.components_ = self.components_ * self.n_neighbors
        return self


class OddFolds(Plain):
    """Fails where the training part has an odd number of rows."""

    def fit(self, X, y=None):
        if len(X) % 2:
            raise ValueError("an odd number of rows")
        return super().fit(X, y)
