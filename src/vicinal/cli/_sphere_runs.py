"""What every training on the sphere has: a folder, a display, records in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli._console import Display, explain_stop
from vicinal.cli._options import write_json
from vicinal.runs import RUNS, RunFolder

if TYPE_CHECKING:
    from rich.console import Console

    from vicinal.sphere.training import Step, TrainingSetting


def percent(share: float) -> str:
    """Return "6.20 %"."""
    return f"{100 * share:.2f} %"


class TrainingDisplay(Display):
    """Shows a training, a line an epoch; it is the ``listener`` of the training."""

    def __init__(self, console: Console, tell: Callable[[float], str] = percent) -> None:
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


def describe_epoch(step: Step, tell: Callable[[float], str] = percent) -> str:
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
    out: Path | None,
    console: Console,
    *,
    fresh: bool,
    tell: Callable[[float], str] = percent,
) -> Iterator[tuple[Path, TrainingDisplay]]:
    """Hold the folder of a training, and show it; say how to go on where it is stopped."""
    folder = out or RUNS / setting.folder_name()
    with (
        explain_stop(console, folder),
        RunFolder(folder, setting.configuration(), fresh=fresh),
        TrainingDisplay(console, tell) as display,
    ):
        yield folder, display


def check_rivals(names: Sequence[str], known: Iterable[str], kind: str) -> None:
    """Refuse rivals that there are none of."""
    for name in names:
        if name not in known:
            raise ValueError(f"--rivals {name}: for {kind} there are {', '.join(known)}.")


def keep_records(records: Sequence[dict[str, Any]], folder: Path, json: Path | None) -> None:
    """Write what was found to the folder, and to a file where one was named."""
    write_json(folder / "results.json", {"records": records})
    write_json(json, {"records": records})
