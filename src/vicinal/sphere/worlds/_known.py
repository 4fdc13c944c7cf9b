"""The worlds by name, loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from vicinal.sphere.worlds._world import World

WORLDS = {
    "digits": ("vicinal.sphere.digits", "DigitWorld"),
    "molecules": ("vicinal.sphere.molecules", "MoleculeWorld"),
    "shapes": ("vicinal.sphere.shapes", "ShapeWorld"),
}


def get_world(name: str) -> World[Any]:
    """Return the world of a name."""
    if name not in WORLDS:
        raise ValueError(f"no world {name!r}; there are {', '.join(WORLDS)}.")
    module, attribute = WORLDS[name]
    world: World[Any] = getattr(import_module(module), attribute)()
    return world


def find_world(source: str) -> World[Any]:
    """Return the world that a registered set belongs to: digits, where no other takes it."""
    worlds = [get_world(name) for name in ("molecules", "shapes", "digits")]
    return next(world for world in worlds if world.knows(source))
