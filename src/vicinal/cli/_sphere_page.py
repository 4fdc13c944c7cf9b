"""What a training on the sphere leaves behind: records and a report page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from vicinal import __version__
from vicinal._types import AnyArray
from vicinal._writing import write_atomically
from vicinal.data import load_dataset
from vicinal.report import (
    JudgedPart,
    MisreadPicture,
    TrainingReport,
    write_training_page,
)
from vicinal.sphere.digits import (
    JudgedDigits,
    SphereOutcome,
    picture_spheres,
    split_digits,
    to_json,
)

SHOWN = 24  # misread samples on the page
_TURNED = {
    "resampled": "Rotated digits are drawn on the rotated sphere and transformed from there.",
    "coefficients": "Rotated digits are unrotated ones whose coefficients were turned by Wigner "
    "matrices.",
    "cohen2018": "Digits are drawn as by the generator of Cohen et al. 2018: five hundred share a "
    "rotation.",
}


def write_outputs(outcome: SphereOutcome, folder: Path, json_path: Path | None) -> Path:
    """Write results.json and report.html to the folder; return where the page is."""
    content = json.dumps(to_json(outcome), indent=2) + "\n"
    write_atomically(folder / "results.json", content)
    if json_path is not None:
        write_atomically(json_path, content)
    return write_training_page(_report(outcome), folder / "report.html")


def _report(outcome: SphereOutcome) -> TrainingReport:
    setting = outcome.setting
    _, _, digits = split_digits(load_dataset(setting.dataset), setting)
    facts = [
        ("parameters", f"{outcome.n_parameters:,}"),
        ("training digits", f"{outcome.n_train:,} {setting.train}"),
        ("epochs", str(len(outcome.history))),
        ("CPU seconds", f"{outcome.cpu_seconds:,.0f}"),
    ]
    return TrainingReport(
        dataset=setting.dataset,
        title=outcome.title,
        facts=facts,
        train_errors=[epoch.train_error for epoch in outcome.history],
        validation_errors=[epoch.validation_error for epoch in outcome.history],
        classes=outcome.classes,
        tests=[_part(outcome, test, digits.images) for test in outcome.tests],
        notes=_notes(outcome),
        version=__version__,
    )


def _notes(outcome: SphereOutcome) -> list[str]:
    setting = outcome.setting
    drawing = setting.drawing(setting.train)
    chosen = (
        f"{outcome.n_validation:,} digits of the training part were held out and chose the epoch."
        if outcome.n_validation
        else "No digits were held out: the last epoch is kept."
    )
    return [
        chosen,
        f"{_TURNED[drawing.protocol]} Rotations are Haar-distributed.",
        f"Digits lie on the sphere by the {drawing.map_name} map.",
        f"Preset {setting.preset}, seed {setting.seed}. Test digits were read after training only.",
    ]


def _part(outcome: SphereOutcome, test: JudgedDigits, images: AnyArray) -> JudgedPart:
    shown = test.misread[:SHOWN]
    rows = np.array([entry["row"] for entry in shown], dtype=int)
    pictures = picture_spheres(images, rows, test.drawing)
    return JudgedPart(
        heading=f"{test.orientation} test digits",
        error=test.error,
        n_samples=outcome.n_test,
        confusion=test.confusion,
        misread=[
            MisreadPicture(pixels, outcome.classes[entry["label"]], outcome.classes[entry["found"]])
            for pixels, entry in zip(pictures, shown, strict=True)
        ],
        n_misread=round(test.error * outcome.n_test),
    )
