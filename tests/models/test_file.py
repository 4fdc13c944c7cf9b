"""Model files: exact, whole or absent, and never a way to run code."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import textwrap
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
)

from vicinal import __version__
from vicinal.combine import AutoMetric, MeanMetric
from vicinal.data import Imputer, Preparation, TableEncoder
from vicinal.index import BinaryIndex
from vicinal.methods import list_methods, make_learner
from vicinal.models._file import load_model, read_metadata, save_model
from vicinal.models._values import decode, encode
from vicinal.predict import KNNClassifier, KNNRegressor, RadiusClassifier, RadiusRegressor
from vicinal.rivals import LDA


def _points(seed: int = 0, n: int = 90) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return random.normal(size=(n, 5)) + y[:, None], y


@pytest.fixture(scope="module")
def model() -> Pipeline:
    X, y = _points()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(colour=np.array(["red", "blue"])[y % 2])
    frame.loc[3, "a"] = np.nan
    steps = [TableEncoder(keep_missing=True), Imputer(), Preparation(n_components=4)]
    predictor = KNNClassifier(3, metric=LDA())
    return make_pipeline(*steps, predictor).fit(frame, np.array(["low", "mid", "high"])[y])


@pytest.fixture
def saved(model, tmp_path) -> Path:
    path = tmp_path / "m.vicinal"
    save_model(model, path, target="y", k=3)
    return path


def _queries() -> pd.DataFrame:
    X, _ = _points(seed=1, n=40)
    return pd.DataFrame(X, columns=list("abcde")).assign(colour="red")


def _rewrite(path: Path, change: Any, *, signed: bool = True) -> Path:
    """Rewrite a model file with its structure and members changed, digests as well if signed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    digest, structure = members.pop("model.sha256"), json.loads(members.pop("model.json"))
    structure = change(structure, members) or structure
    if signed and isinstance(structure, dict):
        arrays = [members[f"{i}.npy"] for i in range(len(structure.get("digests", [])))]
        structure["digests"] = [hashlib.sha256(data).hexdigest() for data in arrays]
        digest = hashlib.sha256(json.dumps(structure).encode()).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("model.json", json.dumps(structure))
        archive.writestr("model.sha256", digest)
    return path


# Exact ----------------------------------------------------------------------------------------


def test_a_loaded_pipeline_predicts_the_same_to_the_last_bit(model, saved):
    loaded = load_model(saved)
    queries = _queries()
    np.testing.assert_array_equal(loaded.predict(queries), model.predict(queries))
    before = model[-1].kneighbors(model[:-1].transform(queries))
    after = loaded[-1].kneighbors(loaded[:-1].transform(queries))
    for mine, theirs in zip(before, after, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert loaded[0].feature_names_ == model[0].feature_names_
    assert loaded[-1].classes_.tolist() == ["high", "low", "mid"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("task", "name"),
    [
        (task, m.name)
        for task in ("classification", "regression")
        for m in list_methods(task)
        if not m.reference
    ],
)
def test_every_known_method_survives_the_round_trip_bit_for_bit(tmp_path, task, name, dtype):
    method = next(m for m in list_methods(task) if m.name == name)
    X, y = _points()
    X = X.astype(dtype)
    kind = KNNClassifier if task == "classification" else KNNRegressor
    target = y if task == "classification" else X[:, 0].astype(float)
    fitted = kind(3, metric=make_learner(method, task, k=3)).fit(X, target)
    save_model(fitted, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    queries = _points(seed=1)[0].astype(dtype)
    for mine, theirs in zip(fitted.kneighbors(queries), loaded.kneighbors(queries), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert fitted.predict(queries).tobytes() == loaded.predict(queries).tobytes()
    assert loaded.get_params(deep=False).keys() == fitted.get_params(deep=False).keys()


def test_a_frozen_metric_and_a_learner_alone_can_be_saved(tmp_path):
    X, y = _points()
    metric = LDA().fit(X, y)
    model = KNNClassifier(3, metric=FrozenEstimator(metric)).fit(X, y)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), model.predict(X))
    save_model(metric, tmp_path / "metric")
    np.testing.assert_array_equal(load_model(tmp_path / "metric").components_, metric.components_)


@pytest.mark.parametrize("index", ["exact", "faiss"])
@pytest.mark.parametrize("kind", [RadiusClassifier, RadiusRegressor])
def test_radius_predictors_and_other_indexes_survive_the_round_trip(tmp_path, kind, index):
    if index == "faiss":
        pytest.importorskip("faiss", reason="needs the extra faiss")
    X, y = _points()
    model = kind(radius=1.0, metric=LDA() if kind is RadiusClassifier else None, index=index)
    model.fit(X, y)
    save_model(model, tmp_path / "m")
    queries = np.vstack([_points(seed=1)[0], np.full((1, 5), 1e3)])  # the last has no neighbours
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = model.predict(queries), load_model(tmp_path / "m").predict(queries)
    assert before.tobytes() == after.tobytes()


def test_weights_survive_the_round_trip_and_requests_for_them_do_not_hinder_it(tmp_path):
    X, y = _points()
    weights = np.arange(90.0) % 4
    with config_context(enable_metadata_routing=True):
        model = KNNClassifier(4, class_weight={0: 2.0}).set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=weights)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert (loaded.kneighbors(X)[1] == model.kneighbors(X)[1]).all()


