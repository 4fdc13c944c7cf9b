"""A user's own table: one way from a file to features, and a record of every decision on it.

::

    bytes ──► text table ──► what each column is ──► features
    _files    _text           _columns                _encoder
    _arrow    _header         (_numbers, _dates)      _imputer
    _npz ...  _raw_table      the record; _lines      _target
    _sampling                 says it in words        _tables: all of it in one call
                                                      _doubts: what to look at twice

``_roles`` takes a table apart: the column to predict, names, groups, weights, what to leave out.
The record is kept by the encoder and so by model files: new rows are read as the training rows
were.
"""

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal.data.tables._cells": "as_texts",
        "vicinal.data.tables._columns": "recognise_columns",
        "vicinal.data.tables._dependence": "Dependence",
        "vicinal.data.tables._doubts": "list_doubts",
        "vicinal.data.tables._encoder": "MissingValues TableEncoder",
        "vicinal.data.tables._files": "check_file read_frame read_raw table_suffix",
        "vicinal.data.tables._imputer": "Imputer",
        "vicinal.data.tables._letters": "Letters",
        "vicinal.data.tables._lines": "describe_reading",
        "vicinal.data.tables._raw_table": "RawTable TableError",
        "vicinal.data.tables._reading": "ALL Column Reading UnusableColumns",
        "vicinal.data.tables._roles": "Roles TableParts group_codes take_parts",
        "vicinal.data.tables._sampling": "SAMPLE is_large_text",
        "vicinal.data.tables._tables": "EncodedTable OF_FEATURES dataset_frame dataset_of_parts "
        "deviations_for encode_parts imputer_for read_table require_target",
        "vicinal.data.tables._target": "class_names encode_target plain_target target_numbers",
    },
)
