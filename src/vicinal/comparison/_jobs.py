"""What a worker can be asked to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vicinal.comparison._execute import Executor, describe_error
from vicinal.comparison._exhibit import make_exhibit
from vicinal.comparison._exhibit_file import write_exhibit
from vicinal.runs._cells import cell_from_json


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
