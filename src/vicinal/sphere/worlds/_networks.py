"""Saved networks of a run, and what their files say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vicinal.sphere.nn import read_configuration

Content = TypeVar("Content")


def find_networks(run: str | Path) -> list[Path]:
    """Return the networks that a path names: those of all folds and members, or the one it is."""
    path = Path(run)
    several = sorted(
        place.parent
        for pattern in ("*/network.json", "*/*/network.json")
        for place in path.glob(pattern)
    )
    return several or [path]


def world_name(networks: Sequence[Path]) -> str:
    """Return which world networks are of."""
    return read_facts(networks[0], _world_of, "what it is for")


def _world_of(facts: dict[str, Any]) -> str:
    name = facts["world"]
    if not isinstance(name, str):
        raise TypeError(name)
    return name


def read_facts(network: Path, read: Callable[[dict[str, Any]], Content], noun: str) -> Content:
    """Return what ``read`` makes of the facts beside a network's weights.

    Raises
    ------
    ValueError
        Where it fails: the file does not say what the noun names.
    """
    facts = read_configuration(network)["facts"]
    try:
        return read(facts)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{network} does not say {noun} ({error}); take one that `vicinal sphere train` wrote."
        ) from error
