"""Digits and other images as a world: drawn on the sphere, tested as they lie and rotated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from vicinal import __version__
from vicinal._trainings import JudgedPart, MisreadPicture, TrainingReport
from vicinal._types import AnyArray, FloatArray
from vicinal.data import check_images
from vicinal.index import RetrievalScores
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._images import Images, brighten, read_labelled, read_pictures
from vicinal.sphere.digits._pictures import picture_spheres
from vicinal.sphere.digits._presets import Preset, get_preset, list_presets
from vicinal.sphere.digits._setting import DigitSetting
from vicinal.sphere.training import (
    EMBEDDING,
    Batches,
    classification,
    judge_embeddings,
    predict,
    score_embeddings,
)
from vicinal.sphere.worlds import (
    Helpers,
    Outcome,
    Predictions,
    Task,
    Trained,
    World,
    common_record,
    describe_choice,
    errors_of,
    labelled_objective,
    mean_shares,
    member_folder,
    read_facts,
)
from vicinal.sphere.worlds._classes import predict_shares, read_classes, tabulate_classes
from vicinal.sphere.worlds._world import Say

TEST_SEED = 1_000_003  # the rotations of the test digits are the same for every network
SHOWN = 24  # misread samples on the page
_TURNED = {
    "resampled": "Rotated digits are drawn on the rotated sphere and transformed from there.",
    "coefficients": "Rotated digits are unrotated ones whose coefficients were turned by Wigner "
    "matrices.",
    "cohen2018": "Digits are drawn as by the generator of Cohen et al. 2018: five hundred share a "
    "rotation.",
}


@dataclass(frozen=True)
class DigitParts:
    """Training, validation and test images."""

    training: Images
    held_out: Images
    testing: Images


@dataclass(frozen=True)
class TestedDigits:
    """What a network says of test images, by orientation; of training images where it embeds."""

    outputs: dict[str, Tensor]
    known: tuple[FloatArray, AnyArray] | None
    parts: DigitParts


@dataclass(frozen=True)
class JudgedDigits:
    """How trained networks did on one kind of test digits."""

    orientation: str
    drawing: Drawing
    error: float
    confusion: list[list[int]]  # rows are true classes
    misread: list[dict[str, int]]  # row of the test part, its label and the one it was given
    scores: RetrievalScores  # of how the first test digits find each other


class DigitWorld(World[DigitSetting]):
    """Images on the sphere, in classes."""

    name = "digits"
    source = "digits"
    sources = (
        "A known set of labelled images (mnist, digits), or a folder of images in folders by class."
    )
    default_preset = "thesis"
    setting = DigitSetting

    @property
    def presets(self) -> Sequence[Preset]:
        """Clebsch–Gordan networks, and two rivals."""
        return list_presets()

    def knows(self, source: str) -> bool:
        """Take what no other world takes: a set without images says so itself."""
        return True

    def tasks(self, setting: DigitSetting, helpers: Helpers, say: Say) -> Iterator[Task]:
        """Yield a network for each member."""
        objective = labelled_objective(setting, helpers, classification())
        images = read_labelled(setting.source, panoramas=_panoramas(setting))
        for number in range(setting.members):
            own = setting.member(number)
            parts = split_digits(images, own)
            drawing = own.drawing(own.train)
            held_out = parts.held_out
            n_outputs = EMBEDDING if objective.embeds else len(images.classes)
            yield Task(
                member_folder(setting, number),
                partial(get_preset(own.preset).make, n_outputs, own.normalisation),
                _Source(parts.training, drawing, say),
                draw(held_out, drawing.faithful(own.seed + 1)) if len(held_out.images) else None,
                own.plan(),
                objective,
                len(parts.training.images),
                {
                    "classes": [] if objective.embeds else list(images.classes),
                    "drawing": asdict(own.drawing("plain").faithful(0)),
                    "training": own.configuration(),
                },
                partial(_test, setting, parts, objective.embeds, say),
            )

    def judge(
        self, setting: DigitSetting, trained: Sequence[Trained], helpers: Helpers, say: Say
    ) -> Outcome:
        """Return the errors on each kind of test digits."""
        tested: TestedDigits = trained[0].tested
        tests = [_judge(name, setting, [of.tested for of in trained]) for name in setting.tests]
        sizes = {
            "n_train": len(tested.parts.training.images),
            "n_validation": len(tested.parts.held_out.images),
            "n_test": len(tested.parts.testing.images),
        }
        common = {**common_record(setting, trained), **sizes, "train": setting.train}
        records = [{**common, "method": setting.method, **_record(test)} for test in tests]
        title = get_preset(setting.preset).title
        lines = [
            f"{title}: trained on {setting.train}, tested on {test.orientation} "
            f"({test.drawing.protocol}): {100 * (1 - test.error):.2f} % correct, "
            f"{trained[0].n_parameters:,} parameters, {common['cpu_seconds']:.0f} CPU s"
            for test in tests
        ]
        page = _page(setting, title, trained, tests, sizes)
        return Outcome(records, lines, page, trained[0].history)

    def predict(
        self, networks: Sequence[Path], source: str, *, part: str = "all", proba: bool = False,
        **options: Any,
    ) -> Predictions:  # fmt: skip
        """Return the classes of upright images; how they lie on the sphere makes no difference."""
        classes = read_classes(networks[0], "images")
        drawing = _read_drawing(networks[0])
        images = read_pictures(source, part, panoramas=drawing.projection == "equirectangular")
        shares = predict_images(networks, images.images)
        names = images.names or list(range(len(images.images)))
        return tabulate_classes(
            names, classes, shares, images.label_names, proba=proba, noun="images"
        )


def predict_images(networks: Sequence[Path], images: AnyArray) -> FloatArray:
    """Return the class probabilities by each network of images, (networks, n, classes).

    Images are divided by their highest value and drawn as in training.
    """
    images = brighten(check_images(images))
    unknown = np.zeros(len(images))
    return predict_shares(
        networks, lambda network: draw_digits(images, unknown, _read_drawing(network)), "images"
    )


def split_digits(images: Images, setting: DigitSetting) -> DigitParts:
    """Return training, validation and test digits; the validation is part of the training part."""
    train_rows, test_rows = images.divide()
    order = np.random.default_rng(setting.seed).permutation(train_rows)
    n_held_out = setting.n_validation
    if n_held_out is None:
        n_held_out = min(5000, len(order) // 10)
    held_out, rest = order[:n_held_out], order[n_held_out:]
    if setting.n_train is not None:
        rest = rest[: setting.n_train]
    if not len(rest):
        raise ValueError(
            f"{n_held_out} validation digits leave none of the {len(order)} to train on."
        )
    return DigitParts(images.rows(rest), images.rows(held_out), images.rows(test_rows))


def draw(images: Images, drawing: Drawing) -> Batches:
    """Return labelled images as a network's inputs."""
    assert images.labels is not None
    return draw_digits(images.images, images.labels, drawing)


