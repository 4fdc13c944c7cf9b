"""What a worker can be asked to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vicinal.experiments._cells import Cell, cell_from_json, cell_to_json
from vicinal.experiments._execute import Executor, describe_error
from vicinal.experiments._exhibit import make_exhibit
from vicinal.experiments._exhibit_file import write_exhibit


def cell_request(cell: Cell, *, portrait: bool = False) -> dict[str, Any]:
    """Return the request to measure a cell; the reply holds its ``records``.

    With ``portrait`` the first of them says what the fitted metric looks at.
    """
    return {"job": "cell", "cell": cell_to_json(cell), "portrait": portrait}


def exhibit_request(cell: Cell, path: Path) -> dict[str, Any]:
    """Return the request to fit a cell of one k again and write what the report shows of it."""
    return {"job": "exhibit", "cell": cell_to_json(cell), "path": str(path)}


class JobRunner:
    """Answers requests, keeping loaded rows between them."""

    def __init__(self) -> None:
        self._executor = Executor()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked; an exhibit that cannot be made is an ``error``, not a crash."""
        cell = cell_from_json(request["cell"])
        if request["job"] == "cell":
            return {"records": self._executor.run(cell, portrait=request["portrait"])}
        try:
            prepared = self._executor.folds.get(cell.setting, cell.fold)
            write_exhibit(make_exhibit(cell, prepared), Path(request["path"]))
        except Exception as error:
            return {"error": describe_error(error)}
        return {}
