"""The public face: every advertised name resolves, and importing vicinal stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vicinal

HEAVY = ("torch", "numba", "dask", "matplotlib", "pandas", "sklearn", "scipy", "faiss")


@pytest.mark.parametrize("name", vicinal.__all__)
def test_every_advertised_name_resolves(name):
    assert getattr(vicinal, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'MLNGG'"):
        vicinal.MLNGG  # noqa: B018


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("statement", ["import vicinal", "import vicinal.cli"])
def test_importing_loads_nothing_heavy(statement):
    assert loaded_by(statement) == set()


@pytest.mark.parametrize("stage", ["data", "metric", "index", "predict", "report", "runs", "scale"])
def test_no_stage_loads_torch_or_dask(stage):
    assert loaded_by(f"import vicinal.{stage}") & {"torch", "dask"} == set()


def test_help_answers_in_under_six_tenths_of_a_cpu_second():
    measure = (
        "import resource, subprocess, sys; "
        "subprocess.run([sys.executable, '-m', 'vicinal', '--help'], check=True, "
        "stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    )
    runs = [
        float(
            subprocess.run(
                [sys.executable, "-c", measure], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(runs) < 0.6


def test_no_room_imports_what_is_private_to_another():
    root = Path(vicinal.__file__).parent
    wrong = []
    for file in root.rglob("*.py"):
        room = file.relative_to(root).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                package, *path = node.module.split(".")
                names = [*path, *(alias.name for alias in node.names)]
                foreign = package == "vicinal" and names[0] != room and names[0][0] != "_"
                if foreign and any(name.startswith("_") for name in names[1:]):
                    wrong.append(f"{file.relative_to(root)}: {node.module} {names[-1]}")
    assert not wrong


def test_the_library_speaks_of_arguments_and_leaves_options_to_the_command():
    root = Path(vicinal.__file__).parent
    told = [
        f"{file.relative_to(root)}:{node.lineno}"
        for file in root.rglob("*.py")
        if file.relative_to(root).parts[0] != "cli"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"(?<!var\()--[a-z]{2}", node.value)  # but for variables of CSS
    ]
    assert told == []
