"""Editors and type checkers know every public name and its parameters."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import vicinal

STUB = Path(vicinal.__file__).with_name("__init__.pyi")


def test_the_stub_names_what_the_package_has():
    named = re.findall(r"from (\S+) import (\w+) as \2", STUB.read_text())
    assert {name: home for home, name in named} == vicinal._HOME


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy --strict says of two files of a user; most of its time goes into the package."""
    pytest.importorskip("mypy", reason="needs the extra lint")
    folder = tmp_path_factory.mktemp("user")
    (folder / "misspelt.py").write_text(
        "import vicinal\n"
        "vicinal.KNNClassifier(n_neighbors=3)\n"
        "vicinal.KNNClassifier(n_neighbours=3)\n"
        "vicinal.KNNClasifier()\n"
        "vicinal.MLNG(3, max_itr=5)\n"
    )
    (folder / "frames.py").write_text(
        "import pandas as pd\n"
        "import vicinal\n"
        "frame = pd.DataFrame({'a': [1.0, 2.0], 'y': ['u', 'v']})\n"
        "vicinal.KNNClassifier(1).fit(frame[['a']], frame['y']).predict([[1.5]])\n"
        "vicinal.compare(frame, 'y').to_frame()\n"
    )
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--ignore-missing-imports"]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(folder / "cache")]
    files = ["misspelt.py", "frames.py"]
    return subprocess.run([*command, *files], capture_output=True, text=True, cwd=folder).stdout


def test_a_misspelt_parameter_is_found(said):
    assert '"n_neighbours" for "KNNClassifier"' in said
    assert 'no attribute "KNNClasifier"' in said
    assert '"max_itr" for "MLNG"' in said
    assert "Found 3 errors in 1 file (checked 2 source files)" in said, said


def test_frames_and_lists_are_taken_as_they_are(said):
    assert "checked 2 source files" in said, said
    assert "frames.py" not in said, said
