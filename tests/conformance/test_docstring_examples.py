"""The examples in the docstrings of public names run and give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from importlib.util import find_spec

import pytest

PACKAGES = ["vicinal", "vicinal.data"] + ["vicinal.sphere"] * (find_spec("torch") is not None)
NAMES = sorted(
    {
        getattr(import_module(package), name): f"{package}.{name}"
        for package in reversed(PACKAGES)  # what has two doors is tried at the first
        for name in import_module(package).__all__
        if callable(getattr(import_module(package), name))
    }.values()
)


@pytest.mark.parametrize("path", NAMES)
def test_the_example_in_the_docstring_runs(path):
    package, _, name = path.rpartition(".")
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    value = getattr(import_module(package), name)
    for example in finder.find(value, name, module=False, globs={name: value}):
        failures: list[str] = []
        runner.run(example, out=failures.append)
        assert not failures, "".join(failures)
