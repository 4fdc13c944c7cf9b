"""A short seed of ``make fuzz``: the same tries, for seconds."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from tests.fuzz import calls, journals, models, numbers, tables
from tests.fuzz._outcomes import Try, Wrong, run_tries

pytest.importorskip("faiss", reason="needs the extra faiss")

LONG = 1000.0  # seconds: here the number of tries decides


@pytest.mark.parametrize(("kind", "n"), [(models, 3 * 2 * len(models.NAMES_OF_MODELS)),
                                         (journals, 60)])  # fmt: skip
def test_mutated_files_are_refused_or_what_they_were(kind, n):
    tally = run_tries(islice(kind.cases(np.random.default_rng(1)), n), LONG)
    assert tally.finds == []
    assert len(tally.outcomes) > 1


def test_mutated_networks_are_refused_or_what_they_were():
    pytest.importorskip("torch", reason="needs the extra torch")
    from tests.fuzz import networks

    tally = run_tries(islice(networks.cases(np.random.default_rng(1)), 60), LONG)
    assert tally.finds == []
    assert tally.outcomes["refused"] > 30


def test_bad_numbers_are_refused_or_read_as_they_are():
    tries = numbers.cases(np.random.default_rng(1))
    tally = run_tries(islice(tries, 200), LONG)
    assert tally.finds == []
    assert tally.outcomes["refused"] > 30


def test_bad_numbers_in_calls_are_refused_or_read_as_they_are():
    tally = run_tries(islice(calls.cases(np.random.default_rng(1)), 500), LONG)
    assert tally.finds == []
    assert min(tally.outcomes["refused"], tally.outcomes["right"]) > 100


def test_what_is_neither_right_nor_refused_is_found():
    def wrong():
        raise Wrong("a number that is none")

    def slow_division():
        return str(np.float64(1.0) / np.float64(0.0))

    tally = run_tries([Try("a", wrong), Try("b", slow_division), Try("c", lambda: "right")], 9)
    assert [find.partition(":")[0] for find in tally.finds] == ["a", "b"]
    assert tally.outcomes == {"FOUND": 2, "right": 1}


def test_hostile_tables_are_refused_or_read_and_their_names_never_obeyed():
    tries = list(islice(tables.cases(np.random.default_rng(1)), len(tables.BOMBS) + 60))
    quick = [each for each in tries if "MB" not in each.name and "million" not in each.name]
    tally = run_tries(quick, LONG)
    assert tally.finds == []
    assert tally.outcomes["refused"] > 10
    assert tally.outcomes["shown"] == len(tables.NAMES)
