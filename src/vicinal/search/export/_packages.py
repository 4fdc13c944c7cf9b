"""Packages that are asked for only where a store is written."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

# A store: its module, its package, the oldest version its file is written for, its extra.
_PACKAGES = {
    "faiss": ("faiss", "faiss-cpu", (1, 8), "faiss"),
    "usearch": ("usearch.index", "usearch", (2, 12), "usearch"),
    "lancedb": ("lancedb", "lancedb", (0, 20), "lancedb"),
    "qdrant": ("qdrant_client", "qdrant-client", (1, 10), "qdrant"),
    "parquet": ("pyarrow.parquet", "pyarrow", (16, 1), "parquet"),
    "onnx": ("onnx", "onnx", (1, 16), "onnx"),
    "pyarrow": ("pyarrow", "pyarrow", (16, 1), "parquet"),
}


def import_store(name: str) -> ModuleType:
    """Return the module of a store.

    Raises
    ------
    ValueError
        Where its package is missing or too old; the message says what to install.
    """
    module, package, least, extra = _PACKAGES[name]
    remedy = f"pip install 'vicinal[{extra}]'"
    try:
        loaded = import_module(module)
    except ImportError as error:
        raise ValueError(f"exporting to {name} needs {package}: {remedy}.") from error
    try:
        installed = version(package)
    except PackageNotFoundError:
        return loaded
    numbers = tuple(int(part) for part in installed.split(".")[:2] if part.isdigit())
    if numbers < least:
        oldest = ".".join(map(str, least))
        raise ValueError(
            f"exporting to {name} needs {package} {oldest} or newer, and {installed} is installed: "
            f"{remedy}."
        )
    return loaded