def test_a_file_of_before_a_parameter_was_there_has_its_default(saved):
    def older(structure: Any, members: Any) -> None:
        predictor = structure["model"]["state"]["steps"][-1]["tuple"][1]
        for name in ("class_weight", "_rows", "_weights"):
            del predictor["state"][name]

    loaded = load_model(_rewrite(saved, older))
    assert loaded[-1].class_weight is None
    assert "KNNClassifier" in repr(loaded)
    assert len(loaded.predict(_queries())) == len(_queries())


def test_a_file_that_names_a_type_by_its_former_place_is_read(model, saved):
    def older(structure: Any, members: Any) -> None:
        metric = structure["model"]["state"]["steps"][-1]["tuple"][1]["state"]["metric_"]
        assert metric["type"] == "vicinal.rivals:LDA"
        metric["type"] = "vicinal.baselines:LDA"

    loaded = load_model(_rewrite(saved, older))
    assert (loaded.predict(_queries()) == model.predict(_queries())).all()


@pytest.mark.parametrize(
    "metric",
    [
        MeanMetric(LDA(), n_parts=2, random_state=0),
        AutoMetric([LDA(), LDA(1)], n_neighbors=3, random_state=0),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_metrics_made_of_several_survive_the_round_trip(metric, tmp_path):
    X, y = _points()
    model = KNNClassifier(3, metric=metric).fit(X, y)
    save_model(model, tmp_path / "m")
    assert (load_model(tmp_path / "m").predict_proba(X) == model.predict_proba(X)).all()


FRAME = pd.DataFrame(
    {
        "age": [31.0, np.nan, 47.0, 22.0, 58.0, 39.0] * 4,
        "size": [1, 2, 3, 2, 1, 3] * 4,
        "town": ["Ulm", "Jena", None, "Jena", "Ulm", "Kiel"] * 4,
        "grade": pd.Categorical(["low", "high", "low", "mid", "mid", "high"] * 4),
    }
)
_numbers = make_pipeline(SimpleImputer(add_indicator=True), RobustScaler())
_words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="if_binary"))


