"""Fitted models as plain values: JSON for structure, numbered arrays for numbers.

    None, bool, int, float, str, list   themselves
    tuple, dict                         {"tuple": [...]}, {"dict": [[key, value], ...]}
    array, NumPy scalar                 {"array": n}, {"scalar": n}: the n-th stored array
    array of objects                    {"objects": [...], "shape": [...]}
    sparse rows                         {"rows": [data, indices, indptr], "width": d}
    RandomState                         {"random_state": its state}
    slice                               {"slice": [...]}
    dtype, type of number               {"dtype": "<f8"}, {"number": "numpy.float64"}
    choice of columns by their type     {"columns": [pattern, include, exclude]}
    estimator                           {"type": "package:Class", "state": {...}}
    index                               {"type": "package:Class", "arguments": {...}}

A type is known by the public name it has in vicinal, or by being on the short list of
scikit-learn's below. Nothing else can be written, and nothing else is ever built: a value read
from a file picks from these and cannot name a function, a module or a constructor of its own.
An estimator is made without calling its constructor; an index, whose inner tables follow from
its vectors, is built anew from its arguments, which checks them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector

from vicinal._types import AnyArray
from vicinal.models._checks import check_index_arguments, check_loaded, check_state

STAGES = (
    "combine", "data", "index", "metric", "neural", "predict", "rivals", "scale", "search",
    "sphere",
)  # fmt: skip
# Stages of earlier versions, by which files of theirs name types.
RENAMED = {"vicinal.baselines": "vicinal.rivals"}
PEERS = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "sklearn.frozen": ("FrozenEstimator",),
    "sklearn.impute": ("KNNImputer", "MissingIndicator", "SimpleImputer"),
    "sklearn.linear_model": ("LogisticRegression",),
    "sklearn.neighbors": ("NeighborhoodComponentsAnalysis",),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": (
        "FunctionTransformer",  # without a function, as ColumnTransformer's "passthrough" is
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
}


def encode(value: Any, store: Callable[[AnyArray], int], where: str = "model") -> Any:
    """Return a value as JSON; its arrays go to ``store``, which numbers them.

    ``where`` leads to the value from the model, for the message about one that has no place in
    a model file (a function, an open file, a class of the user's own).
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [encode(item, store, f"{where}[{i}]") for i, item in enumerate(value)]
    if type(value) is tuple:
        return {"tuple": [encode(item, store, f"{where}[{i}]") for i, item in enumerate(value)]}
    if type(value) is dict:
        items = value.items()
        return {"dict": [[encode(k, store, where), encode(v, store, f"{where}[{k!r}]")]
                         for k, v in items]}  # fmt: skip
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(value, store, where)
    if type(value) is csr_matrix:
        parts = [value.data, value.indices, value.indptr]
        return {"rows": encode(parts, store, where), "width": value.shape[1]}
    if type(value) is np.random.RandomState:
        return {"random_state": encode(value.get_state(legacy=False), store, where)}
    if type(value) is slice:
        return {"slice": encode([value.start, value.stop, value.step], store, where)}
    if isinstance(value, np.dtype) and value.kind in STORED_KINDS + "O":
        return {"dtype": value.str}
    if isinstance(value, type) and value in _NUMBER_TYPES.values():
        return {"number": next(name for name, kind in _NUMBER_TYPES.items() if kind is value)}
    if type(value) is make_column_selector:
        chosen = [value.pattern, value.dtype_include, value.dtype_exclude]
        return {"columns": encode(chosen, store, where)}
    return _encode_object(value, store, where)


# What columns are told apart by, and encoders give.
_KINDS: tuple[Any, ...] = (bool, int, float, object, np.number, np.integer, np.floating)
_NUMBER_TYPES: dict[str, type] = {
    f"{kind.__module__}.{kind.__name__}": kind for kind in (*_KINDS, *np.sctypeDict.values())
}


def _encode_array(value: Any, store: Callable[[AnyArray], int], where: str) -> dict[str, Any]:
    if isinstance(value, np.ma.MaskedArray) or value.dtype.kind not in STORED_KINDS + "O":
        raise ValueError(f"{where}: an array of dtype {value.dtype} cannot be stored in a model.")
    if value.dtype.kind == "O":
        items = [encode(item, store, f"{where}[{i}]") for i, item in enumerate(value.ravel())]
        return {"objects": items, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return {"scalar": store(np.asarray(value))}
    return {"array": store(np.asarray(value))}


# Booleans, numbers, texts and times: everything but objects and records.
STORED_KINDS = "biufcSUmM"


def _encode_object(value: Any, store: Callable[[AnyArray], int], where: str) -> dict[str, Any]:
    name = public_name(type(value))
    if name is None:
        kind = "a function" if callable(value) else f"of type {type(value).__qualname__}"
        raise ValueError(
            f"{where} is {kind}, which cannot be stored in a model file: it may hold vicinal's "
            f"own estimators and {', '.join(n for names in PEERS.values() for n in names)}."
        )
    inner = f"{where}.{type(value).__name__}"
    if _is_index(type(value)):
        arguments = {key: getattr(value, key) for key in inspect.signature(type(value)).parameters}
        return {"type": name, "arguments": _encode_state(arguments, store, inner)}
    state = dict(value.__getstate__())
    # Who asks for which metadata matters to fit only, and it is an object of scikit-learn's own.
    state.pop("_metadata_request", None)
    return {"type": name, "state": _encode_state(state, store, inner)}


def _encode_state(
    state: dict[str, Any], store: Callable[[AnyArray], int], where: str
) -> dict[str, Any]:
    return {key: encode(item, store, f"{where}.{key}") for key, item in state.items()}


def decode(value: Any, arrays: Callable[[int], AnyArray]) -> Any:
    """Return what :func:`encode` was given; refuse whatever it cannot have written.

    Raises
    ------
    ValueError
        For an unknown tag or type, or a state that does not fit its type.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    tags = tuple(sorted(value))
    if tags not in _DECODERS:
        raise ValueError(f"unknown kind of value {quoted_tags(tags)}")
    return _DECODERS[tags](value, arrays)


def quoted_tags(tags: Sequence[str]) -> str:
    """Return the tags of a value for a message, cut short."""
    return repr(", ".join(tags)[:80])


def _decode_dict(value: Any, arrays: Callable[[int], AnyArray]) -> dict[Any, Any]:
    return {decode(key, arrays): decode(item, arrays) for key, item in value["dict"]}


def _decode_objects(value: Any, arrays: Callable[[int], AnyArray]) -> AnyArray:
    items = decode(value["objects"], arrays)
    filled = np.empty(len(items), dtype=object)
    filled[:] = items
    return filled.reshape(tuple(decode(value["shape"], arrays)))


def _decode_rows(value: Any, arrays: Callable[[int], AnyArray]) -> csr_matrix:
    data, indices, indptr = decode(value["rows"], arrays)
    width = decode(value["width"], arrays)
    if data.dtype.kind != "f" or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ValueError("its sparse rows are not numbers and places")
    rows = csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, width))
    rows.check_format(full_check=True)
    if not np.isfinite(data).all():
        raise ValueError("its sparse rows are not finite")
    return rows


def _decode_random_state(value: Any, arrays: Callable[[int], AnyArray]) -> np.random.RandomState:
    random_state = np.random.RandomState()
    random_state.set_state(decode(value["random_state"], arrays))
    return random_state


def _decode_slice(value: Any, arrays: Callable[[int], AnyArray]) -> slice:
    ends = decode(value["slice"], arrays)
    if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
        raise ValueError("its slices are not whole numbers")
    return slice(*ends)


def _decode_dtype(value: Any, arrays: Callable[[int], AnyArray]) -> np.dtype[Any]:
    name = str(value["dtype"])
    if not re.fullmatch(f"[<>|=][{STORED_KINDS}O][0-9]{{0,5}}(\\[[a-z]{{1,2}}\\])?", name):
        raise ValueError(f"it names the dtype {name[:80]!r}, which no model has")
    return np.dtype(name)


def _decode_number(value: Any, arrays: Callable[[int], AnyArray]) -> type:
    name = str(value["number"])
    if name not in _NUMBER_TYPES:
        raise ValueError(f"it names the type {name[:80]!r} of numbers, which there is not")
    return _NUMBER_TYPES[name]


def _decode_columns(value: Any, arrays: Callable[[int], AnyArray]) -> make_column_selector:
    pattern, include, exclude = decode(value["columns"], arrays)
    return make_column_selector(pattern, dtype_include=include, dtype_exclude=exclude)


def _decode_estimator(value: Any, arrays: Callable[[int], AnyArray]) -> Any:
    kind: Any = find_type(value["type"])
    if _is_index(kind):
        raise ValueError(f"{value['type']} is stored with a state, but it is an index")
    state = _decode_state(value["state"], arrays)
    check_state(kind, state)
    # A file of before a parameter was there means what the parameter's default means.
    for name, default in _default_parameters(kind).items():
        state.setdefault(name, default)
    estimator = kind.__new__(kind)
    estimator.__setstate__(state)
    check_loaded(estimator)
    return estimator


def _default_parameters(kind: type) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _decode_index(value: Any, arrays: Callable[[int], AnyArray]) -> Any:
    kind = find_type(value["type"])
    if not _is_index(kind):
        raise ValueError(f"{value['type']} is stored with arguments, but it is no index")
    arguments = _decode_state(value["arguments"], arrays)
    check_index_arguments(arguments)
    return kind(**arguments)


def _decode_state(state: Any, arrays: Callable[[int], AnyArray]) -> dict[str, Any]:
    if not isinstance(state, dict) or any(key.startswith("__") for key in state):
        raise ValueError("an object's state must be attributes by name")
    return {key: decode(item, arrays) for key, item in state.items()}


_DECODERS: dict[tuple[str, ...], Callable[[Any, Callable[[int], AnyArray]], Any]] = {
    ("tuple",): lambda value, arrays: tuple(decode(value["tuple"], arrays)),
    ("dict",): _decode_dict,
    ("array",): lambda value, arrays: arrays(value["array"]),
    ("scalar",): lambda value, arrays: arrays(value["scalar"])[()],
    ("objects", "shape"): _decode_objects,
    ("rows", "width"): _decode_rows,
    ("random_state",): _decode_random_state,
    ("slice",): _decode_slice,
    ("dtype",): _decode_dtype,
    ("number",): _decode_number,
    ("columns",): _decode_columns,
    ("state", "type"): _decode_estimator,
    ("arguments", "type"): _decode_index,
}


def public_name(kind: type) -> str | None:
    """Return "package:Class" of a type that may be stored, None for all others."""
    stage = ".".join(kind.__module__.split(".")[:2])
    for package in (stage, *PEERS):
        name = f"{package}:{kind.__name__}"
        if _is_listed(package, kind.__name__) and find_type(name) is kind:
            return name
    return None


def find_type(name: Any) -> type:
    """Return the type of a public name; refuse every name that is not on the list."""
    package, _, class_name = str(name).partition(":")
    package = RENAMED.get(package, package)
    kind = getattr(import_module(package), class_name) if _is_listed(package, class_name) else None
    if not isinstance(kind, type) or not (issubclass(kind, BaseEstimator) or _is_index(kind)):
        raise ValueError(f"it names the type {str(name)[:80]!r}, which no model is made of")
    return kind


def _is_listed(package: str, class_name: str) -> bool:
    if package in PEERS:
        return class_name in PEERS[package]
    root, _, stage = package.partition(".")
    if root != "vicinal" or stage not in STAGES:
        return False
    try:
        return class_name in import_module(package).__all__
    except ImportError:  # a stage whose optional dependency is not installed
        return False


def _is_index(kind: type) -> bool:
    return kind.__module__.startswith("vicinal.index.")
