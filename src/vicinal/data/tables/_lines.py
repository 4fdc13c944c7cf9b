"""What a user is told of how a table was read: once, from the record of its columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from vicinal.data.tables._raw_table import quoted
from vicinal.data.tables._reading import Column, Reading

_WORDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "text": ("text", "texts"),
    "date": ("date", "dates"),
    "hours": ("time of day", "times of day"),
}
MOST_LISTED = 10


def describe_reading(reading: Reading) -> tuple[str, ...]:
    """Return the lines: how many columns of which kind, what was left out, what was in doubt."""
    lines = [_summary(reading.columns)]
    left_out = [column for column in reading.columns if not column.used]
    if left_out:
        listed = "; ".join(f"{c.name!r} {c.why}" for c in left_out[:MOST_LISTED])
        more = f"; and {len(left_out) - MOST_LISTED} more" if len(left_out) > MOST_LISTED else ""
        back = "it" if len(left_out) == 1 else "them"
        lines.append(f"left out: {listed}{more}. Bring {back} back by name (keep).")
    return (*lines, *reading.notes)


def _summary(columns: Iterable[Column]) -> str:
    used = [column for column in columns if column.used]
    counts = {kind: sum(c.kind == kind for c in used) for kind in _WORDS}
    shown = [
        f"{count:,} {_WORDS[kind][count != 1]}"
        for kind, count in counts.items()
        if count or kind in ("number", "category")
    ]
    n_features = sum(len(column.features) for column in used)
    conventions = "".join(f"; {text}" for text in _conventions(used))
    features = "feature" if n_features == 1 else "features"
    return f"read {', '.join(shown)} → {n_features:,} {features}{conventions}"


def _conventions(used: list[Column]) -> list[str]:
    """Return how numbers and dates are written, with the columns unless it is all of them."""
    written: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in used:
        text = column.order if column.kind == "date" else column.convention.describe()
        if text:
            written[column.kind, text].append(column.name)
    sizes = Counter(column.kind for column in used)
    return [
        text if len(names) == sizes[kind] else f"{text} ({quoted(names, 3)})"
        for (kind, text), names in written.items()
    ]
