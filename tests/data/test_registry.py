"""The registry: complete, consistent, and true of the real files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from tests.data.dataset_table import PAGE, page_with_table

from vicinal.data import PROTOCOLS, list_datasets, table_suffix
from vicinal.data._fingerprint import fingerprint, same_fingerprint
from vicinal.data._registry import ALIASES, DatasetEntry, get_entry, registry

BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "references.bib"

entries = pytest.mark.parametrize("entry", registry().values(), ids=lambda entry: entry.name)


def test_no_set_is_called_like_a_file():
    names = [*registry(), *ALIASES]
    assert [name for name in names if table_suffix(Path(name)) or len(Path(name).parts) > 1] == []


def test_all_sets_are_known_by_name():
    expected = {"digits", "wine", "breast_cancer", "diabetes", "qm7", "shapedb69", "shrec2012"}
    expected |= {"waveform"}
    expected |= {"mnist", "letter", "usps", "isolet", "covtype", "magic", "page_blocks"}
    expected |= {"shuttle", "musk2", "ijcnn1", "codrna", "amazon", "caltech10", "dslr", "webcam"}
    expected |= {f"kin8{a}{b}" for a in "fn" for b in "mh"} | {"kin32fh", "kin32nh"}
    expected |= {f"puma8{a}{b}" for a in "fn" for b in "mh"} | {"puma32nm"}
    expected |= {"kin32fm_fann4096", "puma32fm_fann1024", "ailerons", "delta_ailerons"}
    expected |= {"pol_telecomm", "concrete", "boston_housing", "wine_red", "wine_white"}
    expected |= {"modelnet10", "rmd17"}
    expected |= {"parkinsons_motor", "parkinsons_total", "office_caltech_surf"}
    stems = ("sarcos_gpml", "sarcos_ias", "barrett")
    expected |= {f"{stem}_{joint}" for stem in stems for joint in range(1, 8)}
    assert set(list_datasets()) == expected
    assert list_datasets() == sorted(expected)


def test_every_stored_file_can_be_asked_for_by_its_own_name():
    stored = {entry.stored.name for entry in registry().values() if entry.stored}
    for file in stored:
        found = get_entry(file.removesuffix(".npz")).stored
        assert found is not None
        assert found.name == file


def test_an_alias_is_no_entry_of_its_own():
    assert not set(ALIASES) & set(registry())


@pytest.mark.parametrize(
    ("asked", "nearest"), [("letters", "letter"), ("MNIST", "mnist"), ("sarcos", "sarcos_ias")]
)
def test_an_unknown_name_is_answered_with_the_nearest(asked, nearest):
    with pytest.raises(ValueError, match=rf"unknown data set '{asked}'.*{nearest}"):
        get_entry(asked)


def test_nonsense_is_answered_with_where_to_look():
    with pytest.raises(ValueError, match=r"unknown data set 'zzzzzz'. `vicinal datasets` lists"):
        get_entry("zzzzzz")
    with pytest.raises(ValueError, match="must be a string"):
        get_entry(7)  # type: ignore[arg-type]


@entries
def test_an_entry_is_complete(entry: DatasetEntry):
    assert re.fullmatch(r"[a-z0-9_]+", entry.name)
    assert entry.title
    assert entry.licence
    assert entry.source.page.startswith(("http://", "https://"))
    assert entry.protocol in PROTOCOLS
    assert entry.source.files or entry.source.note, "say why it cannot be fetched"
    assert bool(entry.source.files) == (entry.source.read is not None)
    for file in entry.source.files:
        assert file.url is None or re.match(r"https?://.+/|openml:\d+$", file.url)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)


@entries
def test_an_entrys_numbers_agree_with_each_other(entry: DatasetEntry):
    known = entry.measured
    assert len(entry.classes) == len(known.class_counts)
    assert bool(known.class_counts) == (entry.task == "classification")
    assert sum(known.class_counts) in (0, known.shape[0])
    assert len(entry.feature_names) in (0, known.shape[1])
    assert bool(entry.groups) == bool(known.n_groups)
    assert entry.protocol != "official" or known.n_test
    assert entry.protocol != "grouped" or known.n_groups
    if entry.image_shape:
        assert np.prod(entry.image_shape) == known.shape[1]


def test_protocols_are_the_customary_ones():
    official = {e.name for e in registry().values() if e.protocol == "official"}
    assert {"mnist", "usps", "isolet", "shuttle", "ijcnn1", "covtype"} <= official
    assert get_entry("letter").protocol == "kfold"
    assert get_entry("letter").measured.n_test == 4000
    assert get_entry("parkinsons").protocol == "grouped"


@entries
def test_every_citation_is_in_the_bibliography(entry: DatasetEntry):
    assert f"{{{entry.citation}," in BIBLIOGRAPHY.read_text(encoding="utf-8")


def test_the_page_of_data_sets_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_table(page)
    assert "`letter`" in page


@entries
def test_the_stored_file_holds_what_the_registry_says(real_data, entry: DatasetEntry):
    arrays: dict[str, np.ndarray] = {}
    if entry.stored is not None:
        path = real_data / entry.stored.name
        content = path.read_bytes()
        assert len(content) == entry.stored.n_bytes
        assert hashlib.sha256(content).hexdigest() == entry.stored.sha256
        with np.load(path) as archive:
            arrays = {key: archive[key] for key in archive.files}
    decoded, known = entry.decode(arrays), entry.measured
    X = decoded.X if decoded.divisor == 1 else decoded.X / decoded.divisor
    assert X.shape == known.shape
    assert np.isfinite(X).all()
    assert np.isfinite(decoded.y).all()
    if known.class_counts:
        assert tuple(np.bincount(decoded.y)) == known.class_counts
    assert (0 if decoded.is_test is None else decoded.is_test.sum()) == known.n_test
    n_groups = 0 if decoded.groups is None else len(np.unique(decoded.groups))
    assert n_groups == known.n_groups
    assert same_fingerprint(fingerprint(X, decoded.y, decoded.is_test), known.fingerprint)
