"""Claims about trainings on QM7, predictions by them, and rivals."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.sphere.worlds.helpers import HELPERS

from vicinal.sphere.molecules import (
    Molecules,
    MoleculeSetting,
    MoleculeWorld,
    load_qm7,
    predict_molecules,
    read_source,
    run_rivals,
    split_fold,
)
from vicinal.sphere.molecules._composition import Composition
from vicinal.sphere.molecules._coulomb import (
    GaussianOrders,
    coulomb_matrices,
    orders_of,
    sorted_rows,
)
from vicinal.sphere.molecules._rivals import KERNELS, bag_of_bonds, coulomb_eigenvalues
from vicinal.sphere.worlds import find_networks, run_world

needs_qm7 = pytest.mark.skipif(
    not os.environ.get("VICINAL_DATA"), reason="VICINAL_DATA is not set: QM7 is not at hand"
)
QUICK = MoleculeSetting(n_epochs=2, n_train=96, n_validation=32)
FIRST = replace(QUICK, fold="0")
PAIR = Molecules(np.array([[[0, 0, 0], [0, 0, 2.0]]]), np.array([[6, 8]]))


def run(setting, folder, **options):
    return run_world(MoleculeWorld(), setting, folder, helpers=HELPERS, **options)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qm7")
    outcomes = [run(replace(QUICK, fold=str(fold)), folder) for fold in (0, 1)]
    return folder, outcomes


@needs_qm7
def test_folds_are_the_published_ones_and_parts_do_not_meet():
    source = read_source("qm7")
    training, held_out, testing = split_fold(source, 3, MoleculeSetting())
    assert np.array_equal(testing, source.folds[3])
    assert len(held_out) == 573
    every = np.concatenate([training, held_out, testing])
    assert np.array_equal(np.sort(every), np.arange(7165))


@needs_qm7
def test_a_training_has_errors_in_kcal_and_learns(trained):
    _, outcomes = trained
    for outcome in outcomes:
        (record,) = outcome.records
        assert len(outcome.page.energies) == len(outcome.page.predicted) == 1433
        assert 1 < record["mae"] < record["rmse"] < 60
        assert outcome.history[1].train_error < outcome.history[0].train_error
        assert record["error_mean"] == record["mae"]
        assert {"dataset", "method", "k", "fold", "fit_seconds", "version"} <= record.keys()


@needs_qm7
def test_a_stopped_training_goes_on_to_the_same_weights(trained, tmp_path):
    folder, _ = trained

    class Stop(Exception):
        pass

    def stop(step):
        if step.finished:
            raise Stop

    torch.manual_seed(7)
    with pytest.raises(Stop):
        run(FIRST, tmp_path, listener=stop)
    # The epoch that was told had not been kept yet; it is made again.
    run(FIRST, tmp_path)
    one, other = (
        torch.load(place / "network.pt", weights_only=True)
        for place in (folder / "fold-0", tmp_path / "fold-0")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)


@needs_qm7
def test_predictions_are_those_of_the_test_and_have_a_spread_over_folds(trained, tmp_path):
    folder, outcomes = trained
    networks = find_networks(folder)
    assert [of.name for of in networks] == ["fold-0", "fold-1"]
    data, folds = load_qm7()
    test = data.rows(folds[0][:200])
    alone = predict_molecules(networks[:1], test.molecules).energies
    both = predict_molecules(networks, test.molecules).energies
    np.testing.assert_allclose(both[0], alone[0], rtol=1e-6)
    expected = outcomes[0].page.predicted[:200]
    np.testing.assert_allclose(alone[0], expected, rtol=1e-4)
    (tmp_path / "pair.xyz").write_text("2\n\nC 0 0 0\nO 0 0 2\n")
    found = MoleculeWorld().predict(networks, str(tmp_path / "pair.xyz"))
    assert found.header == ("row", "energy", "spread")
    pair = predict_molecules(networks, PAIR).energies
    assert found.rows[0][1:] == pytest.approx((pair.mean(), pair.std(ddof=1)), abs=2e-3)


@needs_qm7
def test_a_network_that_does_not_fit_its_file_is_refused(trained, tmp_path):
    folder, _ = trained
    content = json.loads((folder / "fold-0" / "network.json").read_text())
    (tmp_path / "network.pt").write_bytes((folder / "fold-0" / "network.pt").read_bytes())
    content["facts"]["composition"] = [1.0]
    (tmp_path / "network.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="does not say how molecules are given to it"):
        predict_molecules([tmp_path], PAIR)
    with pytest.raises(ValueError, match="needs two or more"):
        predict_molecules(find_networks(folder), Molecules(np.zeros((1, 1, 3)), np.array([[6]])))


def test_a_composition_is_least_squares_on_numbers_of_atoms():
    rng = np.random.default_rng(0)
    charges = rng.choice([1, 6, 7, 8, 16], (50, 6))
    molecules = Molecules(np.zeros((50, 6, 3)), charges)
    weights = np.array([1.0, -2.0, 3.0, 0.5, 4.0])
    energies = molecules.counts() @ weights + 7
    found = Composition.fit(molecules, energies)
    np.testing.assert_allclose(found.predict(molecules), energies)


def test_coulomb_descriptions_of_a_pair_are_what_the_formulas_say():
    r = 2.0 / 0.529177210903
    matrix = np.array([[0.5 * 6**2.4, 48 / r], [48 / r, 0.5 * 8**2.4]])
    values = sorted(np.linalg.eigvalsh(matrix), key=abs, reverse=True)
    np.testing.assert_allclose(coulomb_eigenvalues(PAIR)[0], values)
    np.testing.assert_allclose(bag_of_bonds(PAIR)[0], [0.5 * 6**2.4, 0.5 * 8**2.4, 48 / r])


def test_bonds_of_elements_that_qm7_has_not_are_in_the_bags():
    salt = Molecules(np.array([[[0, 0, 0], [0, 0, 2.0]]]), np.array([[11, 17]]))
    np.testing.assert_allclose(
        bag_of_bonds(salt)[0], [0.5 * 11**2.4, 0.5 * 17**2.4, 11 * 17 / (2.0 / 0.529177210903)]
    )


@needs_qm7
def test_descriptions_do_not_depend_on_numbering(real_molecules):
    order = np.random.default_rng(0).permutation(real_molecules.charges.shape[1])
    moved = Molecules(real_molecules.positions[:, order], real_molecules.charges[:, order])
    for describe in (coulomb_eigenvalues, bag_of_bonds, lambda of: orders_of(of, False)[0]):
        np.testing.assert_allclose(describe(moved), describe(real_molecules), atol=1e-9)


@needs_qm7
def test_rivals_learn_more_from_bonds_than_from_eigenvalues():
    data, folds = load_qm7()
    eigenvalues, bonds = run_rivals(
        ["eigenvalues", "bag-of-bonds"], data, folds[1][:300], folds[0], 0, 0
    )
    assert eigenvalues.n_train == bonds.n_train == 300
    assert bonds.mae < eigenvalues.mae < 30


@needs_qm7
def test_perceptrons_learn_from_sorted_matrices():
    data, folds = load_qm7()
    (sorted_once,) = run_rivals(["mlp-sorted"], data, folds[1][:300], folds[0][:200], 0, 0)
    rest = data.energies[folds[0][:200]]
    assert sorted_once.mae < 30 < rest.std()


@needs_qm7
def test_rows_of_a_coulomb_matrix_are_sorted_by_their_lengths(real_molecules):
    matrices = coulomb_matrices(real_molecules)[:5]
    n = matrices.shape[1]
    for matrix, entries in zip(matrices, sorted_rows(matrices), strict=True):
        order = sorted(range(n), key=lambda i: (-np.linalg.norm(matrix[i]), i))
        expected = [matrix[order[i], order[j]] for i in range(n) for j in range(i, n)]
        np.testing.assert_allclose(entries, expected)


def test_a_kernel_over_orders_is_the_mean_over_their_pairs():
    orders = np.random.default_rng(0).normal(size=(2, 4, 3))
    kernel = GaussianOrders(orders).kernel(np.arange(2), np.arange(2, 4), 2.0)
    gaps = orders[:, None, :2, None] - orders[None, :, None, 2:]
    np.testing.assert_allclose(kernel, np.exp(-(gaps**2).sum(-1) / 8).mean((0, 1)))


@needs_qm7
def test_fchl19_is_a_kernel_that_no_rotation_changes(real_molecules):
    pytest.importorskip("qmllib")
    few = real_molecules.rows(slice(0, 6))
    turned = Molecules(few.positions[..., [1, 2, 0]], few.charges)  # a third of a turn
    plain, other = (KERNELS["fchl19"](of) for of in (few, turned))
    first, second = np.arange(2), np.arange(2, 6)
    kernel = plain.kernel(first, second, 4.0)
    assert kernel.shape == (2, 4)
    np.testing.assert_allclose(kernel, plain.kernel(second, first, 4.0).T)
    np.testing.assert_allclose(kernel, other.kernel(first, second, 4.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"preset": "none"}, "no preset 'none'; there are shells"),
        ({"n_train": 0}, "n_train=0 must be 2 or more"),
        ({"rivals": "luck"}, "no rival 'luck'; there are eigenvalues"),
        ({"preset": "thesis", "forces": True}, "does not learn forces; take forces"),
        ({"preset": "forces"}, "does not learn energies alone; take shells"),
    ],
)
def test_wrong_settings_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        MoleculeSetting(**wrong)
