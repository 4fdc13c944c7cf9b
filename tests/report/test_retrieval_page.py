"""Claims about the pages of trainings on shapes and on molecules."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from vicinal._trainings import (
    EnergyReport,
    FoldErrors,
    MeasuredMethod,
    MissedMolecule,
    RankedList,
    RankedPicture,
    RetrievalReport,
)
from vicinal.report._training_page import (
    draw_energies,
    render_training_page,
    write_training_page,
)

EVIL = "<script>alert(1)</script>\x07\"'>"
PIXELS = np.full((6, 6, 2), 100, np.uint8)
COMMON: dict[str, Any] = {
    "dataset": "some",
    "title": "A network",
    "facts": [("epochs", "3")],
    "train_errors": [0.5, 0.2, 0.1],
    "validation_errors": [None] * 3,
    "notes": ["Seed 0."],
    "version": "0.1",
}
SHAPES = RetrievalReport(
    **COMMON,
    kind="meshes",
    measures=["1-NN", "class"],
    methods=[MeasuredMethod("cross", [0.75, 0.5]), MeasuredMethod("d2", [0.25, None])],
    nearest=0.721,
    average_precision=0.619,
    lists=[
        RankedList(
            RankedPicture(PIXELS, "chair", True),
            [RankedPicture(PIXELS, "chair", True), RankedPicture(PIXELS, "stool", False)],
            0.625,
            9,
        )
    ],
)
ENERGIES = EnergyReport(
    **{**COMMON, "train_errors": [], "validation_errors": []},
    unit="kcal/mol",
    folds=[FoldErrors("shells", "0", 1.0, 2.0, 80.0), FoldErrors("shells", "mean", 1.0, 2.0, 80.0)],
    energies=np.linspace(-2000, -500, 200),
    predicted=np.linspace(-2000, -500, 200) + np.tile([1.0, -1.0], 100),
    worst=[MissedMolecule("C2H6O", 17, -800.0, -790.0)],
)


def test_lists_mark_what_is_right_and_what_is_wrong(tmp_path):
    page = write_training_page(SHAPES, tmp_path / "new" / "report.html").read_text()
    assert "For 72.1 % of the test meshes the nearest other one" in page
    items = re.findall(r'<li class="(right|wrong)">.*?<span class="mark">(.)</span> (\w+)', page)
    assert items == [("right", "✓", "chair"), ("wrong", "✗", "stool")]
    assert "average precision 0.62, 9 to find" in page
    assert re.findall(r"<td>([^<]*)</td>", page) == ["0.750", "0.500", "0.250", ""]
    assert not re.search(r"https?://", page)
    assert page.count("data:image/png;base64,") == 3


def test_names_cannot_smuggle_in_markup():
    evil = RankedPicture(PIXELS, EVIL, False)
    shapes = replace(
        SHAPES,
        dataset=EVIL,
        kind=EVIL,
        methods=[MeasuredMethod(EVIL, [1.0, 1.0])],
        lists=[RankedList(evil, [evil], 1.0, 1)],
    )
    molecules = replace(ENERGIES, worst=[MissedMolecule(EVIL, 1, 1.0, 2.0)], unit=EVIL)
    for page in (render_training_page(shapes), render_training_page(molecules)):
        assert "<script" not in page
        assert "\x07" not in page


def test_energies_are_shown_by_fold_and_the_worst_by_name(tmp_path):
    page = write_training_page(ENERGIES, tmp_path / "report.html").read_text()
    assert "are off by 1.00 kcal/mol on average, 1.00 in the root mean square" in page
    assert "C2H6O" in page
    assert "+10.0" in page
    assert page.count("<svg") == 1


def test_what_is_far_off_lies_at_the_edge_and_is_counted():
    far = replace(ENERGIES, predicted=ENERGIES.predicted + np.where(np.arange(200) == 5, 500, 0))
    assert "1 that are farther off" in draw_energies(far).caption
    exact = replace(ENERGIES, predicted=ENERGIES.energies)
    assert "0 that are farther off" in draw_energies(exact).caption
