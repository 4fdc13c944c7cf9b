"""Data: known sets and tables in, ready-made splits and scalings out.

=========================  ====================================================================
``_registry``              what is known: one frozen entry a set (source, split, groups, ...)
``_entries``               the entries, from ``sets.toml`` and ``measurements.json``
``_datasets``              ``load_dataset``: the steps below in one call
``_sources``               is it a known set or the place of a table?
``_storage``               where a stored file is looked for
``_download``              fetching a file, resumed where it broke off
``_raw``, ``_containers``  the archives' own files -> stored arrays
``_conversion``            stored arrays -> a stored file, recognised by its ``_fingerprint``
``_decoding``              stored arrays -> features, targets, split, groups
``tables``                 a user's own table: files, columns, encoding
``_protocols``             which rows train and which test
``_preparation``           scalings and PCA fitted on the training part
=========================  ====================================================================

Names are imported on first use: the list of data sets needs neither scikit-learn nor pandas.
"""

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal._types": "Dataset Fold",
        "vicinal.data._containers": "read_unwrapped",
        "vicinal.data._conversion": "sha256_of",
        "vicinal.data._datasets": "load_dataset",
        "vicinal.data._download": "DataCorruptError DataUnavailableError",
        "vicinal.data._preparation": "Preparation SCALES are_unit_vectors principal_axes",
        "vicinal.data._protocols": "PROTOCOLS grouped_kfold inner_split kfold "
        "make_folds random_splits",
        "vicinal.data._raw": "read_idx",
        "vicinal.data._registry": "DatasetEntry get_entry list_datasets",
        "vicinal.data._signals": "check_images check_projection draw_warps project_images",
        "vicinal.data._sources": "check_source",
        "vicinal.data._storage": "cache_folder data_folder find obtain",
        "vicinal.data.tables": "ALL Column Dependence EncodedTable Imputer Letters MissingValues "
        "OF_FEATURES RawTable Reading Roles TableEncoder TableError TableParts UnusableColumns "
        "check_file class_names dataset_frame dataset_of_parts deviations_for encode_parts "
        "encode_target imputer_for plain_target read_frame read_raw read_table recognise_columns "
        "SAMPLE is_large_text require_target table_suffix take_parts target_numbers",
    },
)