@pytest.mark.parametrize(
    "columns",
    [
        make_column_transformer(
            (_numbers, ["age"]), (_words, ["town"]), (OrdinalEncoder(), ["grade"]),
            remainder="passthrough",
        ),
        make_column_transformer(
            (_numbers, make_column_selector(dtype_include=np.number)),
            (OneHotEncoder(min_frequency=0.3, handle_unknown="ignore"), slice(2, 4)),
        ),
        make_column_transformer(
            (KNNImputer(), make_column_selector("age|size")), ("drop", ["town"]),
            (OneHotEncoder(sparse_output=False, dtype=np.float32), [False, False, False, True]),
        ),
    ],
)  # fmt: skip
def test_columns_prepared_by_scikit_learn_survive_the_round_trip(columns, tmp_path):
    y = np.arange(24) % 2
    model = make_pipeline(columns, KNNClassifier(3)).fit(FRAME, y)
    save_model(model, tmp_path / "columns.vicinal")
    again = load_model(tmp_path / "columns.vicinal")
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    save_model(columns.fit(FRAME), tmp_path / "alone.vicinal")
    mapped = load_model(tmp_path / "alone.vicinal").transform(FRAME)
    assert np.array_equal(mapped, columns.transform(FRAME))


def test_a_column_transformer_with_a_function_is_refused(tmp_path):
    model = make_column_transformer((FunctionTransformer(np.log1p), ["size"])).fit(FRAME)
    with pytest.raises(ValueError, match="func is a function, which cannot be stored"):
        save_model(model, tmp_path / "function.vicinal")


def test_a_file_that_gives_a_passthrough_a_function_is_refused(tmp_path):
    model = make_column_transformer(("passthrough", ["size"])).fit(FRAME)
    save_model(model, tmp_path / "columns.vicinal")

    def call_a_type(structure: Any, members: Any) -> None:
        text = json.dumps(structure["model"])
        assert '"func": null' in text
        structure["model"] = json.loads(
            text.replace('"func": null', '"func": {"number": "builtins.int"}')
        )

    with pytest.raises(ValueError, match="it holds a function"):
        load_model(_rewrite(tmp_path / "columns.vicinal", call_a_type))


