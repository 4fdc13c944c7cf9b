"""The examples in the docstrings of public names run and give what they say."""

from __future__ import annotations

import doctest

import pytest

import vicinal


@pytest.mark.parametrize("name", sorted(set(vicinal.__all__) - {"__version__"}))
def test_the_example_in_the_docstring_runs(name):
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    value = getattr(vicinal, name)
    for example in finder.find(value, name, module=False, globs={name: value}):
        failures: list[str] = []
        runner.run(example, out=failures.append)
        assert not failures, "".join(failures)
