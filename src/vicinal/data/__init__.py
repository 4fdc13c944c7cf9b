"""Data: known sets and tables in, ready-made splits and scalings out.

=========================  ====================================================================
``_registry``              what is known: one frozen entry a set (source, split, groups, ...)
``_builtin_sets``          the entries, by kind
``_classification_sets``
``_regression_sets``
``_structured_sets``
``_measurements``          checksums, shapes and fingerprints, counted once
``_datasets``              ``load_dataset``: the steps below in one call
``_storage``               where a stored file is looked for
``_download``              fetching a file, resumed where it broke off
``_raw``, ``_containers``  the archives' own files -> stored arrays
``_conversion``            stored arrays -> a stored file, recognised by its ``_fingerprint``
``_decoding``              stored arrays -> features, targets, split, groups
``_tables``                a user's own CSV, Parquet or NPZ file
``_protocols``             which rows train and which test
``_preparation``           scalings and PCA fitted on the training part
=========================  ====================================================================

Names are imported on first use: the list of data sets needs neither scikit-learn nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal._types import Dataset as Dataset
    from vicinal._types import Fold as Fold
    from vicinal.data._datasets import load_dataset as load_dataset
    from vicinal.data._download import DataCorruptError as DataCorruptError
    from vicinal.data._download import DataUnavailableError as DataUnavailableError
    from vicinal.data._preparation import Preparation as Preparation
    from vicinal.data._protocols import PROTOCOLS as PROTOCOLS
    from vicinal.data._protocols import inner_split as inner_split
    from vicinal.data._protocols import make_folds as make_folds
    from vicinal.data._registry import list_datasets as list_datasets
    from vicinal.data._signals import project_images as project_images
    from vicinal.data._table_encoder import Imputer as Imputer
    from vicinal.data._table_encoder import TableEncoder as TableEncoder
    from vicinal.data._table_files import read_frame as read_frame
    from vicinal.data._tables import imputer_for as imputer_for
    from vicinal.data._tables import read_table as read_table

_HOMES = {
    "vicinal._types": ("Dataset", "Fold"),
    "vicinal.data._datasets": ("load_dataset",),
    "vicinal.data._download": ("DataCorruptError", "DataUnavailableError"),
    "vicinal.data._preparation": ("Preparation",),
    "vicinal.data._protocols": ("PROTOCOLS", "inner_split", "make_folds"),
    "vicinal.data._registry": ("list_datasets",),
    "vicinal.data._signals": ("project_images",),
    "vicinal.data._table_encoder": ("Imputer", "TableEncoder"),
    "vicinal.data._table_files": ("read_frame",),
    "vicinal.data._tables": ("imputer_for", "read_table"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PROTOCOLS",
    "DataCorruptError",
    "DataUnavailableError",
    "Dataset",
    "Fold",
    "Imputer",
    "Preparation",
    "TableEncoder",
    "imputer_for",
    "inner_split",
    "list_datasets",
    "load_dataset",
    "make_folds",
    "project_images",
    "read_frame",
    "read_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vicinal.data' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
