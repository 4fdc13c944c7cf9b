"""Names of a package that are imported on first use, so that its door opens at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """Return a package's ``__getattr__`` and ``__all__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        The names each module holds, parted by blanks; what type checkers read is the stub
        ``__init__.pyi`` beside the package.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, sorted(home)
