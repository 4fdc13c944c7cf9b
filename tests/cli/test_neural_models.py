"""Model files of neural maps on the command line: fitted, asked, mapped, exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A table whose kind and number follow from a size and a colour, neither linearly."""
    rng, place = np.random.default_rng(0), tmp_path_factory.mktemp("tables")
    lines = ["size,colour,kind,price"]
    for _ in range(160):
        size, colour = rng.normal(), rng.choice(["red", "blue", "green"])
        kind = "near" if abs(size) < 0.7 else "far"
        price = size**2 + 3 * (colour == "red") + 0.1 * rng.normal()
        lines.append(f"{size:.3f},{colour},{kind},{price:.3f}")
    (place / "things.csv").write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.parametrize(("target", "best"), [("kind", 0.1), ("price", 0.7)])
def test_a_neural_map_is_fitted_stored_and_asked(run, folder, tmp_path, target, best):
    table, model = folder / "things.csv", tmp_path / "m.vicinal"
    fitted = run("fit", table, "--target", target, "--method", "neural", "--no-error", "-o", model)
    assert fitted.code == 0
    assert run("predict", model, table, "-o", tmp_path / "p.csv").code == 0
    said = np.genfromtxt(tmp_path / "p.csv", delimiter=",", skip_header=1, dtype=str)[:, 1]
    truth = np.genfromtxt(table, delimiter=",", skip_header=1, dtype=str)
    truth = truth[:, 2 if target == "kind" else 3]
    if target == "kind":
        assert np.mean(said != truth) < best
    else:
        assert np.std(said.astype(float) - truth.astype(float)) < best
    assert run("transform", model, table, "-o", tmp_path / "z.csv").code == 0
    places = np.genfromtxt(tmp_path / "z.csv", delimiter=",", skip_header=1)
    assert places.shape == (160, 49)  # and the number of the row
    stored = run("export", model, "--to", "parquet", "--documents", table, "-o", tmp_path / "z.pq")
    assert stored.code == 0
    near = run("neighbors", model, table, "--k", 2)
    assert near.code == 0
    assert near.out.count("→") >= 1


def test_a_store_of_linear_maps_says_that_this_one_is_none(run, folder, tmp_path):
    table, model = folder / "things.csv", tmp_path / "m.vicinal"
    run("fit", table, "--target", "kind", "--method", "neural", "--no-error", "-o", model)
    for store in ("duckdb", "pgvector", "onnx", "faiss"):
        done = run("export", model, "--to", store, "--documents", table, "-o", tmp_path / store)
        assert done.code == 2
        assert "map is not linear" in done.err
        assert "parquet" in done.err