class _Source:
    """The training digits of an epoch; drawn once where every epoch is the same."""

    def __init__(self, digits: Images, drawing: Drawing, say: Say) -> None:
        self._digits, self._drawing, self._say = digits, drawing, say
        self._drawn: tuple[Drawing, Batches] | None = None

    def __call__(self, epoch: int) -> Batches:
        drawing = self._drawing.at_epoch(epoch)
        if self._drawn is None or self._drawn[0] != drawing:
            self._say(f"drawing {len(self._digits.images):,} digits on the sphere")
            self._drawn = drawing, draw(self._digits, drawing)
        return self._drawn[1]


def _panoramas(setting: DigitSetting) -> bool:
    return setting.drawing(setting.train).projection == "equirectangular"


def _test(
    setting: DigitSetting, parts: DigitParts, embeds: bool, say: Say, network: nn.Module
) -> TestedDigits:
    outputs = {}
    for name in setting.tests:
        say(f"testing on {len(parts.testing.images):,} {name} digits")
        drawing = setting.drawing(name).faithful(TEST_SEED)
        outputs[name] = predict(network, draw(parts.testing, drawing)).double()
    references = None
    if embeds:
        say(f"embedding {len(parts.training.images):,} training digits")
        drawing = setting.drawing(setting.train).faithful(TEST_SEED + 1)
        places = predict(network, draw(parts.training, drawing)).double().numpy()
        assert parts.training.labels is not None
        references = places, parts.training.labels
    return TestedDigits(outputs, references, parts)


