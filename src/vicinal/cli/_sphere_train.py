"""``vicinal sphere train``: a world's setting as options, its run shown and kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from vicinal.cli._console import Display, explain_stop, make_console
from vicinal.cli._options import check_output, write_json
from vicinal.runs import RUNS, RunFolder
from vicinal.sphere.worlds import Helpers, Outcome, TrainingSetting, World, get_world, run_world

if TYPE_CHECKING:
    from rich.console import Console

    from vicinal.sphere.training import Step

HELP = """Train on {name} and judge what was learned on the test part.

Every half minute the training is kept in the run folder: stop it at any moment, even by kill -9,
and the same command goes on to the very same weights. Under torchrun several processes share each
batch.
"""
_COMMON = {
    "threads": (int | None, None, "Threads to work in."),
    "out": (Path | None, None, "The run folder."),
    "fresh": (bool, False, "Forget an earlier run and start over."),
    "json": (Path | None, None, "Write the results here too."),
}


def make_command(name: str) -> Any:
    """Return the command that trains in a world: options are the fields of its setting."""
    world = get_world(name)

    def command(**given: Any) -> None:
        """Train."""
        common = {key: given.pop(key) for key in _COMMON}
        train(world, given, **common)

    source = typer.Argument(help=world.sources, metavar="SOURCE")
    parameters = [_parameter("source", Annotated[str, source], world.source)]
    hints = get_type_hints(world.setting)
    for field in fields(world.setting):
        if "help" in field.metadata:
            names = [f"--{field.metadata['name']}"] if field.metadata["name"] else []
            flag = [] if hints[field.name] is not bool else [f"--{field.name}"]
            option = typer.Option(*(names or flag), help=field.metadata["help"])
            kind: Any = Annotated[hints[field.name], option]
            parameters.append(_parameter(field.name, kind, field.default))
    for key, (hint, default, text) in _COMMON.items():
        option = typer.Option(*([f"--{key}"] if hint is bool else []), help=text)
        parameters.append(_parameter(key, Annotated[hint, option], default))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {of.name: of.annotation for of in parameters}
    app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})
    app.command(name, help=HELP.format(name=name))(command)
    return typer.main.get_command(app)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def train(
    world: World[Any],
    given: dict[str, Any],
    *,
    threads: int | None,
    out: Path | None,
    fresh: bool,
    json: Path | None,
) -> None:
    """Train, in this process or as one of several; print and keep what came of it."""
    if given["preset"] == "list":
        for preset in world.presets:
            typer.echo(f"{preset.name:12} {preset.title}")
        return
    check_output(json)
    _set_threads(threads)
    setting = world.setting(**given)
    done = _run(world, setting, out, make_console(stderr=True), fresh=fresh)
    if done is not None:
        _keep(*done, json)


def _run(
    world: World[Any],
    setting: TrainingSetting,
    out: Path | None,
    console: Console,
    *,
    fresh: bool,
) -> tuple[Outcome, Path] | None:
    from vicinal.scale.processes import process_group, wait_for_all

    folder = out or RUNS / setting.folder_name()
    run = partial(run_world, world, setting, folder, helpers=helpers())
    with process_group() as rank:
        if rank:
            wait_for_all()
            run()
            return None
        with training_run(setting, folder, console, partial(world.tell, setting), fresh) as display:
            wait_for_all()  # until the folder is there, and emptied where that was asked
            return run(listener=display, say=display.say), folder


def helpers() -> Helpers:
    """Return the losses and learners that worlds are given."""
    from vicinal.losses import make_objective

    return Helpers(make_objective, _learner)


def _learner(name: str, seed: int) -> Any:
    from vicinal.methods import get_method, make_learner

    return make_learner(get_method(name), "classification", k=1, seed=seed)


def _keep(outcome: Outcome, folder: Path, json: Path | None) -> None:
    from vicinal.report import write_training_page

    history = [asdict(epoch) for epoch in outcome.history]
    content = {"records": outcome.records, "history": history}
    write_json(folder / "results.json", content)
    write_json(json, content)
    page = write_training_page(outcome.page, folder / "report.html")
    console = make_console()
    for line in (*outcome.lines, f"networks: {folder}", f"report: {page}"):
        console.print(line, markup=False, soft_wrap=True, highlight=False)


def _set_threads(threads: int | None) -> None:
    import torch

    if threads is not None:
        if threads < 1:
            raise ValueError(f"--threads {threads}: at least one is needed.")
        torch.set_num_threads(threads)


class TrainingDisplay(Display):
    """Shows a training, a line an epoch; it is the ``listener`` of the training."""

    def __init__(self, console: Console, tell: Callable[[float], str]) -> None:
        super().__init__(console)
        self._tell = tell

    def say(self, text: str) -> None:
        """Name what is being done besides training."""
        if self._bar is None:
            self.print(text)
        super().say(text)

    def __call__(self, step: Step) -> None:
        """Show a step, and what an epoch came to."""
        if step.finished is not None:
            self.print(describe_epoch(step, self._tell))
        elif self._bar is not None:
            text, total = (
                f"epoch {step.epoch + 1}, loss {step.loss:.3f}",
                step.n_steps * step.n_epochs,
            )
            done = step.epoch * step.n_steps + step.step
            self._move(self._bar, text, done, total, step.seconds_left)


def describe_epoch(step: Step, tell: Callable[[float], str]) -> str:
    """Return "epoch 2/10: loss 0.211, training error 6.2 %, validation error 5.0 % (61 CPU s)"."""
    epoch = step.finished
    assert epoch is not None
    judged = ""
    if epoch.validation_error is not None:
        judged = f", validation error {tell(epoch.validation_error)}"
    return (
        f"epoch {epoch.epoch + 1}/{step.n_epochs}: loss {epoch.loss:.3f}, training error "
        f"{tell(epoch.train_error)}{judged} ({epoch.cpu_seconds:.0f} CPU s)"
    )


@contextmanager
def training_run(
    setting: TrainingSetting,
    folder: Path,
    console: Console,
    tell: Callable[[float], str],
    fresh: bool,
) -> Iterator[TrainingDisplay]:
    """Hold the folder of a training, and show it; say how to go on where it is stopped."""
    with (
        explain_stop(console, folder),
        RunFolder(folder, setting.configuration(), fresh=fresh),
        TrainingDisplay(console, tell) as display,
    ):
        yield display
