"""Whether to use an adapter, in plain sentences, from what it gained on held-out queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# What is judged by.
MEASURE = "mrr@10"


def advise(report: Sequence[Mapping[str, Any]], best: str) -> list[str]:
    """Return sentences that say whether to use an adapter, and for what.

    Parameters
    ----------
    report : sequence of mapping
        As ``QueryAdapter.report_``.
    best : str
        The setting chosen.
    """
    rows = {row["held_out"]: row for row in report if row["measure"] == MEASURE}
    if best == "identity":
        return [
            "Nothing to use: no map put the right documents higher than the plain vectors do, by "
            "more than chance."
        ]
    if not rows:
        return ["There were too few queries to say whether it helps."]
    sentences = []
    for kind, row in rows.items():
        subject = _SUBJECTS[kind]
        if row["low"] > 0:
            sentences.append(
                f"Use it for {subject}: the first right document moves up, from "
                f"{row['plain']:.3f} to {row['adapted']:.3f} in mean reciprocal rank."
            )
        elif row["high"] < 0:
            sentences.append(
                f"Do not use it for {subject}: they are found worse, {row['adapted']:.3f} against "
                f"{row['plain']:.3f}."
            )
        else:
            sentences.append(f"For {subject} it makes no difference that these pairs can show.")
    if "documents" not in rows:
        sentences.append("Nothing is known of documents that nobody has asked for yet.")
    return sentences


_SUBJECTS = {
    "queries": "new questions about documents that have been asked for",
    "documents": "documents that nobody has asked for yet",
}
