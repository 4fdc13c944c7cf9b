"""Networks as files: weights, and beside them what the network is, in JSON."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from vicinal._writing import write_atomically
from vicinal.sphere.training import load_weights, predict, read_tensors, write_checkpoint

FORMAT = "vicinal network 1"
_PARTS = {"format": str, "version": str, "network": str, "settings": dict, "facts": dict}
_NETWORKS: dict[str, type[nn.Module]] = {}

Network = TypeVar("Network", bound=type[nn.Module])


def saveable(network: Network) -> Network:
    """Let a class of networks be saved: its instances keep ``settings``, what ``__init__`` took."""
    _NETWORKS[network.__name__] = network
    return network


def save_network(network: nn.Module, path: Path, facts: dict[str, Any] | None = None) -> None:
    """Write a network's weights to a file and what it is to the ``.json`` beside it.

    Parameters
    ----------
    network : a network whose class is `saveable`
    path : Path
        Of the weights, ``….pt``.
    facts : dict of JSON values, optional
        What whoever uses the network needs besides, such as the names of classes.
    """
    from vicinal import __version__

    if type(network).__name__ not in _NETWORKS:
        raise ValueError(f"a {type(network).__name__} cannot be saved as a network.")
    settings: Any = network.settings
    content = {
        "format": FORMAT,
        "version": __version__,
        "network": type(network).__name__,
        "settings": settings,
        "facts": facts or {},
    }
    write_checkpoint(network.state_dict(), path)
    write_atomically(path.with_suffix(".json"), json.dumps(content, indent=2) + "\n")


def load_network(path: str | Path) -> nn.Module:
    """Return a trained network, in evaluation mode.

    Parameters
    ----------
    path : the folder of a training, or its ``network.pt``
        Beside the weights lies ``network.json``, which says what they are weights of. Reading
        them runs no code.

    Raises
    ------
    ValueError
        Where a file is missing or spoilt, or the two do not fit together: names or shapes of
        weights that the network does not have or lacks, NaN among them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from vicinal.sphere import ClebschGordanNet, FragmentType, load_network
    >>> from vicinal.sphere.nn import save_network
    >>> net = ClebschGordanNet(FragmentType([1, 1]), FragmentType([2, 2]), 1, n_outputs=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_network(net, pathlib.Path(folder) / "network.pt")
    ...     load_network(folder).types
    (FragmentType([1, 1]), FragmentType([2, 2]))
    """
    weights = weights_path(path)
    content = read_configuration(path)
    tensors = read_tensors(weights, "file of weights")
    _check_sizes(content["settings"], tensors, weights.with_suffix(".json"))
    network = _build(content, weights.with_suffix(".json"))
    network.to(_precision(tensors))
    load_weights(network, tensors, weights)
    return network.eval()


def predict_with(path: str | Path, rows: Any) -> torch.Tensor:
    """Return what a saved network says of rows.

    Raises
    ------
    ValueError
        Where the network cannot be read, or does not take what the rows were made into.
    """
    network = load_network(path)
    try:
        return predict(network, rows)
    except _DAMAGE as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"{path}: the network does not go with what its file says of its inputs ({reason})."
        ) from error


def read_configuration(path: str | Path) -> dict[str, Any]:
    """Return what the JSON file beside a network's weights says."""
    file = weights_path(path).with_suffix(".json")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(
            f"{file} cannot be read ({error.strerror}); a network is its weights and this file."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is no JSON: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        version = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{file} does not describe a network: format {FORMAT!r}, got {version!r}.")
    for name, kind in _PARTS.items():
        if not isinstance(content.get(name), kind):
            raise ValueError(f"{file}: {name} must be a {kind.__name__}.")
    return content


def weights_path(path: str | Path) -> Path:
    """Return the file of weights that a path names: itself, beside it, or within a folder."""
    path = Path(path)
    if path.is_dir():
        path = path / "network.pt"
    return path.with_suffix(".pt") if path.suffix == ".json" else path


_DAMAGE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip


def _check_sizes(settings: Any, tensors: dict[str, Any], file: Path) -> None:
    """Refuse settings of a network that no weights of this number can be of, before it is built."""
    n_weights = sum(value.numel() for value in tensors.values() if isinstance(value, torch.Tensor))
    parts: list[Any] = [settings]
    while parts:
        part = parts.pop()
        if isinstance(part, dict | list):
            parts += part.values() if isinstance(part, dict) else part
            parts.append(len(part))
        elif isinstance(part, int | float) and not abs(part) <= n_weights:
            raise ValueError(f"{file}: a setting of {part} does not go with {n_weights} weights.")


def _build(content: dict[str, Any], file: Path) -> nn.Module:
    name, settings = content["network"], content["settings"]
    if name not in _NETWORKS:
        raise ValueError(f"{file}: no network {name!r}; there are {', '.join(sorted(_NETWORKS))}.")
    parameters = inspect.signature(_NETWORKS[name]).parameters
    for setting in settings:
        if setting not in parameters:
            raise ValueError(f"{file}: {name} has no setting {setting!r}.")
    missing = [
        of
        for of, p in parameters.items()
        if p.default is inspect.Parameter.empty and of not in settings
    ]
    if missing:
        raise ValueError(f"{file}: {name} needs the setting {missing[0]!r}, which is not there.")
    try:
        return _NETWORKS[name](**settings)
    except _DAMAGE as error:
        raise ValueError(f"{file}: the settings of {name} make no network: {error}") from error


def _precision(tensors: dict[str, Any]) -> torch.dtype:
    """Return the precision of weights: double where any is."""
    kinds = {getattr(value, "dtype", None) for value in tensors.values()}
    return torch.float64 if torch.float64 in kinds else torch.float32
