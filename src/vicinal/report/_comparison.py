"""A comparison: rows of a table, what the metrics learned, and how to look at both."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._types import Task
from .._writing import write_atomically
from ._records import Duel, Exhibit, Row, best_neighbors, best_row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Comparison:
    """Methods compared on the same folds; shows itself in a notebook.

    Attributes
    ----------
    rows : tuple of Row
        One for each method and k; :meth:`to_frame` has them as a table.
    exhibits : tuple of Exhibit
        What each metric learned on the first fold, at its best k.
    duels : tuple of Duel
        The best neighbours against each reference.
    notes : tuple of str
        What a reader should know besides.
    configuration : mapping of JSON values
        All that the results depend on.
    folder : Path or None
        The run folder, where there is one.
    loss : str
        What the errors are: "error" (share of wrong predictions, or nMSE), "balanced", "rmse",
        "mae".
    classes, target, unit
        What the classes and the target are called, and what its numbers are in.
    majority : mapping of str to float
        The losses of a model that looks at no feature: the commonest class, or the mean.
    command, call : str
        What the user typed, where it was a command, and the same as a call from Python.
    made_with : str
        The date, and the versions of what it was computed with.
    data : str
        Where the rows are: a file, or the name of a known data set.
    """

    dataset: str
    task: Task
    n_rows: int
    n_features: int
    n_classes: int
    protocol: str
    preparation: str
    seed: int
    version: str
    rows: tuple[Row, ...]
    exhibits: tuple[Exhibit, ...] = ()
    citation: str = ""
    notes: tuple[str, ...] = ()
    duels: tuple[Duel, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    loss: str = "error"
    classes: tuple[str, ...] = ()
    target: str = ""
    unit: str = ""
    majority: Mapping[str, float] = field(default_factory=dict)
    command: str = ""
    call: str = ""
    made_with: str = ""
    data: str = ""

    @property
    def best(self) -> Row | None:
        """The row of smallest error among those that ask neighbours.

        It is chosen on the test folds, so its own error flatters it a little.
        """
        return best_neighbors(self.rows)

    @property
    def all_scores(self) -> list[tuple[str, int | None, Mapping[str, float]]]:
        """Title, k and every loss of each method at its best k, then of the majority or mean."""
        found: list[tuple[str, int | None, Mapping[str, float]]] = []
        for method in dict.fromkeys(row.method for row in self.rows):
            row = best_row(row for row in self.rows if row.method == method)
            if row is not None and row.scores:
                found.append((row.title, row.k, row.scores))
        blind = "majority class" if self.task == "classification" else "mean"
        return [*found, (blind, None, self.majority)] if found and self.majority else found

    @property
    def measure(self) -> str:
        """What the errors are, in the words of the field, with the unit where there is one."""
        names = {"balanced": "balanced error", "rmse": "RMSE", "mae": "MAE"}
        plain = "error" if self.task == "classification" else "nMSE"
        name = names.get(self.loss, plain)
        in_unit = self.loss in ("rmse", "mae") and self.unit
        return f"{name} in {self.unit}" if in_unit else name

    @property
    def finding(self) -> str:
        """What was found, in a sentence or two."""
        from ._sentences import summarize

        return summarize(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, one line for each method and k."""
        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows])
        return frame.astype({"k": "Int64"})  # a reference has none

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values; what is not known is None."""
        more = {"seed": self.seed, "version": self.version}
        return [
            {name: _known(value) for name, value in (asdict(row) | more).items()}
            for row in self.rows
        ]

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write version, configuration and rows as a JSON file, whole or not at all."""
        content = {
            "version": self.version,
            "data": self.data,
            "config": dict(self.configuration),
            "records": self.to_records(),
        }
        write_atomically(Path(path), json.dumps(content, indent=1, allow_nan=False) + "\n")
        return Path(path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the errors: against k, or side by side where there is one k.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        """
        from ._errors import plot_errors

        return plot_errors(self, ax)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page, one HTML file complete in itself; return where it is."""
        from ._page import write_page

        return write_page(self, path)

    def _repr_html_(self) -> str:
        from ._page import render_fragment

        return render_fragment(self)

    def __str__(self) -> str:
        from rich.console import Console

        from ._table import render_table

        text = io.StringIO()
        Console(file=text, width=120, color_system=None).print(render_table(self))
        return text.getvalue().rstrip()

    __repr__ = __str__


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
