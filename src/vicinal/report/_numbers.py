"""Numbers as people read them: percentages, p-values, seconds, megabytes, counts."""

from __future__ import annotations

import math
from typing import TypeGuard

from .._types import Task

NBSP = "\u00a0"
MINUS = "\u2212"
MISSING = "–"


def is_known(value: float | None) -> TypeGuard[float]:
    """Whether a number is there at all: neither None nor NaN nor infinite."""
    return value is not None and math.isfinite(value)


def _signed(text: str) -> str:
    # A hyphen is too short for a minus and may be broken off its number at the end of a line.
    return text.replace("-", MINUS)


def format_error(value: float | None, task: Task, decimals: int | None = None) -> str:
    """An error as "4.9 %" (classification) or "0.123" (regression, a share of the variance)."""
    if value is None or not math.isfinite(value):
        return MISSING
    if task == "classification":
        return _signed(f"{100 * value:.{1 if decimals is None else decimals}f}") + f"{NBSP}%"
    return _signed(f"{value:,.{_decimals(value) - 1 if decimals is None else decimals}f}")


def _decimals(value: float) -> int:
    """Enough for five figures: errors in the target's unit may be of any size."""
    if value == 0 or not math.isfinite(value):
        return 4
    return max(1, 4 - max(0, math.floor(math.log10(abs(value)))))


def format_error_pair(first: float, second: float, task: Task) -> tuple[str, str]:
    """Two errors with as few decimals as still tell them apart (at most three more)."""
    fewest = 1 if task == "classification" else _decimals(max(first, second)) - 1
    for decimals in range(fewest, fewest + 4):
        texts = format_error(first, task, decimals), format_error(second, task, decimals)
        if texts[0] != texts[1]:
            return texts
    return format_error(first, task), format_error(second, task)


def format_error_bare(value: float | None, task: Task, *, plus: bool = False) -> str:
    """An error without its unit, for table cells whose header names it."""
    if value is None or not math.isfinite(value):
        return MISSING
    scaled, decimals = (100 * value, 2) if task == "classification" else (value, _decimals(value))
    text = f"{scaled:{'+' if plus else ''}.{decimals}f}"
    return f"{0:.{decimals}f}" if float(text) == 0 else _signed(text)


def format_p(p_value: float | None) -> str:
    """A p-value: "0.03", "< 0.001", or a dash where there is none."""
    if p_value is None or not math.isfinite(p_value):
        return MISSING
    if p_value < 0.001:
        return f"<{NBSP}0.001"
    return f"{p_value:.3f}" if p_value < 0.1 else f"{p_value:.2f}"


def phrase_p(p_value: float) -> str:
    """The same inside a sentence: "p = 0.03" or "p < 0.001"."""
    text = format_p(p_value)
    return f"p{NBSP}{text}" if text.startswith("<") else f"p{NBSP}={NBSP}{text}"


def format_seconds(seconds: float | None) -> str:
    """Seconds with about three significant figures."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    for limit, decimals in ((1, 3), (10, 2), (100, 1)):
        if abs(seconds) < limit:
            return f"{seconds:.{decimals}f}"
    return f"{seconds:,.0f}"


def phrase_cpu_seconds(seconds: float) -> str:
    """ "3.2 CPU-seconds" inside a sentence."""
    if seconds < 0.01:
        return f"less than 0.01{NBSP}CPU-seconds"
    text = f"{seconds:.2f}" if seconds < 1 else f"{seconds:,.{1 if seconds < 100 else 0}f}"
    return f"{text}{NBSP}CPU-seconds"


def format_memory(megabytes: float | None) -> str:
    """Megabytes without decimals, or with one below ten."""
    if megabytes is None or not math.isfinite(megabytes):
        return MISSING
    return f"{megabytes:,.{1 if megabytes < 10 else 0}f}"


def format_share(share: float) -> str:
    """A share of a whole: "12 %", with a decimal below ten percent."""
    if 0 < share < 0.001:
        return f"<{NBSP}0.1{NBSP}%"
    return f"{100 * share:.{1 if 0 < share < 0.0995 else 0}f}{NBSP}%"


def format_value(value: float) -> str:
    """Any measured number, three or four significant figures."""
    return _signed(f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}")


def phrase_amount(value: float, unit: str = "") -> str:
    """An amount of the target with three significant figures: "24,600 €"."""
    rounded = float(f"{value:.3g}")
    text = f"{rounded:,.0f}" if 100 <= abs(rounded) < 1e9 else f"{rounded:g}"
    return f"{_signed(text)}{NBSP}{unit}" if unit else _signed(text)


def format_distance(value: float) -> str:
    """A distance with three significant figures, so that neighbours compare at a glance."""
    return f"{value:,.0f}" if 100 <= abs(value) < 1e6 else f"{value:#.3g}"


def count_of(n: int, singular: str, plural: str | None = None) -> str:
    """ "1 fold", "1,797 points"."""
    return f"{n:,}{NBSP}{singular if n == 1 else plural or singular + 's'}"


def join_words(words: list[str], *, limit: int = 8) -> str:
    """ "a, b and c"; beyond ``limit`` the rest are counted."""
    if len(words) > limit:
        words = [*words[:limit], f"{len(words) - limit} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis; question marks for what is no valid text."""
    text = text.encode("utf-8", errors="replace").decode()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