def _judge(name: str, setting: DigitSetting, tested: Sequence[TestedDigits]) -> JudgedDigits:
    labels, references = tested[0].parts.testing.labels, tested[0].known
    assert labels is not None
    if references is None:
        shares = mean_shares([of.outputs[name] for of in tested])
        answers = shares.argmax(1).numpy()
        scores = score_embeddings(shares.sqrt().numpy(), labels)
    else:
        judged = judge_embeddings(*references, tested[0].outputs[name].numpy(), labels)
        answers, scores = judged.given, judged.scores
    n_classes = len(tested[0].parts.testing.classes)
    confusion = np.zeros((n_classes, n_classes), int)
    np.add.at(confusion, (labels, answers), 1)
    wrong = np.flatnonzero(answers != labels)
    misread = [
        {"row": int(row), "label": int(labels[row]), "found": int(answers[row])}
        for row in wrong[:60]
    ]
    drawing = setting.drawing(name).faithful(TEST_SEED)
    error = float(len(wrong) / len(answers))
    return JudgedDigits(name, drawing, error, confusion.tolist(), misread, scores)


def _record(test: JudgedDigits) -> dict[str, Any]:
    return {
        "test": test.orientation,
        "protocol": test.drawing.protocol,
        "projection": test.drawing.map_name,
        "error_mean": test.error,
        "confusion": test.confusion,
        "misread": test.misread,
        **test.scores.record(),
    }


def _page(
    setting: DigitSetting,
    title: str,
    trained: Sequence[Trained],
    tests: Sequence[JudgedDigits],
    sizes: dict[str, int],
) -> TrainingReport:
    drawing, testing = setting.drawing(setting.train), trained[0].tested.parts.testing
    cpu_seconds = sum(of.cpu_seconds for of in trained)
    return TrainingReport(
        dataset=setting.source,
        title=title,
        facts=[
            ("parameters", f"{trained[0].n_parameters:,}"),
            ("training digits", f"{sizes['n_train']:,} {setting.train}"),
            ("epochs", str(len(trained[0].history))),
            ("CPU seconds", f"{cpu_seconds:,.0f}"),
        ],
        classes=testing.classes,
        tests=[_part(test, testing) for test in tests],
        notes=[
            describe_choice(sizes["n_validation"], "digits"),
            f"{_TURNED[drawing.protocol]} Rotations are Haar-distributed.",
            f"Digits lie on the sphere by the {drawing.map_name} map.",
            f"Preset {setting.preset}, {setting.members} network(s), seed {setting.seed}. Test "
            "digits were read after training only.",
        ],
        version=__version__,
        **errors_of(trained),
    )


def _part(test: JudgedDigits, testing: Images) -> JudgedPart:
    shown = test.misread[:SHOWN]
    rows = np.array([entry["row"] for entry in shown], dtype=int)
    pictures = picture_spheres(testing.images, rows, test.drawing)
    n_samples = len(testing.images)
    return JudgedPart(
        heading=f"{test.orientation} test digits",
        error=test.error,
        n_samples=n_samples,
        confusion=test.confusion,
        misread=[
            MisreadPicture(pixels, testing.classes[of["label"]], testing.classes[of["found"]])
            for pixels, of in zip(pictures, shown, strict=True)
        ],
        n_misread=round(test.error * n_samples),
    )


def _read_drawing(network: Path) -> Drawing:
    return read_facts(
        network, lambda facts: Drawing(**facts["drawing"]), "how images are drawn for it"
    )
