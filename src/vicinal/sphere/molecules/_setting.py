"""What a training on molecules depends on, and the options of its command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vicinal.sphere.molecules._presets import get_molecule_preset, list_molecule_presets
from vicinal.sphere.molecules._rivals import RIVALS
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import TrainingSetting, option, read_names


@dataclass(frozen=True, kw_only=True)
class MoleculeSetting(TrainingSetting):
    """What to train on which molecules; a tenth of the training part is held out."""

    source: str = "qm7"
    preset: str = option("", "The network and how it is trained; 'list' shows all.")
    fold: str = option("all", "The published fold of QM7 to test on, 0 to 4, or all.")
    forces: bool = option(False, "Learn forces beside energies: gradients by positions.")
    target: str | None = option(None, "The column of a folder's table that is learned.")
    rivals: str = option(
        "",
        "Kernel ridge regressions and perceptrons to measure besides, with commas: "
        f"{', '.join(RIVALS)} (fchl19 needs qmllib).",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.preset:
            object.__setattr__(self, "preset", "forces" if self.forces else "shells")
        preset = get_molecule_preset(self.preset)
        if self.forces != preset.forces:
            fitting = [of.name for of in list_molecule_presets() if of.forces == self.forces]
            kind = "forces" if self.forces else "energies alone"
            raise ValueError(f"preset {self.preset!r} does not learn {kind}; take {fitting[0]}.")
        read_names(self.rivals, RIVALS, "rival")

    @property
    def rival_names(self) -> list[str]:
        """The rivals that are measured besides."""
        return read_names(self.rivals, RIVALS, "rival")

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        return self.adapt(get_molecule_preset(self.preset).plan)

    def configuration(self) -> dict[str, Any]:
        """Return what the weights of every fold depend on."""
        spheres = asdict(get_molecule_preset(self.preset).spheres)
        read = {f"spheres.{name}": value for name, value in spheres.items()}
        read["spheres.elements"] = list(read["spheres.elements"])
        return self.depends_on(target=self.target, **read)
