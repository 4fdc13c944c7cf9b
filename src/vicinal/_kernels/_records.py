"""Where the records of a text end: at line ends that stand in no quotes."""

from __future__ import annotations

from typing import Any

from numba import njit

from vicinal._types import AnyArray

# Where in a record a byte stands.
OPENING, PLAIN, QUOTED, CLOSING = range(4)
_LINE, _QUOTE, _BLANK = 10, 34, 32
_TAB, _COMMA, _SEMICOLON, _BAR = 9, 44, 59, 124


@njit(cache=True, nogil=True)
def find_record_ends(text: AnyArray, state: int, ends: AnyArray) -> Any:
    """Write the places of the line ends that end a record; return how many, and the state.

    A quote opens a quoted field where it is the field's first character, and there a doubled
    quote is one of the text: the rules of CSV, whichever of the usual marks parts the fields.

    Parameters
    ----------
    text : uint8 ndarray of shape (n,)
    state : int
        Where the byte before the text stood; OPENING at the start of a file.
    ends : int64 ndarray of shape (at least the number of line ends,)
        Written.

    Notes
    -----
    Time O(n), a pass.
    """
    n = 0
    for place in range(len(text)):
        byte = text[place]
        if state == QUOTED:
            if byte == _QUOTE:
                state = CLOSING
        elif byte == _QUOTE and state != PLAIN:
            state = QUOTED
        elif byte == _LINE:
            ends[n] = place
            n += 1
            state = OPENING
        elif byte in (_TAB, _COMMA, _SEMICOLON, _BAR):
            state = OPENING
        elif byte != _BLANK or state != OPENING:
            state = PLAIN
    return n, state
