"""Claims about ``vicinal sphere`` on molecules."""

from __future__ import annotations

import json
import os

import pytest
from tests.cli.test_cmd_sphere import start

needs_qm7 = pytest.mark.skipif(
    not os.environ.get("VICINAL_DATA"), reason="VICINAL_DATA is not set: QM7 is not at hand"
)
WATER = "3\nwater\nO 0 0 0.12\nH 0 0.76 -0.48\nH 0 -0.76 -0.48\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("molecules")
    few = ("--n-train", "64", "--validation", "32", "--epochs", "1", "--fold", "1")
    done = start(
        *("sphere", "train", "qm7", *few, "--rivals", "eigenvalues"),
        *("--out", str(folder / "run"), "--json", str(folder / "results.json")),
    )
    return done, folder


@needs_qm7
def test_training_prints_both_errors_of_network_and_rival(trained):
    done, folder = trained
    assert done.returncode == 0, done.stderr
    assert "shells, fold 1: MAE " in done.stdout
    assert "eigenvalues, fold 1: MAE " in done.stdout
    assert "kcal/mol" in done.stderr
    records = json.loads((folder / "results.json").read_text())["records"]
    assert [record["method"] for record in records] == ["shells", "eigenvalues"]
    assert all(record["n_test"] == 1433 for record in records)


@needs_qm7
def test_a_molecule_gets_an_energy(run, trained, tmp_path):
    _, folder = trained
    (tmp_path / "water.xyz").write_text(WATER)
    done = run("sphere", "predict", folder / "run", tmp_path / "water.xyz")
    assert done.code == 0, done.err
    header, row = done.out.strip().splitlines()
    assert header == "row,energy"
    assert -600 < float(row.split(",")[1]) < 0


@needs_qm7
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3\n\nO 0 0 0\n", "3 atoms are announced, 1 follow"),
        ("1\n\nO 0 0 0\n", "has 1 atoms; an energy of binding needs two or more"),
        ("2\n\nO 0 0 0\nFe 0 0 2\n", "atoms of number 26; known are H (1), C (6)"),
        ("2\n\nO 0 0 0\nO 0 0 0\n", "atoms 0 and 1 of molecule 0 are 0 Å apart"),
        ("2\n\nO 0 0 0\nO 0 0 nan\n", "NaN or infinite"),
    ],
)
def test_what_is_no_molecule_exits_2_with_one_line(run, trained, tmp_path, text, said):
    _, folder = trained
    (tmp_path / "broken.xyz").write_text(text)
    done = run("sphere", "predict", folder / "run", tmp_path / "broken.xyz")
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err


@needs_qm7
def test_the_page_has_the_errors_and_the_molecules_farthest_off(trained):
    _, folder = trained
    page = (folder / "run" / "report.html").read_text()
    records = json.loads((folder / "results.json").read_text())["records"]
    assert f"{records[0]['rmse']:.2f} in the root mean square" in page  # of the one fold
    assert "eigenvalues" in page
    assert page.count("<tr>") >= 14  # two methods and twelve molecules


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("qm7", "--fold", "5"), "take 0 to 4, or all"),
        (("molecules", "qm7", "--protocol", "cohen2018"), "No such option"),
        (("digits", "--fold", "1"), "No such option"),
        (("molecules", "rmd17:lead"), "its molecules are aspirin"),
        (("molecules", "digits"), "holds no molecules with energies"),
        (("qm7", "--rivals", "luck"), "there are eigenvalues"),
    ],
)
def test_options_that_make_no_sense_exit_2(run, arguments, said):
    done = run("sphere", "train", *arguments)
    assert done.code == 2
    assert said in done.err
