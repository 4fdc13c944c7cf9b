"""Where compiled kernels are kept: in a folder named after the text of all kernels.

numba keeps a compiled function beside its source and compiles it anew when *that file* changes.
A kernel holds the code of the kernels it calls, so a change in another file would leave it as it
was. Hence the folder bears a digest of every file here, below the one numba would have
chosen: ``NUMBA_CACHE_DIR`` where the user has set it, ``__pycache__``, or the user's own cache
where the package lies in a place that cannot be written to.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import caching

_FOLDER = Path(__file__).resolve().parent
_NAME = "vicinal-kernels-"
# Folders of earlier texts that nothing was added to for so long are removed.
_KEPT_SECONDS = 30 * 24 * 3600


def digest_sources(folder: Path) -> str:
    """Return a digest of all Python files of a folder, their names included."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _with_digest(locator: Any, name: str) -> Any:
    """Return numba's locator of a cache, turned to a folder of that name, for kernels alone."""

    class KernelLocator(locator):
        def get_cache_path(self) -> str:
            return str(Path(super().get_cache_path()) / name)

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            if Path(py_file).resolve().parent != _FOLDER:
                return None
            return super().from_function(py_func, py_file)

        def ensure_cache_path(self) -> None:
            folder = Path(self.get_cache_path())
            if not folder.exists():
                _remove_old(folder.parent)
            super().ensure_cache_path()

    return KernelLocator


def _remove_old(folder: Path) -> None:
    for old in folder.glob(f"{_NAME}*"):
        with suppress(OSError):  # another process may have been quicker
            if time.time() - old.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(old)


def install() -> None:
    """Make numba keep kernels in the folder of their text; other functions are not concerned."""
    name = _NAME + digest_sources(_FOLDER)
    known: Any = caching.CacheImpl._locator_classes  # their names differ between versions
    known[:0] = [_with_digest(locator, name) for locator in known]
