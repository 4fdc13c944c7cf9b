from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_without_torch_the_error_names_the_extra_to_install():
    said = run(
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "try:\n"
        "    import vicinal.sphere\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert "pip install 'vicinal[torch]'" in said


def test_vicinal_itself_does_not_load_torch():
    assert run("import sys, vicinal; print('torch' in sys.modules)").strip() == "False"


def test_the_sphere_does_not_load_torchs_compiler():
    pytest.importorskip("torch", reason="needs the extra torch")
    said = run("import sys, vicinal.sphere; print('torch._dynamo' in sys.modules)")
    assert said.strip() == "False"
