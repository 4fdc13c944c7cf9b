"""Model files: fitted models as plain values, which run no code when they are read.

model ─▶ encode ─▶ JSON and numbered arrays ─▶ save_model ─▶ a zip archive with digests
archive ─▶ load_model ─▶ decode ─▶ checks: types, shapes, one question asked ─▶ model
"""

from vicinal.models._file import check_storable, load_model, read_metadata, save_model

__all__ = ["check_storable", "load_model", "read_metadata", "save_model"]
