"""What a training on the sphere leaves behind: records and a report page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from vicinal import __version__
from vicinal._types import AnyArray
from vicinal._writing import write_atomically
from vicinal.data import load_dataset
from vicinal.data._signals import project_images
from vicinal.report._training_page import (
    JudgedPart,
    MisreadPicture,
    TrainingReport,
    write_training_page,
)
from vicinal.sphere.digits import (
    TEST_SEED,
    JudgedDigits,
    SphereOutcome,
    draw_rotations,
    split_digits,
    to_json,
)

SHOWN = 24  # misread samples on the page
SIDE = 96  # pixels of their pictures


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
    chosen = (
        f"{outcome.n_validation:,} digits of the training part were held out and chose the epoch."
        if outcome.n_validation
        else "No digits were held out: the last epoch is kept."
    )
    turned = (
        "Rotated digits are drawn on the rotated sphere and transformed from there."
        if setting.protocol == "resampled"
        else "Rotated digits are unrotated ones whose coefficients were turned by Wigner matrices."
    )
    return [
        chosen,
        f"{turned} Rotations are Haar-distributed.",
        f"Digits lie on the hemisphere by the {setting.projection} map.",
        f"Preset {setting.preset}, seed {setting.seed}. Test digits were read after training only.",
    ]


def _part(outcome: SphereOutcome, test: JudgedDigits, images: AnyArray) -> JudgedPart:
    shown = test.misread[:SHOWN]
    rows = np.array([entry["row"] for entry in shown], dtype=int)
    pictures = _picture_spheres(
        images,
        rows,
        rotated=test.orientation == "rotated",
        projection=outcome.setting.projection,
    )
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


def _picture_spheres(
    images: AnyArray, rows: AnyArray, *, rotated: bool, projection: str
) -> AnyArray:
    """Draw spheres as seen from above their drawing, with the grid's lines, (n, side, side)."""
    if not len(rows):
        return np.zeros((0, SIDE, SIDE), np.uint8)
    rotations = np.broadcast_to(np.eye(3), (len(rows), 3, 3))
    if rotated:
        rotations = draw_rotations(len(images), TEST_SEED).numpy()[rows]
    across = (np.arange(SIDE) + 0.5) * (2.0 / SIDE) - 1.0
    right, up = np.meshgrid(across, -across)
    squared = right**2 + up**2
    front = np.stack([right, up, np.sqrt(np.clip(1 - squared, 0, None))], -1)
    colatitude = np.arccos(np.clip(front[..., 2], -1, 1))
    longitude = np.arctan2(up, right)
    ink = project_images(images[rows], colatitude, longitude, projection=projection)
    # A point of the picture lies at R u on the grid's sphere: that is where its lines are.
    lines = np.stack([_grid_lines(front @ rotation.T) for rotation in rotations])
    shade = 0.75 + 0.25 * front[..., 2]
    pixels = 255 * shade * (1 - 0.9 * ink) * (1 - 0.25 * lines)
    pixels[:, squared > 1] = 255
    return np.clip(pixels, 0, 255).astype(np.uint8)


def _grid_lines(points: AnyArray) -> AnyArray:
    """Return 1 near meridians and circles of latitude 30° apart, 0 elsewhere."""
    spacing, width = np.pi / 6, 0.03
    theta = np.arccos(np.clip(points[..., 2], -1, 1))
    phi = np.arctan2(points[..., 1], points[..., 0])
    off_circle = np.abs((theta + spacing / 2) % spacing - spacing / 2)
    off_meridian = np.abs((phi + spacing / 2) % spacing - spacing / 2) * np.sin(theta)
    return ((off_circle < width) | (off_meridian < width)).astype(float)
