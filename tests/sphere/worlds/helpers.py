"""What lies above the sphere, for tests that run worlds."""

from __future__ import annotations

from vicinal.losses._objectives import make_objective
from vicinal.methods import get_method, make_learner
from vicinal.sphere.worlds import Helpers

HELPERS = Helpers(
    make_objective,
    lambda name, seed: make_learner(get_method(name), "classification", k=1, seed=seed),
)
