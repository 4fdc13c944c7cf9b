"""Clouds of points: what shells see of them turns with them, exactly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vicinal.sphere import random_rotations, spherical_harmonics
from vicinal.sphere.shapes import PointShells, _clouds, make_cloud, picture_cloud, read_shape
from vicinal.sphere.shapes._files import read_pcd


@pytest.fixture
def clouds():
    rng = np.random.default_rng(0)
    return [make_cloud(rng.normal(size=(50, 3)) * [1, 2, 3] + 100) for _ in range(4)]


def test_a_turned_cloud_has_the_turned_coefficients(clouds):
    shells = PointShells(l_max=6, n_shells=5)
    R = random_rotations(4, torch.Generator().manual_seed(0))
    turned, after = shells.fragments(clouds, R), shells.fragments(clouds).rotate(R)
    torch.testing.assert_close(turned.packed, after.packed, rtol=0, atol=2e-6)


def test_coefficients_are_means_of_harmonics_by_shell(clouds):
    shells = PointShells(l_max=3, n_shells=4)
    points = torch.from_numpy(clouds[0].points)
    radii = points.norm(dim=1)
    theta, phi = torch.acos(points[:, 2] / radii), torch.atan2(points[:, 1], points[:, 0])
    waves = spherical_harmonics(3, theta, phi).conj()
    weights = torch.exp(-0.5 * ((radii - 2.5 / 4) * 4) ** 2)
    expected = (waves * weights[:, None]).mean(0)
    fragments = shells.fragments(clouds[:1])
    for l in range(4):
        part = fragments[l][0, :, 2].to(torch.complex128)
        torch.testing.assert_close(part, expected[l * l : (l + 1) ** 2], rtol=0, atol=1e-6)


def test_clouds_of_other_sizes_are_read_as_each_alone(monkeypatch):
    rng = np.random.default_rng(0)
    clouds = [make_cloud(rng.normal(size=(n, 3))) for n in (20, 20, 20, 31, 31, 20)]
    shells, R = PointShells(3, 4), random_rotations(6, torch.Generator().manual_seed(0))
    alone = [shells.fragments([of], R[row : row + 1]).packed for row, of in enumerate(clouds)]
    for block in (10, 45, 10_000):
        monkeypatch.setattr(_clouds, "BLOCK", block)
        together = shells.fragments(clouds, R).packed
        torch.testing.assert_close(together, torch.cat(alone, 1), rtol=0, atol=1e-6)


def test_place_and_size_of_a_cloud_are_taken_out():
    points = np.random.default_rng(0).normal(size=(30, 3))
    one, other = make_cloud(points), make_cloud(1e3 * points + 1e4)
    np.testing.assert_allclose(one.points, other.points, atol=1e-9)
    np.testing.assert_allclose(one.points.mean(0), 0, atol=1e-12)
    assert np.linalg.norm(one.points, axis=1).max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (np.ones((9, 3)), "9 points; at least 10"),
        (np.ones((20, 2)), r"the shape \(n, 3\)"),
        (np.full((20, 3), np.nan), "not finite"),
        (np.ones((20, 3)), "single point"),
    ],
)
def test_what_is_no_cloud_is_refused(points, said):
    with pytest.raises(ValueError, match=said):
        make_cloud(points)


def test_binary_and_text_clouds_are_read_alike(tmp_path):
    points = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    head = "VERSION .7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nPOINTS 12\n"
    rows = np.zeros(12, dtype=[("p", "<f4", 3), ("rgb", "<u4")])
    rows["p"] = points
    binary = head.encode() + b"DATA binary\n" + rows.tobytes()
    text = head + "DATA ascii\n" + "\n".join(f"{x} {y} {z} 7" for x, y, z in points)
    np.testing.assert_allclose(read_pcd(binary), points)
    np.testing.assert_allclose(read_pcd(text.encode()), points, rtol=1e-6)
    with pytest.raises(ValueError, match="save ascii or binary"):
        read_pcd(head.encode() + b"DATA binary_compressed\nxx")
    with pytest.raises(ValueError, match=r"do not go together|announced"):
        read_pcd(text.encode()[:-60])


def test_other_files_are_refused_by_name(tmp_path):
    (tmp_path / "shape.txt").write_text("1 2 3")
    with pytest.raises(ValueError, match=r"shape.txt: shapes are files \.off"):
        read_shape(tmp_path / "shape.txt")


def test_a_picture_of_a_cloud_has_its_points(clouds):
    pixels = picture_cloud(clouds[0], 48)
    assert pixels.shape == (48, 48, 2)
    assert 20 <= int((pixels[..., 1] > 0).sum()) <= 50
