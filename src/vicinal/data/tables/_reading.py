"""What each column of a table is taken for, and why: the record that everything after goes by.

    number      plain or by a convention (decimal comma, thousands, a unit)   one feature
    category    up to 30 texts that come again, flags                         one a value
    text        more texts than that, names, prose                            by their letters
    date        in one order (day, month or year first)                       days, and parts
    hours       a time of day                                                 one feature
    identifier  numbers and codes that only tell rows apart                   left out
    unread      dates written in several ways                                 left out
    constant    one value                                                     left out
    empty       no value                                                      left out
    unusable    numbers with words among them, infinity, ...                  refused

A cell that is missing is a value of its own to a category. A number, date or text that ten rows or
more lack has one feature beside it that says where.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vicinal.data.tables._numbers import Convention
from vicinal.data.tables._raw_table import TableError

USED = ("number", "category", "text", "date", "hours")
# Rows are numbered as NumPy, pandas and the neighbours' row numbers are.
FROM_0 = "counting from 0"
IN_FIRST_ROW = f"(first in row 0, {FROM_0})"
ALL = "all"


@dataclass(frozen=True)
class Column:
    """What a column is taken for.

    ``why`` says why it is left out or unusable; ``convention`` how its numbers are written,
    ``order`` its dates and ``parts`` which of their parts vary; ``categories`` are its values, and
    ``rare`` those of too few rows for a feature of their own; ``n_axes`` how many features its
    letters make; ``missing`` whether a feature says where it is missing; ``strays`` are the words
    that keep it from being one of numbers.
    """

    name: str
    kind: str
    why: str = ""
    convention: Convention = field(default_factory=Convention)
    order: str = ""
    parts: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    n_axes: int = 0
    missing: bool = False
    strays: tuple[str, ...] = ()

    @property
    def used(self) -> bool:
        """Whether it becomes features."""
        return self.kind in USED

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the features its values become, without the one for missing cells."""
        if self.kind == "category":
            rare = [f"{self.name}: rare values"] if self.rare else []
            return (*(f"{self.name}={value}" for value in self.categories), *rare)
        if self.kind == "text":
            return tuple(f"{self.name}: letters {n}" for n in range(1, self.n_axes + 1))
        if self.kind == "date":
            return (self.name, *(f"{self.name}: {part}" for part in self.parts))
        return (self.name,) if self.used else ()

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features it becomes."""
        flagged = self.used and self.missing
        return (*self.values, f"{self.name}: missing") if flagged else self.values

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return {**vars(self), "convention": vars(self.convention).copy()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Column:
        """Return the record :meth:`to_dict` wrote."""
        column = cls(**{**values, "convention": Convention(**values["convention"])})
        # Files of before texts were used say so of texts that are not.
        unused = column.kind == "text" and column.why
        return replace(column, kind="identifier") if unused else column


@dataclass(frozen=True)
class Reading:
    """What all columns of a table are taken for, and what else was noticed."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def of(self, names: Collection[str]) -> Reading:
        """Return the record of some columns, in the table's order."""
        some = set(names)
        return replace(self, columns=tuple(c for c in self.columns if c.name in some))


class UnusableColumns(TableError):
    """Columns that cannot be features as they are; ``names`` lists all of them."""

    def __init__(self, columns: Collection[Column]) -> None:
        self.names = tuple(column.name for column in columns)
        several = len(self.names) > 1
        listed = "; ".join(f"{column.name!r} {column.why}" for column in columns)
        cannot = f"{len(self.names)} column{'s' * several} cannot be used: {listed}."
        if several and all(IN_FIRST_ROW in column.why for column in columns):
            super().__init__(
                f"{cannot} The header seems to take more than one line: leave one line of names."
            )
            return
        them = "them" if several else "it"
        strays = sorted({word for column in columns for word in column.strays})
        plain = not any("," in word for word in strays) and all(c.strays for c in columns)
        remedy: dict[str, Any] = {"drop": self.names}
        if plain:
            remedy = {"missing": tuple(strays), "impute": True}
        super().__init__(f"{cannot} Correct {them}, or leave {them} out (drop).", **remedy)
