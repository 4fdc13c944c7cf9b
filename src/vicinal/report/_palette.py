"""Colours of the page: one list for light paper, one for dark, told apart by every eye.

The categorical colours were found by a search that maximises the smallest OKLab distance between
any two of them, as seen with normal vision and with simulated protan-, deutan- and tritanopia.
"""

from __future__ import annotations

import numpy as np

from .._types import FloatArray

LIGHT = (
    "#1f6fb4", "#dd6a12", "#2fae8e", "#b02068", "#3b1a8f", "#5a1b00",
    "#b0a2fe", "#7978fb", "#4c5a09", "#f09c17", "#382b4d", "#bb7cca",
)  # fmt: skip
DARK = (
    "#58a9f0", "#f0883a", "#74edc6", "#c2578d", "#efe05a", "#7d5ee0",
    "#856b1b", "#90b697", "#aec5ec", "#6f83c3", "#f05560", "#fab45f",
)  # fmt: skip
N_COLOURS = len(LIGHT)
N_STEPS = 8  # of the continuous scale

_VIRIDIS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e",
    "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
# The ends of viridis vanish into black and white paper, so each theme leaves one end out.
_LIGHT_PART, _DARK_PART = (0.0, 0.88), (0.2, 1.0)


def sequential_rgb(values: FloatArray) -> FloatArray:
    """Viridis at values in [0, 1]: shape (..., ) to (..., 3), 0 to 255."""
    stops = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in _VIRIDIS])
    at = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(values, at, stops[:, c]) for c in range(3)], axis=-1)


def sequential_steps(part: tuple[float, float]) -> tuple[str, ...]:
    """``N_STEPS`` colours evenly along a part of viridis."""
    rgb = sequential_rgb(np.linspace(*part, N_STEPS)).round().astype(int)
    return tuple(f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb)


def css_variables(*, dark: bool) -> str:
    """``--c0`` … for classes and methods, ``--v0`` … for the continuous scale."""
    named = {f"--c{i}": code for i, code in enumerate(DARK if dark else LIGHT)}
    steps = sequential_steps(_DARK_PART if dark else _LIGHT_PART)
    named |= {f"--v{i}": code for i, code in enumerate(steps)}
    return ";".join(f"{name}:{code}" for name, code in named.items())