def test_an_index_of_bits_is_built_anew_from_its_codes():
    codes = np.random.default_rng(0).integers(0, 256, (20, 3)).astype(np.uint8)
    arrays: list[Any] = []

    def store(array: Any) -> int:
        arrays.append(array)
        return len(arrays) - 1

    index = BinaryIndex(codes, block_size=7)
    back = decode(json.loads(json.dumps(encode(index, store))), arrays.__getitem__)
    assert type(back) is BinaryIndex
    assert back.block_size == 7
    for mine, theirs in zip(index.query(codes, 4), back.query(codes, 4), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_same_model_gives_the_same_bytes(model, saved, tmp_path):
    save_model(load_model(saved), tmp_path / "again", target="y", k=3)
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_metadata_are_read_without_the_model(saved):
    assert read_metadata(saved) == {"target": "y", "k": 3}


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=9).map(len)
)
_ARRAYS = st.one_of(
    st.lists(st.floats(width=32), max_size=5).map(lambda v: np.array(v, dtype=np.float32)),
    st.lists(st.integers(-9, 9), max_size=5).map(lambda v: np.array(v, dtype=np.int64)),
    st.lists(st.text(alphabet="abé", max_size=4), max_size=5).map(
        lambda v: np.array(v, dtype=np.str_)
    ),
    st.floats().map(np.float64),
    st.booleans().map(np.bool_),
    st.lists(_SCALARS, max_size=4).map(lambda v: np.array([*v, None], dtype=object)),
    st.just(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    st.just(np.zeros((0, 3))),
)
_VALUES = st.recursive(
    st.one_of(_SCALARS, _ARRAYS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(_VALUES)
def test_any_value_an_estimator_may_hold_comes_back_as_it_was(value):
    arrays: list[Any] = []

    def store(array: Any) -> int:
        arrays.append(array)
        return len(arrays) - 1

    text = json.dumps(encode(value, store))
    back = decode(json.loads(text), arrays.__getitem__)
    assert pickle.dumps(_plain(back)) == pickle.dumps(_plain(value))


def _plain(value: Any) -> Any:
    """Return a value as types, shapes and bytes, so that equal means equal to the last bit."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_plain(item) for item in value)]
    if isinstance(value, dict):
        return {_plain_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        content = repr(array.tolist()) if array.dtype == object else array.tobytes()
        return [type(value).__name__, array.dtype.str, array.shape, content]
    return repr(value)


def _plain_key(key: Any) -> str:
    return repr(key)


# Whole or not at all --------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_file_and_no_part(model, saved, monkeypatch):
    before = saved.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_what_cannot_be_stored_is_refused_before_the_old_file_is_touched(saved):
    before = saved.read_bytes()
    X, y = _points()
    metric = LDA().fit(X, y)
    metric.hook = lambda: None
    broken = KNNClassifier(1).fit(X, y)
    broken.metric_ = metric
    with pytest.raises(ValueError, match=r"model\.KNNClassifier\.metric_.*hook is a function"):
        save_model(broken, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


class Mine(BaseEstimator):
    """An estimator of the user's own."""

    def fit(self, X: Any, y: Any = None) -> Mine:
        self.done_ = True
        return self


def test_an_estimator_from_elsewhere_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"model is of type Mine.*vicinal's own"):
        save_model(Mine().fit(None), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(KNNClassifier(), tmp_path / "m")


def test_metadata_must_be_json(model, tmp_path):
    with pytest.raises(ValueError, match="metadata must be JSON"):
        save_model(model, tmp_path / "m", when=object())


def test_a_device_is_not_replaced_by_a_model(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        save_model(model, tmp_path / "pipe")


def test_a_link_keeps_pointing_to_the_file_it_points_to(model, saved, tmp_path):
    (tmp_path / "link").symlink_to(saved)
    save_model(model, tmp_path / "link", new=True)
    assert (tmp_path / "link").is_symlink()
    assert read_metadata(saved) == {"new": True}


# Damaged --------------------------------------------------------------------------------------


def test_a_file_cut_short_anywhere_is_refused(saved):
    data = saved.read_bytes()
    for length in [0, 1, 3, 10, *np.linspace(11, len(data) - 1, 60).astype(int)]:
        saved.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"m\.vicinal"):
            load_model(saved)


def test_one_wrong_byte_is_noticed_or_harmless(model, saved):
    data = saved.read_bytes()
    expected = model.predict(_queries())
    random = np.random.default_rng(0)
    refused = 0
    for position in random.integers(0, len(data), 300):
        wrong = bytearray(data)
        wrong[position] ^= 1 << random.integers(8)
        saved.write_bytes(wrong)
        try:
            loaded = load_model(saved)
        except ValueError:
            refused += 1
        else:  # a date or another field of the archive that means nothing here
            np.testing.assert_array_equal(loaded.predict(_queries()), expected)
    assert refused > 200


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"junk junk", "not a vicinal model file"),
        (pickle.dumps([1]), "looks like a pickle"),
        (b"PK\x03\x04 and nothing more", "not a model file that can be trusted"),
    ],
)
def test_foreign_files_are_refused(tmp_path, content, message):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "m")


def test_a_directory_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match="no such model file"):
        load_model(tmp_path / "nowhere")


def test_a_file_of_a_newer_format_says_what_to_do(saved):
    def newer(structure: Any, members: Any) -> None:
        structure["format_version"] = 3
        structure["vicinal_version"] = "9.1"
        structure["model"] = {"something": "new"}

    with pytest.raises(ValueError, match=rf"by vicinal 9\.1.*this is vicinal {__version__}"):
        load_model(_rewrite(saved, newer))


# Malicious ------------------------------------------------------------------------------------

EVIL_TYPES = [
    "os:system",
    "posix:system",
    "builtins:eval",
    "builtins:exec",
    "subprocess:Popen",
    "vicinal.cli:main",
    "vicinal.__main__:main",
    "vicinal.data:load_dataset",
    "vicinal.data:Dataset",
    "vicinal.models._file:os",
    "vicinal.predict:save_model",
    "sklearn.ensemble:RandomForestClassifier",
    "sklearn.pipeline:FeatureUnion",
    "sklearn.pipeline:clone",
    "sklearn.preprocessing:KBinsDiscretizer",
    "numpy:load",
    "",
    "os",
]


