"""Claims about the page of a training."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from vicinal._trainings import JudgedPart, MisreadPicture, TrainingReport
from vicinal.report._figures import draw_epochs
from vicinal.report._training_page import (
    draw_errors,
    render_training_page,
    shade_confusion,
    write_training_page,
)

PART = JudgedPart(
    heading="rotated test digits",
    error=0.0312,
    n_samples=96,
    confusion=[[30, 0, 1], [0, 33, 0], [2, 0, 30]],
    misread=[MisreadPicture(np.zeros((8, 8), np.uint8), "six", "nine")],
    n_misread=3,
)
REPORT = TrainingReport(
    dataset="digits",
    title="A network",
    facts=[("parameters", "342,086")],
    train_errors=[0.5, 0.2, 0.05],
    validation_errors=[0.4, 0.25, 0.1],
    classes=["six", "seven", "nine"],
    tests=[PART],
    notes=["Seed 0."],
    version="0.1",
)


def test_the_headline_says_how_many_classes_were_found():
    assert REPORT.summary == "A network finds the class of 96.88 % of the rotated test digits."
    assert "the class of 96.88 % of the rotated test digits." in render_training_page(REPORT)


def test_the_curves_are_the_errors_of_the_epochs():
    ax = Figure().subplots()
    draw_epochs(ax, {"training": [0.5, 0.0, 0.05], "validation": [None, 0.25, 0.1]})
    lines = {line.get_label(): np.asarray(line.get_xydata()).tolist() for line in ax.lines}
    assert lines == {"training": [[1, 0.5], [3, 0.05]], "validation": [[2, 0.25], [3, 0.1]]}
    assert ax.get_yscale() == "log"


def test_a_training_without_validation_has_one_curve_and_no_word_of_it():
    alone = replace(REPORT, validation_errors=[None] * 3)
    drawn = draw_errors(alone)
    assert drawn is not None
    assert "in the end training 5.00 %." in drawn.svg
    assert "validation" not in drawn.svg
    assert "validation samples" in render_training_page(REPORT)
    assert "validation samples" not in render_training_page(alone)


def test_a_training_without_errors_has_no_plot():
    nothing = replace(REPORT, train_errors=[0.0], validation_errors=[None])
    assert draw_errors(nothing) is None
    assert "<svg" not in render_training_page(nothing)


def test_mistakes_are_shaded_by_their_number_and_right_answers_are_not():
    cells = shade_confusion(PART, REPORT.classes)
    assert [cell.shade for cell in cells[2]] == [6, 0, 0]
    assert cells[0][2].shade == 3
    assert cells[2][0].words == "2 × nine taken for six"
    assert all(cells[i][i].right for i in range(3))


def test_names_cannot_smuggle_in_markup():
    page = render_training_page(replace(REPORT, dataset="<script>alert(1)</script>"))
    assert "<script" not in page


def test_the_page_is_self_contained(tmp_path):
    path = write_training_page(REPORT, tmp_path / "new" / "report.html")
    page = path.read_text()
    assert not re.search(r"https?://", page)
    assert page.count("data:image/png;base64,") == 1
    assert "six → nine" in page


@pytest.mark.parametrize("n", [1, 2, 40])
def test_any_number_of_epochs_can_be_drawn(n):
    errors = list(np.geomspace(0.9, 0.001, n))
    drawn = draw_errors(replace(REPORT, train_errors=errors, validation_errors=errors))
    assert drawn is not None
    written = re.findall(r">([^<]*)</text>", drawn.svg)
    assert "epoch" in written
    assert any(text.endswith(" %") for text in written)
    assert str(n) in written or n > 10
