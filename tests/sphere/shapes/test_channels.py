"""Meshes as functions on the sphere: where the answer is known, and under rotation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from vicinal.sphere import random_rotations
from vicinal.sphere.shapes import Caster, cast_rays, cross_spectra, make_mesh, shape_histograms
from vicinal.sphere.shapes._channels import sample_surface
from vicinal.sphere.shapes._meshes import Mesh, deform, random_stretches

BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], float)


def box(**given):
    return make_mesh(BOX, ConvexHull(BOX).simplices, **given)


def bumpy(seed=0, n=40):
    """Return a closed surface about its centre that is far from convex."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    faces = ConvexHull(points).simplices
    return make_mesh(points * rng.uniform(0.4, 1, (n, 1)), faces)


def test_a_box_has_the_distances_and_angles_of_its_walls():
    mesh, directions = box(), np.random.default_rng(0).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    channels = cast_rays(mesh, directions)
    size = np.linalg.norm([1, 2, 3])
    reach = np.array([1, 2, 3]) / size / np.abs(directions)
    wall = reach.argmin(axis=1)
    cosines = np.abs(directions)[np.arange(200), wall]
    assert_allclose(channels[0], reach.min(axis=1), rtol=1e-9)
    assert_allclose(channels[1], cosines, rtol=1e-9)
    assert_allclose(channels[2], np.sqrt(1 - cosines**2), rtol=1e-6)
    assert_allclose(channels[3:], channels[:3], rtol=1e-9)


def test_the_hull_lies_around_the_mesh():
    channels = cast_rays(bumpy(), Caster(8, 4).directions)
    assert (channels[3] >= channels[0] - 1e-12).all()
    assert (channels[3] > channels[0] + 0.05).any()


def test_turning_the_rays_is_turning_the_mesh():
    mesh, caster = bumpy(), Caster(8, 4)
    R = random_rotations(1, torch.Generator().manual_seed(0))
    turned = Mesh(mesh.vertices @ R[0].double().numpy().T, mesh.faces, mesh.hull)
    torch.testing.assert_close(caster.signals([mesh], R), caster.signals([turned]))


def test_spectra_hardly_change_under_rotation_and_tell_shapes_apart():
    caster, n = Caster(24, 8), 6
    meshes = [bumpy(0)] * n + [bumpy(1)]
    R = random_rotations(n + 1, torch.Generator().manual_seed(1))
    spectra = cross_spectra(caster.fragments(meshes, R))
    assert spectra.shape == (n + 1, 9 * 21)
    within = (spectra[1:n] - spectra[0]).norm(dim=1).max()
    between = (spectra[n] - spectra[0]).norm()
    assert within < 0.1 * between


def test_spectra_of_turned_coefficients_are_the_same():
    fragments = Caster(12, 6).fragments([bumpy(0), bumpy(1)])
    R = random_rotations(2, torch.Generator().manual_seed(0)).to(torch.float32)
    torch.testing.assert_close(
        cross_spectra(fragments.rotate(R)), cross_spectra(fragments), rtol=1e-4, atol=1e-5
    )


def test_points_are_spread_evenly_over_a_surface():
    mesh = box()
    points = sample_surface(mesh.vertices, mesh.faces, 60_000, np.random.default_rng(0))
    size = np.linalg.norm([1, 2, 3])
    on = [np.isclose(np.abs(points[:, i]), e / size) for i, e in enumerate((1, 2, 3))]
    areas = np.array([6, 3, 2]) / 11
    assert_allclose([side.mean() for side in on], areas, atol=0.01)
    histogram = shape_histograms([mesh], n_bins=20)[0]
    assert histogram.sum() == pytest.approx(1)


def test_stretches_keep_the_hull_and_the_radius():
    mesh = bumpy()
    (stretch,) = random_stretches(1, 0.3, np.random.default_rng(0))
    stretched = deform(mesh, stretch)
    assert np.linalg.norm(stretched.vertices, axis=1).max() == pytest.approx(1)
    expected = ConvexHull(stretched.vertices)
    mine = stretched.vertices[stretched.hull]
    volume = np.abs(np.linalg.det(mine)).sum() / 6
    assert volume == pytest.approx(expected.volume)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1.0, 1e12, 1e150])
def test_place_and_size_do_not_matter(factor):
    moved = make_mesh(BOX * factor + np.array([1.0, 2.0, 3.0]) * factor, box().faces)
    assert_allclose(moved.vertices, box().vertices, atol=1e-12)


def test_a_hole_lets_rays_through_but_not_through_the_hull():
    whole = bumpy()
    pierced = Mesh(whole.vertices, whole.faces[5:], whole.hull)
    directions = Caster(12, 4).directions
    before, after = cast_rays(whole, directions), cast_rays(pierced, directions)
    gone = after[0] == 0
    assert 0 < gone.sum() < len(gone) / 2
    assert_allclose(after[:3, gone], 0)
    assert_allclose(after[:3, ~gone], before[:3, ~gone])
    assert_allclose(after[3:], before[3:])


def test_embree_finds_what_the_kernel_finds():
    pytest.importorskip("embreex")
    directions = Caster(16, 4).directions
    for seed in range(3):
        whole = bumpy(seed, 200)
        pierced = Mesh(whole.vertices, whole.faces[9:], whole.hull)
        own, other = (cast_rays(pierced, directions, tracer) for tracer in ("numba", "embree"))
        same = np.isclose(own, other, atol=1e-9).all(axis=0)
        assert same.mean() > 0.995  # single precision may slip past an edge
        assert (own[0] == 0).sum() > 0


def test_tracers_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="there are numba, embree"):
        cast_rays(box(), np.eye(3), "luck")


def test_a_single_triangle_or_a_flat_sheet_has_no_hull():
    for vertices in (np.eye(3), np.eye(4, 3)[[0, 1, 2, 0]]):
        with pytest.raises(ValueError, match="flat"):
            make_mesh(vertices, np.array([[0, 1, 2]]))


FACES = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (np.eye(4, 3), np.zeros((0, 3), int), "no faces"),
        (np.full((4, 3), np.nan), FACES, "not finite"),
        (np.ones((4, 3)), FACES, "single point"),
        (np.arange(12.0).reshape(4, 3), FACES, "no area"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], FACES, "flat"),
        (np.eye(4, 3), [[0, 1, 4]], "4 vertices"),
        (np.eye(4, 3), [[0, 1, 2, 3]], "triangles"),
        (np.eye(4, 3), [[0.0, 1.0, 2.0]], "whole numbers"),
        (np.eye(4), FACES, r"\(v, 3\)"),
    ],
)
def test_what_is_no_mesh_is_refused_by_name(vertices, faces, words):
    with pytest.raises(ValueError, match=f"chair.*{words}"):
        make_mesh(vertices, faces, name="chair")