@pytest.mark.parametrize("name", EVIL_TYPES)
@pytest.mark.parametrize("content", ["state", "arguments"])
def test_a_file_that_names_any_other_type_is_refused(saved, tmp_path, name, content):
    sentinel = tmp_path / "ran"

    def evil(structure: Any, members: Any) -> None:
        command = f"touch {sentinel}"
        structure["model"] = {"type": name, content: {"args": command, "command": command}}

    with pytest.raises(ValueError, match="which no model is made of"):
        load_model(_rewrite(saved, evil))
    assert not sentinel.exists()


def test_an_index_is_no_estimator_and_an_estimator_no_index(saved):
    def state(structure: Any, members: Any) -> None:
        structure["model"] = {"type": "vicinal.index:ExactIndex", "state": {}}

    def arguments(structure: Any, members: Any) -> None:
        structure["model"] = {"type": "vicinal.predict:KNNClassifier", "arguments": {}}

    for change in (state, arguments):
        with pytest.raises(ValueError, match="is stored with"):
            load_model(_rewrite(saved, change))


@pytest.mark.parametrize(
    "value",
    [
        {"__reduce__": ["os:system", "true"]},
        {"type": "vicinal.predict:KNNClassifier", "state": {}, "extra": 1},
        {"type": "vicinal.predict:KNNClassifier", "state": {"__class__": "x"}},
        {"type": "vicinal.predict:KNNClassifier", "state": [1]},
        {"type": ["vicinal.predict:KNNClassifier"], "state": {}},
        {"function": "os:system"},
        {"array": "../../etc/passwd"},
        {"array": 99},
        {"array": None},
        {"tuple": 3},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"objects": [1, 2], "shape": [3]},
        {"random_state": "x"},
        {"slice": ["a", 1, 2]},
        {"slice": [1]},
        {"dtype": "O4,O4"},
        {"dtype": "f8,(99999,99999)f8"},
        {"number": "os.system"},
        {"columns": ["a"]},
        {},
    ],
)
def test_values_no_model_holds_are_refused(saved, value):
    def swap(structure: Any, members: Any) -> None:
        structure["model"] = value

    with pytest.raises(ValueError, match="can be trusted"):
        load_model(_rewrite(saved, swap))


def test_a_list_of_types_in_the_file_extends_nothing(saved):
    def extend(structure: Any, members: Any) -> None:
        structure["trusted"] = structure["types"] = ["os:system"]
        structure["metadata"]["types"] = ["os:system"]
        structure["model"]["state"]["steps"].append(
            {"tuple": ["evil", {"type": "os:system", "state": {}}]}
        )

    with pytest.raises(ValueError, match="'os:system', which no model is made of"):
        load_model(_rewrite(saved, extend))


class _Boobytrap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (str(self.path), "w"))


def test_an_array_of_pickled_objects_is_refused_and_runs_nothing(saved, tmp_path):
    def evil(structure: Any, members: Any) -> None:
        buffer = io.BytesIO()
        trap = np.array([_Boobytrap(tmp_path / "ran")], dtype=object)
        np.save(buffer, trap, allow_pickle=True)
        members["0.npy"] = buffer.getvalue()

    with pytest.raises(ValueError, match="dtype object"):
        load_model(_rewrite(saved, evil))
    assert not (tmp_path / "ran").exists()


def test_a_pickle_of_a_trap_is_refused_and_runs_nothing(saved, tmp_path):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        saved.write_bytes(pickle.dumps(_Boobytrap(tmp_path / "ran"), protocol))
        with pytest.raises(ValueError, match="not a vicinal model file"):
            load_model(saved)
    assert not (tmp_path / "ran").exists()


