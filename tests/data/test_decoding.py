"""Decoding: units, labels from 0, splits and groups, on arrays small enough to see."""

from __future__ import annotations

import numpy as np

from vicinal.data._decoding import (
    Stored,
    decode_covtype,
    decode_meshes,
    decode_qm7,
    decode_surf,
    decode_table,
    decode_target,
    group_by_time,
    number_groups,
    shell_areas,
    sort_by_row_norm,
)
from vicinal.data._fingerprint import fingerprint, same_fingerprint


def test_labels_start_at_zero_whatever_the_source_calls_them():
    stored: Stored = {"X": np.zeros((3, 2)), "y": np.array([1, 5, 2], dtype=np.uint8)}
    assert decode_table(stored, first_label=1).y.tolist() == [0, 4, 1]


def test_training_and_test_files_are_joined_with_the_split_remembered():
    stored = {
        "X_train": np.arange(24, dtype=np.uint8).reshape(3, 2, 4),
        "y_train": np.array([0, 1, 0], dtype=np.uint8),
        "X_test": np.ones((2, 2, 4), dtype=np.uint8),
        "y_test": np.array([1, 1], dtype=np.uint8),
    }
    decoded = decode_table(stored)
    assert decoded.X.shape == (5, 8)
    assert decoded.X[1].tolist() == list(range(8, 16))
    assert decoded.is_test is not None
    assert decoded.is_test.tolist() == [False, False, False, True, True]


def test_the_first_rows_train_where_only_their_number_is_stored():
    stored = {"X": np.zeros((4, 1)), "y": np.zeros(4), "n_train": np.array(3)}
    decoded = decode_table(stored, first_label=None)
    assert decoded.is_test is not None
    assert decoded.is_test.tolist() == [False, False, False, True]


def test_groups_are_numbered_in_order_of_appearance():
    assert number_groups(np.array([7, 7, 2, 9, 2])).tolist() == [0, 0, 1, 2, 1]


def test_a_target_keeps_only_the_rows_where_it_is_known():
    y = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 6.0]])
    stored = {"X": np.arange(3.0)[:, None], "y": y, "feature_names": np.array(["q"])}
    decoded = decode_target(stored, target=1)
    assert decoded.y.tolist() == [5.0, 6.0]
    assert decoded.X.ravel().tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(decoded.row_extras["targets"], y[1:])


def test_interleaved_parts_share_their_blocks_of_time():
    # Eight training rows and four test rows of one recording, cut into two halves.
    stored = {"y": np.zeros((12, 1)), "n_train": np.array(8)}
    assert group_by_time(stored, n_blocks=2).tolist() == [0] * 4 + [1] * 4 + [0] * 2 + [1] * 2


def test_one_hot_columns_of_covtype_are_set_out():
    stored: Stored = {
        "X": np.full((2, 10), 7, dtype=np.int16),
        "wilderness": np.array([1, 4], dtype=np.uint8),
        "soil": np.array([40, 2], dtype=np.uint8),
        "y": np.array([1, 7], dtype=np.uint8),
    }
    decoded = decode_covtype(stored)
    assert decoded.X.shape == (2, 54)
    assert np.flatnonzero(decoded.X[0, 10:]).tolist() == [0, 4 + 39]
    assert np.flatnonzero(decoded.X[1, 10:]).tolist() == [3, 4 + 1]
    assert decoded.y.tolist() == [0, 6]


def test_a_domain_is_taken_by_name_and_all_domains_make_groups():
    stored = {
        "X": np.arange(4, dtype=np.uint8)[:, None],
        "y": np.zeros(4, dtype=np.uint8),
        "domain": np.array([0, 1, 1, 0], dtype=np.uint8),
        "domain_names": np.array(["amazon", "dslr"]),
    }
    assert decode_surf(stored, domain="dslr").X.ravel().tolist() == [1, 2]
    groups = decode_surf(stored).groups
    assert groups is not None
    assert groups.tolist() == [0, 1, 1, 0]


def molecule(order: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(4, 4)) * [9, 5, 3, 1]
    matrix = (matrix + matrix.T).astype(np.float32)[np.ix_(order, order)]
    return {
        "R": np.zeros((1, 4, 3)),
        "Z": np.ones((1, 4)),
        "T": np.array([-5.0]),
        "P": np.array([[0]]),
        "X": matrix[None],
    }


def test_a_molecules_features_do_not_depend_on_the_numbering_of_its_atoms():
    first = decode_qm7(molecule(np.arange(4)))
    second = decode_qm7(molecule(np.array([2, 0, 3, 1])))
    assert first.X.shape == (1, 10)
    np.testing.assert_allclose(first.X, second.X)


def test_sorted_matrices_have_falling_row_norms():
    matrices = np.random.default_rng(0).normal(size=(5, 6, 6))
    matrices = matrices + matrices.transpose(0, 2, 1)
    norms = np.linalg.norm(sort_by_row_norm(matrices), axis=2)
    assert (np.diff(norms, axis=1) <= 1e-12).all()


def test_shells_hold_the_shares_of_area_and_ignore_rotation():
    # A mesh of two triangles, the second four times the first and farther out.
    V = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.8, 0, 0], [1, 0, 0], [0.8, 0.2, 0]])
    F = np.array([[0, 1, 2], [3, 4, 5]], dtype=np.uint16)
    v_off, f_off = np.array([0, 6]), np.array([0, 2])
    areas = shell_areas(V, F, v_off, f_off, n_shells=10)
    assert np.flatnonzero(areas[0]).tolist() == [0, 8]
    np.testing.assert_allclose(areas[0][[0, 8]], [0.2, 0.8], rtol=1e-5)
    turned = V[:, [1, 2, 0]] * [1, -1, 1]
    np.testing.assert_allclose(shell_areas(turned, F, v_off, f_off, n_shells=10), areas)


def test_faces_count_vertices_within_their_own_mesh():
    triangle = np.array([[0.0, 0, 0], [0.3, 0, 0], [0, 0.3, 0]])
    stored = {
        "V": np.concatenate([triangle, triangle + np.array([0.6, 0, 0])]),
        "F": np.array([[0, 1, 2], [0, 1, 2]], dtype=np.uint16),
        "v_off": np.array([0, 3, 6]),
        "f_off": np.array([0, 1, 2]),
        "label": np.array([1, 0], dtype=np.uint8),
        **{key: np.zeros(2) for key in ("name", "nf_orig", "area_ratio", "method")},
    }
    decoded = decode_meshes(stored)
    assert decoded.X.argmax(axis=1).tolist() == [int(0.1 * 2**0.5 * 64), int(0.7071 * 64)]


def test_a_fingerprint_bears_rounding_but_not_change():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 6)) * 100, rng.normal(size=500)
    is_test = np.arange(500) % 4 == 0
    known = fingerprint(X, y, is_test)
    assert same_fingerprint(fingerprint(X.astype(np.float32), y.astype(np.float32), is_test), known)
    order = rng.permutation(500)
    assert same_fingerprint(fingerprint(X[order], y[order], is_test[order]), known)
    assert not same_fingerprint(fingerprint(X[:, ::-1], y, is_test), known)
    assert not same_fingerprint(fingerprint(X, np.roll(y, 1), is_test), known)
    assert not same_fingerprint(fingerprint(X, y, ~is_test), known)
    assert not same_fingerprint(fingerprint(X, 2 * y, is_test), known)
