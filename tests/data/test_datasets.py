"""load_dataset: what a user gets."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data.conftest import toy_arrays

import vicinal
from vicinal.data import load_dataset, make_folds


@pytest.fixture
def stored_toy(toy, private_folders):
    private_folders.mkdir()
    (private_folders / "toy.npz").write_bytes(toy.content)


def test_a_set_unpacks_to_features_and_targets(stored_toy):
    X, y = vicinal.load_dataset("toy")
    np.testing.assert_array_equal(X, toy_arrays()["X"] / 10.0)
    assert y.tolist() == (toy_arrays()["y"].astype(int) - 1).tolist()


def test_a_side_of_the_official_split_is_those_rows(stored_toy):
    whole = load_dataset("toy")
    assert whole.is_test is not None
    for split, rows in (("train", ~whole.is_test), ("test", whole.is_test)):
        part = load_dataset("toy", split=split)
        np.testing.assert_array_equal(part.X, whole.X[rows])
        np.testing.assert_array_equal(part.y, whole.y[rows])
        assert part.is_test is None
        assert len(make_folds(part)) == 5  # the default protocol still works on one side


def test_an_unknown_side_is_refused(stored_toy):
    with pytest.raises(ValueError, match="'train', 'test' or None, got 'validation'"):
        load_dataset("toy", split="validation")


def test_a_set_without_an_official_split_says_so():
    with pytest.raises(ValueError, match="digits has no official split"):
        load_dataset("digits", split="train")


def test_features_without_names_are_numbered(stored_toy):
    assert load_dataset("toy").feature_names == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer", "diabetes"])
def test_what_ships_with_scikit_learn_is_always_there(name, monkeypatch):
    monkeypatch.setenv("VICINAL_OFFLINE", "1")
    dataset = load_dataset(name)
    assert dataset.X.dtype == np.float64
    assert len(dataset.feature_names) == dataset.X.shape[1]
    assert len(make_folds(dataset)) == 5


def test_diabetes_is_in_its_own_units():
    age = load_dataset("diabetes").X[:, 0]
    assert age.min() >= 18
    assert age.max() < 100


def test_digits_can_be_shown_as_images():
    digits = load_dataset("digits")
    assert digits.image_shape == (8, 8)
    assert digits.classes == tuple("0123456789")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("usps", -1, 1), ("isolet", -1, 1), ("letter", 0, 15), ("mnist", 0, 255)],
)
def test_values_are_back_in_their_published_range(real_data, name, low, high):
    X = load_dataset(name, split="test").X
    assert X.min() == low
    assert X.max() == high
    assert X.dtype == (np.float32 if name == "mnist" else np.float64)


def test_covtype_has_one_area_and_one_soil_a_row(real_data):
    dataset = load_dataset("covtype", split="train")
    assert dataset.X.shape == (15_120, 54)
    assert (dataset.X[:, 10:14].sum(axis=1) == 1).all()
    assert (dataset.X[:, 14:].sum(axis=1) == 1).all()
    assert np.bincount(dataset.y).tolist() == [2160] * 7


def test_a_file_of_several_targets_gives_the_first_by_its_own_name(real_data):
    first, total = load_dataset("parkinsons"), load_dataset("parkinsons_total")
    assert first.name == "parkinsons_motor"
    np.testing.assert_array_equal(first.extras["targets"][:, 0], first.y)
    np.testing.assert_array_equal(first.extras["targets"][:, 1], total.y)


def test_subjects_stay_on_one_side(real_data):
    dataset = load_dataset("parkinsons_motor")
    assert dataset.groups is not None
    for fold in make_folds(dataset):
        assert not set(dataset.groups[fold.train]) & set(dataset.groups[fold.test])


@pytest.mark.parametrize("name", ["sarcos_ias_1", "barrett_1"])
def test_blocks_of_time_part_what_the_sources_split_does_not(real_data, name):
    """The nearest training row of a test row: recorded next to it, unless time is cut in blocks."""
    from sklearn.neighbors import KNeighborsRegressor

    dataset = load_dataset(name)
    X = (dataset.X - dataset.X.mean(axis=0)) / dataset.X.std(axis=0)

    def error(fold):
        test = fold.test[::10]
        model = KNeighborsRegressor(3).fit(X[fold.train], dataset.y[fold.train])
        return np.mean((model.predict(X[test]) - dataset.y[test]) ** 2) / dataset.y.var()

    official = error(make_folds(dataset, "official")[0])
    grouped = np.mean([error(fold) for fold in make_folds(dataset, n_folds=3)])
    assert grouped > 2 * official


def test_digits_lie_up_to_a_pixel_right_of_and_below_the_middle(real_data):
    images = load_dataset("mnist").X[:5000].reshape(-1, 28, 28)
    from_the_middle = np.arange(28) - 13.5
    weight = images.sum((1, 2))
    below = images.sum(2) @ from_the_middle / weight
    right = images.sum(1) @ from_the_middle / weight
    for offset in (below, right):
        np.testing.assert_allclose(np.percentile(offset, [5, 50, 95]), [0.05, 0.5, 0.95], atol=0.04)


def test_molecules_keep_their_atoms_and_published_folds(real_data):
    dataset = load_dataset("qm7")
    assert dataset.X.shape == (7165, 276)
    assert dataset.extras["R"].shape == (7165, 23, 3)
    assert sorted(dataset.extras["folds"].ravel()) == list(range(7165))


def test_the_four_domains_make_up_the_whole(real_data):
    whole = load_dataset("office_caltech_surf")
    parts = [load_dataset(name) for name in ("amazon", "caltech10", "dslr", "webcam")]
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), whole.X)
    assert [len(part.y) for part in parts] == [958, 1123, 157, 295]
