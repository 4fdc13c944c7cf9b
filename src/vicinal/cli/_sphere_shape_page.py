"""The page of a training on shapes: what test meshes find, as pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vicinal import __version__
from vicinal._types import IntArray
from vicinal.index import ExactIndex
from vicinal.report import (
    MeasuredMethod,
    RankedList,
    RankedPicture,
    RetrievalReport,
    write_retrieval_page,
)
from vicinal.sphere.shapes import ShapeOutcome, picture_mesh

SHOWN = 9  # places of a list
# Titles of measures, and what of a record each shows.
MEASURES = {
    "1-NN": lambda record: 1 - record["error_mean"],
    "class": lambda record: None if record["class_error"] is None else 1 - record["class_error"],
    "nearest": lambda record: record["nearest"],
    "first tier": lambda record: record["first_tier"],
    "second tier": lambda record: record["second_tier"],
    "E": lambda record: record["e_measure"],
    "DCG": lambda record: record["dcg"],
    "mAP": lambda record: record["average_precision"],
    "NDCG": lambda record: record["ndcg"],
}
MEANING = (
    "1-NN and class: shares of test meshes given their class by the nearest training mesh and by "
    "the network; the rest: lists among the test meshes."
)


def write_shape_page(outcome: ShapeOutcome, records: Sequence[dict[str, Any]], path: Path) -> Path:
    """Write the page of a training; return where it is."""
    setting, scores = outcome.setting, outcome.found.judged.scores
    n_test = len(outcome.parts.test)
    report = RetrievalReport(
        dataset=setting.dataset,
        title=outcome.title,
        facts=[
            ("parameters", f"{outcome.n_parameters:,}"),
            ("training meshes", f"{len(outcome.parts.train):,}"),
            ("test meshes", f"{n_test:,}"),
            ("epochs", str(len(outcome.history))),
            ("CPU seconds", f"{outcome.found.cpu_seconds:,.0f}"),
        ],
        train_errors=[epoch.train_error for epoch in outcome.history],
        validation_errors=[epoch.validation_error for epoch in outcome.history],
        notes=_notes(outcome),
        version=__version__,
        kind="meshes",
        measures=list(MEASURES),
        methods=[
            MeasuredMethod(record["method"], [value(record) for value in MEASURES.values()])
            for record in records
        ],
        nearest=scores.nearest,
        average_precision=scores.average_precision,
        lists=rank_pictures(outcome),
    )
    return write_retrieval_page(report, path)


def _notes(outcome: ShapeOutcome) -> list[str]:
    setting, n_held_out = outcome.setting, len(outcome.parts.held_out)
    chosen = (
        f"{n_held_out:,} meshes of the training part were held out and chose the epoch."
        if n_held_out
        else "No meshes were held out: the last epoch is kept."
    )
    return [
        MEANING,
        chosen,
        "The network was given every mesh turned at random; pictures show meshes as they lie in "
        "the file.",
        f"Preset {setting.preset} ({outcome.title}), loss {setting.loss}, seed {setting.seed}.",
        "Test meshes were read after training only.",
    ]


def rank_pictures(outcome: ShapeOutcome) -> list[RankedList]:
    """Return the lists of the first test mesh of every class that has others, the best first."""
    parts, embeddings = outcome.parts, outcome.found.embeddings
    labels = parts.shapes.labels[parts.test]
    _, queries = np.unique(labels, return_index=True)
    _, order = ExactIndex(embeddings).query(embeddings[queries], len(labels))

    @cache
    def picture(row: int, wanted: int) -> RankedPicture:
        label = int(labels[row])
        pixels = picture_mesh(parts.shapes.meshes[parts.test[row]])
        return RankedPicture(pixels, _breakable(parts.shapes.classes[label]), label == wanted)

    lists = []
    for query, places in zip(queries.tolist(), order, strict=True):
        others = places[places != query]
        right = labels[others] == labels[query]
        if right.any():
            found = [picture(row, int(labels[query])) for row in others[:SHOWN].tolist()]
            asked = picture(query, int(labels[query]))
            lists.append(RankedList(asked, found, _precision(right), int(right.sum())))
    return sorted(lists, key=lambda ranked: -ranked.precision)


def _breakable(name: str) -> str:
    """Let a name such as FlyingInsect be broken where a word of it begins."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "\u200b", name)


def _precision(right: IntArray) -> float:
    """Return the average precision of one list."""
    places = np.flatnonzero(right)
    return float(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
