"""Names and labels of unknown origin, made safe to show: in a terminal, and in a spreadsheet."""

from __future__ import annotations

import re
from typing import Any

# Control characters, which move the cursor or change a terminal, but for tabs and ends of lines;
# and marks that turn the direction of writing, so that a name reads as another.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    r"""Return text with what a terminal would obey written out, as in "\\x1b[2J".

    Examples
    --------
    >>> print(printable("a label\x1b[2J"))
    a label\x1b[2J
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def neutral_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: such text gets an apostrophe before.

    Numbers, and text that is one, stay as they are.

    Examples
    --------
    >>> neutral_cell("=SUM(A1:A9)"), neutral_cell("-3.5"), neutral_cell(-3.5)
    ("'=SUM(A1:A9)", '-3.5', -3.5)
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
