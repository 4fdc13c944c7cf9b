"""The examples in the docstrings of the sphere run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
import torch

import vicinal.sphere

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(vicinal.sphere.__path__, "vicinal.sphere.")
    if not info.ispkg
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    torch.manual_seed(0)
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.failed == 0
