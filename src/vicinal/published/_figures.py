"""How published and measured figures are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vicinal.methods import get_method
from vicinal.published._experiments import Experiment

QUOTED = {"gblmnn": "GB-LMNN", "knca": "k-NCA"}


def method_title(method: str) -> str:
    """Return what tables call a method, known or only quoted."""
    try:
        return get_method(method).title
    except ValueError:
        return QUOTED.get(method, method.upper())


def column_title(experiment: Experiment) -> str:
    """Return the head of an experiment's column: "EGOP", "MLNG as published"."""
    title = method_title(experiment.method)
    if experiment.variant:
        return f"{title} {variant_title(experiment)}"
    return experiment.title or title


def variant_title(experiment: Experiment) -> str:
    """Return what a variant is called beside its method: "as published"."""
    return experiment.title or experiment.variant.replace("_", " ")


def beside_title(experiment: Experiment) -> str:
    """Return the head of a further column of a method's line; "" for the method as it comes."""
    if experiment.variant:
        return variant_title(experiment)
    return column_title(experiment) if experiment.beside else ""


def figure(error: float | None, spread: float | None, *, percent: bool) -> str:
    """Return an error in the unit it is printed in, with ± where a spread is known."""
    if error is None:
        return "–"
    text = f"{100 * error:.2f}" if percent else f"{error:.3f}"
    digits = 1 if percent else 3
    return text if spread is None else f"{text} ± {spread:.{digits}f}"


def measured_figure(record: Mapping[str, Any], *, percent: bool) -> str:
    """Return the measured error of a record with its standard deviation over folds."""
    sd = record["error_sd"]
    spread = None if sd is None else (100 * sd if percent else sd)
    return figure(record["error_mean"], spread, percent=percent)


def published_figure(experiment: Experiment, record: Mapping[str, Any]) -> str:
    """Return the published error beside which a record stands, in the same unit."""
    percent = experiment.unit != "nmse"
    return figure(record["published_error"], printed_spread(experiment), percent=percent)


def printed_spread(experiment: Experiment) -> float | None:
    """Return the published spread in the unit figures are shown in: points, or nMSE."""
    spread = experiment.spread
    return 100 * spread if spread is not None and experiment.unit == "share" else spread


def signed(difference: float | None, *, percent: bool) -> str:
    """Return a difference with its sign; minus is better than published."""
    if difference is None:
        return "–"
    value, digits = (100 * difference, 2) if percent else (difference, 3)
    text = f"{round(value, digits) or 0.0:+.{digits}f}"  # what rounds to nothing is not negative
    return text.replace("-", "−")