def test_a_skops_file_that_names_a_command_is_refused_and_runs_nothing(saved, tmp_path):
    node = {"__class__": "system", "__module__": "posix", "__loader__": "FunctionNode"}
    content = {"func": node, "args": {"content": [f"touch {tmp_path / 'ran'}"]}}
    call = {"__class__": "partial", "__loader__": "PartialNode", "content": content}
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("schema.json", json.dumps({**call, "protocol": 3}))
    with pytest.raises(ValueError, match=r"holds a member named 'schema\.json'"):
        load_model(saved)
    assert not (tmp_path / "ran").exists()


def test_an_array_that_claims_to_be_huge_is_refused_before_memory_is_taken(saved):
    def bomb(structure: Any, members: Any) -> None:
        buffer = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**10)}
        np.lib.format.write_array_header_1_0(buffer, header)
        members["0.npy"] = buffer.getvalue()

    with pytest.raises(ValueError, match="not of the size it claims"):
        load_model(_rewrite(saved, bomb))


def test_a_compressed_bomb_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b" " * 50_000_000)
    assert (tmp_path / "m").stat().st_size < 100_000
    with pytest.raises(ValueError, match="compressed or larger than the file"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    "name",
    ["../evil.npy", "/tmp/evil.npy", "a/0.npy", "..\\evil.npy", "evil.py", "00.npy", "-1.npy"],
)
def test_member_names_that_lead_elsewhere_are_refused(saved, tmp_path, name):
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(ValueError, match="holds a member named"):
        load_model(saved)
    assert not (tmp_path.parent / "evil.npy").exists()


def test_two_members_of_one_name_are_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("model.json", b"{}")
    with pytest.raises(ValueError, match="two members of one name"):
        load_model(saved)


def test_nesting_without_end_is_refused(saved):
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("model.json", "[" * 200_000)
    with pytest.raises(ValueError, match="can be trusted"):
        load_model(saved)


def test_a_prior_of_other_classes_is_refused(tmp_path):
    X, y = _points()
    model = RadiusClassifier(radius=1.0).fit(X, y)
    model.class_prior_ = np.array([1.0])
    save_model(model, tmp_path / "m")
    with pytest.raises(ValueError, match="labels are not among its classes"):
        load_model(tmp_path / "m")


def test_labels_outside_the_classes_are_refused(saved):
    """The compiled vote counts labels without looking; a false one would write outside memory."""

    def shrink(structure: Any, members: Any) -> None:
        predictor = structure["model"]["state"]["steps"][-1]["tuple"][1]["state"]
        number = predictor["_codes"]["array"]
        codes = np.load(io.BytesIO(members[f"{number}.npy"]))
        buffer = io.BytesIO()
        np.save(buffer, codes + 1_000_000)
        members[f"{number}.npy"] = buffer.getvalue()

    with pytest.raises(ValueError, match="labels are not among its classes"):
        load_model(_rewrite(saved, shrink))


