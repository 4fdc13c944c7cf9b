"""Claims about ``vicinal sphere``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

QUICK = ("sphere", "train", "digits", "--preset", "planar", "--epochs", "2", "--validation", "200")


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vicinal", *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def weights(folder) -> dict[str, torch.Tensor]:
    return torch.load(folder / "network.pt", weights_only=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sphere")
    done = start(*QUICK, "--out", str(folder / "run"), "--json", str(folder / "results.json"))
    return done, folder


def test_training_prints_both_tests_and_where_the_report_is(trained):
    done, folder = trained
    assert done.returncode == 0, done.stderr
    assert "tested on plain (resampled):" in done.stdout
    assert "tested on rotated (resampled):" in done.stdout
    assert f"report: {folder / 'run' / 'report.html'}" in done.stdout
    assert "epoch 2/2: loss" in done.stderr


def test_the_json_has_the_fields_of_every_command(trained):
    _, folder = trained
    records = json.loads((folder / "results.json").read_text())["records"]
    wanted = {"dataset", "method", "k", "error_mean", "error_sd", "fit_seconds", "n_train"}
    assert {record["test"] for record in records} == {"plain", "rotated"}
    for record in records:
        assert wanted | {"n_test", "seed", "version"} <= record.keys()
        confusion = record["confusion"]
        n_right = sum(row[i] for i, row in enumerate(confusion))
        n_all = sum(map(sum, confusion))
        assert n_all == record["n_test"]
        assert record["error_mean"] == pytest.approx(1 - n_right / n_all)


def test_the_report_shows_curves_confusion_and_misread_digits(trained):
    _, folder = trained
    page = (folder / "run" / "report.html").read_text()
    assert "confusions</h2>" in page
    assert page.count("data:image/png") >= 10
    assert "<script" not in page


def test_training_killed_midway_ends_with_the_same_weights(trained, tmp_path):
    _, folder = trained
    command = [sys.executable, "-m", "vicinal", *QUICK, "--out", str(tmp_path / "run")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        checkpoint = tmp_path / "run" / "checkpoint.pt"
        deadline = time.monotonic() + 150
        while not checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert checkpoint.exists()
    assert not (tmp_path / "run" / "network.pt").exists()
    done = start(*QUICK, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    expected = weights(folder / "run")
    found = weights(tmp_path / "run")
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_two_processes_train_what_one_does(trained, tmp_path):
    _, folder = trained
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*launch, "-m", "vicinal", *QUICK, "--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=220,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("report:") == 1  # one process speaks
    expected, found = weights(folder / "run"), weights(tmp_path / "run")
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preset", "best"), "no preset 'best'"),
        (("--train", "upside-down"), "'plain' or 'rotated'"),
        (("--protocol", "exact"), "protocol='exact'"),
        (("--projection", "mercator"), "projection='mercator'"),
        (("--protocol", "cohen2018", "--projection", "lambert"), "a map of its own"),
        (("--threads", "0"), "--threads 0"),
        (("--validation", "5000"), "leave none"),
        (("--epochs", "0"), "n_epochs=0"),
        (("--n-train", "-5"), "n_train=-5 must be 2 or more"),
        (("--validation", "-5"), "n_validation=-5 must be 0 or more"),
        (("--patience", "0"), "patience=0 must be 1 or more"),
    ],
)
def test_bad_settings_end_with_a_sentence_and_code_2(run, tmp_path, arguments, message):
    done = run("sphere", "train", "digits", "--out", tmp_path / "run", *arguments)
    assert done.code == 2
    assert message in done.err


def test_data_without_images_are_refused(run, tmp_path):
    done = run("sphere", "train", "wine", "--out", tmp_path / "run")
    assert done.code == 2
    assert "holds no labelled images" in done.err


def test_a_folder_with_another_training_is_refused(run, trained):
    _, folder = trained
    done = run(*QUICK, "--seed", "3", "--out", folder / "run")
    assert done.code == 2
    assert "another configuration (seed: there 0, now 3)" in done.err


def test_how_digits_lie_on_the_sphere_is_part_of_a_training(run, trained):
    _, folder = trained
    done = run(*QUICK, "--projection", "stereographic", "--out", folder / "run")
    assert done.code == 2
    assert "projection: there 'lambert', now 'stereographic'" in done.err.replace('"', "'")


@pytest.mark.parametrize("choice", [("--projection", "stereographic"), ("--protocol", "cohen2018")])
def test_a_training_on_stereographic_digits_says_so(run, tmp_path, choice):
    few = ("--n-train", "100", "--test", "rotated", *choice)
    done = run(*QUICK, *few, "--out", tmp_path / "run")
    assert done.code == 0
    assert "by the stereographic map" in (tmp_path / "run" / "report.html").read_text()
    records = json.loads((tmp_path / "run" / "results.json").read_text())["records"]
    assert [record["projection"] for record in records] == ["stereographic"]


def test_a_finished_training_run_again_changes_nothing(run, trained):
    _, folder = trained
    before = (folder / "run" / "results.json").read_text()
    assert run(*QUICK, "--out", folder / "run").code == 0
    assert (folder / "run" / "results.json").read_text() == before


def test_times_are_seconds_and_one_split_has_no_spread(trained):
    _, folder = trained
    content = json.loads((folder / "results.json").read_text())
    for record in content["records"]:
        assert record["error_sd"] is None
        assert record["fit_seconds"] == pytest.approx(sum(e["seconds"] for e in content["history"]))
        assert record["cpu_seconds"] == pytest.approx(
            sum(e["cpu_seconds"] for e in content["history"])
        )


def test_predict_tells_what_the_training_told(run, trained, tmp_path):
    _, folder = trained
    out, told = tmp_path / "found.csv", tmp_path / "found.json"
    done = run("sphere", "predict", folder / "run", "digits", "--split", "test", "--out", out,
               "--proba", "--json", told)  # fmt: skip
    assert done.code == 0, done.err
    records = json.loads((folder / "results.json").read_text())["records"]
    plain = next(record for record in records if record["test"] == "plain")
    assert json.loads(told.read_text())["error"] == pytest.approx(plain["error_mean"])
    lines = out.read_text().splitlines()
    assert lines[0] == "row,predicted," + ",".join(map(str, range(10)))
    assert len(lines) == plain["n_test"] + 1
    shares = [float(share) for share in lines[1].split(",")[2:]]
    assert sum(shares) == pytest.approx(1)


def test_predict_reads_images_from_a_file(run, trained, tmp_path):
    _, folder = trained
    np.savez(tmp_path / "images.npz", images=np.random.default_rng(0).random((5, 8, 8)))
    done = run("sphere", "predict", folder / "run" / "network.pt", tmp_path / "images.npz")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 6


@pytest.mark.parametrize(
    ("network", "data", "message"),
    [
        ("nowhere", "digits", "cannot be read"),
        ("run", "nothing.npz", "nothing.npz"),
        ("run", "wine", "holds no labelled images"),
    ],
)
def test_predict_refuses_in_words(run, trained, network, data, message):
    _, folder = trained
    done = run("sphere", "predict", folder / network, data)
    assert done.code == 2
    assert message in done.err


def test_presets_are_listed(run):
    for world, names in (
        ("digits", ("thesis", "planar", "correlation")),
        ("molecules", ("shells", "forces")),
        ("shapes", ("cross", "points")),
    ):
        done = run("sphere", "train", world, "--preset", "list")
        assert done.code == 0
        assert all(name in done.out for name in names)


def test_check_prints_each_layer_in_both_precisions(run, tmp_path):
    done = run("sphere", "check", "--rotations", "4", "--json", tmp_path / "errors.json")
    assert done.code == 0, done.err
    assert "whole network" in done.out
    errors = json.loads((tmp_path / "errors.json").read_text())
    assert errors["precisions"] == ["float32", "float64"]
    assert len(errors["records"]) == 7
    assert errors["records"][-1]["errors"][1] < 1e-12


def test_check_refuses_a_network_on_the_grid(run):
    done = run("sphere", "check", "--preset", "planar")
    assert done.code == 2
    assert "reads signals on the grid" in done.err
