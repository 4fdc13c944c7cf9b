"""``vicinal neural train``: a table of losses, kept as it comes."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from PIL import Image

from vicinal.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vicinal", "neural", "train", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def write_pictures(folder):
    rng = np.random.default_rng(0)
    for name, level in (("dark", 60), ("light", 180)):
        (folder / name).mkdir(parents=True)
        for number in range(20):
            pixels = rng.integers(level - 40, level + 40, (12, 12)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")


def test_losses_are_compared_on_a_folder_and_not_measured_twice(run, tmp_path):
    write_pictures(tmp_path / "shades")
    asked = (
        "shades", "--losses", "neighborhood triplet:margin=0.2", "--epochs", 2, "--k", "1,3",
        "--json", tmp_path / "r.json",
    )  # fmt: skip
    code, out, said = run(*asked)
    assert code == 0
    assert "k = 3" in out
    assert "neighborhood: epoch 2 of 2" in said
    outcomes = json.loads((tmp_path / "r.json").read_text())["outcomes"]
    assert [outcome["loss"] for outcome in outcomes] == ["neighborhood", "triplet:margin=0.2"]
    code, again, said = run(*asked)
    assert code == 0
    assert again == out
    assert "epoch" not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "nowhere"),
        (("digits", "--losses", "nosuch"), "loss nosuch"),
        (("digits", "--losses", "triplet:margins=1"), "'margins' is not one"),
        (("digits", "--k", "0"), "at least 1"),
        (("digits", "--rows", "1"), "at least two rows"),
        (("digits", "--rate", "-1"), "learning_rate=-1.0 must be above zero"),
    ],
)
def test_bad_input_is_refused_with_code_2(run, arguments, message):
    code, _, said = run(*arguments)
    assert code == 2
    assert message in said
