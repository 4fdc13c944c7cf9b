"""The colours of the page keep apart for every eye and stand out from their paper."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from vicinal.report._palette import (
    DARK,
    DARK_STEPS,
    LIGHT,
    LIGHT_STEPS,
    N_STEPS,
    css_variables,
)

# Full dichromacy in linear RGB (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_LMS = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
          [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
TO_OKLAB = [[0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip


def linear(code: str) -> np.ndarray:
    rgb = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    return np.array(TO_OKLAB) @ np.cbrt(np.array(TO_LMS) @ rgb)


def contrast(code: str, paper: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    light = sorted((float(linear(code) @ weights), float(linear(paper) @ weights)))
    return (light[1] + 0.05) / (light[0] + 0.05)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_colours_differ_for_every_kind_of_vision(
    colours: tuple[str, ...], vision: str
) -> None:
    seen = [oklab(np.clip(np.array(VISION[vision]) @ linear(code), 0, 1)) for code in colours]
    # A difference of 0.02 is just noticeable side by side.
    for count, least in ((8, 0.08), (12, 0.06)):
        gaps = [np.linalg.norm(a - b) for a, b in combinations(seen[:count], 2)]
        assert min(gaps) > least


def test_colours_stand_out_from_their_paper() -> None:
    assert min(contrast(code, "#ffffff") for code in LIGHT) > 2.1
    assert min(contrast(code, "#1a1d21") for code in DARK) > 3


@pytest.mark.parametrize("steps", [LIGHT_STEPS, DARK_STEPS], ids=["light", "dark"])
def test_the_continuous_scale_only_ever_gets_brighter(steps: tuple[str, ...]) -> None:
    brightness = [float(linear(code) @ [0.2126, 0.7152, 0.0722]) for code in steps]
    assert (np.diff(brightness) > 0).all()


def test_both_modes_define_the_same_names() -> None:
    names = [
        {part.partition(":")[0] for part in css_variables(dark=dark).split(";")}
        for dark in (False, True)
    ]
    assert names[0] == names[1]
    assert len(names[0]) == len(LIGHT) + N_STEPS
