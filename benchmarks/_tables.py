"""A dozen ordinary tables, compared as a stranger would.

    python -m benchmarks._tables [NAME ...]

Each runs ``vicinal compare FILE --target COLUMN`` in a process of its own, with all defaults. Shown
are the CPU-seconds of that process and its workers, the number of features, and what was found.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from tests.data.test_twelve_tables import FILES, TABLES, imbalanced, iris_frame, wide


@dataclass(frozen=True)
class Case:
    """A table: where it is or how it is written, its target and number of features."""

    target: str
    n_features: int
    write: Callable[[Path], object] | None = None
    options: tuple[str, ...] = ()


def _csv(make: Callable[[], pd.DataFrame]) -> Callable[[Path], object]:
    return lambda path: make().to_csv(path, index=False)


CASES = {
    **{
        name: Case(each.target, each.n_features, options=tuple(f"--{o}" for o, _ in each.options))
        for name, each in FILES.items()
    },
    "imbalanced.csv": Case("fraud", 15, _csv(imbalanced)),
    "wide.csv": Case("tissue", 5000, _csv(wide)),
    "iris.csv.gz": Case("species", 4, _csv(iris_frame)),
    "iris.jsonl": Case(
        "species", 4, lambda path: iris_frame().to_json(path, orient="records", lines=True)
    ),
    "iris.xlsx": Case("species", 4, lambda path: iris_frame().to_excel(path, index=True)),
}


def main() -> int:
    """Run the tables named, or all; return 1 where one failed or has other features."""
    names = sys.argv[1:] or list(CASES)
    unknown = sorted(set(names) - set(CASES))
    if unknown:
        print(f"no such table: {', '.join(unknown)}; there are {', '.join(CASES)}")
        return 2
    return max(run(name, CASES[name]) for name in names)


def run(name: str, case: Case) -> int:
    """Compare on one table and print what came of it."""
    with TemporaryDirectory() as place:
        path = TABLES / name if case.write is None else Path(place) / name
        if case.write is not None:
            case.write(path)
        command = [sys.executable, "-m", "vicinal", "compare", str(path), "--target", case.target]
        command += [*case.options, "--out", f"{place}/run"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode:
            print(f"{name}: exit code {done.returncode}\n{done.stderr}")
            return 1
    shape = re.search(r" rows, ([0-9,]+) features?[,;]", done.stdout)
    n_features = int(shape[1].replace(",", "")) if shape else 0
    said = done.stdout.split("best of its k", 1)[-1].split("\n", 1)[-1]
    said = re.sub(r"\n *", "\n    ", said.split(place)[0].strip())
    print(f"{name}: {cpu:.1f} CPU-seconds, {n_features} features\n    {said}\n", flush=True)
    return int(n_features != case.n_features)


if __name__ == "__main__":
    sys.exit(main())
