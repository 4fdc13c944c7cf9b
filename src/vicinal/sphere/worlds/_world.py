"""What a kind of data brings to a training, and the one training all kinds share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from vicinal import __version__
from vicinal._trainings import Training
from vicinal.sphere.nn import save_network
from vicinal.sphere.training import (
    Batches,
    Epoch,
    Objective,
    Step,
    TrainingPlan,
    process_rank,
    train,
)
from vicinal.sphere.worlds._setting import LabelledSetting, TrainingSetting

Setting = TypeVar("Setting", bound=TrainingSetting)
Say = Callable[[str], None]


class Described(Protocol):
    """A preset, as a list of them shows it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def title(self) -> str:
        """What it is, in a few words."""


Preset = TypeVar("Preset", bound=Described)


def find_preset(presets: Sequence[Preset], name: str) -> Preset:
    """Return the preset of a name."""
    for preset in presets:
        if preset.name == name:
            return preset
    names = ", ".join(preset.name for preset in presets)
    raise ValueError(f"no preset {name!r}; there are {names}.")


@dataclass(frozen=True)
class Task:
    """One network to be trained: all that `train` is given, and what is asked of it in the end.

    Attributes
    ----------
    folder : str
        Where it is kept, in the folder of the run.
    build : function that makes the network, its random numbers seeded
    batches_of, validation, plan, objective : see `train`
    n_rows : int
        Of the training part; batches are no larger.
    facts : what whoever uses the network needs to know, in JSON
    test : function from the trained network to what is judged
    """

    folder: str
    build: Callable[[], nn.Module]
    batches_of: Callable[[int], Batches]
    validation: Batches | None
    plan: TrainingPlan
    objective: Objective
    n_rows: int
    facts: Mapping[str, Any]
    test: Callable[[nn.Module], Any]


@dataclass(frozen=True)
class Trained:
    """What became of a task."""

    folder: str
    n_parameters: int
    history: list[Epoch]
    tested: Any

    @property
    def cpu_seconds(self) -> float:
        """The processor's time for making rows, training and validation."""
        return round(sum(epoch.cpu_seconds for epoch in self.history), 2)

    @property
    def seconds(self) -> float:
        """How long the same took."""
        return round(sum(epoch.seconds for epoch in self.history), 2)


@dataclass(frozen=True)
class Outcome:
    """A finished run: records of what was measured, sentences about it, and its page."""

    records: list[dict[str, Any]]
    lines: list[str]
    page: Training
    history: list[Epoch]


@dataclass(frozen=True)
class Predictions:
    """What networks say of rows, as a table; ``sentence`` tells how well, where that is known."""

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    facts: Mapping[str, Any]
    sentence: str | None = None


@dataclass(frozen=True)
class Helpers:
    """What lies above this package: losses by name, and learners of metrics for rivals."""

    objective: Callable[[str, Objective], Objective]
    learner: Callable[[str, int], Any]


def labelled_objective(setting: LabelledSetting, helpers: Helpers, classes: Objective) -> Objective:
    """Return what is learned of labelled rows by the setting's loss."""
    objective = helpers.objective(setting.loss, classes)
    if objective.embeds and setting.members > 1:
        raise ValueError("members are averaged by classes; a loss of embeddings has none.")
    return objective


