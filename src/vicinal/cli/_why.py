"""What ``predict --explain`` and ``neighbors`` share: the neighbours' own columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

MOST_COLUMNS, MOST_ROWS, MOST_LETTERS = 8, 50_000, 120


def columns_to_keep(rows: Any, relevance: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Return the cells of the most relevant columns of the training rows, for a model file.

    Nothing where there are too many rows for a file to carry.
    """
    from vicinal.data.tables import as_texts

    names = [name for name, _ in relevance] or [
        column.name for column in rows.parts.reading.columns if column.used
    ]
    if len(rows.features) > MOST_ROWS:
        return {}
    return {
        name: [
            "" if text is None else text[:MOST_LETTERS] for text in as_texts(rows.features[name])
        ]
        for name in names[:MOST_COLUMNS]
        if name in rows.features
    }


def answers_of(
    found: Sequence[Mapping[str, Any]], features: Any, facts: Mapping[str, Any], predicted: Any
) -> tuple[list[Any], list[tuple[str, float]]]:
    """Return each row asked about with its neighbours' own columns, and the columns."""
    from vicinal.data.tables import as_texts
    from vicinal.report import Answer, Voter

    kept: Mapping[str, list[str]] = facts.get("cells") or {}
    names = [name for name in kept if name in features.columns]
    texts = {name: as_texts(features[name]) for name in names}
    spreads = {name: _spread(kept[name]) for name in names}
    answers = []
    for number, entry in enumerate(found):
        own = {name: "" if (t := texts[name][number]) is None else str(t) for name in names}
        voters = tuple(
            Voter(
                str(near.get("id", near["row"])), near["distance"], format_number(near["label"]),
                tuple(_compare(kept[n][near["row"]], own[n], spreads[n]) for n in names),
            )
            for near in entry["neighbors"]
        )  # fmt: skip
        row, votes = str(entry.get("id", entry["row"])), _phrase_votes(voters, facts)
        answer = format_number(predicted[number])
        cells = tuple(own[name][:MOST_LETTERS] for name in names)
        answers.append(Answer(row, answer, votes, cells, voters))
    shares = facts.get("relevance", {})
    return answers, [(name, float(shares.get(name, math.nan))) for name in names]


def _phrase_votes(voters: Sequence[Any], facts: Mapping[str, Any]) -> str:
    if facts["task"] == "regression":
        labels = [voter.label for voter in voters]
        return f"The mean of {len(voters)} neighbours: {', '.join(labels)}."
    counts = Counter(voter.label for voter in voters).most_common()
    return "Votes: " + ", ".join(f"{count} for {label}" for label, count in counts) + "."


def _spread(texts: Sequence[str]) -> float | None:
    """Return the deviation of a column of plain numbers, None of any other."""
    import numpy as np

    values = [_number(text) for text in texts if text]
    return None if None in values or not values else float(np.std(np.array(values, dtype=float)))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _compare(text: str, asked: str, spread: float | None) -> Any:
    from vicinal.report import WhyCell

    first, second = _number(text), _number(asked)
    if spread is None or first is None or second is None:
        return WhyCell(text, text != asked[:MOST_LETTERS])
    return WhyCell(text, abs(first - second) > spread)


def format_number(value: Any) -> str:
    """Return a prediction with six digits, which is more than neighbours can tell."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
