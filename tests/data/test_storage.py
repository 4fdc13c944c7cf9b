"""Where a stored file is looked for, and what is said when it is not there or not right."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.conftest import add_toy, toy_arrays

from vicinal.data import DataCorruptError, DataUnavailableError, load_dataset
from vicinal.data import _storage as storage
from vicinal.data._registry import PublicSource, RawFile, StoredFile, get_entry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("VICINAL_DATA", str(folder))
    return folder


def as_text(arrays: dict[str, np.ndarray]) -> bytes:
    table = np.column_stack([arrays["X"], arrays["y"]])
    return "\n".join(",".join(map(str, row)) for row in table).encode()


def from_text(files):
    table = np.loadtxt(files["toy.csv"], delimiter=",", dtype=np.int16)
    y = table[:, 5].astype(np.uint8)
    return {"X": table[:, :5], "y": y, "is_test": np.arange(len(table)) >= 2400}


def with_source(monkeypatch, url: str | None, sha256: str | None = None):
    source = PublicSource("http://127.0.0.1/page", (RawFile("toy.csv", url, sha256),), from_text)
    return add_toy(monkeypatch, source=source)


def test_the_users_folder_comes_first(toy, folder, loopback, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address)
    (folder / "toy.npz").write_bytes(toy.content)
    assert load_dataset("toy").X.shape == (3000, 5)
    assert loopback.asked == []


def test_then_the_cache(toy, folder, private_folders, loopback, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address)
    private_folders.mkdir()
    (private_folders / "toy.npz").write_bytes(toy.content)
    load_dataset("toy")
    assert loopback.asked == []


def test_then_the_mirror_and_the_cache_from_then_on(toy, private_folders, loopback, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address + "/")
    loopback.files["toy.npz"] = toy.content
    for _ in range(2):
        dataset = load_dataset("toy")
    np.testing.assert_array_equal(dataset.X, toy_arrays()["X"] / 10.0)
    assert len(loopback.asked) == 1
    assert (private_folders / "toy.npz").read_bytes() == toy.content


def test_a_wrong_file_in_the_users_folder_is_named_and_not_used(toy, folder):
    (folder / "toy.npz").write_bytes(toy.content[:-100])
    with pytest.raises(DataCorruptError) as refused:
        load_dataset("toy")
    said = str(refused.value)
    assert str(folder / "toy.npz") in said
    assert toy.sha256 in said
    assert f"{len(toy.content) - 100} instead of {len(toy.content)} bytes" in said
    assert "Replace it" in said


def test_a_wrong_file_in_the_cache_is_fetched_anew(toy, private_folders, loopback, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address)
    private_folders.mkdir()
    (private_folders / "toy.npz").write_bytes(b"damaged")
    loopback.files["toy.npz"] = toy.content
    assert load_dataset("toy").X.shape == (3000, 5)


def test_offline_the_error_names_the_file_the_folders_and_what_to_do(
    toy, folder, private_folders, monkeypatch
):
    monkeypatch.setenv("VICINAL_OFFLINE", "1")
    with pytest.raises(DataUnavailableError) as refused:
        load_dataset("toy")
    said = str(refused.value)
    assert "Put toy.npz into one of these folders" in said
    assert f"{folder} (VICINAL_DATA)" in said
    assert str(private_folders) in said


def test_the_error_says_when_the_users_folder_is_not_there(toy, tmp_path, monkeypatch):
    with pytest.raises(DataUnavailableError, match="VICINAL_DATA, which is not set"):
        load_dataset("toy")
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataUnavailableError, match=r"nowhere .*no such folder"):
        load_dataset("toy")


def test_the_error_tells_what_the_mirror_answered(toy, loopback, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address)
    with pytest.raises(DataUnavailableError, match="404"):
        load_dataset("toy")
    loopback.files["toy.npz"] = toy.content[:1000]
    with pytest.raises(DataUnavailableError, match="does not serve the registered file"):
        load_dataset("toy")


def test_an_unwritable_cache_is_explained(toy, loopback, tmp_path, monkeypatch):
    monkeypatch.setenv("VICINAL_MIRROR", loopback.address)
    loopback.files["toy.npz"] = toy.content
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "a-file" / "below"))
    with pytest.raises(DataUnavailableError, match=r"cannot write .*VICINAL_CACHE"):
        load_dataset("toy")


def test_a_public_source_is_fetched_checked_and_converted(loopback, private_folders, monkeypatch):
    text = as_text(toy_arrays())
    with_source(monkeypatch, loopback.url("toy.csv"), hashlib.sha256(text).hexdigest())
    loopback.files["toy.csv"] = text
    for _ in range(2):
        dataset = load_dataset("toy")
    np.testing.assert_array_equal(dataset.X, toy_arrays()["X"] / 10.0)
    assert dataset.y.max() == 2
    assert len(loopback.asked) == 1
    assert not (private_folders / "raw" / "toy.csv").exists()
    made = json.loads((private_folders / "toy.npz.json").read_text())
    assert made["made_from"] == {"toy.csv": hashlib.sha256(text).hexdigest()}


def test_a_converted_file_that_changed_is_made_again(loopback, private_folders, monkeypatch):
    with_source(monkeypatch, loopback.url("toy.csv"))
    loopback.files["toy.csv"] = as_text(toy_arrays())
    load_dataset("toy")
    (private_folders / "toy.npz").write_bytes(b"damaged")
    assert load_dataset("toy").X.shape == (3000, 5)
    assert len(loopback.asked) == 2


def test_a_sources_own_file_put_by_hand_is_used_without_a_network(folder, monkeypatch):
    monkeypatch.setenv("VICINAL_OFFLINE", "1")
    with_source(monkeypatch, None)
    (folder / "toy.csv").write_bytes(as_text(toy_arrays()))
    assert storage.find(get_entry("toy")).place == "raw files"
    assert load_dataset("toy").X.shape == (3000, 5)
    assert (folder / "toy.csv").exists()


def test_a_wrong_file_put_by_hand_is_refused(folder, monkeypatch):
    with_source(monkeypatch, None, "0" * 64)
    (folder / "toy.csv").write_bytes(as_text(toy_arrays()))
    with pytest.raises(DataCorruptError, match=r"toy.csv is not the file its source serves"):
        load_dataset("toy")


def shuffled_columns(arrays):
    return arrays | {"X": arrays["X"][:, [1, 0, 2, 3, 4]]}


def shifted_targets(arrays):
    return arrays | {"y": np.roll(arrays["y"], 1)}


def one_row_short(arrays):
    return {key: array[:-1] for key, array in arrays.items()}


def one_label_changed(arrays):
    y = arrays["y"].copy()
    y[0] = 3
    return arrays | {"y": y}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (shuffled_columns, "values of toy differ"),
        (shifted_targets, "values of toy differ"),
        (one_row_short, r"should have shape \(3000, 5\)"),
        (one_label_changed, "rows by class"),
    ],
)
def test_a_source_without_checksum_is_recognised_by_its_content(
    loopback, private_folders, monkeypatch, spoil, said
):
    with_source(monkeypatch, loopback.url("toy.csv"))
    loopback.files["toy.csv"] = as_text(spoil(toy_arrays()))
    with pytest.raises(DataCorruptError, match=said):
        load_dataset("toy")
    # What was fetched is dropped, so that a mended source is seen.
    loopback.files["toy.csv"] = as_text(toy_arrays())
    assert load_dataset("toy").X.shape == (3000, 5)


def test_a_truncated_source_without_checksum_is_refused(loopback, monkeypatch):
    with_source(monkeypatch, loopback.url("toy.csv"))
    loopback.files["toy.csv"] = as_text(toy_arrays())[:-9]
    with pytest.raises(DataCorruptError, match=r"cannot make sense of toy.csv"):
        load_dataset("toy")


def test_a_file_without_a_public_address_is_asked_for_by_name(monkeypatch):
    with_source(monkeypatch, None)
    with pytest.raises(DataUnavailableError, match=r"Put toy.npz, or toy.csv \(see http\S+page\)"):
        load_dataset("toy")


def test_a_file_with_an_address_is_asked_for_with_it(monkeypatch):
    monkeypatch.setenv("VICINAL_OFFLINE", "1")
    with_source(monkeypatch, "http://127.0.0.1/toy.csv")
    with pytest.raises(DataUnavailableError, match=r"or toy.csv from http://127\S+/toy.csv, into"):
        load_dataset("toy")
    with_source(monkeypatch, "openml:7")
    with pytest.raises(
        DataUnavailableError, match=r"toy.csv from https://www.openml.org/d/7, into"
    ):
        load_dataset("toy")


def test_openml_is_asked_for_address_and_checksum(loopback, monkeypatch):
    text = as_text(toy_arrays())
    monkeypatch.setattr(storage, "OPENML", loopback.url("json/data"))
    with_source(monkeypatch, "openml:7")
    described = {"url": loopback.url("7.csv"), "md5_checksum": hashlib.md5(text).hexdigest()}
    loopback.files["json/data/7"] = json.dumps({"data_set_description": described}).encode()
    loopback.files["7.csv"] = text
    assert load_dataset("toy").X.shape == (3000, 5)
    described["md5_checksum"] = "0" * 32
    loopback.files["json/data/7"] = json.dumps({"data_set_description": described}).encode()
    (storage.cache_folder() / "toy.npz").unlink()
    with pytest.raises(DataUnavailableError, match="does not serve the registered file"):
        load_dataset("toy")


def test_an_unreadable_answer_of_openml_is_no_traceback(loopback, monkeypatch):
    monkeypatch.setattr(storage, "OPENML", loopback.url("json/data"))
    with_source(monkeypatch, "openml:7")
    loopback.files["json/data/7"] = b"<html>"
    with pytest.raises(DataUnavailableError, match="description of data set 7 is unreadable"):
        load_dataset("toy")


def test_a_pickle_in_place_of_a_stored_file_is_never_run(folder, monkeypatch):
    class Boom:
        def __reduce__(self):
            return (pytest.fail, ("a loaded file ran code",))

    path = folder / "toy.npz"
    np.savez(path, X=np.array([Boom()], dtype=object))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    add_toy(monkeypatch, stored=StoredFile("toy.npz", digest, path.stat().st_size))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_dataset("toy")


def test_whereabouts_are_told_without_opening_anything(toy, folder, private_folders):
    entry = get_entry("toy")
    assert storage.find(entry).place == "absent"
    private_folders.mkdir()
    (private_folders / "toy.npz").write_bytes(b"12345")
    assert storage.find(entry) == storage.Whereabouts(
        "cache", private_folders / "toy.npz", 5, plausible=False
    )
    (folder / "toy.npz").write_bytes(toy.content)
    assert storage.find(entry) == storage.Whereabouts(
        "data folder", folder / "toy.npz", len(toy.content), plausible=True
    )
    assert storage.find(get_entry("digits")).place == "built in"
