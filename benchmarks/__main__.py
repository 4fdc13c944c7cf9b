"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--repeats N] [--quick]``.

Each runs in a process of its own, so that peak memory is its own. Records are appended to
``results/NAME.jsonl`` and the latest of each case and machine are shown in ``results/NAME.md``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
SHOWN = {
    "case": "case",
    "peer": "peer",
    "cpu_ratio": "CPU time / peer's",
    "wall_ratio": "wall time / peer's",
    "peak_mb": "peak memory above the data (MB)",
    "note": "note",
    "threads": "threads",
    "processor": "processor",
}


def main() -> int:
    """Run what was asked for; return 1 where a case failed or exceeded its limits."""
    options = _parse()
    if options.one:
        return _run(options.one, options)
    names = options.names or _found()
    unknown = sorted(set(names) - set(_found()))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(_found())}")
        return 2
    passed_on = ["--repeats", str(options.repeats)] + ["--quick"] * options.quick
    command = [sys.executable, "-m", "benchmarks", *passed_on, "--one"]
    return max(subprocess.run([*command, name], cwd=FOLDER.parent).returncode for name in names)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks to run; all by default")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small cases, nothing recorded")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _found() -> list[str]:
    modules = [module.name for module in pkgutil.iter_modules([str(FOLDER)])]
    return sorted(name for name in modules if not name.startswith("_"))


def _run(name: str, options: argparse.Namespace) -> int:
    from benchmarks._measure import exceeded, measure

    failed = False
    for case in importlib.import_module(f"benchmarks.{name}").cases(quick=options.quick):
        print(f"{name}: {case.name} against {case.peer_name} ...", flush=True)
        record = measure(case, options.repeats)
        print("   ", json.dumps(record), flush=True)
        if not options.quick:
            _keep(name, record)
            for excess in exceeded(case, record):
                failed = True
                print(f"    over the limit: {excess}", flush=True)
    return int(failed)


def _keep(name: str, record: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    lines = RESULTS / f"{name}.jsonl"
    with lines.open("a") as file:
        file.write(json.dumps(record) + "\n")
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    latest = {(r["case"], r["peer"], r["processor"], r["threads"]): r for r in records}
    (RESULTS / f"{name}.md").write_text(_table(name, list(latest.values())))


def _table(name: str, records: list[dict[str, Any]]) -> str:
    rows = [" | ".join(str(record.get(key, "")) for key in SHOWN) for record in records]
    head = [" | ".join(SHOWN.values()), " | ".join("---" for _ in SHOWN)]
    title = name.replace("_", " ").capitalize()
    return f"# {title}\n\n" + "\n".join(f"| {row} |" for row in head + rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