def test_loading_hostile_files_starts_nothing_the_interpreter_can_see(saved, tmp_path):
    """Run under an audit hook that hears of every process, pickle and file opened to write."""
    hostile = []
    for number, name in enumerate(EVIL_TYPES):
        for content in ("state", "arguments"):
            path = tmp_path / f"hostile{number}{content}"
            path.write_bytes(saved.read_bytes())

            def evil(structure: Any, members: Any, name=name, content=content) -> None:
                structure["model"] = {"type": name, content: {"args": "touch ran"}}

            hostile.append(str(_rewrite(path, evil)))
    code = textwrap.dedent(
        """
        import json, sys
        from vicinal import load_model
        load_model(sys.argv[1])  # imports are done with
        import vicinal.data, vicinal.index, vicinal.metric, vicinal.rivals, vicinal.predict
        for stage in ("data", "index", "metric", "rivals", "predict"):
            package = getattr(vicinal, stage)
            for name in package.__all__:  # imports vicinal's own modules, the others are fixed
                getattr(package, name)
        heard = []
        watched = ("os.", "subprocess.", "pickle.", "exec", "socket.", "ctypes.", "shutil.")
        def hook(event, arguments):
            if event.startswith(watched) and event not in ("os.listdir", "os.scandir"):
                heard.append((event, str(arguments)[:100]))
            if event == "open" and arguments[1] not in ("r", "rb", None):
                heard.append((event, str(arguments)[:100]))
        sys.addaudithook(hook)
        for path in sys.argv[2:]:
            try:
                load_model(path)
            except ValueError:
                continue
            raise SystemExit(f"{path} was loaded")
        print(json.dumps(heard))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved), *hostile],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert not (tmp_path / "ran").exists()


def _predictor(structure: Any) -> Any:
    return structure["model"]["state"]["steps"][-1]["tuple"][1]["state"]


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array))
    return file.getvalue()


def _claim(shape: tuple[int, ...], descr: str) -> bytes:
    """Return the header of an array without its entries."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"shape": shape, "fortran_order": False, "descr": descr}
    )
    return file.getvalue()


def test_an_edit_that_leaves_the_digests_is_refused(saved):
    def edit(structure: Any, members: Any) -> None:
        _predictor(structure)["n_neighbors"] = 1

    with pytest.raises(ValueError, match="not the one that was written"):
        load_model(_rewrite(saved, edit, signed=False))


def test_an_array_that_is_not_the_one_written_is_refused(saved):
    def edit(structure: Any, members: Any) -> None:
        data = bytearray(members["0.npy"])
        data[-1] ^= 1
        members["0.npy"] = bytes(data)

    with pytest.raises(ValueError, match="array 0 is not the one that was written"):
        load_model(_rewrite(saved, edit, signed=False))


def test_a_file_of_before_there_were_digests_is_read(model, saved):
    def older(structure: Any, members: Any) -> None:
        del structure["digests"]
        structure["format_version"] = 1

    loaded = load_model(_rewrite(saved, older, signed=False))
    assert (loaded.predict(_queries()) == model.predict(_queries())).all()


@pytest.mark.parametrize("version", [True, 0, -1, 1.0, "2", None])
def test_a_format_that_is_no_positive_whole_number_is_refused(saved, version):
    def edit(structure: Any, members: Any) -> None:
        structure["format_version"] = version

    with pytest.raises(ValueError, match="can be trusted"):
        load_model(_rewrite(saved, edit))


@pytest.mark.parametrize(
    "data",
    [_claim((10**10,), "<U0"), _claim((0, 10**12), "<f8"), _claim((0, 2**40), "|S0")],
    ids=["entries of no size", "a wide nothing", "both"],
)
def test_an_array_that_holds_nothing_asks_for_no_memory(saved, data):
    def edit(structure: Any, members: Any) -> None:
        members["0.npy"] = data

    with pytest.raises(ValueError, match="can be trusted"):
        load_model(_rewrite(saved, edit))


