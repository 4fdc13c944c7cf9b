"""A folder of one's own trains, predicts and reports in each world, or is refused in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image

from vicinal.sphere.shapes import _world
from vicinal.sphere.shapes._sources import draw_epoch

ELLIPSOIDS = {"long": (0.3, 0.3, 1.0), "flat": (1.0, 1.0, 0.3)}


def sphere_points(rng, n=60):
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def write_images(folder, *, panoramas=False):
    rng = np.random.default_rng(0)
    for name, bars in (("across", True), ("dots", False)):
        (folder / name).mkdir(parents=True)
        for i in range(10):
            pixels = np.zeros((32, 64 if panoramas else 32))
            if bars:
                pixels[12 : 18 + i % 3] = 255
            else:
                pixels[rng.integers(4, 28, 8), rng.integers(4, 28, 8)] = 255
            Image.fromarray(pixels.astype(np.uint8)).save(folder / name / f"{i}.png")
    return folder


def write_clouds(folder, suffix=".npy"):
    rng = np.random.default_rng(0)
    for name, axes in ELLIPSOIDS.items():
        (folder / name).mkdir(parents=True)
        for i in range(10):
            points = sphere_points(rng) * axes * rng.uniform(0.9, 1.1, 3)
            if suffix == ".npy":
                np.save(folder / name / f"{i}.npy", points)
            else:
                lines = "\n".join(" ".join(map(str, row)) for row in points)
                header = f"VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS {len(points)}\n"
                (folder / name / f"{i}.pcd").write_text(f"{header}DATA ascii\n{lines}\n")
    return folder


def write_meshes(folder, suffix):
    import trimesh

    rng = np.random.default_rng(0)
    for name, axes in ELLIPSOIDS.items():
        (folder / name).mkdir(parents=True)
        for i in range(10):
            ball = trimesh.creation.icosphere(subdivisions=1)
            ball.vertices *= np.array(axes) * rng.uniform(0.9, 1.1, 3)
            ball.export(folder / name / f"{i}{suffix}")
    return folder


def write_molecules(folder, *, forces=False):
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = []
    for i in range(20):
        r = rng.uniform(1, 2)
        force = 2 * (r - 1.5)
        tail = (f" 0 0 {force}", f" 0 0 {-force}") if forces else ("", "")
        text = f"2\nframe\nH 0 0 0{tail[0]}\nCl 0 0 {r}{tail[1]}\n"
        (folder / f"frame{i:02}.xyz").write_text(text)
        rows.append(f"frame{i:02},{(r - 1.5) ** 2}")
    (folder / "targets.csv").write_text("\n".join(["file,energy", *rows]) + "\n")
    return folder


def train(run, tmp_path, world, source, *options):
    done = run("sphere", "train", world, source, *options, "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert (tmp_path / "run" / "report.html").exists()
    return json.loads((tmp_path / "run" / "results.json").read_text())["records"]


@pytest.mark.parametrize("panoramas", [False, True])
def test_images_in_folders_by_class(run, tmp_path, panoramas):
    source = write_images(tmp_path / "images", panoramas=panoramas)
    options = ("--projection", "equirectangular") if panoramas else ()
    few = ("--preset", "compact", "--epochs", "8", "--test", "rotated", *options)
    (record,) = train(run, tmp_path, "digits", source, *few)
    assert (record["n_train"], record["n_validation"], record["n_test"]) == (14, 1, 5)
    assert record["projection"] == ("equirectangular" if panoramas else "lambert")
    done = run("sphere", "predict", tmp_path / "run", source)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "file,predicted"
    assert len(lines) == 21
    assert "error " in done.err
    one = run("sphere", "predict", tmp_path / "run", source / "dots" / "3.png")
    assert one.out.splitlines()[1].startswith("3.png,")


@pytest.mark.parametrize("kind", [".npy", ".pcd", ".off", ".obj", ".ply", ".stl"])
def test_shapes_in_folders_by_class(run, tmp_path, kind):
    write = write_clouds if kind in (".npy", ".pcd") else write_meshes
    source = write(tmp_path / "shapes", kind)
    (record,) = train(run, tmp_path, "shapes", source, "--epochs", "6", "--turns", "2")
    assert record["method"] == ("points" if kind in (".npy", ".pcd") else "cross")
    assert (record["n_train"], record["n_test"]) == (15, 5)
    done = run("sphere", "predict", tmp_path / "run", source, "--proba")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "file,predicted,flat,long"
    one = run("sphere", "predict", tmp_path / "run", source / "flat" / f"2{kind}")
    assert one.code == 0, one.err
    assert len(one.out.splitlines()) == 2


@pytest.mark.parametrize("forces", [False, True])
def test_molecules_with_a_table_of_targets(run, tmp_path, forces):
    source = write_molecules(tmp_path / "molecules", forces=forces)
    options = ("--epochs", "3", "--members", "2", *(("--forces",) if forces else ()))
    (record,) = train(run, tmp_path, "molecules", source, *options)
    assert (record["n_train"], record["n_validation"], record["n_test"]) == (14, 1, 5)
    assert (record["force_mae"] is None) == (not forces)
    told = tmp_path / "told.json"
    done = run("sphere", "predict", tmp_path / "run", source, "--json", told)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "file,energy,spread"
    assert len(done.out.splitlines()) == 21
    content = json.loads(told.read_text())
    assert ("forces" in content) == forces
    if forces:
        assert np.shape(content["forces"]) == (20, 2, 3)


def test_parts_of_a_folder_are_kept(run, tmp_path):
    source = tmp_path / "images"
    write_images(source / "train")
    write_images(source / "test")
    few = ("--preset", "compact", "--epochs", "1", "--test", "plain", "--validation", "0")
    (record,) = train(run, tmp_path, "digits", source, *few)
    assert (record["n_train"], record["n_test"]) == (20, 20)


def test_going_on_after_a_stop_gives_the_same_weights(run, tmp_path, monkeypatch):
    source = write_clouds(tmp_path / "shapes")
    whole = ("sphere", "train", "shapes", source, "--epochs", "4")
    assert run(*whole, "--out", tmp_path / "a").code == 0

    class Killed(BaseException):
        pass

    def draw(parts, *rest, **options):
        if rest[3] == 2:  # the third epoch
            raise Killed
        return draw_epoch(parts, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(_world, "draw_epoch", draw)
        with pytest.raises(Killed):
            run(*whole, "--out", tmp_path / "b")
    assert not (tmp_path / "b" / "network.pt").exists()
    assert run(*whole, "--out", tmp_path / "b").code == 0
    one, other = (torch.load(tmp_path / at / "network.pt", weights_only=True) for at in ("a", "b"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def bad_mesh(folder):
    write_meshes(folder, ".off")
    (folder / "flat" / "3.off").write_text("OFF\n1 1")


def few_points(folder):
    write_clouds(folder)
    np.save(folder / "flat" / "3.npy", np.ones((4, 3)))


def mixed(folder):
    write_clouds(folder)
    write_meshes(folder / "more", ".off")
    (folder / "more" / "flat" / "0.off").rename(folder / "flat" / "mesh.off")


def one_class(folder):
    write_clouds(folder)
    for path in (folder / "long").iterdir():
        path.unlink()


def no_files(folder):
    (folder / "class").mkdir(parents=True)


def bad_pcd(folder):
    write_clouds(folder, ".pcd")
    (folder / "flat" / "3.pcd").write_text("DATA ascii\n1 2\n")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (bad_mesh, "3.off: it cannot be read as a mesh"),
        (few_points, "3.npy has 4 points; at least 10 are needed"),
        (mixed, "give meshes alone, or points alone"),
        (one_class, "one class alone, 'flat'"),
        (no_files, "holds no files .off"),
        (bad_pcd, "3.pcd: its header and its points do not go together"),
    ],
)
def test_shapes_that_cannot_be_learned_are_refused(run, tmp_path, spoil, said):
    spoil(tmp_path / "shapes")
    done = run("sphere", "train", "shapes", tmp_path / "shapes", "--out", tmp_path / "run")
    assert done.code == 2
    assert said in " ".join(done.err.split())


def without_table(folder):
    (folder / "targets.csv").unlink()


def missing_file(folder):
    (folder / "frame03.xyz").unlink()


def missing_target(folder):
    (folder / "extra.xyz").write_text("2\n\nH 0 0 0\nH 0 0 1\n")


def no_number(folder):
    text = (folder / "targets.csv").read_text().splitlines()
    (folder / "targets.csv").write_text("\n".join([*text[:3], "frame02,much", *text[4:]]))


def twice(folder):
    with (folder / "targets.csv").open("a") as table:
        table.write("\nframe03,1.5\n")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_table, "needs one table of targets"),
        (missing_file, "the table names frame03.xyz, and there is no such file"),
        (missing_target, "extra.xyz has no target in the table"),
        (no_number, "line 4: 'much' is no number"),
        (twice, "frame03.xyz has a target already"),
    ],
)
def test_molecules_without_targets_are_refused(run, tmp_path, spoil, said):
    spoil(write_molecules(tmp_path / "molecules"))
    done = run("sphere", "train", "molecules", tmp_path / "molecules", "--out", tmp_path / "run")
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_forces_that_are_not_there_are_refused(run, tmp_path):
    source = write_molecules(tmp_path / "molecules")
    done = run("sphere", "train", "molecules", source, "--forces", "--out", tmp_path / "run")
    assert done.code == 2
    assert "has no forces" in done.err


@pytest.mark.parametrize(
    ("world", "source", "options", "said"),
    [
        ("digits", "planar", ("--projection", "equirectangular"), "twice as wide as high"),
        ("digits", "nowhere", (), "unknown data set"),
        ("shapes", "nowhere", (), "unknown data set"),
        ("digits", "text", (), "cannot be read as an image"),
        ("digits", "digits", ("--preset", "planar", "--normalisation", "both"), "networks on frag"),
    ],
)
def test_images_that_cannot_be_drawn_are_refused(run, tmp_path, world, source, options, said):
    write_images(tmp_path / "planar")
    write_images(tmp_path / "text")
    (tmp_path / "text" / "dots" / "0.png").write_text("no image")
    place = tmp_path / source if source in ("planar", "text") else source
    done = run("sphere", "train", world, place, *options, "--out", tmp_path / "run")
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_folder_without_a_world_is_asked_for_one(run, tmp_path):
    done = run("sphere", "train", write_clouds(tmp_path / "shapes"))
    assert done.code == 2
    assert "say of what" in done.err


def test_a_network_of_one_world_says_so_of_anothers_data(run, tmp_path):
    source = write_molecules(tmp_path / "molecules")
    train(run, tmp_path, "molecules", source, "--epochs", "1")
    images = write_images(tmp_path / "images")
    done = run("sphere", "predict", tmp_path / "run", images / "dots" / "1.png")
    assert done.code == 2
    assert "molecules are given as .xyz files" in done.err
