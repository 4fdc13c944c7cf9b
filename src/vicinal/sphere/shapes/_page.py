"""What a run on shapes came to: records, a table, and the page with lists of pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from vicinal import __version__
from vicinal._trainings import MeasuredMethod, RankedList, RankedPicture, RetrievalReport
from vicinal._types import FloatArray
from vicinal.index import ExactIndex, score_lists
from vicinal.sphere.shapes._meshes import Mesh
from vicinal.sphere.shapes._pictures import picture_cloud, picture_mesh
from vicinal.sphere.shapes._presets import get_shape_preset
from vicinal.sphere.shapes._setting import ShapeSetting
from vicinal.sphere.shapes._sources import ShapeRows
from vicinal.sphere.training import JudgedEmbeddings
from vicinal.sphere.worlds import Trained, describe_choice, errors_of

LISTED = 9  # places of a list on the page
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
    "1-NN and class: shares of test shapes given their class by the nearest training shape and by "
    "the network; the rest: lists among the test shapes."
)


@dataclass(frozen=True)
class JudgedShapes:
    """What networks or a rival make of the test shapes."""

    method: str
    embeddings: FloatArray  # of the test shapes
    judged: JudgedEmbeddings
    cpu_seconds: float
    class_error: float | None = None  # where classes were predicted

    def record(self, setting: ShapeSetting, parts: ShapeRows) -> dict[str, Any]:
        """Return the record every command writes; the error is by the nearest training shape."""
        return {
            "dataset": setting.source,
            "method": self.method,
            "k": 1,
            "error_mean": self.judged.error,
            "error_sd": None,  # one split has no spread
            "class_error": self.class_error,
            **self.judged.scores.record(),
            "fit_seconds": None,
            "cpu_seconds": round(self.cpu_seconds, 2),
            "n_train": len(parts.train),
            "n_validation": len(parts.held_out),
            "n_test": len(parts.test),
            "turns": setting.turns,
            "seed": setting.seed,
            "version": __version__,
        }


def tabulate(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return the measures as lines of a table."""
    titles = ["method", *MEASURES, "CPU s"]
    rows = [
        [
            record["method"],
            *("" if of(record) is None else f"{of(record):.3f}" for of in MEASURES.values()),
            f"{record['cpu_seconds']:.0f}",
        ]
        for record in records
    ]
    widths = [max(len(row[at]) for row in (titles, *rows)) for at in range(len(titles))]
    lines = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (titles, *rows)
    ]
    return [*lines, MEANING]


def make_page(
    setting: ShapeSetting,
    trained: Sequence[Trained],
    found: JudgedShapes,
    records: Sequence[dict[str, Any]],
) -> RetrievalReport:
    parts: ShapeRows = trained[0].tested.parts
    title, noun = get_shape_preset(setting.preset).title, parts.shapes.noun
    scores = found.judged.scores
    return RetrievalReport(
        dataset=setting.source,
        title=title,
        facts=[
            ("parameters", f"{trained[0].n_parameters:,}"),
            (f"training {noun}", f"{len(parts.train):,}"),
            (f"test {noun}", f"{len(parts.test):,}"),
            ("epochs", str(len(trained[0].history))),
            ("CPU seconds", f"{found.cpu_seconds:,.0f}"),
        ],
        notes=[
            MEANING,
            describe_choice(len(parts.held_out), noun),
            "The network was given every shape turned at random; pictures show shapes as they lie "
            "in the file.",
            f"Preset {setting.preset} ({title}), loss {setting.loss}, {setting.members} "
            f"network(s), {setting.turns} turn(s) of each test shape, seed {setting.seed}.",
            "Test shapes were read after training only.",
        ],
        version=__version__,
        kind=noun,
        measures=list(MEASURES),
        methods=[
            MeasuredMethod(record["method"], [value(record) for value in MEASURES.values()])
            for record in records
        ],
        nearest=scores.nearest,
        average_precision=scores.average_precision,
        lists=rank_pictures(parts, found.embeddings),
        **errors_of(trained),
    )


def rank_pictures(parts: ShapeRows, embeddings: FloatArray) -> list[RankedList]:
    """Return the lists of the first test shape of every class that has others, the best first."""
    labels = parts.shapes.labels[parts.test]
    _, queries = np.unique(labels, return_index=True)
    _, order = ExactIndex(embeddings).query(embeddings[queries], len(labels))

    @cache
    def picture(row: int, wanted: int) -> RankedPicture:
        label, body = int(labels[row]), parts.shapes.bodies[parts.test[row]]
        pixels = picture_mesh(body) if isinstance(body, Mesh) else picture_cloud(body)
        return RankedPicture(pixels, _breakable(parts.shapes.classes[label]), label == wanted)

    lists = []
    for query, places in zip(queries.tolist(), order, strict=True):
        others = places[places != query]
        right = labels[others] == labels[query]
        if right.any():
            answers = [picture(row, int(labels[query])) for row in others[:LISTED].tolist()]
            question = picture(query, int(labels[query]))
            precision = score_lists(right[None]).average_precision
            lists.append(RankedList(question, answers, precision, int(right.sum())))
    return sorted(lists, key=lambda ranked: -ranked.precision)


def _breakable(name: str) -> str:
    """Let a name such as FlyingInsect be broken where a word of it begins."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "\u200b", name)
