"""Try hostile files and numbers: ``python -m tests.fuzz [NAME ...] [--seconds S] [--seed N]``.

Says what came of the tries and lists the finds; exits 1 where there are any. A try is repeated by
its seed alone, whatever ran before it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module

import numpy as np
from tests.fuzz._outcomes import Tally, Try, run_tries

NAMES = ("models", "journals", "networks", "numbers", "calls", "tables")


def main() -> int:
    """Share the time out among what is asked for; return 1 where something was found."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="all by default")
    parser.add_argument("--seconds", type=float, default=300, help="for all together")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = options.names or NAMES
    tallies = [fuzz(name, options.seconds / len(names), options.seed) for name in names]
    return int(any(tally.finds for tally in tallies))


def fuzz(name: str, seconds: float, seed: int) -> Tally:
    """Run one kind of tries for some seconds, and tell what came of them."""
    make: Callable[[np.random.Generator], Iterable[Try]] = import_module(f"tests.fuzz.{name}").cases
    tally = run_tries(make(np.random.default_rng(seed)), seconds)
    came = ", ".join(f"{count:,} {outcome}" for outcome, count in tally.outcomes.most_common())
    sys.stdout.write(f"{name}: {came}\n")
    for find in tally.finds:
        sys.stdout.write(f"    {find}\n")
    sys.stdout.flush()
    return tally


if __name__ == "__main__":
    sys.exit(main())
