"""How a column writes its numbers: decimal and thousands marks, a unit, and texts into floats.

A convention is held by a whole column, never guessed cell by cell: it must fit every value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray

# What stands for "no number" in a column of numbers, beside what is missing in any column.
NO_NUMBER = frozenset(
    {
        "", "-", "--", "---", "–", "—", ".", "..", "?", "*", "na", "n/a", "n.a.", "nan", "null",
        "nil", "none", "missing", "unknown", "k.a.", "#n/a", "#na", "#div/0!", "#value!", "#ref!",
    }
)  # fmt: skip
CURRENCIES = "€$£¥₹₽₩₺₪₫₴"
CODES = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|NZD|BRL|ZAR|MXN|Fr\\.|kr\\.?|zł|Kč"
)
_MONEY = rf"[{CURRENCIES}]|\b(?:{CODES})"
_SPACES = "\u00a0\u202f\u2009 "
_CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<before>{_MONEY})?\s*(?P<inner>[+-])?"
    rf"(?P<body>[0-9][0-9.,'{_SPACES}]*|[.,][0-9]+)(?P<power>[eE][+-]?[0-9]+)?"
    rf"\s*(?P<after>{_MONEY}|[%‰]|(?<![0-9.,][eE])[A-Za-zµ°²³/]+[A-Za-z0-9µ°²³/^]*)?\s*(?P<close>\))?"
)
# Letters that stand for digits nobody is to know, as in the postcode 945xx.
_HIDDEN = re.compile(r"[xX]+")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_CODE = re.compile(r"0[0-9]+")


@dataclass(frozen=True)
class Convention:
    """How a column of numbers is written; ``unit`` is what stands beside each of them."""

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def describe(self) -> str:
        """Return what a reader should know of it; nothing of plain numbers."""
        names = {",": "commas", ".": "dots", " ": "blanks", "'": "apostrophes"}
        parts = ["decimal comma"] if self.decimal == "," else []
        parts += [f"{names[self.thousands]} between thousands"] if self.thousands else []
        return ", ".join([*parts, *([f"in {self.unit}"] if self.unit else [])])


PLAIN = Convention()
# In order of preference among those that fit; plain numbers first.
MARKS = (
    (".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"),
)  # fmt: skip


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    d, t = re.escape(decimal), re.escape(thousands)
    # Groups of three, or as in India of two and then three; a group is never opened by a zero.
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{t}[0-9]{{2,3}})*{t}[0-9]{{3}}" if thousands else ""
    return re.compile(rf"(?:[0-9]+{grouped})(?:{d}[0-9]*)?|{d}[0-9]+")


_PATTERNS = {marks: _pattern(*marks) for marks in MARKS}


@dataclass(frozen=True)
class Written:
    """A cell taken apart: its sign, digits with their marks, power of ten, and unit."""

    sign: str
    body: str
    power: str
    unit: str


def take_apart(text: str) -> Written | None:
    """Return the parts of a number however it is written; None for any other text."""
    text = text.strip().replace("\u2212", "-").replace("’", "'")
    if _INFINITE.fullmatch(text):
        return Written(text[0] if text[0] == "-" else "", "inf", "", "")
    match = _CELL.fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if (match["sign"] and match["inner"]) or (match["before"] and match["after"]):
        return None
    minus = (match["sign"] or match["inner"]) == "-" or match["open"]
    body = re.sub(f"[{_SPACES}]", " ", match["body"].strip())
    unit = match["before"] or match["after"] or ""
    if _HIDDEN.fullmatch(unit):
        return None
    return Written("-" if minus else "", body, match["power"] or "", unit)


def looks_like_number(text: str) -> bool:
    """Say whether a cell is a number under some convention."""
    parts = take_apart(text)
    return parts is not None and bool(_fitting([parts]))


def _fitting(cells: Iterable[Written]) -> tuple[tuple[str, str], ...]:
    """Return the marks under which all cells are numbers."""
    bodies = {cell.body for cell in cells if cell.body != "inf"}
    marked = [body for body in bodies if not body.isdigit()]
    return tuple(m for m in MARKS if all(_PATTERNS[m].fullmatch(body) for body in marked))


@dataclass(frozen=True)
class NumberTexts:
    """What can be said of a column's texts as numbers.

    ``fitting`` are the marks under which all are numbers; ``wrong`` are texts that are none, and
    ``why`` says what else keeps the column from being one of numbers.
    """

    fitting: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    wrong: tuple[str, ...] = ()
    why: str = ""

    @property
    def decimals(self) -> frozenset[str]:
        """The decimal marks the column may mean, where they differ in value."""
        if not self.fitting or (self.fitting[0] == (".", "") and (",", "") in self.fitting):
            return frozenset()  # whole numbers without marks
        return frozenset(decimal for decimal, _ in self.fitting)

    def choose(self, decimal: str | None) -> Convention:
        """Return the first convention that fits, of those with the file's decimal mark."""
        agreed = [m for m in self.fitting if m[0] == decimal]
        marks = (agreed or self.fitting)[0] if len(self.decimals) == 2 else self.fitting[0]
        return Convention(*marks, self.unit)


def read_number_texts(texts: Sequence[str]) -> NumberTexts:
    """Look at the different values of a column, none of them missing.

    Codes, such as 007, are no numbers: their zeros would be lost.
    """
    cells = {text: take_apart(text) for text in texts}
    parts = [cell for cell in cells.values() if cell is not None]
    wrong = tuple(text for text, cell in cells.items() if cell is None)
    if not parts or any(_CODE.fullmatch(cell.body) and not cell.unit for cell in parts):
        return NumberTexts(wrong=tuple(texts))
    units = sorted({cell.unit for cell in parts})
    money = [unit for unit in units if re.fullmatch(_MONEY, unit)]
    named = [unit for unit in units if unit]
    if len(named) > 1 or (named and "" in units and not money):
        shares = money or [unit for unit in named if unit in "%‰"]
        why = f"different units ({', '.join(named)})" if len(named) > 1 else ""
        why = why or f"some numbers with {named[0]} and some without"
        return NumberTexts(wrong=tuple(texts), why=why if shares else "")
    fitting = _fitting(parts)
    if not fitting:
        odd = tuple(text for text, cell in cells.items() if cell and not _fitting([cell]))
        return NumberTexts(wrong=(*wrong, *odd), why="" if odd else "several ways to write numbers")
    return NumberTexts(fitting, "".join(named), wrong)


def parse_numbers(texts: AnyArray, convention: Convention) -> FloatArray:
    """Return texts as floats under a convention; NaN where missing or no such number.

    Parameters
    ----------
    texts : object ndarray of shape (n,)
        Of str; None where missing.
    """
    values = {text: _parse(text, convention) for text in set(texts) if text is not None}
    values[None] = np.nan
    return np.array([values[text] for text in texts], dtype=np.float64)


def _parse(text: str, convention: Convention) -> float:
    cell = take_apart(text)
    if cell is None or cell.unit not in ("", convention.unit):
        return np.nan
    if cell.body == "inf":
        return float(cell.sign + cell.body)
    if not _PATTERNS[convention.decimal, convention.thousands].fullmatch(cell.body):
        return np.nan
    digits = cell.body.replace(convention.thousands, "") if convention.thousands else cell.body
    return float(cell.sign + digits.replace(convention.decimal, ".") + cell.power)