class World(ABC, Generic[Setting]):
    """Digits, molecules, shapes: reading, batches, objective, judge, page and prediction.

    .. code-block:: text

        SOURCE, Setting ── tasks ──> Task, Task, … ── run_world ──> Trained ── judge ──> Outcome
                                  (folds, members)      │
                                                        └─ network.pt ── predict ──> Predictions
    """

    name: ClassVar[str]
    source: ClassVar[str]  # that is taken unless one is named
    sources: ClassVar[str]  # what may be one, in words
    default_preset: ClassVar[str]
    setting: type[Setting]

    @property
    @abstractmethod
    def presets(self) -> Sequence[Described]:
        """All networks with their trainings."""

    @abstractmethod
    def knows(self, source: str) -> bool:
        """Tell whether a registered set is of this kind."""

    @abstractmethod
    def tasks(self, setting: Setting, helpers: Helpers, say: Say) -> Iterator[Task]:
        """Yield the networks to be trained, one after the other."""

    @abstractmethod
    def judge(
        self, setting: Setting, trained: Sequence[Trained], helpers: Helpers, say: Say
    ) -> Outcome:
        """Return what the networks of a run came to."""

    @abstractmethod
    def predict(self, networks: Sequence[Path], source: str, **options: Any) -> Predictions:
        """Return what saved networks say of a source, in the mean where they are several."""

    def tell(self, setting: Setting, error: float) -> str:
        """Return a training's error with its unit."""
        return f"{100 * error:.2f} %"


def run_world(
    world: World[Setting],
    setting: Setting,
    folder: Path,
    *,
    helpers: Helpers,
    listener: Callable[[Step], None] = lambda step: None,
    say: Say = lambda text: None,
) -> Outcome:
    """Train all networks of a setting and judge them; go on from checkpoints in the folder.

    Each network's folder gets ``checkpoint.pt`` while training and ``network.pt`` with
    ``network.json`` in the end; `vicinal.sphere.load_network` takes it. Times are those of the
    training, kept in the checkpoint: running a finished one again changes nothing.
    """
    trained = []
    for task in world.tasks(setting, helpers, say):
        if task.folder:
            say(task.folder.replace("/", ", ").replace("-", " "))
        place = folder / task.folder
        plan = replace(task.plan, batch_size=min(task.plan.batch_size, task.n_rows))
        torch.manual_seed(plan.seed)
        network, history = train(
            task.build(),
            task.batches_of,
            task.validation,
            plan,
            task.objective,
            checkpoint=place / "checkpoint.pt",
            listener=listener,
        )
        if process_rank() == 0:
            save_network(network, place / "network.pt", {"world": world.name, **task.facts})
        n_parameters = sum(parameter.numel() for parameter in network.parameters())
        trained.append(Trained(task.folder, n_parameters, history, task.test(network)))
    return world.judge(setting, trained, helpers, say)


def member_folder(setting: TrainingSetting, number: int, within: str = "") -> str:
    """Return the folder of one of several networks; one alone has the folder it is in."""
    alone = setting.members == 1
    return within if alone else "/".join(filter(None, (within, f"member-{number}")))


def mean_shares(outputs: Sequence[Tensor]) -> Tensor:
    """Return the mean over networks or turns of class probabilities, (n, classes)."""
    return torch.stack([torch.softmax(of.double(), 1) for of in outputs]).mean(0)


def common_record(setting: TrainingSetting, trained: Sequence[Trained]) -> dict[str, Any]:
    """Return what every record of a run says."""
    return {
        "dataset": setting.source,
        "k": None,
        "error_sd": None,  # one split has no spread
        "fit_seconds": round(sum(of.seconds for of in trained), 2),
        "cpu_seconds": round(sum(of.cpu_seconds for of in trained), 2),
        "seed": setting.seed,
        "members": setting.members,
        "version": __version__,
        "n_parameters": trained[0].n_parameters,
    }


def errors_of(trained: Sequence[Trained]) -> dict[str, Any]:
    """Return the curves of the first network, as a page shows them."""
    history = trained[0].history
    return {
        "train_errors": [epoch.train_error for epoch in history],
        "validation_errors": [epoch.validation_error for epoch in history],
    }


def describe_choice(n_held_out: int, nouns: str) -> str:
    """Return the sentence that says how the epoch was chosen."""
    if not n_held_out:
        return f"No {nouns} were held out: the last epoch is kept."
    return f"{n_held_out:,} {nouns} of the training part were held out and chose the epoch."
