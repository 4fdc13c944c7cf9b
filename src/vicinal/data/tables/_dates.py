"""Dates and times of day as numbers: in which order a column writes them, and days since 1970."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from vicinal._types import AnyArray, FloatArray

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_CLOCK = (
    r"(?P<hour>[0-2]?[0-9]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9](?:\.[0-9]+)?))?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
)
_ZONE = r"\s*(?:Z|UTC|(?P<zone>[+-][0-9]{2}):?(?P<zone_minute>[0-9]{2}))?"
_TIME = rf"(?:[T\s]\s*{_CLOCK}{_ZONE})?"
_DAY, _MONTH, _YEAR = r"(?P<d>[0-9]{1,2})", r"(?P<m>[0-9]{1,2})", r"(?P<y>[0-9]{4}|[0-9]{2})"
_LONG_YEAR, _MARK, _SAME = r"(?P<y>[0-9]{4})", r"(?P<mark>[-/.])", r"(?P=mark)"
_NAMED = r"(?P<m>[A-Za-z]{3,9}\.?)"
_SHAPES = {
    "year first": _LONG_YEAR + _MARK + _MONTH + _SAME + _DAY + _TIME,
    "day first": _DAY + _MARK + _MONTH + _SAME + _YEAR + _TIME,
    "month first": _MONTH + _MARK + _DAY + _SAME + _YEAR + _TIME,
    "month named": _DAY + r"(?:[-/\s]|\.\s?)" + _NAMED + r"[-/\s,]+" + _YEAR + _TIME,
    "month named first": _NAMED + r"\s+" + _DAY + r",?\s+" + _LONG_YEAR + _TIME,
    "year and month": r"(?P<y>(?:19|20)[0-9]{2})[-/]" + _MONTH,
    "month and year": _MONTH + r"[-/.](?P<y>(?:19|20)[0-9]{2})",
    "month named and year": _NAMED + r"[-/\s,]+(?P<y>(?:19|20)[0-9]{2})",
    "digits": r"(?P<y>(?:19|20)[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    "clock": _CLOCK,
}
_PATTERNS = {order: re.compile(shape) for order, shape in _SHAPES.items()}
ORDERS = tuple(_SHAPES)
CLOCK, DIGITS = "clock", "digits"
MONTH_YEAR = "month and year"
MONTHS = ("year and month", MONTH_YEAR, "month named and year")
PARTS = ("month", "weekday", "hour")


def date_orders(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the orders in which all texts are dates (or times of day), likeliest first."""
    fitting = list(ORDERS)
    for text in texts:
        fitting = [order for order in fitting if not np.isnan(_parse(text, order))]
        if not fitting:
            break
    return tuple(fitting)


def date_in_digits(texts: Sequence[str]) -> str:
    """Return the order of dates that are numbers as well, 20210314 or 03.2021, where all are."""
    if len(texts) < 2 or not all(re.fullmatch(r"[0-9]{8}|[0-9]{1,2}\.[0-9]{4}", t) for t in texts):
        return ""
    orders = date_orders(texts)
    return orders[0] if orders in ((DIGITS,), (MONTH_YEAR,)) else ""


def parse_dates(texts: AnyArray, order: str) -> FloatArray:
    """Return texts as days since 1970-01-01, times of day as hours; NaN where they are none.

    Parameters
    ----------
    texts : object ndarray of shape (n,)
        Of str; None where missing.
    """
    values = {text: _parse(text, order) for text in set(texts) if text is not None}
    values[None] = np.nan
    return np.array([values[text] for text in texts], dtype=np.float64)


def look_like_months(values: FloatArray) -> bool:
    """Say whether all numbers may be months and years, 3.2021: of others, one in fifty ends so."""
    present = values[~np.isnan(values)]
    if not len(present) or present.min() < 1 or present.max() >= 13:
        return False
    years = (present - np.floor(present)) * 1e4
    whole = np.abs(years - np.round(years)) < 1e-6
    return bool(np.all(whole & (years > 1899.5) & (years < 2099.5)))


def date_parts(days: FloatArray) -> dict[str, FloatArray]:
    """Return month (1 to 12), weekday (1, Monday, to 7) and hour of days since 1970."""
    present = ~np.isnan(days)
    whole = np.floor(np.where(present, days, 0.0))
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1
    weekdays = (whole.astype(np.int64) + 3) % 7 + 1  # 1970 began on a Thursday
    parts = {"month": months, "weekday": weekdays, "hour": (days - whole) * 24}
    return {name: np.where(present, values, np.nan) for name, values in parts.items()}


def _parse(text: str, order: str) -> float:
    match = _PATTERNS[order].fullmatch(text.strip())
    if match is None:
        return np.nan
    groups = match.groupdict()
    hours = _hours(groups)
    if order == CLOCK:
        return hours
    try:
        month = groups["m"]
        number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3].lower())
        day = date(_year(groups["y"]), number, int(groups.get("d") or 1))
    except ValueError:
        return np.nan
    return (day - date(1970, 1, 1)).days + hours / 24


def _year(text: str) -> int:
    """Return the year; of two digits those below 69 are of this century, as POSIX has it."""
    year = int(text)
    if len(text) == 4:
        return year
    return year + (2000 if year < 69 else 1900)


def _hours(groups: dict[str, str | None]) -> float:
    if not groups.get("hour"):
        return 0.0
    hour, half = int(groups["hour"] or 0), (groups.get("half") or "").lower()
    if hour > (12 if half else 23):
        return np.nan
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    zone = int(groups.get("zone") or 0)
    beyond = int(groups.get("zone_minute") or 0) * (-1 if zone < 0 else 1)
    minutes = int(groups["minute"] or 0) - beyond
    return hour - zone + minutes / 60 + float(groups.get("second") or 0) / 3600