def test_an_array_referred_to_again_and_again_is_refused(saved):
    def edit(structure: Any, members: Any) -> None:
        _predictor(structure)["extra"] = [{"array": 0}] * 50

    with pytest.raises(ValueError, match="more than 8 times"):
        load_model(_rewrite(saved, edit))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="a device or a pipe"):
        load_model(tmp_path / "pipe")


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "fewer labels than rows": ({"_codes": np.zeros(3, np.int64)}, "targets"),
    "labels of two columns": ({"_codes": np.zeros((90, 1), np.int64)}, "not numbers of classes"),
    "labels that are no array": ({"_codes": 3}, "no arrays"),
    "weights of other rows": ({"_weights": np.ones(4)}, "weights are not 90"),
    "weights that are not numbers": ({"_weights": np.full(90, np.nan)}, "not finite"),
    "row numbers beyond": ({"_rows": np.arange(90) + 1}, "row numbers"),
    "more neighbours than rows": ({"n_neighbors": 91}, "n_neighbors is 91"),
    "a metric that is none": ({"metric_": "LDA"}, "no estimator"),
    "an index that is none": ({"_index": [1, 2]}, "no index"),
    "a method shadowed": ({"predict": None}, "has as a method"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_parts_that_do_not_go_together_are_refused_at_load(saved, case):
    values, message = BROKEN[case]

    def edit(structure: Any, members: Any) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                number = len(structure["digests"])
                members[f"{number}.npy"] = _npy(value)
                structure["digests"].append("")
                value = {"array": number}
            _predictor(structure)[name] = value

    with pytest.raises(ValueError, match=message):
        load_model(_rewrite(saved, edit))


@pytest.mark.parametrize(
    ("components", "message"),
    [
        (np.full((2, 4), np.nan), "not finite"),
        (np.ones((2, 7)), "7 wide"),
        (np.ones(4), "no array of numbers"),
        (np.array([["a"]]), "no array of numbers"),
    ],
)
def test_a_map_that_fits_nothing_is_refused_at_load(saved, components, message):
    def edit(structure: Any, members: Any) -> None:
        number = _predictor(structure)["metric_"]["state"]["components_"]["array"]
        members[f"{number}.npy"] = _npy(components)

    with pytest.raises(ValueError, match=message):
        load_model(_rewrite(saved, edit))


def test_targets_that_are_not_finite_are_refused_at_load(tmp_path):
    X, y = _points()
    save_model(KNNRegressor(2).fit(X, y), tmp_path / "m.vicinal")

    def edit(structure: Any, members: Any) -> None:
        number = structure["model"]["state"]["_targets"]["array"]
        members[f"{number}.npy"] = _npy(np.full(90, np.inf))

    with pytest.raises(ValueError, match="targets are not finite"):
        load_model(_rewrite(tmp_path / "m.vicinal", edit))


@pytest.mark.parametrize("factory", ["IVF99999999,Flat", "HNSW32000", "Dummy", "Flat" * 40, 7])
def test_an_index_of_faiss_is_built_only_from_known_parts_of_a_size_the_rows_allow(
    tmp_path, factory
):
    pytest.importorskip("faiss", reason="needs the extra faiss")
    X, y = _points()
    save_model(KNNClassifier(2, index="faiss").fit(X, y), tmp_path / "m.vicinal")

    def edit(structure: Any, members: Any) -> None:
        structure["model"]["state"]["_index"]["arguments"]["factory"] = factory

    with pytest.raises(ValueError, match="no index is built"):
        load_model(_rewrite(tmp_path / "m.vicinal", edit))


def test_a_model_of_sparse_rows_survives_the_round_trip(tmp_path):
    X, y = _points()
    rows = csr_matrix(np.maximum(X, 0))
    model = KNNClassifier(3).fit(rows, y)
    save_model(model, tmp_path / "m.vicinal")
    found = load_model(tmp_path / "m.vicinal").kneighbors(rows)
    for mine, theirs in zip(model.kneighbors(rows), found, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(
    "values",
    [{"_index": None}, {"n_features_in_": 4096}, {"n_features_in_": 2**60}, {"weights": "sum"}],
    ids=str,
)
def test_a_model_that_cannot_answer_is_refused_at_load(saved, values):
    def edit(structure: Any, members: Any) -> None:
        _predictor(structure).update(values)

    with pytest.raises(ValueError, match="can be trusted"):
        load_model(_rewrite(saved, edit))


@pytest.mark.parametrize("content", [3, {"type": "vicinal.rivals:LDA", "state": {}}], ids=str)
def test_what_is_no_fitted_model_is_refused_at_load(saved, content):
    def edit(structure: Any, members: Any) -> None:
        structure["model"] = content

    with pytest.raises(ValueError, match="can be trusted"):
        load_model(_rewrite(saved, edit))
