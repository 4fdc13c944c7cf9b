"""What was gained on held-out queries and on held-out documents, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import IntArray
from vicinal.search._measures import SHOWN, list_scores
from vicinal.search._setting import IDENTITY, AdapterSetting
from vicinal.search._splits import KINDS, Split, score_by_document
from vicinal.search._tasks import Lists, SearchTask

# Standard errors on either side of a mean that hold the true one 95 times of 100.
_WIDTH = 1.96


@dataclass(frozen=True)
class HeldOutLists:
    """Lists of held-out queries, before and after: ``queries`` (m,) by number."""

    kind: str
    queries: IntArray
    documents: IntArray
    before: Lists
    after: Lists

    def row(self, measure: str) -> dict[str, Any]:
        """Return one measure's means, and the gain with its interval; a document is a unit."""
        plain, mapped = (list_scores(measure, *lists) for lists in (self.before, self.after))
        scores = [score_by_document(1 - values, self.documents) for values in (plain, mapped)]
        gain, noise = scores[0].behind(scores[1])
        return {
            "held_out": self.kind,
            "measure": measure,
            "plain": float(plain.mean()),
            "adapted": float(mapped.mean()),
            "gain": gain,
            "low": gain - _WIDTH * noise,
            "high": gain + _WIDTH * noise,
            "n_queries": len(self.queries),
            "n_documents": len(np.unique(self.documents)),
        }

    def places(self) -> IntArray:
        """Return query, and the place of its first relevant document before and after, (m, 3).

        0 where there is none among the first ten.
        """
        ranks = [np.where((g > 0).any(axis=1), 1 + (g > 0).argmax(axis=1), 0)
                 for g in (self.before[0], self.after[0])]  # fmt: skip
        return np.column_stack([self.queries, *ranks])


def hold_out(
    task: SearchTask, splits: Sequence[Split], path: Sequence[AdapterSetting]
) -> list[HeldOutLists]:
    """Return lists of each question's held-out queries under the last setting of a path."""
    results = []
    for kind in KINDS:
        parts = [split for split in splits if split.kind == kind]
        if not parts:
            continue
        before, after = [], []
        for split in parts:
            before.append(_lists(task, split, [IDENTITY]))
            after.append(_lists(task, split, path))
        held = np.concatenate([split.held for split in parts])
        lists = [_joined(part) for part in (before, after)]
        results.append(HeldOutLists(kind, held, task.relevance.first[held], lists[0], lists[1]))
    return results


def _joined(parts: Sequence[Lists]) -> Lists:
    grades, ideal = (np.concatenate(each) for each in zip(*parts, strict=True))
    return grades, ideal


def _lists(task: SearchTask, split: Split, path: Sequence[AdapterSetting]) -> Lists:
    """Return a split's lists under the last setting of a path, learned where they are not known."""
    if (id(split), path[-1]) in task.lists:
        return task.lists[id(split), path[-1]]
    flat = None
    for setting in path:
        flat = task.learn(split.train, setting, flat)
    return task.grades(split, flat, path[-1], plain=path[-1] == IDENTITY)


def report_rows(results: Sequence[HeldOutLists]) -> list[dict[str, Any]]:
    """Return a row a question and measure."""
    return [result.row(measure) for result in results for measure in SHOWN]
